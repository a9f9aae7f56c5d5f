package systemd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The verbs of these tests: run a script or a program, and look at a tree of files.

// fakeProgram is a file that install.sh takes for a program of that version; in a tree it
// is never run.
func fakeProgram(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry")
	write(t, path, "\x7fELF "+version)
	return path
}

// copyRelease puts install.sh and its files into dir, without a program.
func copyRelease(t *testing.T, dir string) {
	t.Helper()
	for _, file := range []string{"install.sh", "systemd/belfry.service", "systemd/belfry.env"} {
		write(t, filepath.Join(dir, file), read(t, "../"+file))
		if err := os.Chmod(filepath.Join(dir, file), modeOf(t, "../"+file)); err != nil {
			t.Fatal(err)
		}
	}
}

func install(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	return run(t, exec.Command("sh", append([]string{"../install.sh"}, args...)...))
}

func mustInstall(t *testing.T, root, program string, args ...string) string {
	t.Helper()
	code, out := install(t, append([]string{"--root", root, "--binary", program}, args...)...)
	if code != 0 {
		t.Fatalf("install.sh: exit code %d:\n%s", code, out)
	}
	return out
}

func run(t *testing.T, cmd *exec.Cmd) (code int, out string) {
	t.Helper()
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	return cmd.ProcessState.ExitCode(), both.String()
}

func mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	code, out := run(t, exec.Command(name, args...))
	if code != 0 {
		t.Fatalf("%s %s: exit code %d:\n%s", name, strings.Join(args, " "), code, out)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, content string) {
	t.Helper()
	if got := read(t, path); got != content {
		t.Errorf("%s holds %.80q, not %.80q", path, got, content)
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func statOf(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t)
}

// snapshot is what a tree holds: mode, owner and content of each path.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	walk(t, root, func(path string, info fs.FileInfo) {
		owner := info.Sys().(*syscall.Stat_t)
		line := fmt.Sprintf("%v %d:%d", info.Mode(), owner.Uid, owner.Gid)
		switch {
		case info.Mode().IsRegular():
			line += " " + read(t, path)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				t.Fatal(err)
			}
			line += " -> " + target
		}
		tree[path] = line
	})
	return tree
}

func changeTimes(t *testing.T, root string) map[string]syscall.Timespec {
	t.Helper()
	times := map[string]syscall.Timespec{}
	walk(t, root, func(path string, info fs.FileInfo) { times[path] = info.Sys().(*syscall.Stat_t).Ctim })
	return times
}

func walk(t *testing.T, root string, visit func(path string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		visit(path, info)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sameTree(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, was := range before {
		if now, there := after[path]; !there {
			t.Errorf("%s is gone", path)
		} else if now != was {
			t.Errorf("%s was %.100q and is %.100q", path, was, now)
		}
	}
	for path := range after {
		if _, there := before[path]; !there {
			t.Errorf("%s is new", path)
		}
	}
}

// steps are the lines that begin with mark, without it.
func steps(out, mark string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if rest, found := strings.CutPrefix(line, mark); found {
			lines = append(lines, rest)
		}
	}
	return strings.Join(lines, "")
}
