package telegramtest

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/gotd/td/tg"
)

// Post is what [Server.Post] puts into a channel.
type Post struct {
	Text      string
	Entities  []tg.MessageEntityClass
	Link      string // where the whole text links to
	Photo     []byte // the content of its picture; nil: it has none
	Strange   bool   // its media are of a class that is seldom met
	GroupedID int64
	Forward   *tg.MessageFwdHeader
	ReplyTo   int
	Views     int
	Pinned    bool      // a service message: something was pinned
	At        time.Time // zero: now
}

// channelEvent took one pts of a channel: a message that was new, or an edit of one, or the end of one.
type channelEvent struct {
	m    *stored
	kind tg.UpdateClass // of which type it is told; nil: new
}

// read is what only those who read a channel see of a message.
type read struct {
	Post
	reactions []tg.ReactionCount
	deleted   bool
	vanished  bool // pages of history count it and do not show it
	at        int  // the pts of the channel after it
	spoiled   bool // no answer with it can be read
	omitted   bool // not among messages by their ids
}

// Post publishes a message in a channel or supergroup in the name of somebody else, and returns its id.
func (s *Server) Post(channelID int64, p Post) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[channelID]
	m := &stored{Message: Message{Text: p.Text, GroupedID: p.GroupedID}, entities: p.Entities, read: read{Post: p}, service: p.Pinned}
	switch {
	case p.Link != "":
		m.entities = append(m.entities, &tg.MessageEntityTextURL{Length: utf16Len(p.Text), URL: p.Link})
	case len(p.Entities) == 0:
		m.entities = recognised(p.Text)
	}
	if p.Photo != nil {
		sum := sha256.Sum256(p.Photo)
		s.lastID++
		m.media = &storedMedia{Media: Media{Kind: "photo", MIME: "image/jpeg", Size: int64(len(p.Photo)), SHA256: hex.EncodeToString(sum[:])},
			id: s.lastID, hash: s.lastID ^ hashMask, reference: sum[:8], content: p.Photo}
		s.media[m.media.id] = m.media
		m.Media = &m.media.Media
	}
	s.post(ch, s.stranger, m)
	if !p.At.IsZero() {
		m.At = p.At
		if p.At.Before(ch.opening.At) {
			ch.opening.At = p.At
		}
	}
	s.push(ch, s.stranger, []*stored{m})
	s.note()
	return m.ID
}

// marked is what Telegram recognises in a text that has no markup, as far as tests need it.
var marked = regexp.MustCompile(`https?://\S+|@[A-Za-z]\w{4,31}`)

func recognised(text string) (all []tg.MessageEntityClass) {
	for _, at := range marked.FindAllStringIndex(text, -1) {
		offset, length := len(utf16.Encode([]rune(text[:at[0]]))), utf16Len(text[at[0]:at[1]])
		if text[at[0]] == '@' {
			all = append(all, &tg.MessageEntityMention{Offset: offset, Length: length})
		} else {
			all = append(all, &tg.MessageEntityURL{Offset: offset, Length: length})
		}
	}
	return all
}

// EditPost changes the text of a message of a channel.
func (s *Server) EditPost(channelID int64, id int, text string) {
	s.inChannel(channelID, id, func(ch *chat, m *stored) {
		m.Text, m.Edited = text, now()
		ch.happened(m, &tg.UpdateEditChannelMessage{})
	})
}

// DeletePosts deletes messages of a channel.
func (s *Server) DeletePosts(channelID int64, ids ...int) {
	for _, id := range ids {
		s.inChannel(channelID, id, func(ch *chat, m *stored) {
			m.deleted = true
			ch.happened(m, &tg.UpdateDeleteChannelMessages{})
		})
	}
}

// Vanish has pages of history count messages of a channel without showing them: such pages are short, or empty.
func (s *Server) Vanish(channelID int64, ids ...int) {
	for _, id := range ids {
		s.inChannel(channelID, id, func(_ *chat, m *stored) { m.vanished = true })
	}
}

// Spoil makes each answer that has a message unreadable; false makes it good again.
func (s *Server) Spoil(channelID int64, id int, bad bool) {
	s.inChannel(channelID, id, func(_ *chat, m *stored) { m.spoiled = bad })
}

// Omit leaves a message out where it is asked for by its id.
func (s *Server) Omit(channelID int64, id int) {
	s.inChannel(channelID, id, func(_ *chat, m *stored) { m.omitted = true })
}

// React sets how often a message was seen, and how often it has a reaction. That takes no pts.
func (s *Server) React(channelID int64, id, views int, emoji string, count int) {
	s.inChannel(channelID, id, func(_ *chat, m *stored) {
		m.Views = views
		m.reactions = []tg.ReactionCount{{Reaction: &tg.ReactionEmoji{Emoticon: emoji}, Count: count}}
	})
}

func (s *Server) inChannel(channelID int64, id int, change func(*chat, *stored)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[channelID]
	if i := slices.IndexFunc(ch.posts, func(m *stored) bool { return m.ID == id }); i >= 0 {
		change(ch, ch.posts[i])
		s.note()
	}
}

// SkipIDs leaves out the next n ids of a channel.
func (s *Server) SkipIDs(channelID int64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[channelID].lastID = s.chats[channelID].newestID() + n
}

// ForgetChannel has updates.getChannelDifference know nothing any more of what has happened until now.
func (s *Server) ForgetChannel(channelID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[channelID].forgot = len(s.chats[channelID].log)
}

// Shut answers whoever reads a channel with CHANNEL_PRIVATE; false lets them in again.
func (s *Server) Shut(channelID int64, shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[channelID].shut = shut
}

// Rename gives a channel another user name; the one before is free.
func (s *Server) Rename(channelID int64, username string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[channelID]
	delete(s.names, handle(ch.username))
	ch.username = username
	if username != "" {
		s.names[handle(username)] = named{chat: ch}
	}
}

// ExpireReferences makes the file references of all media worthless; whoever asks for the messages gets others.
func (s *Server) ExpireReferences() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.media {
		sum := sha256.Sum256(m.reference)
		m.reference = sum[:8]
	}
}

// Garble has the next n calls of a method about a channel answered with what nobody can read. A negative n is for ever.
func (s *Server) Garble(channelID int64, method string, n int) {
	s.addFault(faultKey{method: method, chat: channelID}, &fault{kind: garble, left: n})
}

// happened appends an event that takes one pts. The caller holds mu.
func (ch *chat) happened(m *stored, kind tg.UpdateClass) {
	ch.log = append(ch.log, channelEvent{m, kind})
}

func (ch *chat) pts() int { return firstPts + len(ch.log) }

// newestID is the highest id that was given out.
func (ch *chat) newestID() int { return max(ch.lastID, ch.top().ID) }
