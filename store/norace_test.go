//go:build !race

package store

// raceDetector says that the detector takes gigabytes, which the child that verifies may not have.
const raceDetector = false
