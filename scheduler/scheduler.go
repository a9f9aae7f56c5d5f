// Package scheduler runs jobs at their times. A job is a row of the store; what it does is a
// [Worker]'s.
//
// It promises that a run is begun only after its claim is on the disk, that what a run learned is
// committed together with the job's next state, that a job never runs twice at once, that a lane
// never has more runs than its limit, and that nothing which was due disappears without a record.
// It does not promise that a run happens only once: a process that dies during a run begins it
// again, with the same job and a higher attempt, so workers make their calls repeatable.
//
// The loop is go-quartz's over a queue of ours; everything that must survive is in the store.
package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reugn/go-quartz/quartz"
	"github.com/rs/zerolog"

	"belfry/store"
)

// A Worker does the work of one kind of job. Run is called outside any transaction; it returns
// when the work is done or ctx ends, which it does at the job's time limit and at the end of the
// program. An error or a panic is recorded and the run is tried again as the [Kind] says.
type Worker interface {
	Run(ctx context.Context, job store.Job) (Outcome, error)
}

// A Beginner is a Worker whose runs begin in the transactions that claim their jobs. Begin decides what the run
// is to do, writes that it begins, and returns the worker of this one run, which keeps what Begin has read: no
// change can come between. It is called as [store.DB.Update] calls its function. If it fails or panics, nothing of
// what it wrote is kept, and the run is one that failed with this error.
//
// The claim counts as the begin of the run also where the program ends before the run does, or where it is not known
// whether the claim was committed; in both cases Begin is called again for the next run.
type Beginner interface {
	Begin(tx *store.Tx, job store.Job) (Worker, error)
}

// An Ender is a Worker that is told when the scheduler ends a job on its own: because all attempts
// were used, or because it was too late. It writes what that means for the job's subject, in the
// transaction that ends the job.
type Ender interface {
	End(tx *store.Tx, job store.Job, why store.Reason) error
}

// Outcome is what a run that took its course leads to.
type Outcome struct {
	// Write is what the run learned. It is called in the transaction that ends the run, perhaps
	// more than once, as [store.DB.Update] says. It may put, change and delete jobs, also its own.
	Write func(*store.Tx) error
	// Again is when the job is to be run again before the schedule goes on; zero means that this
	// occurrence is done.
	Again time.Time
	// Reason says why Again, or what there is to know about the end.
	Reason store.Reason
	// Step says that the run was one of many steps, of which the worker keeps a record of its own: if
	// it asks to be called again, the history does not tell of it.
	Step bool
	// Idle says that the run does not show whether the work goes well: where it has not failed, it leaves the
	// number of failures in a row as it is.
	Idle bool
	// Failed makes the history tell a failure, although the worker has dealt with it.
	Failed bool
	// SetAside takes the job out of the schedule, for the reason, until a person resumes, runs or deletes it.
	SetAside bool
	// Err is what went wrong where the worker has made an outcome of an error. It decides whether the
	// run counts: while the program ends, or the store cannot be used, an outcome with an Err is dropped
	// and the run is done again.
	Err error
	// WallClock says that Again is a time of day: it stays where it is when the clock is set forward or
	// the machine has slept, and is looked at again when the clock is set back.
	WallClock bool
	// Hold keeps all jobs of the job's lane from being started until then; zero holds nothing.
	Hold time.Time
}

// Kind is how jobs of one kind are run.
type Kind struct {
	Worker  Worker
	Timeout time.Duration // of one run; 0 means 5 minutes
	Retry   Retry         // after errors, panics and time-outs
	// About says in a few words what a job is about, such as a channel's name; empty if that is gone. Nil: the kind
	// says all.
	About func(tx *store.Tx, subject uint64) string
	// Routine jobs come up all the time by themselves: lists of what comes next leave them out.
	Routine bool
}

// Kinds are the kinds of job of a program, by name.
type Kinds map[string]Kind

// About says in a few words what a job is about; empty if that is not known, or its kind says all.
func (k Kinds) About(tx *store.Tx, j store.Job) string {
	if about := k[j.Kind].About; about != nil {
		return about(tx, j.Subject)
	}
	return ""
}

// Names returns their names in order.
func (k Kinds) Names() []string { return slices.Sorted(maps.Keys(k)) }

// Retry says how often and when a failed run is tried again.
type Retry struct {
	Attempts int           // runs in all; 0 means 3
	Backoff  time.Duration // the pause after attempt n is n times this, ± Jitter; 0 means a minute
	Jitter   float64       // 0.2 varies the pause by up to 20 % in both directions
}

// Config is the settings of a [Scheduler].
type Config struct {
	Kinds Kinds
	// LaneLimit returns how many jobs of a lane may run at once. Nil means one in each lane.
	LaneLimit func(lane string) int
	// Drain is how long runs may go on after the end has been asked for; 0 means 10 s.
	Drain time.Duration
	// EvenPaused reports whether the jobs of a lane run also while the file is paused. Nil means that
	// none do.
	EvenPaused func(lane string) bool
	// Plausible is a time that the wall clock has surely passed. While the clock shows an earlier
	// one, as a machine without a battery does after power-on, nothing is started.
	Plausible time.Time
	// Observe is told of each run that has ended, or did not take place, when that is on the disk; nil is not. due is
	// when it was to begin, and zero if it did not. It is called from any goroutine, must be quick and not use the store.
	Observe func(run store.Run, due time.Time)
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
	Log zerolog.Logger
}

const (
	defaultTimeout  = 5 * time.Minute
	defaultAttempts = 3
	defaultBackoff  = time.Minute
	defaultDrain    = 10 * time.Second

	// writeOffAfter is how long a run may ignore the end of its context before its slot is given
	// to others.
	writeOffAfter = 10 * time.Second
)

// Scheduler starts the jobs of a store at their times. Make it with [New], then call Run once.
type Scheduler struct {
	db     *store.DB
	cfg    Config
	clock  *clock
	agenda *agenda
	wake   func() // makes the loop look at the head of the queue again

	// update is db.Update. Tests let it fail.
	update func(fn func(*store.Tx) error) error

	ended store.Job // the row of a run whose end is written; transactions come one after the other

	// handing is held for reading from before a transaction in which the end of a run claims the
	// next one until that is in active; for writing while jobs are looked for that run nowhere. It
	// comes before mu.
	handing sync.RWMutex

	mu        sync.Mutex
	lanes     map[string]int       // slots in use
	active    map[string]*run      // by job name
	ends      map[string]Ends      // by kind
	abandoned map[string]bool      // jobs whose last run was written off and has not returned
	freed     map[string]bool      // lanes in which slots have become free
	passed    map[uint64]time.Time // jobs that are not looked at before that
	lastLane  string               // in which something was claimed
	started   time.Time
	begun     chan struct{} // closed when started is set
	stopping  bool
	paused    string    // why nothing is started
	problem   error     // why the store cannot be used at the moment
	retryAt   time.Time // when it is tried again; carries the monotonic reading
	doubt     bool      // the store may hold jobs as running that nobody runs
	seen      time.Time // what the file was last told of the time
	moving    bool      // a step of the clock has not been dealt with
	unmoved   time.Duration
	planned   map[string]time.Duration // how much of unmoved was known when a job or the hold of a lane was planned

	runs   sync.WaitGroup
	cancel context.CancelCauseFunc // ends the runs' context
	ctx    context.Context         // of the runs
}

// New returns a scheduler for the jobs in db.
func New(db *store.DB, cfg Config) *Scheduler {
	if cfg.LaneLimit == nil {
		cfg.LaneLimit = func(string) int { return 1 }
	}
	if cfg.EvenPaused == nil {
		cfg.EvenPaused = func(string) bool { return false }
	}
	if cfg.Drain == 0 {
		cfg.Drain = defaultDrain
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for name, kind := range cfg.Kinds {
		cfg.Kinds[name] = kind.withDefaults()
	}
	s := &Scheduler{
		db: db, cfg: cfg,
		clock:     newClock(cfg.Now, cfg.Plausible),
		lanes:     make(map[string]int),
		active:    make(map[string]*run),
		ends:      make(map[string]Ends),
		abandoned: make(map[string]bool),
		freed:     make(map[string]bool),
		agenda:    newAgenda(),
		passed:    make(map[uint64]time.Time),
		begun:     make(chan struct{}),
		update:    db.Update,
		wake:      func() {},
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

func (k Kind) withDefaults() Kind {
	if k.Timeout == 0 {
		k.Timeout = defaultTimeout
	}
	if k.Retry.Attempts == 0 {
		k.Retry.Attempts = defaultAttempts
	}
	if k.Retry.Backoff == 0 {
		k.Retry.Backoff = defaultBackoff
	}
	return k
}

// room is memory that is never touched, so the machine gives none for it, and that the collector counts as in use: it
// runs after 16 MB of garbage at the earliest, in place of 4. Many short runs make much garbage and keep little. The
// first call makes it, for the rest of the process.
var room = sync.OnceValue(func() []byte { return make([]byte, 16<<20) })

// errEnding is the cause with which the runs' context ends when the program does.
var errEnding = fmt.Errorf("belfry is ending: %w", context.Canceled)

// Run starts jobs until ctx ends, then lets the runs under way end within [Config.Drain] and
// returns. It may be called once. A failure of the store does not end it; it goes on when the
// store does.
func (s *Scheduler) Run(ctx context.Context) error {
	defer s.cancel(errEnding)
	changed, unwatch := s.db.Watch("jobs", "holds", "settings")
	defer unwatch()
	if err := s.readState(); err != nil {
		return fmt.Errorf("read the state of the schedule: %w", err)
	}
	if err := s.readEnds(); err != nil {
		return fmt.Errorf("read how the last runs ended: %w", err)
	}
	if err := s.recover(); err != nil {
		return fmt.Errorf("take up the jobs of the run before: %w", err)
	}
	loop, err := quartz.NewStdScheduler(
		quartz.WithQueue(queue{s}, &sync.Mutex{}),
		quartz.WithOutdatedThreshold(100*365*24*time.Hour), // lateness is decided when a job is claimed
		quartz.WithBlockingExecution(),                     // executing is handing over, see [starts]
	)
	if err != nil {
		return fmt.Errorf("start the loop: %w", err)
	}
	s.mu.Lock()
	s.wake = loop.(*quartz.StdScheduler).Reset
	s.started = s.cfg.Now()
	s.mu.Unlock()
	close(s.begun)
	room()

	loop.Start(ctx)
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case _, open = <-changed:
			s.wake()
		}
	}
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	loop.Stop()
	loop.Wait(context.Background())
	s.drain()
	return nil
}

// Begun returns a channel that is closed as soon as [Scheduler.Run] starts jobs.
func (s *Scheduler) Begun() <-chan struct{} { return s.begun }

// drain waits for the runs under way. What has not ended in time is told to, and what does not
// obey is left: its claim is void at the next start.
func (s *Scheduler) drain() {
	done := make(chan struct{})
	go func() {
		s.runs.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-time.After(s.cfg.Drain):
	}
	s.cancel(errEnding)
	select {
	case <-done:
	case <-time.After(time.Second):
		s.mu.Lock()
		defer s.mu.Unlock()
		for name := range s.active {
			s.cfg.Log.Warn().Str("job", name).Msg("run did not end in time; it is done again after the start")
		}
	}
}
