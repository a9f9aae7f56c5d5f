package scheduler

import (
	"container/heap"
	"slices"
	"time"

	"belfry/store"
)

// agenda says for each lane when something in it may be claimed, so that the loop looks only at lanes that
// have something due or have changed, however many others there are. Lanes that are full, that nothing
// waits in, or that the pause of the file stops are not in it. It belongs to the loop's goroutine.
type agenda struct {
	lanes map[string]*laneTime
	times laneTimes
	look  map[string]bool // lanes to be looked at before the agenda is right
	all   bool            // all lanes are

	paused  bool      // as the file was when the lanes were looked at
	commits uint64    // the file's when it was looked at last; nothing in it is new before there are more
	leases  time.Time // when the next lease ends; zero if there is none
}

// laneTime is a lane and when something in it may be claimed.
type laneTime struct {
	lane  string
	at    time.Time
	place int
}

func newAgenda() *agenda {
	return &agenda{lanes: make(map[string]*laneTime), look: make(map[string]bool), all: true}
}

// put says when something in a lane may be claimed.
func (a *agenda) put(lane string, at time.Time) {
	if known := a.lanes[lane]; known != nil {
		known.at = at
		heap.Fix(&a.times, known.place)
		return
	}
	fresh := &laneTime{lane: lane, at: at}
	a.lanes[lane] = fresh
	heap.Push(&a.times, fresh)
}

func (a *agenda) remove(lane string) {
	if known := a.lanes[lane]; known != nil {
		heap.Remove(&a.times, known.place)
		delete(a.lanes, lane)
	}
}

// next is when something may be claimed first.
func (a *agenda) next() (at time.Time, found bool) {
	if len(a.times) == 0 {
		return at, false
	}
	return a.times[0].at, true
}

// takeDue returns the lanes in which something may be claimed now, by their names. They are looked at
// again before they are in the agenda once more.
func (a *agenda) takeDue(now time.Time) (lanes []string) {
	for len(a.times) > 0 && !a.times[0].at.After(now) {
		lane := a.times[0].lane
		a.remove(lane)
		a.look[lane] = true
		lanes = append(lanes, lane)
	}
	slices.Sort(lanes)
	return lanes
}

// laneTimes is a [heap.Interface] by time.
type laneTimes []*laneTime

func (h laneTimes) Len() int           { return len(h) }
func (h laneTimes) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h laneTimes) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *laneTimes) Push(x any) {
	t := x.(*laneTime)
	t.place = len(*h)
	*h = append(*h, t)
}
func (h *laneTimes) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// refresh brings the agenda up to date.
func (s *Scheduler) refresh() error {
	a := s.agenda
	commits := s.db.Commits() // before the transaction, which sees at least these changes
	changed, all := s.db.ChangedLanes()
	s.mu.Lock()
	for lane := range s.freed {
		a.look[lane] = true
	}
	clear(s.freed)
	s.mu.Unlock()
	for _, lane := range changed {
		a.look[lane] = true
	}
	a.all = a.all || all
	if commits == a.commits && !a.all && len(a.look) == 0 && (a.leases.IsZero() || a.leases.After(s.cfg.Now())) {
		return nil
	}
	return s.db.View(func(tx *store.Tx) error {
		paused, err := s.readPause(tx)
		if err != nil {
			return err
		}
		if a.all = a.all || paused != a.paused; a.all {
			a.lanes, a.times = make(map[string]*laneTime), nil
			for lane := range tx.Jobs.Lanes() {
				a.look[lane] = true
			}
		}
		for lane := range a.look {
			if at, found := s.claimable(tx, lane, paused); found {
				a.put(lane, at)
			} else {
				a.remove(lane)
			}
			delete(a.look, lane)
		}
		a.all, a.paused, a.commits = false, paused, commits
		a.leases = s.watchLeases(tx)
		return nil
	})
}

// claimable is when a job of a lane may be claimed; found is false if only a change can make one be. A
// lane that is full is looked at again when a run in it has ended.
func (s *Scheduler) claimable(tx *store.Tx, lane string, paused bool) (at time.Time, found bool) {
	if (paused && !s.cfg.EvenPaused(lane)) || s.free(lane) == 0 {
		return at, false
	}
	for id, due := range tx.Jobs.Queue(lane) {
		rest := s.passedFor(id)
		if rest > 0 { // it is looked at again then
			due = tx.Now().Add(rest)
		}
		if !found || due.Before(at) {
			at, found = due, true
		}
		if rest == 0 {
			break
		}
	}
	if until, _ := tx.Holds.Until(lane); until.After(at) {
		at = until
	}
	return at, found
}

// watchLeases is the last resort against a job that the store holds as running and nobody runs: when
// its lease has ended, it is taken back. It returns when the next lease ends; zero if there is none.
func (s *Scheduler) watchLeases(tx *store.Tx) (next time.Time) {
	for id, end := range tx.Jobs.Leases() {
		if end.After(tx.Now()) {
			return end
		}
		next = end
		if s.passedFor(id) > 0 {
			continue
		}
		job, err := tx.Jobs.Get(id)
		if err == nil && !s.isUnderWay(job) {
			s.mu.Lock()
			s.doubt = true
			s.mu.Unlock()
			return next
		}
	}
	return next
}
