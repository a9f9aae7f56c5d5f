package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

// beginner writes which run begins, and its run says whether it has seen that and what Begin has returned.
type beginner struct {
	b  *bench
	of string // the run that began
}

func (w beginner) Begin(tx *store.Tx, job store.Job) (Worker, error) {
	w.of = fmt.Sprint(job.Name, " ", job.Attempt)
	if err := tx.Settings.Set("began "+job.Name, w.of); err != nil {
		return nil, err
	}
	switch {
	case job.Name == "errs" && job.Attempt < 3:
		return nil, errors.New("cannot begin")
	case strings.HasPrefix(job.Name, "panics"): // one is claimed by the loop, the other handed over
		panic("a mistake")
	}
	return w, nil
}

func (w beginner) Run(_ context.Context, job store.Job) (Outcome, error) {
	if began := w.b.setting("began " + job.Name); began != w.of {
		w.b.t.Errorf("%s runs, and %q is on the disk", w.of, began)
	}
	<-time.After(time.Second)
	return Outcome{}, nil
}

func (w beginner) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return tx.Settings.Set("ended "+job.Name, string(why.Code))
}

func (b *bench) setting(name string) (v string) {
	b.t.Helper()
	if err := b.db.View(func(tx *store.Tx) (err error) { v, err = tx.Settings.Value(name); return err }); err != nil {
		b.t.Fatal(err)
	}
	return v
}

func TestARunBeginsInTheCommitOfItsClaim(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Kinds["begun"] = Kind{Worker: beginner{b: b}}
		const n = 10 // one by the loop, the others are handed over
		for i := range n {
			b.put(store.Job{Name: fmt.Sprint("post_", i), Kind: "begun", Trigger: b.in(0)})
		}
		before := b.db.Commits()
		b.start()
		b.pass(time.Minute)
		if commits := b.db.Commits() - before; commits != n+1 {
			t.Errorf("%d commits for %d runs", commits, n)
		}
		for i := range n {
			if _, there := b.job(fmt.Sprint("post_", i)); there {
				t.Errorf("post_%d has not run", i)
			}
		}
	})
}

func TestARunThatCannotBeginHasFailedAndStopsNoOther(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Kinds["begun"] = Kind{Worker: beginner{b: b}}
		others := []string{"alone"}
		b.put(store.Job{Name: "alone", Kind: "begun", Lane: "other", Trigger: b.in(time.Second)})
		for _, bad := range []string{"errs", "panics"} {
			for _, name := range []string{"before " + bad, bad, "after " + bad} {
				b.put(store.Job{Name: name, Kind: "begun", Lane: bad, Trigger: b.in(time.Second)})
			}
			others = append(others, "before "+bad, "after "+bad)
		}
		b.put(store.Job{Name: "panics first", Kind: "begun", Lane: "a", Trigger: b.in(time.Second)})
		b.start()
		b.pass(10 * time.Second)
		for _, name := range others {
			if h := b.history(name); len(h) != 1 || h[0].Result != store.ResultDone {
				t.Errorf("%s: %+v", name, h)
			}
		}
		for name, code := range map[string]store.ReasonCode{"errs": store.ReasonError, "panics": store.ReasonPanic, "panics first": store.ReasonPanic} {
			if h := b.history(name); len(h) != 1 || h[0].Result != store.ResultFailed || h[0].Reason.Code != code || b.setting("began "+name) != "" {
				t.Errorf("%s: %+v, written %q", name, h, b.setting("began "+name))
			}
		}
		b.pass(10 * time.Minute)
		if h := b.history("errs"); len(h) != 3 || h[2].Result != store.ResultDone || h[2].Attempt != 3 {
			t.Errorf("errs: %+v", h)
		}
		if _, there := b.job("panics"); there || len(b.history("panics")) != 3 || b.setting("ended panics") != string(store.ReasonGaveUp) {
			t.Errorf("panics: there %v, ended %q", there, b.setting("ended panics"))
		}
	})
}
