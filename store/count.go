package store

// Count is how many rows have the same values, such as a platform and a status.
type Count struct {
	Of []string
	N  int
}

func (t *table[T]) Counts() (all []Count) {
	for k, n := range t.counts("counts") {
		all = append(all, Count{k.strs(), n})
	}
	return all
}
