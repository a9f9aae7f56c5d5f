package alerts

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// teller keeps in the store what it is asked to tell.
type teller struct{}

func (teller) Tell(tx *store.Tx, n store.Notice, _ ...string) error {
	n.Chat = "admin"
	return keep(tx, n)
}

func (teller) TellHook(tx *store.Tx, kind string, body []byte) error {
	return keep(tx, store.Notice{Kind: kind, Chat: store.WebhookChat, Text: string(body)})
}

func keep(tx *store.Tx, n store.Notice) error {
	n.ID, n.Key, n.CreatedAt = 0, platform.NewKey(), tx.Now()
	return tx.Notices.Add(&n)
}

// chore is a job of another worker, which fails when a test says so.
type chore struct {
	mu   sync.Mutex
	fail bool
	took time.Duration
}

func (c *chore) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	c.mu.Lock()
	fail, took := c.fail, c.took
	c.mu.Unlock()
	if took > 0 {
		select {
		case <-time.After(took):
		case <-ctx.Done():
		}
	}
	if fail {
		return scheduler.Outcome{Failed: true, Reason: store.Reason{Code: store.ReasonError, Detail: "no luck"}}, nil
	}
	return scheduler.Outcome{}, nil
}

func (c *chore) set(fail bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail, c.took = fail, took
}

// bench is a worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	t      *testing.T
	db     *store.DB
	cfg    Config
	worker *Worker
	chore  *chore
	disk   Disk
	beats  int
	deaf   bool // nobody hears the heart
	stop   func()
}

func inBubble(t *testing.T, cfg Config, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, db: db, cfg: cfg, chore: &chore{}, disk: Disk{Free: 10 << 30, Need: 1 << 30}, stop: func() {}}
		b.cfg.Disk = func() (Disk, error) { return b.disk, nil }
		b.cfg.Heartbeat = func(context.Context) error {
			if b.beats++; b.deaf {
				return errors.New("nobody answers")
			}
			return nil
		}
		b.cfg.Log = zerolog.Nop()
		b.start()
		b.pass(time.Second)
		test(b)
		b.stop()
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// start starts a worker and a scheduler on the store, as a new process would.
func (b *bench) start() {
	b.t.Helper()
	b.stop()
	b.worker = New(b.db, teller{}, b.cfg)
	if err := b.worker.Start(); err != nil {
		b.t.Fatal(err)
	}
	kinds := b.worker.Jobs()
	kinds["chore"] = scheduler.Kind{Worker: b.chore, Timeout: time.Hour}
	sched := scheduler.New(b.db, scheduler.Config{Log: zerolog.Nop(), Kinds: kinds, Drain: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- sched.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
	synctest.Wait()
}

func (b *bench) pass(d time.Duration) {
	<-time.NewTimer(d).C
	synctest.Wait()
}

func (b *bench) update(fn func(*store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(fn); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// post writes a post with a status, as the worker of posts would; id 0 makes a new one.
func (b *bench) post(id uint64, status store.PostStatus) uint64 {
	b.t.Helper()
	b.update(func(tx *store.Tx) error {
		p := store.Post{ID: id, Platform: "telegram", Target: "@evening_news", Text: "Hello", Status: status, ScheduledTime: tx.Now(),
			Reason: store.Reason{Code: store.ReasonRefused, Detail: "no rights"}, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		err := tx.Posts.Put(&p)
		id = p.ID
		return err
	})
	return id
}

// job puts a job of another worker into the schedule.
func (b *bench) job(job store.Job) {
	b.t.Helper()
	job.Kind = "chore"
	b.update(func(tx *store.Tx) error { return scheduler.Put(tx, job) })
}

// told is the first line of what a chat was told since the last time that it was asked for.
func (b *bench) told(chat string) (lines []string) {
	b.t.Helper()
	b.update(func(tx *store.Tx) error {
		lines = nil
		for n, err := range tx.Notices.All() {
			if err != nil {
				return err
			}
			if n.Chat != chat || !n.Open() {
				continue
			}
			line, _, _ := strings.Cut(n.Text, "\n")
			lines = append(lines, line)
			n.SentAt = tx.Now()
			if err := tx.Notices.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
	return lines
}

// wantTold checks what the admins were told since the last time.
func (b *bench) wantTold(what string, want ...string) {
	b.t.Helper()
	got := b.told("admin")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

func (b *bench) alerts(state store.AlertState) (all []store.Alert) {
	b.t.Helper()
	err := b.db.View(func(tx *store.Tx) error {
		page, err := tx.Alerts.ByState(state, store.Query{Limit: 1000})
		all = page.Items
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}
