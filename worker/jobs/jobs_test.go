package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/rules"
)

// network takes all messages and knows repetitions by their keys, as Telegram does.
type network struct {
	slow  time.Duration
	sent  map[int64]string // by key
	order []string
	fail  func() error // before anything is sent; nil: nothing fails
	lost  func() error // after it is sent; nil: it is answered
}

func (n *network) Check(p platform.Post) (platform.Measure, error) {
	return platform.Measure{Length: len(p.Text), Limit: 4096}, nil
}
func (n *network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}
func (n *network) Reach(context.Context, uint64, string) error { return nil }
func (n *network) Publisher(uint64) platform.Publisher         { return n }
func (n *network) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	if n.fail != nil {
		if err := n.fail(); err != nil {
			return platform.Receipt{}, err
		}
	}
	if n.sent[p.Key] == "" {
		n.sent[p.Key] = p.Text
		n.order = append(n.order, p.Text)
	}
	select {
	case <-ctx.Done():
		return platform.Receipt{}, ctx.Err()
	case <-time.After(n.slow):
	}
	if n.lost != nil {
		return platform.Receipt{}, n.lost()
	}
	return platform.Receipt{MessageIDs: []int64{1}}, nil
}

type bench struct {
	*schedulertest.Bench
	network *network
	jobs    *Worker
	posts   *posts.Worker
	rules   *rules.Worker
}

func inBubble(t *testing.T, test func(*bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, network: &network{sent: map[int64]string{}}}
		b.Update(func(tx *store.Tx) error {
			return tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "main", Target: "@one", State: store.IdentityReady})
		})
		b.make()
		test(b)
	})
}

// make makes and starts the workers, as a new process would.
func (b *bench) make() {
	b.posts = posts.New(b.DB, map[string]posts.Network{"telegram": b.network}, posts.Config{})
	b.rules = rules.New(b.DB, b.posts, rules.Sources{}, rules.Config{})
	checks := accounts.New(b.DB, nil, notices.New(b.DB, notices.Config{}), accounts.Config{})
	b.jobs = New(b.DB, Workers{Posts: b.posts, Rules: b.rules, Accounts: checks, Messages: b.network}, Config{BackupKeep: 2})
	b.Start(b.jobs.Module(), b.posts.Module(), b.rules.Module())
}

// add makes a job: a message, unless the request says otherwise.
func (b *bench) add(r Request) store.Job {
	b.T.Helper()
	if r.Title = "Job"; r.Action.Type == "" {
		r.Action = store.Action{Type: store.ActionMessage, Text: "hello"}
	}
	d, err := b.jobs.Prepare(context.Background(), r)
	if err != nil {
		b.T.Fatal(err)
	}
	var made store.Job
	b.Update(func(tx *store.Tx) (err error) {
		made, err = b.jobs.Create(tx, d)
		return err
	})
	return made
}

func (b *bench) in(d time.Duration) string { return b.DB.Now().Add(d).Format(time.RFC3339) }

// job is the job with the given name; false if it is gone.
func (b *bench) job(name string) (job store.Job, found bool) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		if job, err = tx.Jobs.ByName(name); errors.Is(err, store.ErrNotFound) {
			return nil
		}
		found = true
		return err
	})
	return job, found
}

func TestAMessageIsSentOnceWhereverTheProgramEnds(t *testing.T) {
	for step := range 8 {
		inBubble(t, func(b *bench) {
			b.network.slow = 2 * time.Second
			b.add(Request{Trigger: Schedule{At: b.in(time.Hour)}})
			b.Pass(time.Hour + time.Duration(step)*500*time.Millisecond)
			b.make()
			b.Pass(time.Hour)
			if _, found := b.job("job_1"); found || len(b.network.order) != 1 {
				t.Errorf("ended after %d half seconds: sent %q, the job is there: %v", step, b.network.order, found)
			}
			b.View(func(tx *store.Tx) error {
				if _, err := tx.OwnJobs.Get(1); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("its record is left: %v", err)
				}
				runs, err := tx.Runs.Of("job_1", store.Query{})
				if len(runs.Items) == 0 {
					t.Error("its history is gone")
				}
				return err
			})
		})
	}
}

func TestAnAnswerThatWasLostSendsNothingTwice(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.network.lost = func() error {
			b.network.lost = nil
			return &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeChat, Err: errors.New("no answer")}
		}
		b.add(Request{Trigger: Schedule{Every: "1h"}})
		b.Pass(3*time.Hour + time.Minute)
		if len(b.network.order) != 3 {
			t.Errorf("%d messages in three hours", len(b.network.order))
		}
	})
}

func TestARequestedRunTakesNothingFromTheSchedule(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.add(Request{Trigger: Schedule{Every: "1h"}})
		b.Pass(30 * time.Minute)
		b.Update(func(tx *store.Tx) error {
			_, err := b.jobs.Do(tx, Run, "job_1")
			return err
		})
		if b.Pass(time.Second); len(b.network.order) != 1 {
			t.Errorf("%d messages when it was asked for", len(b.network.order))
		}
		if b.Pass(time.Hour); len(b.network.order) != 2 {
			t.Errorf("%d messages after its time", len(b.network.order))
		}
	})
}

// What runs once and fails for good is set aside, with its key: if it is out after all, it is not sent again.
func TestAJobThatFailsForGoodIsSetAside(t *testing.T) {
	inBubble(t, func(b *bench) {
		refusal := &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: errors.New("no such chat")}
		b.network.fail = func() error { return refusal }
		b.add(Request{Trigger: Schedule{At: b.in(time.Minute)}})
		b.Pass(time.Hour)
		job, _ := b.job("job_1")
		if job.State != store.JobSetAside || job.Reason.Code != store.ReasonRefused || job.Failures != 1 {
			t.Errorf("%+v", job)
		}
		b.View(func(tx *store.Tx) error {
			all, err := scheduler.WhyNot(tx)
			if len(all) != 1 || all[0].Code != "set_aside" {
				t.Errorf("why not: %+v", all)
			}
			return err
		})
		b.network.fail = nil
		b.Update(func(tx *store.Tx) error {
			_, err := b.jobs.Do(tx, Run, "job_1")
			return err
		})
		b.Pass(time.Minute)
		if _, found := b.job("job_1"); found || len(b.network.order) != 1 {
			t.Errorf("run again: sent %q, there %v", b.network.order, found)
		}
	})
}

func TestAttemptsAreCountedAndPaced(t *testing.T) {
	inBubble(t, func(b *bench) {
		var at []time.Time
		b.jobs.calls = round(func(*http.Request) (*http.Response, error) {
			at = append(at, b.DB.Now())
			return &http.Response{StatusCode: 500, Status: "500", Body: io.NopCloser(strings.NewReader("")), Header: http.Header{}}, nil
		})
		b.add(Request{Trigger: Schedule{Every: "24h"}, Attempts: 4, Backoff: 10 * time.Minute,
			Action: store.Action{Type: store.ActionWebhook, URL: "https://hook.example/in"}})
		b.Pass(36 * time.Hour)
		if len(at) != 4 || at[1].Sub(at[0]) < 8*time.Minute || at[3].Sub(at[2]) < 24*time.Minute {
			t.Errorf("attempts at %v", at)
		}
		job, _ := b.job("job_1")
		if job.State != store.JobWaiting || job.LastResult != store.ResultFailed || job.LastReason.Code != store.ReasonGaveUp {
			t.Errorf("%+v", job)
		}
	})
}

type round func(*http.Request) (*http.Response, error)

func (r round) RoundTrip(q *http.Request) (*http.Response, error) { return r(q) }

func TestARuleIsCarriedOutOnceForEachRun(t *testing.T) {
	inBubble(t, func(b *bench) {
		d, err := b.rules.Prepare(context.Background(), rules.Request{Name: "Rule", Active: true, ScheduleType: "daily",
			Schedule: rules.Schedule{Times: []string{"23:59"}}, Platforms: []string{"telegram"}, Content: store.RuleContent{Source: "template", Template: "Post {number}"}})
		if err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.rules.Create(tx, d)
			return err
		})
		b.add(Request{Trigger: Schedule{Times: []string{"10:00", "12:00"}}, Action: store.Action{Type: store.ActionRule, RuleID: 1}})
		b.Pass(13 * time.Hour)
		if len(b.network.order) != 2 {
			t.Errorf("posts %q", b.network.order)
		}
		b.Update(func(tx *store.Tx) error { return b.rules.Remove(tx, 1) })
		b.Pass(24 * time.Hour)
		if job, _ := b.job("job_1"); job.LastResult != store.ResultFailed || !strings.Contains(job.LastReason.Detail, "not found") {
			t.Errorf("without the rule: %+v", job)
		}
	})
}

func TestABroadcastGoesAtItsOwnPace(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			return scheduler.Put(tx, store.Job{Name: "task_4", Kind: "task", Subject: 4, Lane: "telegram:main", Trigger: store.Trigger{At: tx.Now().Add(time.Hour)}})
		})
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.jobs.Do(tx, Run, "task_4")
			return err
		})
		if _, refused := errors.AsType[*store.ConflictError](err); !refused {
			t.Errorf("the job of a broadcast was run by hand: %v", err)
		}
	})
}

func TestBackupsAreMadeAndTheOldestRemoved(t *testing.T) {
	inBubble(t, func(b *bench) {
		dir := filepath.Join(filepath.Dir(b.DB.Path()), "backups")
		others := []string{"belfry-1999-before-the-upgrade.db", "belfry-20310101-000000.db", "belfry-20310101-010000.db"}
		for _, name := range others {
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		b.add(Request{Trigger: Schedule{Every: "1h"}, Action: store.Action{Type: store.ActionBackup}})
		b.Pass(4*time.Hour + time.Minute)
		for _, name := range others { // they are not the job's, or of a clock that was ahead
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		made, err := filepath.Glob(filepath.Join(dir, "belfry-*.db"))
		if err != nil || len(made) != 2 {
			t.Fatalf("%v, %v", made, err)
		}
		if info, err := os.Stat(made[1]); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%v, %v", info, err)
		}
		copied, err := store.Open(made[1], store.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		b.View(func(tx *store.Tx) error {
			last, err := tx.Settings.Value(store.LastBackup)
			if at, bad := time.Parse(time.RFC3339, last); bad != nil || b.DB.Now().Sub(at) > 2*time.Minute {
				t.Errorf("the last backup was %q", last)
			}
			return err
		})
	})
}

func TestAChangeHoldsAndARunningJobRefusesIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.network.slow = 10 * time.Second
		b.add(Request{Trigger: Schedule{Every: "1h"}})
		change := func() error {
			d, err := b.jobs.PrepareChange(context.Background(), "job_1", func(r *Request) { r.Action.Text = "other" })
			if err != nil {
				return err
			}
			return b.DB.Update(func(tx *store.Tx) error {
				_, err := b.jobs.Change(tx, d)
				return err
			})
		}
		b.Pass(time.Hour + time.Second)
		if _, conflict := errors.AsType[*store.ConflictError](change()); !conflict {
			t.Error("a running job was changed")
		}
		b.Pass(time.Minute)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if b.Pass(time.Hour); fmt.Sprint(b.network.order) != "[hello other]" {
			t.Errorf("sent %q", b.network.order)
		}
		b.Update(func(tx *store.Tx) error { return b.jobs.Remove(tx, "job_1") })
		if b.Pass(3 * time.Hour); len(b.network.order) != 2 {
			t.Errorf("sent %q after it was deleted", b.network.order)
		}
	})
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	inBubble(t, func(b *bench) {
		good := Request{Title: "Job", Trigger: Schedule{Every: "1h"}, Action: store.Action{Type: store.ActionWebhook, URL: "https://hook.example/"}}
		for field, spoil := range map[string]func(*Request){
			"title":                   func(r *Request) { r.Title = " " },
			"trigger":                 func(r *Request) { r.Trigger.Cron = "* * * * *" },
			"trigger.every":           func(r *Request) { r.Trigger.Every = "soon" },
			"trigger.at":              func(r *Request) { r.Trigger = Schedule{At: b.in(-time.Hour)} },
			"trigger.days_of_week[0]": func(r *Request) { r.Trigger = Schedule{Times: []string{"09:00"}, Days: []int{8}} },
			"trigger.zone":            func(r *Request) { r.Trigger = Schedule{Cron: "0 9 * * *", Zone: "Mars/Base"} },
			"tags":                    func(r *Request) { r.Tags = []string{"a b"} },
			"max_attempts":            func(r *Request) { r.Attempts = -1 },
			"lateness.grace":          func(r *Request) { r.Lateness.Policy = store.LateSkip },
			"action.type":             func(r *Request) { r.Action.Type = "dance" },
			"action.url":              func(r *Request) { r.Action.URL = "http://127.0.0.1/x" },
			"action.secret":           func(r *Request) { r.Action.Secret = "whsec_short" },
			"action.payload":          func(r *Request) { r.Action.Payload = json.RawMessage("{") },
			"action.id":               func(r *Request) { r.Action = store.Action{Type: store.ActionRule, RuleID: 9} },
			"action.identity_id":      func(r *Request) { r.Action = store.Action{Type: store.ActionMessage, IdentityID: 9, Text: "x"} },
		} {
			r := good
			spoil(&r)
			_, err := b.jobs.Prepare(context.Background(), r)
			refused, ok := errors.AsType[*store.FieldError](err)
			if !ok || refused.Field != field {
				t.Errorf("%s: %v", field, err)
			}
			for _, lang := range []string{"en", "ru"} {
				if said := i18n.For(lang, time.UTC).Error(err); strings.Contains(said, "%!") || strings.Contains(said, "allow_past") || strings.Contains(said, "Как можно") {
					t.Errorf("%s: %s", field, said)
				}
			}
		}
	})
}

func TestAMessageThatHasBecomeTooLateInAnOutageIsSkipped(t *testing.T) {
	inBubble(t, func(b *bench) {
		up := time.Now().Add(6 * time.Hour)
		b.network.fail = func() error {
			if time.Now().After(up) {
				return nil
			}
			return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("down")}
		}
		b.add(Request{Trigger: Schedule{At: b.in(time.Hour)}, Lateness: store.Lateness{Policy: store.LateSkip, Grace: 10 * time.Minute}})
		time.Sleep(7 * time.Hour)
		if len(b.network.order) > 0 {
			t.Errorf("sent hours late: %v", b.network.order)
		}
	})
}
