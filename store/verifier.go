package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// maxProblems bounds what is reported of one file.
	maxProblems = 1000
	// pagesTable stands for the pages where a problem names its table.
	pagesTable = "pages"
	// pagesOnly is the argument that leaves out rows and indexes.
	pagesOnly = "--pages"
	// verifySpeed is the least number of bytes a second that must be verified.
	verifySpeed = 4 << 20
	// verifierStack bounds the memory that a loop of pages can take.
	verifierStack = 64 << 20
	// verifierMemory is what the child may take, beside a part of the file's size.
	verifierMemory = 256 << 20
)

// Verifier is a command that verifies files in a process of its own, which a damaged file can end
// without harm: its program calls [VerifyMain] with the arguments that follow the command.
type Verifier []string

// verdict is what the child prints.
type verdict struct {
	Problems []Problem `json:"problems"`
	Error    string    `json:"error,omitempty"`  // why the file could not be verified
	InUse    bool      `json:"in_use,omitempty"` // that is why
}

// VerifyMain is the child's part of [Verifier]. It prints what it finds and returns an error only
// if it could not.
func VerifyMain(out io.Writer, args []string) error { return verifyMain(out, args, true) }

func verifyMain(out io.Writer, args []string, limited bool) error {
	if len(args) == 0 || len(args) > 2 || (len(args) == 2 && args[0] != pagesOnly) {
		return errors.New("usage: [" + pagesOnly + "] FILE")
	}
	path := args[len(args)-1]
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if limited {
		debug.SetMaxStack(verifierStack)
		memory := verifierMemory + info.Size()/4
		debug.SetMemoryLimit(memory / 2)
		if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: uint64(memory), Max: uint64(memory)}); err != nil {
			return err
		}
	}
	problems, err := verifyFile(path, len(args) == 2)
	v := verdict{Problems: problems}
	if len(problems) > maxProblems {
		v.Problems = append(slices.Clip(problems[:maxProblems]),
			Problem{Table: "file", Problem: fmt.Sprintf("%d problems more", len(problems)-maxProblems)})
	}
	if err != nil {
		v.Error, v.InUse = err.Error(), errors.Is(err, ErrInUse)
	}
	return json.NewEncoder(out).Encode(v)
}

// Verify verifies a file that no process has open and returns what is wrong with it. The child is
// ended when ctx ends, or when it takes more time or memory than the file's size explains.
func (v Verifier) Verify(ctx context.Context, path string) ([]Problem, error) {
	return v.run(ctx, path)
}

// verifyPages leaves out rows and indexes: whatever is wrong with those cannot harm the process.
func (v Verifier) verifyPages(ctx context.Context, path string) ([]Problem, error) {
	return v.run(ctx, pagesOnly, path)
}

func (v Verifier) run(ctx context.Context, args ...string) ([]Problem, error) {
	path := args[len(args)-1]
	if len(v) == 0 {
		return verifyFile(path, len(args) == 2)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	limit := verifyLimit(info.Size())
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("it took longer than %s: the file is damaged, or the disk very slow", limit))
	defer cancel()
	child := exec.CommandContext(ctx, v[0], append(slices.Clone(v[1:]), args...)...)
	var said bytes.Buffer
	child.Stderr = &said
	out, err := child.Output()
	var found verdict
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("verify %s: %w", path, context.Cause(ctx))
	case err == nil:
		err = json.Unmarshal(out, &found)
		if err == nil && found.InUse {
			return nil, inUse(path)
		}
		if err == nil && found.Error != "" {
			err = errors.New(found.Error)
		}
	case errors.As(err, new(*exec.ExitError)):
		first, _, _ := strings.Cut(said.String(), "\n")
		return []Problem{{Table: pagesTable, Problem: fmt.Sprintf("reading them ends the program (%v: %s)", err, first)}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", path, err)
	}
	return found.Problems, nil
}

func verifyLimit(size int64) time.Duration {
	return time.Minute + time.Duration(size/verifySpeed)*time.Second
}

// verifyFile verifies a file that is not open. Damage that makes bbolt panic is a problem like
// others; some ends the process all the same.
func verifyFile(path string, pages bool) (problems []Problem, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			problems = append(problems, Problem{Table: pagesTable, Problem: fmt.Sprint("cannot be read: ", v)})
		}
	}()
	f, err := lock(path, syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	problems, err = checkPages(f)
	if err := errors.Join(err, f.Close()); err != nil || pages || len(problems) > 0 {
		return problems, err
	}
	db, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	problems, err = db.verify()
	err = errors.Join(err, db.View(func(tx *Tx) error {
		for _, t := range db.schema.all {
			if err := t.withoutJob(tx, func(p Problem, _ Job) error { problems = append(problems, p); return nil }); err != nil {
				return err
			}
		}
		return nil
	}))
	return problems, errors.Join(err, db.Close())
}

// lock opens a file and keeps those away who would open it to change it or, with LOCK_EX, at all.
func lock(path string, how int) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for range 20 { // as long as bbolt waits
		if err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = inUse(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
