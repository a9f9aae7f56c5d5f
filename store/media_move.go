package store

import (
	"errors"
	"iter"
	"reflect"
)

// MediaPart is a part of an uploaded file, as it is moved to another file.
type MediaPart struct {
	MediaID uint64 `json:"media_id"`
	Number  int    `json:"number"` // 0 is the thumbnail
	Data    []byte `json:"data"`
}

// Parts yields the parts of a file in their order.
func (t MediaFiles) Parts(f MediaFile) iter.Seq2[MediaPart, error] {
	return func(yield func(MediaPart, error) bool) {
		for n := range f.Chunks + 1 {
			if n == 0 && !f.Thumbnail {
				continue
			}
			c, err := t.in().mediaChunks.Get(f.ID<<chunkBits | uint64(n))
			if !yield(MediaPart{f.ID, n, c.data}, err) || err != nil {
				return
			}
		}
	}
}

// PutPart writes a part of a file that is not ready yet; the first one begins the file. A part that is there already
// changes nothing.
func (t MediaFiles) PutPart(p MediaPart) (put bool, err error) {
	if p.Number>>chunkBits != 0 {
		return false, Invalid("number", "invalid.import_record")
	}
	f, err := t.Get(p.MediaID)
	if errors.Is(err, ErrNotFound) {
		f = MediaFile{ID: p.MediaID, Chunk: chunkSize, CreatedAt: t.in().Now()}
		err = t.PutAt(&f)
	}
	if err != nil || f.Ready || t.chunks().Get(rowKey(f.ID<<chunkBits|uint64(p.Number))) != nil {
		return false, err
	}
	if p.Number == 0 {
		f.Thumbnail = true
	} else {
		f.Chunks, f.Size = f.Chunks+1, f.Size+int64(len(p.Data))
	}
	return true, errors.Join(t.putChunk(f.ID, p.Number, p.Data), t.Put(&f))
}

// PutWhole makes a file ready whose parts are all there.
func (t MediaFiles) PutWhole(whole MediaFile) (put bool, err error) {
	f, err := t.Get(whole.ID)
	switch {
	case err == nil && f.Ready && reflect.DeepEqual(f, whole):
		return false, nil
	case err == nil && f.Ready:
		return false, ErrExists
	case errors.Is(err, ErrNotFound) || err == nil && (f.Chunks != whole.Chunks || f.Size != whole.Size || f.Thumbnail != whole.Thumbnail):
		return false, Invalid("media", "invalid.media_parts")
	case err != nil:
		return false, err
	}
	return true, t.Put(&whole)
}
