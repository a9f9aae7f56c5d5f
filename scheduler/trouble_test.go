package scheduler

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/bbolt"

	"belfry/store"
)

func TestComplaint10AnErrorOfTheStoreNeverEndsTheLoop(t *testing.T) {
	for name, made := range map[string]bool{"that undid the change": false, "after which the change is there": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				var down atomic.Bool
				var calls atomic.Int64
				b.between = func(real func(func(*store.Tx) error) error, fn func(*store.Tx) error) error {
					calls.Add(1)
					if !down.Load() {
						return real(fn)
					}
					if made {
						if err := real(fn); err != nil {
							return err
						}
					}
					return fmt.Errorf("%w: no space left on device", store.ErrUnavailable)
				}
				b.start()
				for i := range 20 {
					b.put(store.Job{Name: fmt.Sprint("post_", i), Lane: fmt.Sprint("lane", i%4), Trigger: b.in(time.Minute)})
				}
				b.put(store.Job{Name: "poll", Trigger: every(10 * time.Second)})
				b.pass(55 * time.Second)
				down.Store(true)
				calls.Store(0)
				b.pass(10 * time.Minute)
				if n := calls.Load(); n > 5*600 {
					t.Errorf("%d calls in ten minutes", n)
				}
				if b.sched.Status().Problem == "" {
					t.Error("the status does not say what is wrong")
				}
				down.Store(false)
				b.pass(10 * time.Second)
				_, of := b.begun()
				for i := range 20 {
					if of[fmt.Sprint("post_", i)] != 1 {
						t.Errorf("post_%d ran %d times", i, of[fmt.Sprint("post_", i)])
					}
				}
				if problem := b.sched.Status().Problem; problem != "" {
					t.Errorf("the status still says %q", problem)
				}
				before := of["poll"]
				b.pass(time.Minute)
				if _, of := b.begun(); of["poll"]-before != 6 {
					t.Errorf("%d runs in the minute after", of["poll"]-before)
				}
			})
		})
	}
}

func TestComplaint14OneBadRowBlocksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, stop: func() {}}
		path := filepath.Join(t.TempDir(), "belfry.db")
		open := func() {
			db, err := store.Open(path, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b.db, b.cfg = db, Config{Kinds: map[string]Kind{}}
			b.kind("noted", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
		}
		open()
		for i := range 5 {
			b.put(store.Job{Name: fmt.Sprint("post_", i), Trigger: b.in(time.Minute)})
		}
		if err := b.db.Close(); err != nil {
			t.Fatal(err)
		}
		damage(t, path, "jobs", 1)
		open()
		commits := b.db.Commits()
		b.start()
		b.pass(10 * time.Minute)
		if _, of := b.begun(); len(of) != 4 {
			t.Errorf("%d of the 4 good jobs ran", len(of))
		}
		if n := b.db.Commits() - commits; n > 40 {
			t.Errorf("%d commits: the loop spins", n)
		}
		b.stop()
		if err := b.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// damage changes a byte of a job's row.
func damage(t *testing.T, path, table string, id uint64) {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = file.Update(func(tx *bbolt.Tx) error {
		rows, key := tx.Bucket([]byte(table)), binary.BigEndian.AppendUint64(nil, id)
		row := append([]byte(nil), rows.Get(key)...)
		row[len(row)/2] ^= 0x20
		return rows.Put(key, row)
	})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// badEnder cannot end its jobs.
type badEnder struct{ Worker }

func (badEnder) End(tx *store.Tx, job store.Job, _ store.Reason) error {
	if err := tx.Settings.Set("half written", job.Name); err != nil {
		return err
	}
	if job.Name == "panics" {
		panic("a mistake")
	}
	return errors.New("cannot be ended")
}

func TestAJobThatItsWorkerCannotEndIsSetAsideAndStopsNoOther(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("bad", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, errors.New("no luck") })
		kind := b.cfg.Kinds["bad"]
		kind.Worker, kind.Retry = badEnder{kind.Worker}, Retry{Attempts: 1}
		b.cfg.Kinds["bad"] = kind
		skip := store.Lateness{Policy: store.LateSkip, Grace: time.Second}
		for _, name := range []string{"errs", "panics"} {
			b.put(store.Job{Name: name, Kind: "bad", Trigger: b.in(time.Minute), Lateness: skip})
			b.put(store.Job{Name: "good before " + name, Trigger: b.in(time.Second)})
			b.put(store.Job{Name: "good after " + name, Trigger: b.in(2 * time.Minute)})
		}
		b.pass(time.Hour) // too late for both
		b.start()
		b.pass(time.Second)
		b.put(store.Job{Name: "fails", Kind: "bad", Trigger: b.in(time.Second)})
		b.put(store.Job{Name: "next", Trigger: b.in(2 * time.Second)})
		b.pass(time.Minute)
		if _, of := b.begun(); len(of) != 4+2 {
			t.Errorf("runs %v", of)
		}
		for _, name := range []string{"errs", "panics", "fails"} {
			if job, _ := b.job(name); job.State != store.JobSetAside || job.Reason.Code != store.ReasonError {
				t.Errorf("%s: %+v", name, job)
			}
		}
		b.update(func(tx *store.Tx) error {
			if v, _ := tx.Settings.Value("half written"); v != "" {
				t.Error("what a failed end had written was kept")
			}
			return nil
		})
	})
}

func TestAPausedFileStartsNothingUntilItIsCleared(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.update(func(tx *store.Tx) error { return tx.Settings.Set("paused", "restored from a copy") })
		b.start()
		b.put(store.Job{Name: "post", Trigger: b.in(time.Minute)})
		b.pass(time.Hour)
		if _, of := b.begun(); of["post"] != 0 {
			t.Error("it ran")
		}
		if got := b.sched.Status().Paused; got != "restored from a copy" {
			t.Errorf("the status says %q", got)
		}
		b.update(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName("post")
			if err != nil {
				return err
			}
			if why, err := Why(tx, job); err != nil || why.Code != store.ReasonPaused {
				t.Errorf("it waits because of %+v, %v", why, err)
			}
			if _, _, found, err := Overdue(tx); found || err != nil {
				t.Errorf("overdue: %v, %v", found, err)
			}
			return tx.Settings.Set("paused", "")
		})
		b.pass(time.Millisecond)
		if _, of := b.begun(); of["post"] != 1 || b.sched.Status().Paused != "" {
			t.Errorf("%d runs right after it was cleared, status %+v", of["post"], b.sched.Status())
		}
	})
}

func TestWhatFindsNoConnectionIsOverdueFromItsFirstAttempt(t *testing.T) {
	inBubble(t, func(b *bench) {
		var why atomic.Value
		why.Store(store.ReasonNotConnected)
		b.kind("post", func(context.Context, store.Job) (Outcome, error) {
			<-time.After(5 * time.Second)
			return Outcome{Again: b.now().Add(5 * time.Second), Reason: store.Reason{Code: why.Load().(store.ReasonCode)}}, nil
		})
		b.start()
		b.put(store.Job{Name: "post", Kind: "post", Trigger: b.in(0)})
		late := func(after time.Duration) (d time.Duration, found bool) {
			b.pass(after)
			b.update(func(tx *store.Tx) error {
				_, since, late, err := Overdue(tx)
				d, found = tx.Now().Sub(since), late
				return err
			})
			return d, found
		}
		if _, found := late(time.Second); found {
			t.Error("it is overdue during its first attempt")
		}
		for range 3 {
			if d, found := late(7 * time.Second); !found || d > time.Minute {
				t.Errorf("overdue: %v, for %v", found, d)
			}
		}
		if d, found := late(7 * time.Minute); !found || d < 7*time.Minute {
			t.Errorf("overdue: %v, for %v", found, d)
		}
		why.Store(store.ReasonFlood)
		if d, found := late(time.Minute); found {
			t.Errorf("overdue for %v although the network has asked to wait", d)
		}
		why.Store(store.ReasonNotConnected)
		if d, found := late(time.Minute); !found || d > 2*time.Minute {
			t.Errorf("overdue: %v, for %v, after the connection was lost again", found, d)
		}
	})
}

// A worker that has made an outcome of an error says so, and what the end of the program or a store
// that fails has caused is no attempt of the job.
func TestWhatIsNobodysFailureTakesNoAttempt(t *testing.T) {
	giveUp := func(err error) Outcome {
		return Outcome{Failed: true, Err: err, Write: func(tx *store.Tx) error { return tx.Settings.Set("post", "failed") }}
	}
	written := func(b *bench) (v string) {
		b.update(func(tx *store.Tx) (err error) { v, err = tx.Settings.Value("post"); return err })
		return v
	}
	t.Run("the program ends", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.kind("post", func(ctx context.Context, job store.Job) (Outcome, error) {
				if job.Attempt < 3 {
					return Outcome{}, errors.New("no luck")
				}
				<-ctx.Done()
				return giveUp(ctx.Err()), nil
			})
			b.start()
			b.put(store.Job{Name: "post", Kind: "post", Trigger: b.in(0)})
			b.pass(time.Minute + 2*time.Minute + time.Second)
			b.stop()
			job, _ := b.job("post")
			if v := written(b); v != "" || job.State != store.JobWaiting || job.Attempt != 2 || job.Reason.Code != store.ReasonShuttingDown {
				t.Errorf("written %q, job %+v", v, job)
			}
		})
	})
	t.Run("the store fails", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			fails := 30
			down := fmt.Errorf("begin: %w: input/output error", store.ErrUnavailable)
			b.kind("post", func(context.Context, store.Job) (Outcome, error) {
				if fails--; fails < 0 {
					return Outcome{}, nil
				} else if fails%2 == 0 {
					return giveUp(down), nil
				}
				return Outcome{}, down
			})
			b.start()
			b.put(store.Job{Name: "post", Kind: "post", Trigger: b.in(0)})
			b.pass(31 * storeRetry)
			h := b.history("post")
			if v := written(b); v != "" || len(h) != 31 || h[30].Result != store.ResultDone || h[30].Attempt != 1 {
				t.Errorf("written %q, %d records, last %+v", v, len(h), h[len(h)-1])
			}
		})
	})
}

// The end of a run claims the next job of its lane. Where its commit reported an error and is there all the same, the end
// is written again, and must not claim one more beside it.
func TestALaneIsNotClaimedBesideAClaimInDoubt(t *testing.T) {
	inBubble(t, func(b *bench) {
		var commits, most atomic.Int64
		b.between = func(real func(func(*store.Tx) error) error, fn func(*store.Tx) error) error {
			err := real(func(tx *store.Tx) error {
				err, n := fn(tx), int64(0)
				for range tx.Jobs.Running() {
					n++
				}
				most.Store(max(most.Load(), n))
				return err
			})
			if err == nil && commits.Add(1)%3 == 0 {
				err = fmt.Errorf("%w: on purpose, although it was made", store.ErrUnavailable)
			}
			return err
		}
		b.start()
		for i := range 20 {
			b.put(store.Job{Name: fmt.Sprint("post_", i), Lane: "one", Trigger: b.in(time.Minute)})
		}
		b.pass(10 * time.Minute)
		if runs, _ := b.begun(); len(runs) != 20 || most.Load() != 1 {
			t.Errorf("%d runs; %d at once in the file", len(runs), most.Load())
		}
	})
}

func TestWhatTheFileHasSeenOfTheTimeIsKnownOnlyWhenItIsCommitted(t *testing.T) {
	inBubble(t, func(b *bench) {
		undone := errors.New("undone")
		b.between = func(real func(func(*store.Tx) error) error, fn func(*store.Tx) error) error {
			return real(func(tx *store.Tx) error { return errors.Join(fn(tx), undone) })
		}
		b.sched = New(b.db, b.cfg)
		b.sched.update = func(fn func(*store.Tx) error) error { return b.between(b.db.Update, fn) }
		b.sched.claimDue()
		if !b.sched.seen.IsZero() {
			t.Errorf("it takes %v for written", b.sched.seen)
		}
	})
}

func TestSomeLanesRunAlsoWhileTheFileIsPaused(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.EvenPaused = func(lane string) bool { return lane == "alerts" }
		b.update(func(tx *store.Tx) error { return tx.Settings.Set("paused", "by hand") })
		b.start()
		b.put(store.Job{Name: "post", Trigger: b.in(0)})
		for i := range 3 { // the second and third are handed over
			b.put(store.Job{Name: fmt.Sprint("alert_", i), Lane: "alerts", Trigger: b.in(time.Second)})
		}
		b.pass(time.Minute)
		if _, of := b.begun(); of["post"] != 0 || len(of) != 3 {
			t.Errorf("runs %v", of)
		}
	})
}

// The end of a run may see before the loop does that the pause is over.
func TestWhateverSeesFirstThatThePauseIsOverAllLanesGoOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.update(func(tx *store.Tx) error { return tx.Settings.Set("paused", "by hand") })
		b.put(store.Job{Name: "post", Trigger: b.in(0)})
		b.sched = New(b.db, b.cfg)
		if wait := b.sched.untilNext(); wait <= 0 {
			t.Fatalf("paused, and something may be claimed in %v", wait)
		}
		b.update(func(tx *store.Tx) error {
			if err := tx.Settings.Set("paused", ""); err != nil {
				return err
			}
			_, err := b.sched.readPause(tx)
			return err
		})
		if wait := b.sched.untilNext(); wait > 0 {
			t.Errorf("the post waits for %v", wait)
		}
	})
}

func TestTheLogNamesNoTimeThatThereIsNot(t *testing.T) {
	inBubble(t, func(b *bench) {
		var log bytes.Buffer
		b.cfg.Log = zerolog.New(&log)
		b.start()
		b.put(store.Job{Name: "post", Trigger: b.in(0)})
		b.pass(time.Second)
		b.stop()
		if text := log.String(); !strings.Contains(text, "run ended") || strings.Contains(text, "0001-01-01") {
			t.Error(text)
		}
	})
}

func TestADamagedSettingDoesNotKeepTheScheduleFromRunning(t *testing.T) {
	for _, name := range []string{settingSeen, settingMove, settingPaused} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "belfry.db")
				db, err := store.Open(path, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				err = db.Update(func(tx *store.Tx) error { return tx.Settings.Set(name, "") })
				if err := errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
				damage(t, path, "settings", 1)
				if db, err = store.Open(path, store.Options{}); err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				var ran atomic.Int32
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() {
					work := workerFunc(func(context.Context, store.Job) (Outcome, error) { ran.Add(1); return Outcome{}, nil })
					if err := New(db, Config{Kinds: map[string]Kind{"test": {Worker: work, Timeout: time.Minute}}}).Run(ctx); err != nil {
						t.Error(err)
					}
				})
				update := func(fn func(tx *store.Tx) error) {
					if err := db.Update(fn); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Minute)
				}
				update(func(tx *store.Tx) error {
					return Put(tx, store.Job{Name: "a", Kind: "test", Lane: "a", Trigger: once(time.Now())})
				})
				if paused := name == settingPaused; paused != (ran.Load() == 0) {
					t.Errorf("%d runs", ran.Load())
				}
				update(ResumeAll)
				if ran.Load() != 1 {
					t.Errorf("%d runs after everything was resumed", ran.Load())
				}
				cancel()
				running.Wait()
			})
		})
	}
}
