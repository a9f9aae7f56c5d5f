package telegramtest

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// readable finds a channel that the caller may read.
func (c *call) readable(in tg.InputChannelClass) (*chat, error) {
	ch, err := c.inputChannel(in)
	if err == nil && (ch.shut || ch.username == "" && !ch.isMember(c.by)) {
		err = tgerr.New(400, "CHANNEL_PRIVATE")
	}
	return ch, err
}

// getHistory shows a page of a channel, the newest first. The page is cut out by the offsets and the limit; only then
// are the lowest and highest id looked at, and what has vanished is left out.
func (c *call) getHistory(req *tg.MessagesGetHistoryRequest) (bin.Encoder, error) {
	peer, ok := req.Peer.(*tg.InputPeerChannel)
	if !ok {
		return nil, tgerr.New(400, "PEER_ID_INVALID")
	}
	ch, err := c.readable(&tg.InputChannel{ChannelID: peer.ChannelID, AccessHash: peer.AccessHash})
	if err != nil {
		return nil, err
	}
	var list []*stored
	for _, m := range slices.Backward(append([]*stored{ch.opening}, ch.posts...)) {
		if !m.deleted {
			list = append(list, m)
		}
	}
	from := slices.IndexFunc(list, func(m *stored) bool {
		return (req.OffsetID == 0 || m.ID < req.OffsetID) && (req.OffsetDate == 0 || m.At.Unix() < int64(req.OffsetDate))
	})
	if from < 0 {
		from = len(list)
	}
	from += req.AddOffset
	to := min(max(from+min(max(req.Limit, 0), 100), 0), len(list))
	var page []*stored
	for _, m := range list[min(max(from, 0), to):to] {
		if !m.vanished && (req.MinID == 0 || m.ID > req.MinID) && (req.MaxID == 0 || m.ID < req.MaxID) {
			page = append(page, m)
		}
	}
	return c.shown(ch, page, len(list)), nil
}

// getMessages shows messages by their ids: in the order of the ids, with empty ones for those that are not there.
func (c *call) getMessages(req *tg.ChannelsGetMessagesRequest) (bin.Encoder, error) {
	ch, err := c.readable(req.Channel)
	if err != nil {
		return nil, err
	}
	if len(req.ID) > 100 {
		return nil, tgerr.New(400, "MSG_ID_INVALID")
	}
	var page []*stored
	for _, in := range req.ID {
		id, ok := in.(*tg.InputMessageID)
		if !ok {
			return nil, tgerr.New(400, "MSG_ID_INVALID")
		}
		m := &stored{Message: Message{ID: id.ID}, chat: ch, read: read{deleted: true}}
		if i := slices.IndexFunc(ch.posts, func(m *stored) bool { return m.ID == id.ID }); i >= 0 {
			m = ch.posts[i]
		}
		if !m.omitted {
			page = append(page, m)
		}
	}
	return c.shown(ch, page, len(page)), nil
}

func (c *call) shown(ch *chat, page []*stored, count int) bin.Encoder {
	answer := &tg.MessagesChannelMessages{Pts: ch.pts(), Count: count, Chats: []tg.ChatClass{ch.tl(c.by)}}
	for _, m := range page {
		if m.spoiled {
			return garbage{}
		}
		answer.Messages = append(answer.Messages, m.tl(c.by))
	}
	return answer
}

// getChannelDifference tells what has happened in a channel since a pts, oldest first, in pages. A message is shown as
// it is now; one that is gone is not.
func (c *call) getChannelDifference(req *tg.UpdatesGetChannelDifferenceRequest) (bin.Encoder, error) {
	ch, err := c.readable(req.Channel)
	if err != nil {
		return nil, err
	}
	from := req.Pts - firstPts
	switch {
	case req.Pts == 0:
		return nil, tgerr.New(400, "PERSISTENT_TIMESTAMP_EMPTY")
	case from < 0 || req.Pts > ch.pts():
		return nil, tgerr.New(400, "PERSISTENT_TIMESTAMP_INVALID")
	case from < ch.forgot:
		d := &tg.Dialog{Peer: ch.peer(c.by), TopMessage: ch.top().ID}
		d.SetPts(ch.pts())
		d.SetFlags()
		return &tg.UpdatesChannelDifferenceTooLong{Final: true, Dialog: d, Chats: []tg.ChatClass{ch.tl(c.by)}}, nil
	case from == len(ch.log):
		return &tg.UpdatesChannelDifferenceEmpty{Final: true, Pts: req.Pts}, nil
	}
	to := min(from+min(max(req.Limit, 1), 100, c.srv.page), len(ch.log))
	d := &tg.UpdatesChannelDifference{Final: to == len(ch.log), Pts: firstPts + to, Chats: []tg.ChatClass{ch.tl(c.by)}}
	for i, e := range ch.log[from:to] {
		pts := req.Pts + i + 1
		if _, gone := e.kind.(*tg.UpdateDeleteChannelMessages); gone {
			d.OtherUpdates = append(d.OtherUpdates, &tg.UpdateDeleteChannelMessages{ChannelID: ch.id, Messages: []int{e.m.ID}, Pts: pts, PtsCount: 1})
			continue
		}
		switch {
		case e.m.deleted || e.m.vanished:
		case e.m.spoiled:
			return garbage{}, nil
		case e.kind == nil:
			d.NewMessages = append(d.NewMessages, e.m.tl(c.by))
		default:
			d.OtherUpdates = append(d.OtherUpdates, &tg.UpdateEditChannelMessage{Message: e.m.tl(c.by), Pts: pts, PtsCount: 1})
		}
	}
	return d, nil
}

// getFile gives a part of a photo.
func (c *call) getFile(req *tg.UploadGetFileRequest) (bin.Encoder, error) {
	in, ok := req.Location.(*tg.InputPhotoFileLocation)
	if !ok {
		return nil, tgerr.New(400, "LOCATION_INVALID")
	}
	m, ok := c.srv.media[in.ID]
	limit := int64(req.Limit)
	switch {
	case !ok || m.hash != in.AccessHash:
		return nil, tgerr.New(400, "FILE_ID_INVALID")
	case !bytes.Equal(m.reference, in.FileReference):
		return nil, tgerr.New(400, "FILE_REFERENCE_EXPIRED")
	case limit <= 0 || limit > 1<<20 || limit%4096 != 0 || 1<<20%limit != 0:
		return nil, tgerr.New(400, "LIMIT_INVALID")
	case req.Offset%limit != 0:
		return nil, tgerr.New(400, "OFFSET_INVALID")
	}
	size := int64(len(m.content))
	part := m.content[min(req.Offset, size):min(req.Offset+limit, size)]
	return &tg.UploadFile{Type: &tg.StorageFileJpeg{}, Mtime: int(now().Unix()), Bytes: part}, nil
}

// describe adds to a message what readers of a channel see.
func (r *read) describe(t *tg.Message) {
	if r.Strange {
		t.Media = &tg.MessageMediaDice{Value: 6, Emoticon: "🎲"}
	}
	if r.Forward != nil {
		t.SetFwdFrom(*r.Forward)
	}
	if r.ReplyTo != 0 {
		h := &tg.MessageReplyHeader{}
		h.SetReplyToMsgID(r.ReplyTo)
		t.SetReplyTo(h)
	}
	if r.Views != 0 {
		t.SetViews(r.Views)
	}
	if len(r.reactions) > 0 {
		t.SetReactions(tg.MessageReactions{Results: r.reactions})
	}
}

// garbage is an answer that no client can read.
type garbage struct{}

func (garbage) Encode(b *bin.Buffer) error {
	b.PutID(0xdeadbeef)
	return nil
}

func (garbage) Decode(*bin.Buffer) error { return errors.New("nobody can read this") }
