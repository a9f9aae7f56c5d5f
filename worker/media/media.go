// Package media takes files that people upload, finds out what they are, and keeps them for as long as something
// uses them.
//
// A file is written while it arrives and exists for others only when all of it is there. Pictures are stored as they
// are to be shown: turned upright, and without the place where they were taken.
package media

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Kind is the kind, the name and the lane of the job that deletes what nothing uses.
const Kind = "media"

// Config is the settings of the worker. The zero value is good.
type Config struct {
	// Max is how many bytes a file may have; 0 means 64 MB.
	Max Size `flag:"media-max" env:"BELFRY_MEDIA_MAX" default:"64MB" help:"Size limit of an uploaded file."`
	// Keep is how long a file is kept that nothing uses; 0 means a week.
	Keep time.Duration `flag:"media-keep" env:"BELFRY_MEDIA_KEEP" default:"168h" help:"How long an uploaded file is kept that nothing uses."`
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	switch {
	case c.Max < 1<<20 || c.Max > 4<<30:
		return store.Invalid("BELFRY_MEDIA_MAX", "invalid.media_max")
	case c.Keep < time.Hour:
		return store.Invalid("BELFRY_MEDIA_KEEP", "invalid.media_keep")
	}
	return nil
}

// Size is a number of bytes, written as 64MB.
type Size int64

// UnmarshalText reads a number with KB, MB or GB, of 1024 each.
func (s *Size) UnmarshalText(text []byte) error {
	number, shift := strings.ToUpper(strings.TrimSpace(string(text))), 0
	for unit, bits := range map[string]int{"KB": 10, "MB": 20, "GB": 30} {
		if before, has := strings.CutSuffix(number, unit); has {
			number, shift = strings.TrimSpace(before), bits
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q cannot be used: write a size such as 64MB", text)
	}
	*s = Size(n << shift)
	return nil
}

// Worker takes and deletes uploaded files. Its methods may be called from any goroutine.
type Worker struct {
	db  *store.DB
	cfg Config
	// decoding has one place: a picture takes much memory while it is decoded.
	decoding chan struct{}
}

// New returns a worker for the files in db.
func New(db *store.DB, cfg Config) *Worker {
	cfg.Max = cmp.Or(cfg.Max, 64<<20)
	cfg.Keep = cmp.Or(cfg.Keep, 7*24*time.Hour)
	return &Worker{db: db, cfg: cfg, decoding: make(chan struct{}, 1)}
}

// Max is how many bytes a file may have.
func (w *Worker) Max() int64 { return int64(w.cfg.Max) }

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{Kind: {Worker: cleaner{w}, Timeout: time.Hour}},
		Start: func() error { return errors.Join(w.removeCutOff(), w.makeShareKey()) },
	}
}

// RefusedError is the refusal of a file. Unless it is TooLarge, it is not what it says.
type RefusedError struct {
	*store.FieldError
	TooLarge bool
}

func (e *RefusedError) Unwrap() error { return e.FieldError }

func tooLarge(key string, args ...any) error {
	return &RefusedError{store.Invalid("file", key, args...), true}
}

func notWhatItSays(key string, args ...any) error {
	return &RefusedError{store.Invalid("file", key, args...), false}
}

// Open opens a file for a network.
func (w *Worker) Open(id uint64) (platform.MediaFile, error) {
	r, err := w.db.OpenMedia(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !r.File().Ready {
		return platform.MediaFile{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "media",
			Err: fmt.Errorf("the uploaded file %d was deleted: upload it again", id)}
	}
	if err != nil {
		return platform.MediaFile{}, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Field: "media", Err: err}
	}
	return platform.MediaFile{ReadCloser: r, Name: r.File().Name, Type: r.File().Type, Size: r.File().Size}, nil
}
