package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is appended, fetched, tried again, parked, replayed and undone: each event is handled with effect exactly
// once, in its order where nothing failed, and what went in is what was done, skipped, kept or waits.
func TestStreamsLoseNothingAndHandleNothingTwice(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		path := filepath.Join(dir, fmt.Sprint(n))
		db, err := Open(path, Options{Now: func() time.Time { return now }})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { db.Close() }()
		update := func(fn func(*Tx) error) {
			if err := db.Update(fn); err != nil {
				rt.Fatal(err)
			}
		}
		groups := []string{"tag", "index"}
		update(func(tx *Tx) error {
			for _, name := range groups {
				if err := tx.Streams.Join(name, TopicParsed, "stage_"+name); err != nil {
					return err
				}
			}
			return nil
		})
		appended, replayed := uint64(0), 0
		effects := map[string]map[uint64]int{"tag": {}, "index": {}}
		expected := map[string]map[uint64]int{"tag": {}, "index": {}}
		handle := func(name string, draw bool) bool {
			var batch Batch
			if err := db.View(func(tx *Tx) (err error) {
				batch, err = tx.Streams.Fetch(name, rapid.IntRange(1, 5).Draw(rt, "limit"))
				return err
			}); err != nil {
				rt.Fatal(err)
			}
			if batch.Empty() {
				return false
			}
			done := make([]Handled, len(batch.Items))
			for i := range done {
				done[i].State = StageDone
				if draw {
					done[i].State = rapid.SampledFrom([]string{StageDone, StageSkipped, StageRetrying, StageParked}).Draw(rt, "state")
				}
				done[i].Due = now.Add(time.Minute)
			}
			lost := draw && rapid.IntRange(0, 3).Draw(rt, "lost") == 0
			err := db.Update(func(tx *Tx) error {
				if err := tx.Streams.Commit(batch, done); err != nil {
					return err
				}
				if lost {
					return fmt.Errorf("crashed")
				}
				return nil
			})
			if lost {
				return true
			}
			if err != nil {
				rt.Fatal(err)
			}
			for i, item := range batch.Items {
				if done[i].State == StageDone || done[i].State == StageSkipped {
					effects[name][item.Event.Message]++
				}
			}
			return true
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			name := rapid.SampledFrom(groups).Draw(rt, "group")
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0:
				update(func(tx *Tx) error {
					for range rapid.IntRange(1, 6).Draw(rt, "events") {
						appended++
						for _, name := range groups {
							expected[name][appended] = 1
						}
						if err := tx.Streams.Append(TopicParsed, EventNew, appended); err != nil {
							return err
						}
					}
					return nil
				})
			case 1:
				now = now.Add(time.Minute)
			case 2:
				if appended > 0 {
					id := rapid.Uint64Range(1, appended).Draw(rt, "message")
					open := effects[name][id] < expected[name][id]
					var kept bool
					update(func(tx *Tx) error {
						group, err := tx.Streams.Groups.ByName(name)
						kept = false
						for item := range tx.Streams.Items.All() {
							kept = kept || item.Group == group.ID && item.Event.Message == id
						}
						if err != nil || open && !kept { // it waits in the log, and would be handled as well
							return err
						}
						return tx.Streams.Replay(name, id)
					})
					if !open {
						expected[name][id]++
						replayed++
					}
				}
			case 3:
				if rapid.IntRange(0, 3).Draw(rt, "reopen") == 0 {
					if err := db.Close(); err != nil {
						rt.Fatal(err)
					}
					if db, err = Open(path, Options{Now: func() time.Time { return now }}); err != nil {
						rt.Fatal(err)
					}
				}
			default:
				handle(name, true)
			}
			balanced(rt, db)
		}
		for _, name := range groups { // what is parked is replayed, and everything ends
			update(func(tx *Tx) error {
				group, err := tx.Streams.Groups.ByName(name)
				if err != nil {
					return err
				}
				var parked []uint64
				for item := range tx.Streams.Items.ParkedBy(group.ID) {
					parked = append(parked, item.Event.Message)
				}
				for _, id := range parked {
					if err := tx.Streams.Replay(name, id); err != nil {
						return err
					}
				}
				return nil
			})
			now = now.Add(time.Hour)
			for handle(name, false) {
			}
			if fmt.Sprint(effects[name]) != fmt.Sprint(expected[name]) {
				rt.Fatalf("%s: effects %v, not %v", name, effects[name], expected[name])
			}
		}
		balanced(rt, db)
		if err := db.View(func(tx *Tx) error {
			for f := range tx.Streams.Flows() {
				if f.Waiting+f.Retrying+f.Parked != 0 || !f.Oldest.IsZero() {
					rt.Fatalf("%+v", f)
				}
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			rt.Fatal(problems, err)
		}
	})
}

func balanced(rt *rapid.T, db *DB) {
	if err := db.View(func(tx *Tx) error {
		for f := range tx.Streams.Flows() {
			if f.Lost() != 0 {
				rt.Fatalf("group %s has lost %d: %+v", f.Name, f.Lost(), f)
			}
		}
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
}

func TestAStreamIsTrimmedBelowItsSlowestGroup(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const many = 1000
	if err := db.Update(func(tx *Tx) error {
		for _, name := range []string{"fast", "slow"} {
			if err := tx.Streams.Join(name, TopicTagged, name); err != nil {
				return err
			}
		}
		for id := uint64(1); id <= many; id++ {
			if err := tx.Streams.Append(TopicTagged, EventNew, id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows := func() (n int) {
		if err := db.View(func(tx *Tx) error {
			for range tx.Streams.log(TopicTagged).All() {
				n++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	run := func(name string) {
		if err := db.Update(func(tx *Tx) error {
			for {
				b, err := tx.Streams.Fetch(name, 64)
				if err != nil || b.Empty() {
					return err
				}
				done := make([]Handled, len(b.Items))
				for i := range done {
					done[i].State = StageDone
				}
				if err := tx.Streams.Commit(b, done); err != nil {
					return err
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	run("fast")
	if n := rows(); n != many {
		t.Errorf("%d of %d events are kept for the slow group", n, many)
	}
	run("slow")
	if n := rows(); n != 0 {
		t.Errorf("%d events are kept for no one", n)
	}
}

func TestAnItemWhoseTimeWasWrittenByAWrongClockIsTriedAgain(t *testing.T) {
	now := time.Date(2027, 9, 1, 12, 0, 0, 0, time.UTC)
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fetched := func(limit int) (n int, next time.Time) {
		t.Helper()
		err := db.View(func(tx *Tx) error {
			batch, err := tx.Streams.Fetch("tag", limit)
			if err != nil {
				return err
			}
			n, next = len(batch.Items), batch.Next
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, next
	}
	err = db.Update(func(tx *Tx) error {
		if err := errors.Join(tx.Streams.Join("tag", TopicParsed, "stage_tag"), tx.Streams.Append(TopicParsed, EventNew, 1)); err != nil {
			return err
		}
		batch, err := tx.Streams.Fetch("tag", 10)
		if err != nil {
			return err
		}
		return tx.Streams.Commit(batch, []Handled{{State: StageRetrying, Due: now.Add(time.Hour)}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, next := fetched(10); n != 0 || !next.Equal(now.Add(time.Hour)) {
		t.Errorf("%d items before their time; the next at %s", n, next)
	}
	now = now.AddDate(0, -10, 0) // the clock is corrected
	if n, next := fetched(10); n != 1 || !next.IsZero() {
		t.Errorf("%d items after the clock was corrected; the next at %s", n, next)
	}
	err = db.Update(func(tx *Tx) error { return tx.Streams.Append(TopicParsed, EventNew, 2) })
	if n, next := fetched(1); err != nil || n != 1 || !next.Equal(now) {
		t.Errorf("%d items of two; the next at %s; %v", n, next, err)
	}
}

func TestATopicWithoutGroupsKeepsNothing(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *Tx) error {
		for id := range uint64(100) {
			if err := tx.Streams.Append(TopicIndexed, EventNew, id+1); err != nil {
				return err
			}
		}
		for event := range tx.Streams.log(TopicIndexed).All() {
			t.Errorf("event %d is kept for no one", event.ID)
		}
		if head := tx.Streams.Head(TopicIndexed); head != 100 {
			t.Errorf("the topic is at event %d", head)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
