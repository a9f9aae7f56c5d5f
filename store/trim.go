package store

// Trimming a history is part of each so many writes, a few rows at a time, so it needs no job of its
// own and never takes long.
const (
	trimEvery = 16
	trimStep  = 4 * trimEvery
)

// trim forgets rows that are too old or too many, a few at a time, after a row was added.
func trim[T any](t Table[T], added, most uint64, old func(*T) bool) error {
	if added%trimEvery != 0 {
		return nil
	}
	var gone []uint64
	for row := range t.All() {
		if len(gone) == trimStep {
			break
		}
		id := t.ID(row)
		if id+most > added && !old(&row) {
			break
		}
		gone = append(gone, id)
	}
	for _, id := range gone {
		if err := t.Delete(id); err != nil {
			return err
		}
	}
	return nil
}
