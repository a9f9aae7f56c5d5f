package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

const (
	// readPause is the time between two reads of one account: at most 5 in a second.
	readPause = 200 * time.Millisecond
	// photoPart is what is asked of a photo at once, and photoMost the largest one that is fetched.
	photoPart = 512 << 10
	photoMost = 10 << 20
)

// FindChannel asks Telegram for the channel that a name, link or id names, whatever is remembered of the name: it may
// be another channel's by now. The error is a [*platform.Error].
func (n *Network) FindChannel(ctx context.Context, identityID uint64, name string) (platform.Chat, error) {
	t, err := parseTarget(name)
	if err != nil {
		return platform.Chat{}, refusedChat(err)
	}
	if t.plain { // what lists of chats call it
		t.typ, t.plain = store.PeerChannel, false
	}
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return platform.Chat{}, err
	}
	if !c.isUser() {
		return platform.Chat{}, refusedChat(errors.New("bots cannot read channels: choose a user account"))
	}
	p, err := n.met(identityID, t)
	if t.username != "" || err != nil {
		if err = n.reads.turn(ctx, identityID); err == nil {
			p, err = n.ask(ctx, c, api, t)
		}
	}
	if err != nil {
		return platform.Chat{}, c.sorted(api, err, false)
	}
	if p.Type != store.PeerChannel {
		return platform.Chat{}, refusedChat(fmt.Errorf("%q is neither a channel nor a large group", name))
	}
	return p.chat(), n.storePlace(p)
}

// HistoryBefore returns the latest message before a time, if there is one.
func (n *Network) HistoryBefore(ctx context.Context, identityID uint64, channel int64, at time.Time) (platform.History, error) {
	return n.history(ctx, identityID, channel, &tg.MessagesGetHistoryRequest{OffsetDate: int(at.Unix()), Limit: 1})
}

// maxEmpty is how many empty pages are passed over to find a message that is there.
const maxEmpty = 50

// History returns up to limit messages that follow a message, at most 100. Fewer do not mean that no more follow; none
// do: Telegram's pages may be empty, so it is asked for the latest message then, and the page is read once more before it
// is passed over: what it lacked may have been written since. The error is a [*platform.Error]: one about the chat says
// nothing about other channels.
func (n *Network) History(ctx context.Context, identityID uint64, channel int64, after, limit int) (platform.History, error) {
	h, err := n.page(ctx, identityID, channel, after, limit)
	if err != nil || len(h.Messages) > 0 {
		return h, err
	}
	top, err := n.history(ctx, identityID, channel, &tg.MessagesGetHistoryRequest{Limit: 1})
	if err != nil || len(top.Messages) == 0 {
		return h, err
	}
	for range maxEmpty {
		if top.Messages[0].ID <= after {
			return h, nil
		}
		if h, err = n.page(ctx, identityID, channel, after, limit); err != nil || len(h.Messages) > 0 {
			return h, err
		}
		after += limit
	}
	return h, nil
}

func (n *Network) page(ctx context.Context, identityID uint64, channel int64, after, limit int) (platform.History, error) {
	h, err := n.history(ctx, identityID, channel, &tg.MessagesGetHistoryRequest{OffsetID: after + 1, AddOffset: -limit, Limit: limit})
	h.Messages = slices.DeleteFunc(h.Messages, func(m platform.Message) bool { return m.ID <= after })
	return h, err
}

func (n *Network) history(ctx context.Context, identityID uint64, channel int64, request *tg.MessagesGetHistoryRequest) (h platform.History, err error) {
	err = n.read(ctx, identityID, channel, func(api *tg.Client, p place) error {
		request.Peer = p.input()
		answer, err := api.MessagesGetHistory(ctx, request)
		if err == nil {
			h, err = readHistory(answer, channel)
		}
		return err
	})
	return h, err
}

// MessagesByID returns messages by their ids. What Telegram leaves out is not among them; what it knows to be gone is
// Deleted.
func (n *Network) MessagesByID(ctx context.Context, identityID uint64, channel int64, ids []int) (h platform.History, err error) {
	err = n.read(ctx, identityID, channel, func(api *tg.Client, p place) error {
		request := &tg.ChannelsGetMessagesRequest{Channel: &tg.InputChannel{ChannelID: p.PeerID, AccessHash: p.AccessHash}}
		for _, id := range ids {
			request.ID = append(request.ID, &tg.InputMessageID{ID: id})
		}
		answer, err := api.ChannelsGetMessages(ctx, request)
		if err != nil {
			return err
		}
		h, err = readHistory(answer, channel)
		h.Messages = slices.DeleteFunc(h.Messages, func(m platform.Message) bool { return !slices.Contains(ids, m.ID) })
		return err
	})
	return h, err
}

// Difference returns what has happened in a channel since the state pts.
func (n *Network) Difference(ctx context.Context, identityID uint64, channel int64, pts int) (d platform.Difference, err error) {
	err = n.read(ctx, identityID, channel, func(api *tg.Client, p place) error {
		answer, err := api.UpdatesGetChannelDifference(ctx, &tg.UpdatesGetChannelDifferenceRequest{
			Channel: &tg.InputChannel{ChannelID: p.PeerID, AccessHash: p.AccessHash}, Filter: &tg.ChannelMessagesFilterEmpty{}, Pts: pts, Limit: 100,
		})
		if err == nil {
			d, err = readDifference(answer, channel)
		}
		return err
	})
	if e, ok := errors.AsType[*platform.Error](err); ok && (e.Code == "PERSISTENT_TIMESTAMP_INVALID" || e.Code == "PERSISTENT_TIMESTAMP_EMPTY") {
		return platform.Difference{TooLong: true}, nil
	}
	return d, err
}

// Photo fetches the picture of a message. A reference that is not good any more is replaced once; a message that was
// deleted meanwhile is refused.
func (n *Network) Photo(ctx context.Context, identityID uint64, channel int64, messageID int, f platform.PhotoFile) (data []byte, err error) {
	if f.Bytes > photoMost {
		return nil, refusedChat(errors.New("the photo is too large"))
	}
	for again := false; ; again = true {
		data, err = n.photo(ctx, identityID, channel, f)
		e, ok := errors.AsType[*platform.Error](err)
		if again || !ok || (e.Code != "FILE_REFERENCE_EXPIRED" && e.Code != "FILE_REFERENCE_INVALID" && e.Code != "FILE_REFERENCE_EMPTY") {
			return data, err
		}
		h, err := n.MessagesByID(ctx, identityID, channel, []int{messageID})
		if err != nil {
			return nil, err
		}
		if len(h.Messages) == 0 || h.Messages[0].Photo == nil {
			return nil, refusedChat(errors.New("the message was deleted before its photo was fetched"))
		}
		f = *h.Messages[0].Photo
	}
}

func (n *Network) photo(ctx context.Context, identityID uint64, channel int64, f platform.PhotoFile) (data []byte, err error) {
	for len(data) <= photoMost {
		var part []byte
		err := n.read(ctx, identityID, channel, func(api *tg.Client, _ place) error {
			answer, err := api.UploadGetFile(ctx, &tg.UploadGetFileRequest{Offset: int64(len(data)), Limit: photoPart, Location: &tg.InputPhotoFileLocation{
				ID: f.ID, AccessHash: f.AccessHash, FileReference: f.Reference, ThumbSize: f.Size,
			}})
			if err != nil {
				return err
			}
			file, ok := answer.(*tg.UploadFile)
			if !ok {
				return &malformed{fmt.Errorf("a file came as %T", answer)}
			}
			part = file.Bytes
			return nil
		})
		if err != nil {
			return nil, err
		}
		if data = append(data, part...); len(part) < photoPart {
			return data, nil
		}
	}
	return nil, refusedChat(errors.New("the photo is too large"))
}

// read makes one call about a channel that the identity knows, when its turn has come. The name of the channel is never
// resolved. An answer that cannot be read is an error about this channel alone.
func (n *Network) read(ctx context.Context, identityID uint64, channel int64, call func(*tg.Client, place) error) error {
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return err
	}
	p, err := n.met(identityID, target{typ: store.PeerChannel, id: channel})
	if errors.Is(err, store.ErrNotFound) {
		e := unknownChat()
		e.Code = platform.CodeUnmet
		return e
	}
	if err != nil {
		return storeFailed("look up the channel in the store", err)
	}
	if err := n.reads.turn(ctx, identityID); err != nil {
		return notConnected(err.Error())
	}
	err = call(careful(api), p)
	if bad, ok := errors.AsType[*malformed](err); ok {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Code: platform.CodeMalformed,
			Err: worded{"Telegram's answer about the channel could not be read", bad}}
	}
	if err != nil {
		return c.sorted(api, fmt.Errorf("read channel %d: %w", channel, err), false)
	}
	return nil
}

// malformed is the error of an answer that is not what it must be.
type malformed struct{ err error }

func (m *malformed) Error() string { return m.err.Error() }
func (m *malformed) Unwrap() error { return m.err }

// careful is an API whose answers, where they cannot be read, are [malformed].
func careful(api *tg.Client) *tg.Client { return tg.NewClient(carefully{api.Invoker()}) }

type carefully struct{ tg.Invoker }

func (c carefully) Invoke(ctx context.Context, input bin.Encoder, output bin.Decoder) error {
	return c.Invoker.Invoke(ctx, input, wholly{output})
}

type wholly struct{ bin.Decoder }

func (w wholly) Decode(b *bin.Buffer) error {
	if err := w.Decoder.Decode(b); err != nil {
		return &malformed{err}
	}
	return nil
}

// turns spaces the reads of each account.
type turns struct {
	mu   sync.Mutex
	next map[uint64]time.Time
}

// turn waits until the account may read.
func (t *turns) turn(ctx context.Context, identityID uint64) error {
	t.mu.Lock()
	now := time.Now()
	at := t.next[identityID]
	if at.Before(now) {
		at = now
	}
	t.next[identityID] = at.Add(readPause)
	t.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}
