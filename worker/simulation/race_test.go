//go:build race

package simulation_test

// raceDetector says that everything is some ten times slower.
const raceDetector = true
