package store

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// long asks for the forms of the tests that take minutes.
var long = flag.Bool("long", false, "run the long forms of the tests")

// The test binary is also the child that verifies files, and the one that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "verify":
			exit(verifyMain(os.Stdout, os.Args[2:], !raceDetector))
		case "hog":
			exit(verifyWithMuchMemory(os.Args[2]))
		case "flip":
			exit(flipBits(os.Args[2:]))
		case "backup":
			exit(backUpUntilKilled(os.Args[2]))
		case "write":
			exit(writeUntilKilled(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// backUpUntilKilled writes a backup whose verification does not end.
func backUpUntilKilled(path string) error {
	db, err := Open(path, Options{})
	if err != nil {
		return err
	}
	db.opts.Verifier = Verifier{"sh", "-c", "sleep 600"}
	return db.Backup(path + ".backup")
}

// verifyWithMuchMemory verifies a file as a child does that a damaged file leads to take much memory.
func verifyWithMuchMemory(path string) error {
	err := verifyMain(os.Stdout, []string{path}, true)
	var all [][]byte // a little at a time: Linux may grant one big piece beyond the limit
	for range 64 {
		all = append(all, make([]byte, verifierMemory/16))
	}
	runtime.KeepAlive(all)
	return err
}

func verifier() Verifier { return Verifier{os.Args[0], "verify"} }

// need skips the test where something is missing that the machine may lack, unless nothing may be
// skipped.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("BELFRY_NO_SKIP") != "" {
		t.Fatal("missing: " + what)
	}
	t.Skip("missing: " + what)
}

func needProgram(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	need(t, err == nil, "the program "+name)
}
