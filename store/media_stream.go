package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// mediaBatch is how many bytes of a file are written in one commit, or read in one view: so an upload never delays
// other writers for long.
const mediaBatch = 16 * chunkSize

// MediaWriter writes an uploaded file while it arrives. Nothing is held between two writes but what fits into one
// commit. It is used by one goroutine.
type MediaWriter struct {
	db   *DB
	id   uint64
	buf  []byte
	sum  hash.Hash
	size int64
}

// WriteMedia begins a file. It exists for others when [MediaFiles.Finish] has made it ready; until then
// [DB.RemoveMedia] takes it back.
func (db *DB) WriteMedia() (*MediaWriter, error) {
	w := &MediaWriter{db: db, buf: make([]byte, 0, mediaBatch), sum: sha256.New()}
	err := db.Update(func(tx *Tx) error {
		f := MediaFile{Chunk: chunkSize, CreatedAt: tx.Now()}
		err := tx.Media.Put(&f)
		w.id = f.ID
		return err
	})
	return w, err
}

// ID is the file's.
func (w *MediaWriter) ID() uint64 { return w.id }

// Write takes bytes; they are on the disk after [MediaWriter.Flush].
func (w *MediaWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		took := min(len(p), mediaBatch-len(w.buf))
		w.buf = append(w.buf, p[:took]...)
		n, p = n+took, p[took:]
		if len(w.buf) == mediaBatch {
			err = w.Flush()
		}
	}
	return n, err
}

// Flush writes what is left. Only the last one of a file comes before its buffer is full.
func (w *MediaWriter) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if err := w.db.Update(func(tx *Tx) error { return tx.Media.append(w.id, w.buf) }); err != nil {
		return fmt.Errorf("write media %d: %w", w.id, err)
	}
	if err := w.db.Release(); err != nil {
		return err
	}
	w.sum.Write(w.buf)
	w.size, w.buf = w.size+int64(len(w.buf)), w.buf[:0]
	return nil
}

// Size is how many bytes were flushed.
func (w *MediaWriter) Size() int64 { return w.size }

// Sum is the SHA-256 of what was flushed.
func (w *MediaWriter) Sum() []byte { return w.sum.Sum(nil) }

// RemoveMedia removes a file, a part of it in each commit. One that is not there is no error.
func (db *DB) RemoveMedia(id uint64) error {
	for done := false; !done; {
		err := db.Update(func(tx *Tx) (err error) {
			done, err = tx.Media.removeSome(id)
			return err
		})
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("remove media %d: %w", id, err)
		}
	}
	return nil
}

// MediaReader reads an uploaded file, a part of it in each view. It is used by one goroutine.
type MediaReader struct {
	db   *DB
	file MediaFile
	at   int64
	buf  []byte // what was read, from from
	from int64
}

// OpenMedia opens an uploaded file, ready or not. The error wraps [ErrNotFound] if there is none.
func (db *DB) OpenMedia(id uint64) (*MediaReader, error) {
	r := &MediaReader{db: db}
	err := db.View(func(tx *Tx) (err error) {
		r.file, err = tx.Media.Get(id)
		return err
	})
	return r, err
}

// File is the record.
func (r *MediaReader) File() MediaFile { return r.file }

func (r *MediaReader) Read(p []byte) (int, error) {
	if r.at >= r.file.Size {
		return 0, io.EOF
	}
	if r.at < r.from || r.at >= r.from+int64(len(r.buf)) {
		if err := r.load(); err != nil {
			return 0, fmt.Errorf("read media %d: %w", r.file.ID, err)
		}
	}
	n := copy(p, r.buf[r.at-r.from:])
	r.at += int64(n)
	return n, nil
}

// load reads some chunks from the one at r.at on.
func (r *MediaReader) load() error {
	first := int(r.at / int64(r.file.Chunk))
	r.buf, r.from = r.buf[:0], int64(first)*int64(r.file.Chunk)
	return r.db.View(func(tx *Tx) error {
		defer tx.release()
		for n := first + 1; n <= r.file.Chunks && len(r.buf) < mediaBatch; n++ {
			c, err := tx.mediaChunks.Get(r.file.ID<<chunkBits | uint64(n))
			if err != nil {
				return err
			}
			r.buf = append(r.buf, c.data...)
		}
		return nil
	})
}

// Seek sets where the next read begins.
func (r *MediaReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.file.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// Close does nothing; a reader holds nothing open.
func (r *MediaReader) Close() error { return nil }
