package store

import "sync"

// laneChanges collects the lanes that the scheduler has to look at again.
type laneChanges struct {
	mu    sync.Mutex
	lanes map[string]bool // as in keys
	all   bool
}

// ChangedLanes returns the lanes in which commits have changed what waits, or the hold, since the last
// call; all says that it may be any lane, because the file was opened again. It is for one caller.
func (db *DB) ChangedLanes() (lanes []string, all bool) {
	c := &db.laneChanges
	c.mu.Lock()
	defer c.mu.Unlock()
	for encoded := range c.lanes {
		lanes = append(lanes, laneOf(encoded))
	}
	all = c.all
	c.lanes, c.all = nil, false
	return lanes, all
}

func (c *laneChanges) add(lanes map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lanes == nil {
		c.lanes = make(map[string]bool, len(lanes))
	}
	for lane := range lanes {
		c.lanes[lane] = true
	}
}

func (c *laneChanges) addAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = true
}

// noteLane notes that something was changed in a lane, which is given as in keys.
func (tx *Tx) noteLane(encoded []byte) {
	if tx.lanes[string(encoded)] {
		return
	}
	if tx.lanes == nil {
		tx.lanes = make(map[string]bool)
	}
	tx.lanes[string(encoded)] = true
}

// laneOf reads a lane that [key.str] has written.
func laneOf(encoded string) string { return unescaped(encoded[:len(encoded)-2]) }
