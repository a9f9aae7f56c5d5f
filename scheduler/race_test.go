//go:build race

package scheduler

// raceDetector says that everything is some ten times slower.
const raceDetector = true
