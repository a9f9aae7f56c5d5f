package telegram

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

const (
	partSize   = 512 << 10 // bytes
	smallLimit = 10 << 20  // bytes; larger files are uploaded by another method
	partTries  = 3

	// throttleLimit is the longest wait within an upload. Telegram slows uploads down by asking
	// for waits of seconds again and again: an upload that ended at each would never end.
	throttleLimit = 5 * time.Second
)

// upload sends a file in parts, holding two of them in memory, and returns how to name it. No
// message is made. The limit is in bytes.
func upload(ctx context.Context, api *tg.Client, c *content, limit int64) (tg.InputFileClass, error) {
	size, from := c.size, io.LimitReader(c.Reader, limit+1)
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
	u := uploading{api: api, big: size < 0 || size > smallLimit, total: -1}
	if size >= 0 {
		u.total = int((size + partSize - 1) / partSize)
	}
	if err := binary.Read(rand.Reader, binary.BigEndian, &u.id); err != nil {
		return nil, fmt.Errorf("make a file id: %w", err)
	}
	parts, sent, err := u.sendAll(ctx, from)
	switch {
	case err != nil:
		return nil, err
	case sent > limit:
		return nil, refusedContent("media", fmt.Errorf("the file has more than the %d MB that are allowed", limit>>20))
	case size >= 0 && sent != size:
		return nil, fmt.Errorf("%s changed while it was read: %d bytes instead of %d", c.name, sent, size)
	}
	if u.big {
		return &tg.InputFileBig{ID: u.id, Parts: parts, Name: c.name}, nil
	}
	return &tg.InputFile{ID: u.id, Parts: parts, Name: c.name}, nil
}

// uploading is a file on its way.
type uploading struct {
	api   *tg.Client
	id    int64
	big   bool
	total int // parts; -1 until the last one is known to be the last
}

// sendAll reads one part ahead, because the last part has to be known as such.
func (u *uploading) sendAll(ctx context.Context, from io.Reader) (parts int, sent int64, err error) {
	part, ahead := make([]byte, partSize), make([]byte, partSize)
	n, err := readPart(from, part)
	for err == nil && n > 0 {
		var next int
		if next, err = readPart(from, ahead); err != nil {
			break
		}
		if next == 0 {
			u.total = parts + 1
		}
		if err = u.send(ctx, parts, part[:n]); err != nil {
			break
		}
		parts, sent = parts+1, sent+int64(n)
		part, ahead, n = ahead, part, next
	}
	return parts, sent, err
}

func readPart(from io.Reader, part []byte) (int, error) {
	n, err := io.ReadFull(from, part)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fmt.Errorf("read the file: %w", err)
	}
	return n, nil
}

// send uploads one part. Doing so again is harmless, so a lost answer is tried again at once.
func (u *uploading) send(ctx context.Context, number int, data []byte) (err error) {
	for range partTries {
		var saved bool
		if u.big {
			saved, err = u.api.UploadSaveBigFilePart(ctx, &tg.UploadSaveBigFilePartRequest{
				FileID: u.id, FilePart: number, FileTotalParts: u.total, Bytes: data})
		} else {
			saved, err = u.api.UploadSaveFilePart(ctx, &tg.UploadSaveFilePartRequest{
				FileID: u.id, FilePart: number, Bytes: data})
		}
		rpc, refused := tgerr.As(err)
		switch {
		case err == nil && saved:
			return nil
		case err == nil:
			err = fmt.Errorf("part %d was not saved", number)
		case ctx.Err() != nil:
			return err
		case refused && rpc.Type == tgerr.ErrPremiumFloodWait && time.Duration(rpc.Argument)*time.Second <= throttleLimit:
			timer := time.NewTimer(time.Duration(rpc.Argument) * time.Second)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		case refused:
			return err
		}
	}
	return err
}
