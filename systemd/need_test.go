package systemd_test

import (
	"os"
	"os/exec"
	"testing"
)

// need returns where a program is. Without it the test is skipped; where BELFRY_NO_SKIP
// says that everything is installed, as in .ci/run, it fails instead.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		lacking(t, program+" is not installed")
	}
	return path
}

func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("BELFRY_NO_SKIP") != "" {
		t.Fatalf("%s, and BELFRY_NO_SKIP allows no skip", what)
	}
	t.Skip(what)
}
