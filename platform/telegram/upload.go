package telegram

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
)

const (
	partSize   = 512 << 10 // bytes
	smallLimit = 10 << 20  // bytes; larger files are uploaded by another method
	partTries  = 3

	// sourceLimit is how long the source of a file may take to deliver more of it.
	sourceLimit = 30 * time.Second
	// uploadPause is the pause before somebody looks again whether a file is at Telegram.
	uploadPause = 3 * time.Second
	// uploadKept is how long a file is kept, and sent on, that nobody asks for.
	uploadKept = time.Hour
	// uploadsAtOnce is how many files of one login are sent at the same time.
	uploadsAtOnce = 2
	// throttleLimit is how long Telegram may have an upload wait at one part. It slows uploads down by
	// asking for waits again and again, which concern nothing else.
	throttleLimit = time.Hour
)

// uploadTimes are the waits of uploads.
type uploadTimes struct {
	patience time.Duration // of a post for its media, before others have their turn
	part     time.Duration // that Telegram may take to accept a part
	retry    time.Duration // pause before a part is sent again
}

// upload is a file on its way to Telegram, or there. Its goroutine runs send.
type upload struct {
	connection *connection
	media      platform.Media
	cancel     context.CancelFunc
	expire     *time.Timer

	failed chan error    // why it has stopped at a part: [uploads.await] takes it
	resume chan struct{} // has it go on there
	sent   atomic.Int64  // bytes
	size   atomic.Int64  // bytes; -1 if only reading tells
	done   chan struct{} // closed when the file is there or cannot get there

	// Set before done is closed.
	file tg.InputMediaClass
	err  error

	kept tg.InputMediaClass // as Telegram keeps it; guarded by mu of the uploads
}

// send sends the file in parts, holding two of them in memory. No message is made.
func (u *upload) send(ctx context.Context, slots chan struct{}) (tg.InputMediaClass, error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(2*sourceLimit, cancel)
	defer stalled.Stop()
	c, err := u.connection.network.open(reading, u.media)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Reader = &timely{Reader: c.Reader, limit: stalled}
	limit := sizeLimit(u.media.Kind)
	size, from := c.size, io.LimitReader(c.Reader, limit+1)
	u.size.Store(size)
	if size < 0 {
		// Whether a file of unknown size is small is known once that much of it has been read.
		var start bytes.Buffer
		n, err := io.Copy(&start, io.LimitReader(from, smallLimit+1))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.name, err)
		}
		if n <= smallLimit {
			size = n
		}
		from = io.MultiReader(&start, from)
	}
	p := parts{upload: u, slots: slots, big: size < 0 || size > smallLimit, total: -1}
	if size >= 0 {
		p.total = int((size + partSize - 1) / partSize)
	}
	if err := binary.Read(rand.Reader, binary.BigEndian, &p.id); err != nil {
		return nil, fmt.Errorf("make a file id: %w", err)
	}
	if err := p.sendAll(ctx, from); err != nil {
		return nil, err
	}
	switch sent := u.sent.Load(); {
	case sent > limit:
		return nil, refusedContent("media", fmt.Errorf("the file has more than the %d MB that are allowed", limit>>20))
	case size >= 0 && sent != size:
		return nil, fmt.Errorf("%s changed while it was read: %d bytes instead of %d", c.name, sent, size)
	}
	name := c.name
	if u.media.Kind == platform.Photo { // nobody sees it, and Telegram refuses what does not end like a photo's
		name = "photo.jpg"
	}
	var file tg.InputFileClass = &tg.InputFile{ID: p.id, Parts: p.count, Name: name}
	if p.big {
		file = &tg.InputFileBig{ID: p.id, Parts: p.count, Name: name}
	}
	return inputMedia(u.media.Kind, c, file), nil
}

// timely is a reader whose source has to deliver something before the limit ends.
type timely struct {
	io.Reader
	limit *time.Timer
}

func (r *timely) Read(b []byte) (int, error) {
	r.limit.Reset(sourceLimit)
	defer r.limit.Stop()
	return r.Reader.Read(b)
}

// parts are those of an upload.
type parts struct {
	*upload
	slots chan struct{}
	id    int64 // of the file
	big   bool
	count int // that Telegram has
	total int // -1 until the last one is known to be the last
}

// sendAll reads one part ahead, because the last part has to be known as such.
func (p *parts) sendAll(ctx context.Context, from io.Reader) error {
	part, ahead := make([]byte, partSize), make([]byte, partSize)
	n, err := readPart(from, part)
	for err == nil && n > 0 {
		var next int
		if next, err = readPart(from, ahead); err != nil {
			break
		}
		if next == 0 {
			p.total = p.count + 1
		}
		if err = p.send(ctx, part[:n]); err != nil {
			break
		}
		p.count++
		p.sent.Add(int64(n))
		part, ahead, n = ahead, part, next
	}
	return err
}

func readPart(from io.Reader, part []byte) (int, error) {
	n, err := io.ReadFull(from, part)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fmt.Errorf("read the file: %w", err)
	}
	return n, nil
}

// send sends the next part. If that fails it says why to whoever asks for the file, leaves its turn to
// others, and goes on when it is asked again.
func (p *parts) send(ctx context.Context, data []byte) error {
	for {
		err := p.try(ctx, data)
		if err == nil || ctx.Err() != nil {
			return err
		}
		<-p.slots
		select {
		case p.failed <- err:
			select {
			case <-p.resume:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		p.slots <- struct{}{} // returned by whoever has taken it
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// try sends a part. Doing so again is harmless, so a lost answer is tried again. Time without a
// connection does not count: whoever asks for the file meanwhile is told that there is none.
func (p *parts) try(ctx context.Context, data []byte) error {
	failure, throttled := error(nil), time.Duration(0)
	for tries := 0; tries < partTries; {
		api, err := p.connection.ready(ctx)
		if err != nil && (ctx.Err() != nil || platform.AsError(err).Kind == platform.Login) {
			return err
		}
		if err != nil {
			continue
		}
		saved, err := p.save(ctx, api, data)
		rpc, answered := tgerr.As(err)
		pause := p.connection.network.uploading.retry
		switch {
		case err == nil && saved:
			return nil
		case answered && rpc.Type == tgerr.ErrPremiumFloodWait && throttled < throttleLimit:
			pause = time.Duration(rpc.Argument) * time.Second
			throttled += max(pause, time.Second)
		case answered && rpc.Code < 500:
			return err
		case err == nil:
			err = errors.New("the part was not saved")
			fallthrough
		default:
			failure = err
			tries++
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	return worded{"Telegram accepts no more of the file", failure}
}

// save sends the next part once.
func (p *parts) save(ctx context.Context, api *tg.Client, data []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, p.connection.network.uploading.part)
	defer cancel()
	if p.big {
		return api.UploadSaveBigFilePart(ctx, &tg.UploadSaveBigFilePartRequest{
			FileID: p.id, FilePart: p.count, FileTotalParts: p.total, Bytes: data})
	}
	return api.UploadSaveFilePart(ctx, &tg.UploadSaveFilePartRequest{FileID: p.id, FilePart: p.count, Bytes: data})
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
