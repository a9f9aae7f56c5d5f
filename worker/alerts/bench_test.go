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
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/identities"
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
	vain store.Reason // why it is to be tried again
}

func (c *chore) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	c.mu.Lock()
	fail, took, vain := c.fail, c.took, c.vain
	c.mu.Unlock()
	if !vain.Zero() {
		return scheduler.Outcome{Again: time.Now().Add(5 * time.Second), Reason: vain}, nil
	}
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

func (c *chore) tryInVain(why store.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vain = why
}

// bench is a worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	cfg    Config
	worker *Worker
	chore  *chore
	mu     sync.Mutex // of the next two, while looks are taken
	disk   Disk
	blind  error // the disk cannot be measured
	beats  int
	deaf   bool // nobody hears the heart

	connection platform.Connection // of all logins

	path     string        // of the file, by hand
	ahead    time.Duration // how far the store's clock is, by hand
	problems int           // that are to be found in the file
}

func inBubble(t *testing.T, cfg Config, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, cfg: cfg, chore: &chore{}, disk: Disk{Free: 10 << 30, Need: 1 << 30}, connection: platform.Connection{State: platform.Off}}
		b.cfg.Disk = func() (Disk, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.disk, b.blind
		}
		b.cfg.Heartbeat = func(context.Context) error {
			if b.beats++; b.deaf {
				return errors.New("nobody answers")
			}
			return nil
		}
		b.cfg.Log = zerolog.Nop()
		b.start()
		b.Pass(time.Second)
		test(b)
	})
}

// byHand calls test in a bubble with a worker whose looks the test takes itself, on a store whose clock
// the test sets.
func byHand(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{path: filepath.Join(t.TempDir(), "belfry.db"), cfg: Config{Log: zerolog.Nop()}, connection: platform.Connection{State: platform.Off}}
		b.Bench = &schedulertest.Bench{T: t, Stop: func() {}}
		b.open()
		test(b)
		problems, err := b.DB.Verify()
		if err != nil || len(problems) != b.problems {
			t.Errorf("verify: %v, %v", problems, err)
		}
		b.close()
	})
}

// open opens the file as a new process would.
func (b *bench) open() {
	b.T.Helper()
	db, err := store.Open(b.path, store.Options{Now: func() time.Time { return time.Now().Add(b.ahead) }})
	if err != nil {
		b.T.Fatal(err)
	}
	b.DB, b.cfg.Wrong = db, b.wrong
	b.worker = New(db, teller{}, b.cfg)
}

func (b *bench) close() {
	b.T.Helper()
	if err := b.DB.Close(); err != nil {
		b.T.Fatal(err)
	}
}

// damage damages a row while nobody has the file open, and opens it again.
func (b *bench) damage(table string, id uint64) {
	b.T.Helper()
	b.close()
	schedulertest.Damage(b.T, b.path, table, id)
	b.open()
	b.problems++
}

// measure changes what is measured.
func (b *bench) measure(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// look lets a minute pass and takes a look.
func (b *bench) look() {
	b.T.Helper()
	b.Pass(time.Minute)
	b.lookAt(sight{disk: &b.disk})
}

// lookAt takes a look for which this was measured.
func (b *bench) lookAt(s sight) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error { _, err := b.worker.look(tx, s); return err })
}

// start starts a worker on the store, as a new process would.
func (b *bench) start() {
	b.T.Helper()
	b.Stop()
	b.cfg.Wrong = b.wrong
	b.worker = New(b.DB, teller{}, b.cfg)
	b.Start(b.worker.Module(), worker.Module{Kinds: map[string]scheduler.Kind{"chore": {Worker: b.chore, Timeout: time.Hour}}})
}

// logins is a network of which only the connections are known.
type logins struct {
	identities.Network
	bench *bench
}

func (l logins) Connection(uint64) platform.Connection { return l.bench.connection }

// wrong is what is wrong with other workers.
func (b *bench) wrong(tx *store.Tx) []store.Alert {
	all := identities.New(b.DB, logins{bench: b}, identities.Config{}).Module().Wrong(tx)
	for n := range tx.Notices.AllMissed() {
		all = append(all, store.Alert{Kind: store.AlertUnreached, About: n.Chat, Subject: n.ID, Name: n.Chat, Reason: n.Reason})
	}
	return all
}

// post writes a post with a status, as the worker of posts would; id 0 makes a new one.
func (b *bench) post(id uint64, status store.PostStatus) uint64 {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
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
	b.T.Helper()
	job.Kind = "chore"
	b.Update(func(tx *store.Tx) error { return scheduler.Put(tx, job) })
}

// told is the first line of what a chat was told since the last time that it was asked for.
func (b *bench) told(chat string) (lines []string) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		lines = nil
		for n := range tx.Notices.All() {
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
	b.T.Helper()
	got := b.told("admin")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.T.Errorf("%s: told %q, want %q", what, got, want)
	}
}

func (b *bench) alerts(state store.AlertState) (all []store.Alert) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		page, err := tx.Alerts.ByState(state, store.Query{Limit: 1000})
		all = page.Items
		return err
	})
	return all
}
