package telegramtest

import (
	"context"
	"slices"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// Message is a post as readers of the channel see it.
type Message struct {
	ID        int
	RandomID  int64
	From      string // user name of the bot
	Text      string // or the caption
	Entities  []Entity
	Media     *Media // nil: text alone
	GroupedID int64  // the same for the members of an album; 0: no album
	Silent    bool
	NoWebpage bool
	At        time.Time
}

// stored is a Message with what Telegram's own answer needs.
type stored struct {
	Message
	channel  int64
	entities []tg.MessageEntityClass
	media    tg.MessageMediaClass
}

// sentKey is what Telegram recognises a repetition by: the account, the chat and the random id.
type sentKey struct {
	user, channel, random int64
}

// Messages are the channel's messages, oldest first.
func (s *Server) Messages(channelID int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, ok := s.channels[channelID]
	if !ok {
		return nil
	}
	list := make([]Message, len(ch.posts))
	for i, m := range ch.posts {
		list[i] = m.Message
		list[i].Entities = slices.Clone(m.Message.Entities)
	}
	return list
}

// Await waits until the channel has at least n messages.
func (s *Server) Await(ctx context.Context, channelID int64, n int) error {
	return s.await(ctx, func() bool {
		ch, ok := s.channels[channelID]
		return ok && len(ch.posts) >= n
	})
}

func (c *call) sendMessage(req *tg.MessagesSendMessageRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if repeated, err := c.repetition(ch, req.RandomID); repeated != nil || err != nil {
		return repeated, err
	}
	entities, err := checkText(req.Message, req.Entities, textLimit, "MESSAGE_TOO_LONG")
	if err != nil {
		return nil, err
	}
	if utf16Len(req.Message) == 0 {
		return nil, tgerr.New(400, "MESSAGE_EMPTY")
	}
	m := c.post(ch, req.RandomID, req.Message, entities)
	m.Silent, m.NoWebpage = req.Silent, req.NoWebpage
	return c.updates(ch, []*stored{m}), nil
}

func (c *call) sendMedia(req *tg.MessagesSendMediaRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if repeated, err := c.repetition(ch, req.RandomID); repeated != nil || err != nil {
		return repeated, err
	}
	entities, err := checkText(req.Message, req.Entities, captionLimit, "MEDIA_CAPTION_TOO_LONG")
	if err != nil {
		return nil, err
	}
	media, err := c.takeMedia(req.Media)
	if err != nil {
		return nil, err
	}
	m := c.post(ch, req.RandomID, req.Message, entities)
	m.Silent, m.Media, m.media = req.Silent, &media.Media, media.tl()
	return c.updates(ch, []*stored{m}), nil
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
		if entities[i], err = checkText(item.Message, item.Entities, captionLimit, "MEDIA_CAPTION_TOO_LONG"); err != nil {
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
	c.srv.lastID++
	group := c.srv.lastID
	posts := make([]*stored, len(media))
	for i, item := range req.MultiMedia {
		m := c.post(ch, item.RandomID, item.Message, entities[i])
		m.Silent, m.GroupedID = req.Silent, group
		m.Media, m.media = &media[i].Media, media[i].tl()
		posts[i] = m
	}
	// A repetition of the album is recognised by its first message and answered with all.
	c.bot.sent[sentKey{c.bot.id, ch.ID, posts[0].RandomID}] = posts
	return c.updates(ch, posts), nil
}

// post appends a message to the channel and remembers its random id.
func (c *call) post(ch *channel, random int64, text string, entities []tg.MessageEntityClass) *stored {
	m := &stored{channel: ch.ID, entities: entities, Message: Message{
		ID:       len(ch.posts) + 1,
		RandomID: random,
		From:     c.bot.username,
		Text:     text,
		Entities: readable(text, entities),
		At:       now(),
	}}
	ch.posts = append(ch.posts, m)
	c.bot.sent[sentKey{c.bot.id, ch.ID, random}] = []*stored{m}
	return m
}

// repetition answers a call whose random id has made a message before: with that message.
func (c *call) repetition(ch *channel, random int64) (bin.Encoder, error) {
	if random == 0 {
		return nil, tgerr.New(400, "RANDOM_ID_EMPTY")
	}
	if earlier, ok := c.bot.sent[sentKey{c.bot.id, ch.ID, random}]; ok {
		return c.updates(ch, earlier), nil
	}
	return nil, nil
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
	in, ok := peer.(*tg.InputPeerChannel)
	if !ok {
		return nil, nil
	}
	taken := make([]sentKey, len(ids))
	for i, id := range ids {
		taken[i] = sentKey{c.bot.id, in.ChannelID, id}
		if _, ok := s.running[taken[i]]; ok {
			return nil, tgerr.New(500, "RANDOM_ID_DUPLICATE")
		}
	}
	for _, k := range taken {
		s.running[k] = struct{}{}
	}
	return taken, nil
}

// updates is the answer to a send: which random id became which message, and the messages.
func (c *call) updates(ch *channel, posts []*stored) *tg.Updates {
	u := &tg.Updates{Date: int(now().Unix()), Chats: []tg.ChatClass{ch.tl(c.bot)}}
	for _, m := range posts {
		u.Updates = append(u.Updates, &tg.UpdateMessageID{ID: m.ID, RandomID: m.RandomID})
	}
	for _, m := range posts {
		u.Updates = append(u.Updates, &tg.UpdateNewChannelMessage{Message: m.tl(), Pts: m.ID, PtsCount: 1})
	}
	return u
}

func (m *stored) tl() *tg.Message {
	t := &tg.Message{
		ID: m.ID, Post: true, Silent: m.Silent, PeerID: &tg.PeerChannel{ChannelID: m.channel},
		Date: int(m.At.Unix()), Message: m.Text, Entities: m.entities, Media: m.media, GroupedID: m.GroupedID,
	}
	t.SetFlags()
	return t
}
