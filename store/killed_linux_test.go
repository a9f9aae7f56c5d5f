package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

func TestKilledAroundACommitNothingConfirmedIsLost(t *testing.T) {
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	last := 3
	if *long {
		last = 40
	}
	for _, s := range []stage{beforeCommit, afterCommit} {
		for commit := 1; commit <= last; commit++ {
			o := runChild(t, nil, nil, "-path", path, "-stage", string(s), "-commit", fmt.Sprint(commit))
			reconcile(t, path, o, model)
		}
	}
	if model[0].done == 0 {
		t.Error("nothing was written")
	}
}

func TestKilledAtAnyMomentNothingConfirmedIsLost(t *testing.T) {
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	kills := 15
	if *long {
		kills = 1000
	}
	for range kills {
		after := func() <-chan time.Time { return time.After(time.Duration(rand.IntN(60_000)) * time.Microsecond) }
		reconcile(t, path, runChild(t, nil, after, "-path", path), model)
		if t.Failed() {
			return
		}
	}
	updates := 0
	for _, h := range model {
		updates += h.done
	}
	t.Logf("%d kills, %d updates", kills, updates)
}

// The system calls of a commit are where a crash matters most: each write of pages and meta in turn
// is the last one.
func TestKilledAtAnyWriteNothingConfirmedIsLost(t *testing.T) {
	needTracer(t)
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	step, last := 7, 30
	if *long {
		step, last = 1, 127
	}
	for n := 1; n <= last; n += step {
		o := runChild(t, tracer("pwrite64:signal=SIGKILL:when="+fmt.Sprint(n)), nil, "-path", path, "-count", "100")
		reconcile(t, path, o, model)
	}
}
