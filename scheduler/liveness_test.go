package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"belfry/store"
)

// mostCommits is how many commits may come between the time of a job whose lane has room and its run: the
// one that is under way, the one that claims it, and some that the loop was in the middle of.
const mostCommits = 5

// Whatever other lanes do, a job whose lane has room begins within some commits.
func TestNoLaneMakesAnotherWait(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := crowd{
			seed:   rapid.Uint64().Draw(rt, "seed"),
			commit: time.Duration(rapid.IntRange(100, 3000).Draw(rt, "commit")) * time.Microsecond,
			lanes: rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) busyLane {
				return busyLane{
					limit: rapid.IntRange(1, 5).Draw(rt, "limit"),
					every: time.Duration(rapid.IntRange(1, 4).Draw(rt, "every")) * time.Millisecond,
					takes: time.Duration(rapid.IntRange(0, 4000).Draw(rt, "takes")) * time.Microsecond,
				}
			}), 1, 4).Draw(rt, "lanes"),
		}
		if err := c.play(t); err != nil {
			rt.Fatal(err)
		}
	})
}

// The loop sees a job due, and the run that ends just then takes it: again and again, as in a lane that has
// something due at each end. That is no trouble, and nobody waits for it.
func TestJobsThatAreHandedOverHoldUpNoOtherLane(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.LaneLimit = func(string) int { return 2 }
		b.sched = New(b.db, b.cfg)
		s := b.sched
		register := func(r *run) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lanes[r.job.Lane]++
			s.active[r.job.Name] = r
			r.deadline = time.NewTimer(time.Hour)
		}
		var under *run
		for i := range 30 {
			b.put(store.Job{Name: fmt.Sprint("busy_", i), Lane: "busy", Trigger: b.in(0)})
			s.untilNext()
			var taken *run
			if under != nil {
				taken = s.end(under, Outcome{}, nil)
			}
			for _, r := range s.claimDue() {
				register(r)
				taken = r
			}
			if taken == nil {
				t.Fatalf("busy_%d is due, its lane has room, and nobody takes it", i)
			}
			under = taken
		}
		b.put(store.Job{Name: "post", Lane: "posts", Trigger: b.in(0)})
		if wait := s.untilNext(); wait > 0 {
			t.Errorf("a post in another lane waits %v", wait)
		}
		if runs := s.claimDue(); len(runs) != 1 || runs[0].job.Name != "post" {
			t.Errorf("claimed: %d", len(runs))
		}
	})
}

// crowd is busy lanes beside one that has a post now and then.
type crowd struct {
	commit time.Duration // how long a commit takes
	seed   uint64        // of the order in which the updates of a commit come
	lanes  []busyLane
}

// busyLane is a lane that has a job due each so often.
type busyLane struct {
	limit        int
	every, takes time.Duration
}

func (c crowd) play(t *testing.T) (err error) {
	const posts, apart, length = 8, 37 * time.Millisecond, 8 * 37 * time.Millisecond
	inBubble(t, func(b *bench) {
		disk := newSlowDisk(c.commit, c.seed)
		defer close(disk.updates)
		b.between = disk.update
		limits := map[string]int{"posts": posts}
		b.cfg.LaneLimit = func(lane string) int { return limits[lane] }
		b.kind("post", func(_ context.Context, job store.Job) (Outcome, error) {
			if late := b.now().Sub(job.Occurrence); late > mostCommits*c.commit {
				err = errors.Join(err, fmt.Errorf("%s began after %v, with commits of %v", job.Name, late, c.commit))
			}
			return Outcome{}, nil
		})
		begin := b.now().Add(time.Second)
		b.update(func(tx *store.Tx) error {
			for i, lane := range c.lanes {
				name := fmt.Sprint("busy", i)
				limits[name] = lane.limit
				b.cfg.Kinds[name] = Kind{Worker: workerFunc(sleeper(lane.takes))}
				for n := range int(length / lane.every) {
					at := begin.Add(time.Duration(n) * lane.every)
					if err := Put(tx, store.Job{Name: fmt.Sprint(name, "_", n), Kind: name, Lane: name, Trigger: once(at)}); err != nil {
						return err
					}
				}
			}
			for n := range posts {
				at := begin.Add(time.Duration(n) * apart)
				if err := Put(tx, store.Job{Name: fmt.Sprint("post_", n), Kind: "post", Lane: "posts", Trigger: once(at)}); err != nil {
					return err
				}
			}
			return nil
		})
		b.start()
		b.pass(begin.Sub(b.now()) + length + 100*time.Millisecond)
		if _, of := b.begun(); len(of) != posts {
			err = errors.Join(err, fmt.Errorf("only %d of %d posts ran", len(of), posts))
		}
		b.stop()
	})
	return err
}

// slowDisk commits updates in groups, as the store does: those that come while one is on its way are the
// next group, in any order.
type slowDisk struct{ updates chan slowUpdate }

type slowUpdate struct {
	run  func()
	done chan struct{}
}

func newSlowDisk(commit time.Duration, seed uint64) slowDisk {
	order := rand.New(rand.NewPCG(seed, 0))
	d := slowDisk{make(chan slowUpdate, 1000)}
	go func() {
		for first := range d.updates {
			group := []slowUpdate{first}
			for range len(d.updates) {
				group = append(group, <-d.updates)
			}
			order.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
			for _, u := range group {
				u.run()
			}
			<-time.After(commit)
			for _, u := range group {
				close(u.done)
			}
		}
	}()
	return d
}

func (d slowDisk) update(real func(func(*store.Tx) error) error, fn func(*store.Tx) error) (err error) {
	u := slowUpdate{func() { err = real(fn) }, make(chan struct{})}
	d.updates <- u
	<-u.done
	return err
}

// What waits in lanes that are held, full, or have nothing due is not looked at when others are served.
func TestLanesWithNothingToDoAreNotLookedAt(t *testing.T) {
	inBubble(t, func(b *bench) {
		const lanes, runs = 500, 100
		var looks atomic.Int64
		b.cfg.LaneLimit = func(lane string) int {
			if lane != "lane" {
				looks.Add(1)
			}
			return 1
		}
		b.kind("slow", sleeper(50*time.Second))
		b.update(func(tx *store.Tx) error {
			for i := range lanes {
				lane := fmt.Sprint("held", i)
				if err := errors.Join(
					tx.Holds.Extend(lane, tx.Now().Add(time.Hour), store.Reason{Code: store.ReasonFlood}),
					Put(tx, store.Job{Name: lane, Kind: "noted", Lane: lane, Trigger: once(tx.Now())}),
					Put(tx, store.Job{Name: fmt.Sprint("later", i), Kind: "noted", Lane: fmt.Sprint("later", i), Trigger: once(tx.Now().Add(time.Hour))}),
					Put(tx, store.Job{Name: fmt.Sprint("full", i), Kind: "slow", Lane: fmt.Sprint("full", i%10), Trigger: once(tx.Now())}),
				); err != nil {
					return err
				}
			}
			return nil
		})
		b.start()
		b.pass(time.Second)
		before := looks.Load()
		for i := range runs {
			b.put(store.Job{Name: fmt.Sprint("post_", i), Trigger: b.in(100 * time.Millisecond)})
			b.pass(200 * time.Millisecond)
		}
		if _, of := b.begun(); of["post_99"] != 1 {
			t.Fatal("the posts did not run")
		}
		if n := looks.Load() - before; n > 0 {
			t.Errorf("%d looks at lanes that had nothing to do, during %d runs", n, runs)
		}
	})
}

// A lane that is released goes on at once, as one whose hold ends does.
func TestALaneGoesOnWhenItsHoldEndsOrIsTakenAway(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		for _, lane := range []string{"ends", "taken"} {
			b.update(func(tx *store.Tx) error {
				return tx.Holds.Extend(lane, tx.Now().Add(time.Hour), store.Reason{Code: store.ReasonFlood})
			})
			b.put(store.Job{Name: lane, Lane: lane, Trigger: b.in(0)})
		}
		b.pass(time.Minute)
		b.update(func(tx *store.Tx) error {
			hold, err := tx.Holds.ByLane("taken")
			return errors.Join(err, tx.Holds.Delete(hold.ID))
		})
		if _, of := b.begun(); of["taken"] != 1 || of["ends"] != 0 {
			t.Errorf("right after a hold was taken away: %v", of)
		}
		b.pass(time.Hour - time.Minute)
		if _, of := b.begun(); of["ends"] != 1 {
			t.Error("the hold has ended, and nothing runs")
		}
	})
}

// What is damaged stops itself and nothing else.
func TestDamageStopsItselfAlone(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(tx *bbolt.Tx) error
		lost string // the job that does not run
	}{
		"the row at the head of a lane": {func(tx *bbolt.Tx) error { return flip(tx, "jobs") }, "a_0"},
		"a hold":                        {func(tx *bbolt.Tx) error { return flip(tx, "holds") }, ""},
		"an entry of the queue that names another time": {func(tx *bbolt.Tx) error {
			queue := tx.Bucket([]byte("jobs.queue"))
			k, _ := queue.Cursor().First()
			wrong := append([]byte(nil), k...)
			wrong[len(wrong)-9] ^= 1
			return errors.Join(queue.Delete(append([]byte(nil), k...)), queue.Put(wrong, nil))
		}, "a_0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "belfry.db")
				b := &bench{t: t, stop: func() {}}
				open := func() {
					db, err := store.Open(path, store.Options{Now: b.now})
					if err != nil {
						t.Fatal(err)
					}
					b.db, b.cfg = db, Config{Now: b.now, Kinds: map[string]Kind{}}
					b.kind("noted", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
				}
				open()
				const posts = 60
				b.update(func(tx *store.Tx) error {
					err := tx.Holds.Extend("a", tx.Now().Add(time.Millisecond), store.Reason{Code: store.ReasonFlood})
					for i := range posts {
						err = errors.Join(err,
							Put(tx, store.Job{Name: fmt.Sprint("a_", i), Kind: "noted", Lane: "a", Trigger: once(tx.Now().Add(time.Minute))}),
							Put(tx, store.Job{Name: fmt.Sprint("b_", i), Kind: "noted", Lane: "b", Trigger: once(tx.Now().Add(time.Minute + time.Duration(i)*time.Second))}))
					}
					return err
				})
				b.close()
				file, err := bbolt.Open(path, 0o600, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(file.Update(c.harm), file.Close()); err != nil {
					t.Fatal(err)
				}
				open()
				var calls atomic.Int64
				b.between = func(real func(func(*store.Tx) error) error, fn func(*store.Tx) error) error {
					calls.Add(1)
					return real(fn)
				}
				b.start()
				for range 20 * 60 { // other commits wake the loop all the time
					b.pass(150 * time.Millisecond)
					b.update(func(tx *store.Tx) error { return tx.Settings.Set("other", b.now().String()) })
				}
				_, of := b.begun()
				for i := range posts {
					for _, lane := range []string{"a_", "b_"} {
						if job := fmt.Sprint(lane, i); of[job] != 1 && job != c.lost {
							t.Errorf("%s ran %d times", job, of[job])
						}
					}
				}
				if n := calls.Load(); n > 4*posts {
					t.Errorf("%d transactions of the scheduler for %d runs: it spins", n, 2*posts)
				}
				b.stop()
				b.close()
			})
		})
	}
}

func (b *bench) close() {
	if err := b.db.Close(); err != nil {
		b.t.Error(err)
	}
}

// flip changes a bit of the first row of a table.
func flip(tx *bbolt.Tx, table string) error {
	rows := tx.Bucket([]byte(table))
	k, row := rows.Cursor().First()
	k, row = append([]byte(nil), k...), append([]byte(nil), row...)
	row[len(row)/2] ^= 0x20
	return rows.Put(k, row)
}

// If the clock is set back while a claim is committed, the loop takes the batch for not due and gives it
// back. It is claimed, so it has to run.
func TestWhatIsClaimedIsStartedAlsoIfTheClockIsSetBackMeanwhile(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.put(store.Job{Name: "post", Trigger: b.in(0)})
		b.sched = New(b.db, b.cfg)
		q := queue{b.sched}
		if _, err := q.Head(); err != nil {
			t.Fatal(err)
		}
		popped, err := q.Pop()
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Push(popped); err != nil {
			t.Fatal(err)
		}
		b.sched.runs.Wait()
		if _, of := b.begun(); of["post"] != 1 {
			t.Error("the claimed job did not run")
		}
	})
}

// Failures of the store that follow each other do not push its next try away.
func TestThePauseAfterAFailureOfTheStoreHasOneEnd(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.sched = New(b.db, b.cfg)
		b.sched.noteOutcome(store.ErrUnavailable)
		for range 9 {
			b.pass(storeRetry / 10)
			b.sched.noteOutcome(store.ErrUnavailable)
		}
		b.pass(storeRetry / 10)
		if wait := b.sched.failing(); wait != 0 {
			t.Errorf("it is tried in %v", wait)
		}
	})
}

// What hundreds of jobs have missed in a year takes seconds to work out, so it is done in several
// transactions, between which others have their turn.
func TestAYearOffHoldsUpNobody(t *testing.T) {
	const jobs = 1000
	now := time.Now()
	db, err := store.Open(filepath.Join(quickDir(t), "belfry.db"), store.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, db: db, cfg: Config{Kinds: map[string]Kind{}, LaneLimit: func(string) int { return jobs }}}
	b.cfg.Now = func() time.Time { return now }
	b.kind("noted", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
	if err := db.Update(func(tx *store.Tx) error {
		for i := range jobs {
			trigger := store.Trigger{Times: []string{fmt.Sprintf("%02d:%02d", i%24, i%60)}, Zone: "Europe/Lisbon"}
			if err := Put(tx, store.Job{Name: fmt.Sprint("daily_", i), Kind: "noted", Lane: fmt.Sprint("lane", i%7), Trigger: trigger}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(year)
	b.sched = New(db, b.cfg)
	claimed, claims := 0, 0
	for b.sched.untilNext() <= 0 {
		runs := b.sched.claimDue()
		claimed += len(runs)
		claims++
	}
	if claimed != jobs || claims < 3 {
		t.Errorf("%d of %d were claimed, in %d transactions", claimed, jobs, claims)
	}
	b.close()
}

func TestAWakeIsNotLostBehindARunThatGaveUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		fails := true
		b.kind("stage", func(context.Context, store.Job) (Outcome, error) {
			if fails {
				return Outcome{}, errors.New("no luck")
			}
			return Outcome{Again: b.now().Add(time.Hour), Step: true}, nil
		})
		stage := b.cfg.Kinds["stage"]
		stage.Retry = Retry{Attempts: 3, Backoff: 10 * time.Second}
		b.cfg.Kinds["stage"] = stage
		b.start()
		b.put(store.Job{Name: "stage_a", Kind: "stage", Trigger: every(time.Hour), Due: b.now()})
		b.pass(time.Minute)
		fails = false
		_, before := b.begun()
		b.update(func(tx *store.Tx) error { return tx.Jobs.Wake("stage_a", tx.Now()) })
		b.pass(time.Minute)
		if _, after := b.begun(); after["stage_a"] == before["stage_a"] {
			t.Error("it was woken, and did not run within a minute")
		}
	})
}

func TestAWakeIsNotLostWhilePaused(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("stage", func(context.Context, store.Job) (Outcome, error) {
			return Outcome{Again: b.now().Add(time.Hour), Step: true}, nil
		})
		b.start()
		b.put(store.Job{Name: "stage_a", Kind: "stage", Trigger: every(time.Hour), Due: b.now()})
		b.pass(time.Second)
		b.update(func(tx *store.Tx) error { _, err := Pause(tx, "stage_a"); return err })
		b.update(func(tx *store.Tx) error { return tx.Jobs.Wake("stage_a", tx.Now()) })
		b.pass(time.Minute)
		b.update(func(tx *store.Tx) error { _, err := Resume(tx, "stage_a"); return err })
		b.pass(time.Minute)
		if _, of := b.begun(); of["stage_a"] != 2 {
			t.Errorf("%d runs", of["stage_a"])
		}
	})
}
