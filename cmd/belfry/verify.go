package main

import (
	"os"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newVerifyFile returns the command with which the program verifies a file in a separate process,
// which a damaged file may end.
func newVerifyFile() *cobra.Command {
	return &cobra.Command{Use: "verify-file", Hidden: true, DisableFlagParsing: true, RunE: func(c *cobra.Command, args []string) error {
		return store.VerifyMain(c.OutOrStdout(), args)
	}}
}

// verifier starts this program again with [newVerifyFile]'s command.
func verifier() store.Verifier {
	path, err := os.Executable()
	if err != nil {
		return nil // then it is done in this process
	}
	return store.Verifier{path, "verify-file"}
}
