package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	"belfry/scheduler"
	"belfry/store"
)

// maxName bounds the name of a file, in characters.
const maxName = 200

// Draft is a file that has arrived and can be kept, with [Worker.Keep], or dropped.
type Draft struct {
	File      store.MediaFile
	thumbnail []byte
}

// Add takes a file and keeps it. See [Worker.Receive].
func (w *Worker) Add(ctx context.Context, name, claimed string, from io.Reader) (f store.MediaFile, err error) {
	d, err := w.Receive(ctx, name, claimed, from)
	if err != nil {
		return f, err
	}
	err = w.db.Update(func(tx *store.Tx) (err error) {
		f, err = w.Keep(tx, d)
		return err
	})
	if err != nil {
		w.Drop(d)
	}
	return f, err
}

// Receive writes a file while it arrives and finds out what it is. claimed is the media type that its sender gives,
// or empty. What cannot be kept is refused with a [*RefusedError]. Other errors are those of from or of the store.
func (w *Worker) Receive(ctx context.Context, name, claimed string, from io.Reader) (d Draft, err error) {
	limited := &limitedReader{from: from, left: w.Max()}
	head := bufio.NewReaderSize(limited, 64<<10)
	start, err := head.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return d, fmt.Errorf("receive a file: %w", w.orTooLarge(err))
	}
	d.File, err = identify(cleanName(name), claimed, start)
	if err != nil {
		return d, err
	}
	to, err := w.db.WriteMedia()
	if err != nil {
		return d, err
	}
	d.File.ID = to.ID()
	defer func() {
		if err != nil {
			w.Drop(d)
		}
	}()
	upright := 1
	if d.File.Type == "image/jpeg" {
		upright, err = copyJPEG(to, head)
	} else {
		_, err = io.Copy(to, head)
	}
	if err != nil {
		return d, fmt.Errorf("receive %s: %w", d.File.Name, w.orTooLarge(err))
	}
	if err := to.Flush(); err != nil {
		return d, err
	}
	d.File.Size, d.File.SHA256 = to.Size(), to.Sum()
	if d.File.Kind != "photo" {
		return d, nil
	}
	return w.look(ctx, d, upright)
}

// Keep makes a file that was received one that can be used.
func (w *Worker) Keep(tx *store.Tx, d Draft) (store.MediaFile, error) {
	f, err := tx.Media.Finish(d.File, d.thumbnail)
	if err != nil {
		return f, err
	}
	return f, scheduler.Put(tx, store.Job{Name: Kind, Kind: Kind, Lane: Kind, Trigger: store.Trigger{Every: cleanEvery}})
}

// Drop removes files that were received and are not to be kept. Where that fails, the next clean-up does it.
func (w *Worker) Drop(drafts ...Draft) {
	for _, d := range drafts {
		_ = w.db.RemoveMedia(d.File.ID)
	}
}

// cleanName is the last part of a name, without what no file system or header takes.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, name)
	if name == "." || name == "/" || name == "" {
		return "file"
	}
	if runes := []rune(name); len(runes) > maxName {
		ext := []rune(path.Ext(name))
		if len(ext) > 10 {
			ext = nil
		}
		name = string(runes[:maxName-len(ext)]) + string(ext)
	}
	return name
}

// errTooLarge is what a [limitedReader] ends with.
var errTooLarge = errors.New("too large")

// limitedReader fails when more than left bytes come.
type limitedReader struct {
	from io.Reader
	left int64
}

func (r *limitedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

func (w *Worker) orTooLarge(err error) error {
	if errors.Is(err, errTooLarge) {
		return tooLarge("invalid.media_large", w.Max()>>20)
	}
	return err
}
