package store

import (
	"errors"
	"math"
	"time"
)

// Vector is what a model makes of a document's meaning: a direction of length 1, whose values are the signed bytes of
// Data, each times Scale.
type Vector struct {
	ID         uint64
	DocumentID uint64
	Date       time.Time // of the document
	Model      uint64    // stands for the model
	Sum        uint64    // of the text
	Scale      float32
	Data       string
}

// fields implements [packed].
func (v *Vector) fields(p *packing) {
	p.uint(&v.DocumentID)
	p.time(&v.Date)
	p.uint(&v.Model)
	p.uint(&v.Sum)
	scale := uint64(math.Float32bits(v.Scale))
	p.uint(&scale)
	v.Scale = math.Float32frombits(uint32(scale))
	packString(p, &v.Data)
}

// Vectors is the table of vectors.
type Vectors struct{ Table[Vector] }

func vectorTable() def[Vector] {
	return def[Vector]{
		name: "vectors",
		id:   func(v *Vector) *uint64 { return &v.ID },
		indexes: []Index[Vector]{
			{Name: "document", Unique: true, Key: func(v *Vector, k key) key { return k.uint(v.DocumentID) }},
		},
	}
}

// Of returns the vector of a document, or [ErrNotFound].
func (t Vectors) Of(documentID uint64) (Vector, error) {
	return t.first("document", key(nil).uint(documentID))
}

// Save writes the vector of a document in the place of the one before. That of a document which is gone is not written.
func (t Vectors) Save(v *Vector) error {
	before, err := t.Of(v.DocumentID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, err := t.in().Documents.Get(v.DocumentID); errors.Is(err, ErrNotFound) {
		return nil
	}
	v.ID = before.ID
	return t.Put(v)
}
