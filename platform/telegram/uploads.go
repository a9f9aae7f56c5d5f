package telegram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"belfry/platform"
)

// uploads are the files that one login sends to Telegram, or has sent. They are sent in the background, so
// that nothing else waits for a large file, and each goes on where it was for as long as the connection
// is kept.
type uploads struct {
	ctx     context.Context
	end     context.CancelFunc
	slots   chan struct{}
	running sync.WaitGroup

	mu  sync.Mutex
	all map[uploadID]*upload
}

// uploadID says which file is meant: posts that have the same media name them by the same key.
type uploadID struct {
	key     int64
	media   platform.Media
	size    int64 // with changed: of a file of the media folder, which may be replaced by another
	changed int64
}

func newUploads() *uploads {
	u := &uploads{slots: make(chan struct{}, uploadsAtOnce), all: map[uploadID]*upload{}}
	u.ctx, u.end = context.WithCancel(context.Background())
	return u
}

// stop ends the uploads under way and waits for them.
func (us *uploads) stop() {
	us.mu.Lock()
	us.end()
	us.mu.Unlock()
	us.running.Wait()
}

// start returns the upload of a file, which begins now if there is none.
func (us *uploads) start(c *connection, key int64, m platform.Media) *upload {
	id := uploadID{key: key, media: m}
	if root := c.network.root; root != nil && m.File != "" {
		if info, err := root.Stat(m.File); err == nil {
			id.size, id.changed = info.Size(), info.ModTime().UnixNano()
		}
	}
	us.mu.Lock()
	defer us.mu.Unlock()
	if u, ok := us.all[id]; ok {
		u.expire.Reset(uploadKept)
		return u
	}
	u := &upload{connection: c, media: m, done: make(chan struct{}), failed: make(chan error), resume: make(chan struct{})}
	ctx, cancel := context.WithCancel(us.ctx)
	u.cancel = cancel
	u.expire = time.AfterFunc(uploadKept, func() { us.forget(u) })
	us.all[id] = u
	if us.ctx.Err() != nil { // the connection ends just now
		close(u.done)
		return u
	}
	us.running.Go(func() {
		defer close(u.done)
		u.file, u.err = u.send(ctx, us.slots)
	})
	return u
}

// forget ends an upload, or lets go of what it brought: whoever asks for the file again has it uploaded anew.
func (us *uploads) forget(uploads ...*upload) {
	us.mu.Lock()
	defer us.mu.Unlock()
	for _, u := range uploads {
		u.cancel()
		u.expire.Stop()
	}
	maps.DeleteFunc(us.all, func(_ uploadID, u *upload) bool { return slices.Contains(uploads, u) })
}

// await waits until a file is at Telegram, for as long as the caller has patience: if it is on its way then,
// the error is errUnderWay. An upload that could not go on says why once, and goes on where it was when it
// is asked for again; one that cannot get there at all begins anew.
func (us *uploads) await(ctx context.Context, u *upload, patience <-chan time.Time) error {
	select {
	case u.resume <- struct{}{}:
	default:
	}
	select {
	case <-u.done:
		if us.ctx.Err() != nil {
			return notConnected("the connection is being made")
		}
		if u.err != nil {
			us.forget(u)
		}
		return u.err
	case err := <-u.failed:
		return err
	case <-patience:
	case <-ctx.Done():
	}
	return errUnderWay
}

// errUnderWay is the error for a file that is being uploaded.
var errUnderWay = errors.New("the file is being uploaded")

// underWay is the error for a post whose files are being uploaded.
func underWay(uploads []*upload) *platform.Error {
	var sent, size int64
	for _, u := range uploads {
		sent += u.sent.Load()
		size += max(u.size.Load(), u.sent.Load())
	}
	return &platform.Error{Kind: platform.UnderWay, Scope: platform.ScopeContent, Wait: uploadPause,
		Err: fmt.Errorf("%.1f of %.1f MB are there", float64(sent)/(1<<20), float64(size)/(1<<20))}
}
