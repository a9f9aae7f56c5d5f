package store

import "sync"

// tableSet is a set of tables, a bit for each by its position in the schema.
type tableSet uint64

// watchers are those who want to know when something was committed.
type watchers struct {
	mu   sync.Mutex
	next int
	all  map[int]watcher
}

type watcher struct {
	tables tableSet
	signal chan struct{}
}

// Watch returns a channel that receives after each commit that changed one of the named tables.
// Signals that were not received yet are merged, so a receiver looks at the store, not at the
// count. cancel ends the watch; the channel is closed when the DB is.
func (db *DB) Watch(tables ...string) (changed <-chan struct{}, cancel func()) {
	var set tableSet
	for _, name := range tables {
		set |= db.schema.set(name)
	}
	return db.watchers.add(set)
}

func (w *watchers) add(set tableSet) (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[int]watcher)
	}
	id, signal := w.next, make(chan struct{}, 1)
	w.next++
	w.all[id] = watcher{tables: set, signal: signal}
	return signal, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, id)
	}
}

func (w *watchers) tell(touched tableSet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if one.tables&touched == 0 {
			continue
		}
		select {
		case one.signal <- struct{}{}:
		default: // it has not looked since the last signal, and will see this change too
		}
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		close(one.signal)
	}
	w.all = nil
}
