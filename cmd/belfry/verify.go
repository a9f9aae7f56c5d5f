package main

import (
	"os"

	"belfry/store"
)

// verifyCommand is how the program has a file verified in a process of its own, which a damaged
// file may end.
type verifyCommand struct {
	Args []string `arg:"" passthrough:""`
}

// Run verifies a file for the process that started this one.
func (c *verifyCommand) Run(o output) error { return store.VerifyMain(o.out, c.Args) }

// verifier starts this program again as [verifyCommand].
func verifier() store.Verifier {
	path, err := os.Executable()
	if err != nil {
		return nil // then it is done in this process
	}
	return store.Verifier{path, "verify-file"}
}
