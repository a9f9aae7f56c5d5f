package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// presencePause is the least time between two questions whether somebody has the file open.
	presencePause = 20 * time.Millisecond
	// oldCopyWait bounds how long a start waits for somebody who has had the file open since before.
	oldCopyWait = 10 * time.Second
	// copyRoom is how many bytes the file is always longer than its data: so neither its size nor its
	// holes change between the moment in which a copier asks for them and the one in which it reads
	// where the data is. It is made in steps, because the room is written: what a copier takes for a
	// hole it does not read.
	copyRoom, copyRoomStep = 8 << 20, 1 << 20
	// copyGrowth is the least default of Options.CopyGrowth.
	copyGrowth = 256 << 20
)

// guard makes plain copies of the live file good ones. It keeps a reader at the last commit, and
// before a commit it looks whether the file was opened since the commit before. If so, the readers
// stay and one is added before each commit, until nobody else has the file open.
//
// A copier that opens the file during commit n+1 finds commit n, or n-1 should it meet a half
// written meta page, or a later one. What those need is not written over: commit n+1 began with a
// reader at n, and bbolt lets it reuse only what was freed before n; those that follow have all
// readers from n on, and bbolt reuses a page only if there is no reader between its allocation and
// its release.
//
// All of it happens under DB.turn, mu is for those who ask.
type guard struct {
	limit int64 // bytes that the file may grow by for somebody's copy; 0: see growthLimit
	note  func(string)
	now   func() time.Time

	bolt   *bbolt.DB // nil while the file is closed
	file   *os.File  // bbolt's own descriptor
	mapped int64     // bytes of address space that bbolt has for the file
	others *openers  // nil if they cannot be watched

	pins    []*bbolt.Tx
	opened  bool      // somebody has, or may have, the file open
	closed  bool      // somebody has closed it meanwhile, so it is worth asking whether all have
	gaveUp  bool      // the file grew too much for them: it is as if nobody had it open
	asked   time.Time // when the last question was
	floor   int64     // size of the data when it was opened
	filled  int64     // up to there the file has no holes
	mu      sync.Mutex
	because error // why copies can be bad; nil if they are good
	givenUp error // why the last copy was given up, and when; nil: none was
	at      time.Time
}

func newGuard(opts Options) *guard {
	return &guard{limit: opts.CopyGrowth, note: opts.note, now: opts.Now}
}

// attach begins to guard a file that was just opened and not written yet. Whoever has had it open
// since before may need pages that are free by now; they are given time until wait has passed.
func (g *guard) attach(bolt *bbolt.DB, file *os.File, mapped int64, wait time.Duration) {
	g.bolt, g.file, g.mapped, g.filled = bolt, file, mapped, 0
	others, err := watchOpeners(file)
	if err == nil {
		var present bool
		present, err = waitForOthers(others, wait, g.note)
		g.opened, g.closed, g.gaveUp, g.floor = present, false, false, 0
		if err != nil {
			err = errors.Join(err, others.close())
		} else {
			g.others = others
		}
	}
	if err != nil {
		g.note("plain copies of the live file can be bad, belfry backup makes good ones: " + err.Error())
	}
	g.say(err)
}

// waitForOthers waits until nobody else has the file open, and reports whether somebody still has.
func waitForOthers(others *openers, wait time.Duration, note func(string)) (present bool, err error) {
	deadline := time.Now().Add(wait)
	for told := false; ; told = true {
		if present, err = others.present(); !present || err != nil {
			return false, err
		}
		if !time.Now().Before(deadline) {
			note("somebody still has the file open: if that is a copy which was begun before, it is bad; make a new one")
			return true, nil
		}
		if !told {
			note("somebody has the file open: waiting for the end of a copy that was begun before")
		}
		time.Sleep(presencePause)
	}
}

// detach ends the readers, so that bbolt can close the file.
func (g *guard) detach() {
	g.unpin(0)
	if g.others != nil {
		// It was only read from; nothing is lost with it.
		_ = g.others.close()
	}
	g.bolt, g.file, g.others = nil, nil, nil
}

// before precedes each commit.
func (g *guard) before() {
	if g.others == nil {
		return
	}
	if err := g.pin(); err != nil {
		g.note("keep the pages for copies: " + err.Error())
		return
	}
	g.look()
	last := g.pins[len(g.pins)-1]
	if g.opened && !g.gaveUp && g.floor == 0 {
		g.floor = last.Size()
	}
	if grown := last.Size() - g.floor; g.opened && !g.gaveUp && grown > growthLimit(g.file, g.limit, g.floor) {
		err := fmt.Errorf("the file has grown by %d MiB while somebody has it open", grown>>20)
		g.note(err.Error() + ": if that is a copy, it is bad; belfry backup makes good ones")
		g.gaveUp = true
		g.say(err)
		g.mu.Lock()
		g.givenUp, g.at = err, g.now().UTC()
		g.mu.Unlock()
	}
	if !g.opened || g.gaveUp {
		g.unpin(1)
	}
	// When the file outgrows its address space, bbolt waits for all readers, and everybody for bbolt:
	// the readers must be gone long before that.
	if last.Size() > g.mapped/2 {
		err := errors.New("the file has become much larger since it was opened: start belfry again")
		g.note("plain copies of the live file can be bad: " + err.Error())
		g.detach()
		g.say(err)
		return
	}
	g.makeRoom(last.Size())
}

// after follows each commit: one that took all of the room leaves none to whoever comes before the next.
func (g *guard) after() {
	if g.others == nil {
		return
	}
	err := g.bolt.View(func(tx *bbolt.Tx) error {
		g.makeRoom(tx.Size())
		return nil
	})
	if err != nil {
		g.note("make room for copies: " + err.Error())
	}
}

// look finds out whether somebody has the file open.
func (g *guard) look() {
	opened, closed := g.others.news()
	if opened && !g.opened {
		g.opened, g.closed, g.floor = true, false, 0
	}
	g.closed = g.closed || closed
	if !g.opened || !g.closed || time.Since(g.asked) < presencePause {
		return
	}
	g.asked = time.Now()
	if present, err := g.others.present(); present || err != nil {
		return
	}
	// Who opens it after this answer finds the commit at which the last reader is.
	g.opened = false
	if g.gaveUp {
		g.gaveUp = false
		g.say(nil)
	}
}

// pin keeps the pages of the last commit.
func (g *guard) pin() error {
	tx, err := g.bolt.Begin(false)
	if err == nil {
		g.pins = append(g.pins, tx)
	}
	return err
}

// unpin ends all readers but the last keep ones.
func (g *guard) unpin(keep int) {
	n := len(g.pins) - keep
	for i := range max(n, 0) {
		// bbolt looks for a reader from the front of its list and puts the last one in its place: in
		// this order each is found soon. Ending one fails only if it has ended before.
		_ = g.pins[(n-i)%n].Rollback()
	}
	if n > 0 {
		g.pins = append(g.pins[:0:0], g.pins[n:]...)
	}
}

// makeRoom makes the file longer, and fills its holes, if its data takes nearly all of it.
func (g *guard) makeRoom(used int64) {
	if g.filled-used >= copyRoom {
		return
	}
	to := used + copyRoom + copyRoomStep
	if limit := int64(g.bolt.MaxSize); (limit > 0 && to > limit) || freeSpace(g.file) < 4*copyRoom {
		return // there the room would take the place of what is to be written
	}
	err := fillHoles(g.file, g.filled, to)
	if err == nil {
		g.filled = to
		err = g.file.Sync()
	}
	if err != nil {
		g.note("make room for copies: " + err.Error())
	}
}

// growthLimit is how many bytes a file may grow by for a reader before the reader is given up: as it is
// set or, by default, a good deal or the file's own size, and never more than half of what was free.
func growthLimit(f *os.File, set, size int64) int64 {
	if set == 0 {
		set = max(copyGrowth, size)
	}
	return min(set, freeSpace(f))
}

func (g *guard) say(because error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.because = because
}

// Copyable reports whether a plain copy of the live file, made with cp, rsync, tar or the like, is a
// good one, and if not, why.
func (db *DB) Copyable() (ok bool, why string) {
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	if db.guard.because != nil {
		return false, db.guard.because.Error()
	}
	return true, ""
}

// CopyGivenUp returns when and why a copy of the live file was last given up, since the file was opened:
// whoever made it then has a bad one. The time is zero if none was.
func (db *DB) CopyGivenUp() (at time.Time, why error) {
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	return db.guard.at, db.guard.givenUp
}
