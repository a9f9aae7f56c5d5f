package store

// Moved says what was made of a row of another system, so that the same row makes nothing twice.
type Moved struct {
	ID     uint64 `json:"id"`
	Table  string `json:"table"`  // of the other system
	Source string `json:"source"` // the row's id there
	OurID  uint64 `json:"our_id"` // of the record that was made of it
	Sum    []byte `json:"sum"`    // of what the row said
	// Stopped is whether the row said that it does not run: it has ended, is paused or switched off.
	Stopped bool `json:"stopped,omitempty"`
}

// MovedRows is the table of rows of other systems that were imported.
type MovedRows struct{ Table[Moved] }

func movedTable() def[Moved] {
	return def[Moved]{
		name: "moved",
		id:   func(m *Moved) *uint64 { return &m.ID },
		indexes: []Index[Moved]{
			{Name: "source", Unique: true, Key: func(m *Moved, k key) key { return k.str(m.Table).str(m.Source) }},
		},
	}
}

// Of returns what was made of a row, or [ErrNotFound].
func (t MovedRows) Of(table, source string) (Moved, error) {
	return t.first("source", key(nil).str(table).str(source))
}
