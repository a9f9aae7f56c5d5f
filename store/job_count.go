package store

// JobCount is how many jobs of a kind are in a state.
type JobCount struct {
	Kind  string
	State JobState
	N     int
}

// JobCounts is how many jobs there are, for each kind and state of which there is one.
type JobCounts []JobCount

// Counts returns how many jobs there are. The numbers are kept with the rows: it costs as much as there are kinds.
func (t Jobs) Counts() (all JobCounts) {
	for k, n := range t.counts("counts") {
		if parts := k.strs(); len(parts) == 2 {
			all = append(all, JobCount{parts[0], JobState(parts[1]), n})
		}
	}
	return all
}

// Total is how many jobs there are.
func (c JobCounts) Total() (n int) {
	for _, of := range c {
		n += of.N
	}
	return n
}

// Active is how many of them wait or run.
func (c JobCounts) Active() int {
	states := c.ByState()
	return states[JobWaiting] + states[JobRunning]
}

// ByKind is how many jobs of each kind there are.
func (c JobCounts) ByKind() map[string]int {
	kinds := make(map[string]int)
	for _, of := range c {
		kinds[of.Kind] += of.N
	}
	return kinds
}

// ByState is how many jobs are in each state, also in those in which none is.
func (c JobCounts) ByState() map[JobState]int {
	states := map[JobState]int{JobWaiting: 0, JobRunning: 0, JobPaused: 0, JobSetAside: 0}
	for _, of := range c {
		states[of.State] += of.N
	}
	return states
}
