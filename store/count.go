package store

// Count is how many rows have the same values, such as a platform and a status.
type Count struct {
	Of []string
	N  int
}

// Counts returns how many rows there are of each sort, by the table's counted index "counts", which must be declared.
// It costs as much as there are sorts, however many rows.
func (t Table[T]) Counts() (all []Count) {
	for k, n := range t.counts("counts") {
		all = append(all, Count{k.strs(), n})
	}
	return all
}
