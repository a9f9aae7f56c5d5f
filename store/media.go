package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// MediaFile is a file that was uploaded. Its bytes are in chunks beside it.
type MediaFile struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"kind"` // photo, video or document
	Type   string `json:"type"` // as its bytes say, such as image/jpeg
	Size   int64  `json:"size"` // bytes
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	SHA256 []byte `json:"sha256,omitempty"`

	Chunk     int  `json:"chunk"`               // bytes of each chunk but the last
	Chunks    int  `json:"chunks"`              // how many there are
	Thumbnail bool `json:"thumbnail,omitempty"` // it has one, a JPEG, as one chunk more
	// Ready says that all of it is there. What is not ready is being written, or removed.
	Ready     bool      `json:"ready,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at,omitzero"` // when something was last known to use it
}

// mediaChunk is a part of a file. Its id is the file's, shifted, and its number: 0 is the thumbnail, 1 the first
// part.
type mediaChunk struct {
	id   uint64
	data []byte
}

const (
	chunkBits = 20
	// chunkSize is the bytes of a chunk. A leaf of bbolt has two at least, which fill eight pages of 4 KiB.
	chunkSize = 16<<10 - 64
	// removeStep is how many chunks are removed in one commit.
	removeStep = 256
)

func (c *mediaChunk) fields(p *packing) {
	if p.reading {
		c.data, p.text = []byte(p.text), ""
	} else {
		p.data = append(p.data, c.data...)
		p.keep()
	}
}

// MediaFiles is the table of uploaded files.
type MediaFiles struct{ Table[MediaFile] }

func mediaTable() def[MediaFile] {
	when := func(f *MediaFile, in bool) []byte {
		if !in {
			return nil
		}
		return key(nil).time(f.CreatedAt)
	}
	return def[MediaFile]{
		name:  "media",
		id:    func(f *MediaFile) *uint64 { return &f.ID },
		whole: (*MediaFile).lacking,
		indexes: []Index[MediaFile]{
			{Name: "ready", Key: func(f *MediaFile, k key) key { return when(f, f.Ready) }},
			{Name: "partial", Key: func(f *MediaFile, k key) key { return when(f, !f.Ready) }},
		},
	}
}

func mediaChunkTable() def[mediaChunk] {
	return def[mediaChunk]{
		name:  "media_chunks",
		id:    func(c *mediaChunk) *uint64 { return &c.id },
		whole: (*mediaChunk).lacking,
	}
}

// lacking says that a chunk's file is not there; empty if it is.
func (c *mediaChunk) lacking(tx *Tx) string {
	if _, err := tx.Media.Get(c.id >> chunkBits); errors.Is(err, ErrNotFound) {
		return "belongs to no file"
	}
	return ""
}

// chunkIDs returns the ids of the first chunks of a file that are there, in their order, at most limit, and how many
// bytes they have.
func (t MediaFiles) chunkIDs(id uint64, limit int) (ids []uint64, size int64) {
	cursor := t.chunks().Cursor()
	for k, v := cursor.Seek(rowKey(id << chunkBits)); len(k) == idSize && len(ids) < limit; k, v = cursor.Next() {
		chunk := binary.BigEndian.Uint64(k)
		if chunk>>chunkBits != id {
			break
		}
		ids = append(ids, chunk)
		if chunk != id<<chunkBits {
			size += int64(len(v) - crcSize - 1)
		}
	}
	return ids, size
}

func (t MediaFiles) chunks() *bbolt.Bucket {
	return t.in().mediaChunks.bucket()
}

// lacking says what the chunks of a file are not as they must be; empty if they are.
func (f *MediaFile) lacking(tx *Tx) string {
	ids, size := tx.Media.chunkIDs(f.ID, 1<<chunkBits)
	want := f.Chunks
	if f.Thumbnail {
		want++
	}
	if len(ids) != want || f.Ready && size != f.Size {
		return fmt.Sprintf("has %d chunks with %d bytes, and should have %d with %d", len(ids), size, want, f.Size)
	}
	return ""
}

// putChunk writes a chunk, which must be new.
func (t MediaFiles) putChunk(id uint64, number int, data []byte) error {
	chunk := mediaChunk{id<<chunkBits | uint64(number), data}
	row, err := encodeRow(chunk.id, &chunk)
	if err != nil {
		return err
	}
	t.in().mediaChunks.wrote()
	bucket := t.chunks()
	return errors.Join(bucket.SetSequence(max(bucket.Sequence(), chunk.id)), bucket.Put(rowKey(chunk.id), row))
}

// append adds bytes to a file that is not ready. All but the last call give whole chunks.
func (t MediaFiles) append(id uint64, data []byte) error {
	f, err := t.Get(id)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(data, f.Chunk) {
		f.Chunks++
		if err := t.putChunk(id, f.Chunks, part); err != nil {
			return err
		}
	}
	f.Size += int64(len(data))
	return t.Put(&f)
}

// Finish makes a file ready whose bytes were written, with what was found out about it. thumbnail is a JPEG, or nil.
func (t MediaFiles) Finish(found MediaFile, thumbnail []byte) (MediaFile, error) {
	f, err := t.Get(found.ID)
	if err != nil {
		return f, err
	}
	f.Name, f.Kind, f.Type, f.Width, f.Height, f.SHA256 = found.Name, found.Kind, found.Type, found.Width, found.Height, found.SHA256
	f.CreatedAt, f.Ready, f.Thumbnail = t.in().Now(), true, len(thumbnail) > 0
	if f.Thumbnail {
		err = t.putChunk(f.ID, 0, thumbnail)
	}
	return f, errors.Join(err, t.Put(&f))
}

// Hide takes a file from those that are ready. [DB.RemoveMedia] removes it then.
func (t MediaFiles) Hide(id uint64) error {
	f, err := t.Get(id)
	if err != nil {
		return err
	}
	f.Ready = false
	return t.Put(&f)
}

// removeSome removes some chunks of a file, and with the last ones the file. It is not ready any more then.
func (t MediaFiles) removeSome(id uint64) (done bool, err error) {
	f, err := t.Get(id)
	if err != nil {
		return true, err
	}
	ids, _ := t.chunkIDs(id, removeStep)
	if len(ids) == 0 {
		return true, t.Delete(id)
	}
	t.in().mediaChunks.wrote()
	for _, chunk := range ids {
		if err := t.chunks().Delete(rowKey(chunk)); err != nil {
			return false, err
		}
	}
	f.Ready, f.Chunks = false, f.Chunks-len(ids)
	if f.Thumbnail {
		f.Thumbnail, f.Chunks = false, f.Chunks+1
	}
	return false, t.Put(&f)
}

// mend makes files and chunks agree after a repair: what is left of a file that lacks some is not ready, and
// removed at the next start.
func (t MediaFiles) mend() error {
	for f := range t.All() {
		if f.lacking(t.in()) == "" {
			continue
		}
		ids, _ := t.chunkIDs(f.ID, 1<<chunkBits)
		f.Thumbnail = len(ids) > 0 && ids[0] == f.ID<<chunkBits
		f.Ready, f.Chunks = false, len(ids)
		if f.Thumbnail {
			f.Chunks--
		}
		if err := t.Put(&f); err != nil {
			return err
		}
	}
	for c := range t.in().mediaChunks.All() {
		if c.lacking(t.in()) == "" {
			continue
		}
		t.in().mediaChunks.wrote()
		if err := t.chunks().Delete(rowKey(c.id)); err != nil {
			return err
		}
	}
	return nil
}

// Whole returns a file that is ready; the error wraps [ErrNotFound] for any other.
func (t MediaFiles) Whole(id uint64) (MediaFile, error) {
	f, err := t.Get(id)
	if err == nil && !f.Ready {
		err = fmt.Errorf("media %d: %w", id, ErrNotFound)
	}
	return f, err
}

// Newest returns the files that are ready, the newest first.
func (t MediaFiles) Newest(q Query) (Page[MediaFile], error) { return t.page("ready", nil, q, true) }

// Ready yields the files that are ready, the oldest first.
func (t MediaFiles) Ready() iter.Seq[MediaFile] { return t.scan("ready", nil, nil) }

// Partial yields the files that are being written or removed, or were when the program ended.
func (t MediaFiles) Partial() iter.Seq[MediaFile] { return t.scan("partial", nil, nil) }

// Thumbnail returns the picture of a file, a JPEG. The error wraps [ErrNotFound] if it has none.
func (t MediaFiles) Thumbnail(id uint64) ([]byte, error) {
	if _, err := t.Whole(id); err != nil {
		return nil, err
	}
	c, err := t.in().mediaChunks.Get(id << chunkBits)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("thumbnail of media %d: %w", id, ErrNotFound)
	}
	return c.data, err
}
