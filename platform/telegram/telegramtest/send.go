package telegramtest

import (
	"fmt"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

func (c *call) sendMessage(req *tg.MessagesSendMessageRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if repeated, err := c.repetition(ch, req.RandomID); repeated != nil || err != nil {
		return repeated, err
	}
	entities, err := c.checkText(req.Message, req.Entities, textLimit, "MESSAGE_TOO_LONG")
	if err != nil {
		return nil, err
	}
	if utf16Len(req.Message) == 0 {
		return nil, tgerr.New(400, "MESSAGE_EMPTY")
	}
	buttons, err := c.buttons(req.ReplyMarkup)
	if err != nil {
		return nil, err
	}
	if err := c.checkPause(ch); err != nil {
		return nil, err
	}
	m := c.post(ch, req.RandomID, req.Message, entities, func(m *stored) {
		m.Silent, m.NoWebpage, m.Buttons = req.Silent, req.NoWebpage, buttons
	})
	c.srv.push(ch, c.by, []*stored{m})
	return c.sent(ch, []*stored{m}), nil
}

func (c *call) sendMedia(req *tg.MessagesSendMediaRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if repeated, err := c.repetition(ch, req.RandomID); repeated != nil || err != nil {
		return repeated, err
	}
	entities, err := c.checkText(req.Message, req.Entities, captionLimit, "MEDIA_CAPTION_TOO_LONG")
	if err != nil {
		return nil, err
	}
	buttons, err := c.buttons(req.ReplyMarkup)
	if err != nil {
		return nil, err
	}
	if err := c.checkPause(ch); err != nil {
		return nil, err
	}
	media, err := c.takeMedia(req.Media)
	if err != nil {
		return nil, err
	}
	m := c.post(ch, req.RandomID, req.Message, entities, func(m *stored) {
		m.Silent, m.Media, m.media, m.Buttons = req.Silent, &media.Media, media, buttons
	})
	c.srv.push(ch, c.by, []*stored{m})
	return c.sent(ch, []*stored{m}), nil
}

func (c *call) sendMultiMedia(req *tg.MessagesSendMultiMediaRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if len(req.MultiMedia) < 2 || len(req.MultiMedia) > albumLimit {
		return nil, tgerr.New(400, "MULTI_MEDIA_TOO_LONG")
	}
	if repeated, err := c.repetition(ch, req.MultiMedia[0].RandomID); repeated != nil || err != nil {
		return repeated, err
	}
	media := make([]*storedMedia, len(req.MultiMedia))
	entities := make([][]tg.MessageEntityClass, len(req.MultiMedia))
	for i, item := range req.MultiMedia {
		if entities[i], err = c.checkText(item.Message, item.Entities, captionLimit, "MEDIA_CAPTION_TOO_LONG"); err != nil {
			return nil, err
		}
		if item.RandomID == 0 {
			return nil, tgerr.New(400, "RANDOM_ID_EMPTY")
		}
		if media[i], err = c.uploadedMedia(item.Media); err != nil {
			return nil, err
		}
		if (media[i].Kind == "document") != (media[0].Kind == "document") {
			return nil, tgerr.New(400, "GROUPED_MEDIA_INVALID")
		}
	}
	if err := c.checkPause(ch); err != nil {
		return nil, err
	}
	c.srv.lastID++
	group := c.srv.lastID
	posts := make([]*stored, len(media))
	for i, item := range req.MultiMedia {
		posts[i] = c.post(ch, item.RandomID, item.Message, entities[i], func(m *stored) {
			m.Silent, m.GroupedID = req.Silent, group
			m.Media, m.media = &media[i].Media, media[i]
		})
	}
	// A repetition of the album is recognised by its first message and answered with all.
	c.by.sent[c.sentKey(ch, posts[0].RandomID)] = posts
	c.srv.push(ch, c.by, posts)
	return c.sent(ch, posts), nil
}

// checkPause refuses a message that slow mode does not allow yet.
func (c *call) checkPause(ch *chat) error {
	if wait := c.pause(ch); wait > 0 {
		return tgerr.New(420, fmt.Sprintf("SLOWMODE_WAIT_%d", wait))
	}
	return nil
}

// post makes a message of the caller and remembers its random id.
func (c *call) post(ch *chat, random int64, text string, entities []tg.MessageEntityClass, finish func(*stored)) *stored {
	m := &stored{entities: entities, Message: Message{RandomID: random, Text: text, Entities: readable(text, entities)}}
	finish(m)
	c.srv.post(ch, c.by, m)
	c.by.sent[c.sentKey(ch, random)] = []*stored{m}
	return m
}

// repetition answers a call whose random id has made a message before: with that message.
func (c *call) repetition(ch *chat, random int64) (bin.Encoder, error) {
	if random == 0 {
		return nil, tgerr.New(400, "RANDOM_ID_EMPTY")
	}
	if earlier, ok := c.by.sent[c.sentKey(ch, random)]; ok {
		return c.sent(ch, earlier), nil
	}
	return nil, nil
}

// sentKey is what Telegram recognises a repetition by: the account, the chat and the random id. A
// private chat is named by the other's id, below zero.
type sentKey struct {
	user, chat, random int64
}

func (c *call) sentKey(ch *chat, random int64) sentKey {
	if ch.kind == private {
		return sentKey{c.by.ID, -ch.other(c.by).ID, random}
	}
	return sentKey{c.by.ID, ch.id, random}
}

// takeRandomIDs marks the random ids of a call as running, and refuses those that are.
func (s *Server) takeRandomIDs(c *call, req any) ([]sentKey, error) {
	var peer tg.InputPeerClass
	var ids []int64
	switch r := req.(type) {
	case *tg.MessagesSendMessageRequest:
		peer, ids = r.Peer, []int64{r.RandomID}
	case *tg.MessagesSendMediaRequest:
		peer, ids = r.Peer, []int64{r.RandomID}
	case *tg.MessagesSendMultiMediaRequest:
		peer = r.Peer
		for _, item := range r.MultiMedia {
			ids = append(ids, item.RandomID)
		}
	}
	var chat int64
	switch in := peer.(type) {
	case *tg.InputPeerChannel:
		chat = in.ChannelID
	case *tg.InputPeerChat:
		chat = in.ChatID
	case *tg.InputPeerUser:
		chat = -in.UserID
	case *tg.InputPeerSelf:
		chat = -c.by.ID
	default:
		return nil, nil
	}
	taken := make([]sentKey, len(ids))
	for i, id := range ids {
		taken[i] = sentKey{c.by.ID, chat, id}
		if _, ok := s.running[taken[i]]; ok {
			return nil, tgerr.New(500, "RANDOM_ID_DUPLICATE")
		}
	}
	for _, k := range taken {
		s.running[k] = struct{}{}
	}
	return taken, nil
}

// sent is the answer to a send: which random id became which message, and the messages. The answer
// to a user who has sent a text to another is short.
func (c *call) sent(ch *chat, posts []*stored) tg.UpdatesClass {
	if m := posts[0]; ch.kind == private && !c.by.bot && ch.other(c.by) != c.by && m.Media == nil {
		u := &tg.UpdateShortSentMessage{Out: true, ID: m.id(c.by), Pts: m.pts(c.by), PtsCount: 1,
			Date: int(m.At.Unix()), Entities: m.entities}
		u.SetFlags()
		return u
	}
	ids := make([]tg.UpdateClass, len(posts))
	for i, m := range posts {
		ids[i] = &tg.UpdateMessageID{ID: m.id(c.by), RandomID: m.RandomID}
	}
	return ch.news(c.by, posts, ids...)
}
