package telegramtest

import (
	"context"
	"slices"
	"time"

	"github.com/gotd/td/tg"
)

// Message is a message as readers of the chat see it.
type Message struct {
	ID        int // in private chats and basic groups: the sender's; every reader has another
	RandomID  int64
	From      string // user name of the account, or the phone number of a user without one
	FromID    int64
	Text      string // or the caption
	Entities  []Entity
	Media     *Media // nil: text alone
	GroupedID int64  // the same for the members of an album; 0: no album
	Silent    bool
	NoWebpage bool
	Buttons   [][]Button // under it, in rows
	At        time.Time
	Edited    time.Time // when last; zero: never
}

// stored is a Message with what Telegram's own answer needs.
type stored struct {
	Message
	chat     *chat
	from     *account
	service  bool
	ids      map[int64]int // in private chats and basic groups: its id for each account
	taken    map[int64]int // there: the pts that it took of each account
	entities []tg.MessageEntityClass
	media    *storedMedia // nil: none
	read
}

// Messages are the messages of a channel or group, oldest first.
func (s *Server) Messages(chatID int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, ok := s.chats[chatID]
	if !ok {
		return nil
	}
	return ch.messages(func(*stored) bool { return true })
}

// PrivateMessages are the messages that one account has sent to another, oldest first; to itself:
// its Saved Messages.
func (s *Server) PrivateMessages(from, to int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.privately(from, to)
}

// privately is PrivateMessages for who holds mu.
func (s *Server) privately(from, to int64) []Message {
	a, ok := s.accounts[from]
	if !ok {
		return nil
	}
	ch, ok := a.private[to]
	if !ok {
		return nil
	}
	return ch.messages(func(m *stored) bool { return m.from == a })
}

func (ch *chat) messages(wanted func(*stored) bool) []Message {
	list := make([]Message, 0, len(ch.posts))
	for _, m := range ch.posts {
		if wanted(m) && !m.deleted {
			copied := m.Message
			copied.Entities = slices.Clone(m.Message.Entities)
			copied.Buttons = slices.Clone(m.Buttons)
			list = append(list, copied)
		}
	}
	return list
}

// Await waits until the channel or group has at least n messages.
func (s *Server) Await(ctx context.Context, chatID int64, n int) error {
	return s.await(ctx, func() bool {
		ch, ok := s.chats[chatID]
		return ok && len(ch.posts) >= n
	})
}

// AwaitPrivate waits until one account has sent another at least n messages.
func (s *Server) AwaitPrivate(ctx context.Context, from, to int64, n int) error {
	return s.await(ctx, func() bool { return len(s.privately(from, to)) >= n })
}

// AwaitMessage waits for a message that one account has sent another and that is as wanted, such as
// one that was edited, and returns the newest of them.
func (s *Server) AwaitMessage(ctx context.Context, from, to int64, wanted func(Message) bool) (Message, error) {
	var found Message
	err := s.await(ctx, func() bool {
		for _, m := range slices.Backward(s.privately(from, to)) {
			if wanted(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found, err
}

// Say posts a message in the name of somebody else, who has no user name, and pushes it to the
// members' connections.
func (s *Server) Say(chatID int64, text string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[chatID]
	m := &stored{Message: Message{Text: text}}
	s.post(ch, s.stranger, m)
	s.push(ch, s.stranger, []*stored{m})
	s.note()
	return m.Message
}

// Write sends a message from one account to another, as a person who presses a bot's Start does, and
// pushes it.
func (s *Server) Write(from, to int64, text string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[from]
	ch := s.privateChat(a, s.accounts[to])
	m := &stored{Message: Message{Text: text}}
	s.post(ch, a, m)
	s.push(ch, a, []*stored{m})
	s.note()
	return m.Message
}

// post appends a message to the chat. The caller holds mu, as in all that follows.
func (s *Server) post(ch *chat, from *account, m *stored) {
	m.chat, m.from, m.At, m.FromID, m.From = ch, from, now(), from.ID, from.called()
	if ch.isChannel() {
		m.ID = ch.newestID() + 1
		ch.lastID = m.ID
		ch.happened(m, nil)
		m.at = ch.pts()
	} else {
		m.ids, m.taken = map[int64]int{}, map[int64]int{}
		m.ID = m.id(from)
	}
	for _, a := range s.inside(ch) {
		m.id(a)
		if !ch.isChannel() {
			m.taken[a.ID] = a.record(event{m: m})
		}
		a.listed = nil
	}
	ch.posts = append(ch.posts, m)
	ch.spoke[from.ID] = m.At
}

// top is the newest message.
func (ch *chat) top() *stored {
	for _, m := range slices.Backward(ch.posts) {
		if !m.deleted {
			return m
		}
	}
	return ch.opening
}

// id is the message's id for a viewer: outside channels every account counts for itself.
func (m *stored) id(viewer *account) int {
	if m.chat.isChannel() {
		return m.ID
	}
	if _, ok := m.ids[viewer.ID]; !ok {
		viewer.box++
		m.ids[viewer.ID] = viewer.box
	}
	return m.ids[viewer.ID]
}

// pts is the state of updates that the viewer is in after the message.
func (m *stored) pts(viewer *account) int {
	if m.chat.isChannel() {
		return m.at
	}
	return m.taken[viewer.ID]
}

// tl is the message as the viewer sees it.
func (m *stored) tl(viewer *account) tg.MessageClass {
	peer := m.chat.peer(viewer)
	if m.deleted {
		return &tg.MessageEmpty{ID: m.ID, PeerID: peer}
	}
	var from tg.PeerClass
	if m.chat.kind != broadcast && (m.chat.kind != private || m.from == viewer) {
		from = &tg.PeerUser{UserID: m.from.ID}
	}
	if m.service {
		var begun tg.MessageActionClass = &tg.MessageActionChannelCreate{Title: m.chat.title}
		if m.Pinned {
			begun = &tg.MessageActionPinMessage{}
		} else if m.chat.kind == basic {
			begun = &tg.MessageActionChatCreate{Title: m.chat.title}
		}
		t := &tg.MessageService{ID: m.id(viewer), Post: m.chat.kind == broadcast, FromID: from, PeerID: peer,
			Date: int(m.At.Unix()), Action: begun}
		t.SetFlags()
		return t
	}
	t := &tg.Message{
		ID: m.id(viewer), Post: m.chat.kind == broadcast, Out: m.from == viewer, Silent: m.Silent, FromID: from, PeerID: peer,
		Date: int(m.At.Unix()), Message: m.Text, Entities: m.entities, GroupedID: m.GroupedID,
	}
	if m.media != nil {
		t.Media = m.media.tl()
	}
	if len(m.Buttons) > 0 {
		t.ReplyMarkup = inlineMarkup(m.Buttons)
	}
	if !m.Edited.IsZero() {
		t.EditDate = int(m.Edited.Unix())
	}
	m.describe(t)
	t.SetFlags()
	return t
}

// update is what says to the viewer that the message is new.
func (m *stored) update(viewer *account) tg.UpdateClass {
	if m.chat.isChannel() {
		return &tg.UpdateNewChannelMessage{Message: m.tl(viewer), Pts: m.pts(viewer), PtsCount: 1}
	}
	return &tg.UpdateNewMessage{Message: m.tl(viewer), Pts: m.pts(viewer), PtsCount: 1}
}

// news are the messages, with all that they mention, as the viewer gets them. The ids say which of
// the viewer's random ids became which message.
func (ch *chat) news(viewer *account, posts []*stored, ids ...tg.UpdateClass) *tg.Updates {
	for _, m := range posts {
		ids = append(ids, m.update(viewer))
	}
	return ch.updates(viewer, posts[0].from, ids...)
}

// updates are what happened in the chat, with the chat and who did it.
func (ch *chat) updates(viewer, by *account, happened ...tg.UpdateClass) *tg.Updates {
	u := &tg.Updates{Date: int(now().Unix()), Updates: happened}
	var met meeting
	met.chat(ch, viewer)
	if ch.kind == basic || ch.kind == supergroup {
		met.account(by, viewer)
	}
	u.Chats, u.Users = met.chats, met.users
	return u
}
