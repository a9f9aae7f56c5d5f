package platformtest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"belfry/platform"
)

// Channels is a network of channels in memory that keeps to what Telegram does: pages are cut out before what is gone is
// left out, a difference tells what has happened since a pts, and messages come as they are now. What tests change they
// change within [Channels.Do] while others may read.
type Channels struct {
	mu    sync.Mutex
	ByID  map[int64]*Channel
	Fail  func(method string, channel int64) error // nil: nothing fails
	Calls []string                                 // methods, in their order
}

// Channel is a channel that an account can read.
type Channel struct {
	Title    string
	Username string
	Posts    []*ChannelPost // in the order of their ids
	Next     int            // the id of the next one
	Shut     bool           // it is private
	log      []channelEvent
	forgot   int // what was logged before is not told any more
}

// ChannelPost is a message of a channel.
type ChannelPost struct {
	platform.Message
	Gone    bool
	Spoiled bool // no answer with it can be read
	Omitted bool // it is left out where it is asked for by its id
}

type channelEvent struct {
	post *ChannelPost
	kind int
}

const (
	created = iota
	edited
	deleted
)

// NewChannels returns a network without channels.
func NewChannels() *Channels { return &Channels{ByID: map[int64]*Channel{}} }

// Do changes something while others may read.
func (f *Channels) Do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// Add adds a channel.
func (f *Channels) Add(id int64, username string) *Channel {
	f.ByID[id] = &Channel{Title: "Channel " + username, Username: username, Next: 1}
	return f.ByID[id]
}

// Post adds a message with the next id, and now as its date unless it has one.
func (c *Channel) Post(m platform.Message) *ChannelPost {
	m.ID = c.Next
	c.Next++
	if m.Date.IsZero() {
		m.Date = time.Now().UTC().Truncate(time.Second)
	}
	p := &ChannelPost{Message: m}
	c.Posts = append(c.Posts, p)
	c.log = append(c.log, channelEvent{p, created})
	return p
}

// Edit changes the text of a message.
func (c *Channel) Edit(p *ChannelPost, text string) {
	p.Text, p.EditedAt = text, time.Now().UTC().Truncate(time.Second)
	c.log = append(c.log, channelEvent{p, edited})
}

// Remove deletes a message.
func (c *Channel) Remove(p *ChannelPost) {
	p.Gone = true
	c.log = append(c.log, channelEvent{p, deleted})
}

// Forget makes differences from before now too long.
func (c *Channel) Forget() { c.forgot = len(c.log) }

// Pts is the channel's state.
func (c *Channel) Pts() int { return 1 + len(c.log) }

// Malformed is the error for an answer that cannot be read.
func Malformed() error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Code: platform.CodeMalformed, Err: errors.New("the answer about the channel could not be read")}
}

// Flood is the error for a method that is asked for too often.
func Flood(wait time.Duration) error {
	return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Code: "FLOOD_WAIT", Wait: wait, Err: errors.New("wait")}
}

// Private is the error for a channel that may not be read.
func Private() error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: "CHANNEL_PRIVATE", Err: errors.New("this login is not in it")}
}

// enter begins a call.
func (f *Channels) enter(method string, id int64) (*Channel, error) {
	f.Calls = append(f.Calls, method)
	if f.Fail != nil {
		if err := f.Fail(method, id); err != nil {
			return nil, err
		}
	}
	c, ok := f.ByID[id]
	if !ok || c.Shut {
		return nil, Private()
	}
	return c, nil
}

func (c *Channel) chat(id int64) platform.Chat {
	return platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: id}, Title: c.Title, Username: c.Username}
}

// FindChannel finds a channel by its name, which begins with @, or by its id.
func (f *Channels) FindChannel(_ context.Context, _ uint64, name string) (platform.Chat, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.ByID {
		if "@"+c.Username == name || strconv.FormatInt(id, 10) == name {
			_, err := f.enter("find", id)
			return c.chat(id), err
		}
	}
	return platform.Chat{}, Private()
}

// Chats lists the channels.
func (f *Channels) Chats(context.Context, uint64) (all []platform.Chat, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.ByID {
		all = append(all, c.chat(id))
	}
	return all, nil
}

// shown are messages as an answer has them; it cannot be read if one of them cannot be.
func (c *Channel) shown(id int64, Posts []*ChannelPost) (platform.History, error) {
	h := platform.History{Chat: c.chat(id), Pts: c.Pts()}
	for _, p := range Posts {
		if p.Spoiled {
			return platform.History{}, Malformed()
		}
		h.Messages = append(h.Messages, p.Message)
	}
	slices.SortFunc(h.Messages, func(a, b platform.Message) int { return a.ID - b.ID })
	return h, nil
}

// HistoryBefore returns the latest message before a time.
func (f *Channels) HistoryBefore(_ context.Context, _ uint64, id int64, at time.Time) (platform.History, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.enter("history", id)
	if err != nil {
		return platform.History{}, err
	}
	for _, p := range slices.Backward(c.Posts) {
		if !p.Gone && p.Date.Before(at) {
			return c.shown(id, []*ChannelPost{p})
		}
	}
	return c.shown(id, nil)
}

// History returns the messages after an id.
func (f *Channels) History(_ context.Context, _ uint64, id int64, after, limit int) (platform.History, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.enter("history", id)
	if err != nil {
		return platform.History{}, err
	}
	var page []*ChannelPost
	for _, p := range c.Posts {
		if !p.Gone && p.ID > after && len(page) < limit {
			page = append(page, p)
		}
	}
	return c.shown(id, page)
}

// MessagesByID returns messages by their ids.
func (f *Channels) MessagesByID(_ context.Context, _ uint64, id int64, ids []int) (platform.History, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.enter("messages", id)
	if err != nil {
		return platform.History{}, err
	}
	var page []*ChannelPost
	for _, n := range ids {
		p := &ChannelPost{Message: platform.Message{ID: n, Deleted: true}}
		if i := slices.IndexFunc(c.Posts, func(p *ChannelPost) bool { return p.ID == n && !p.Gone }); i >= 0 {
			p = c.Posts[i]
		}
		if !p.Omitted {
			page = append(page, p)
		}
	}
	return c.shown(id, page)
}

// Difference returns what has happened since a pts.
func (f *Channels) Difference(_ context.Context, _ uint64, id int64, pts int) (d platform.Difference, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.enter("difference", id)
	if err != nil {
		return d, err
	}
	from := pts - 1
	if from < c.forgot {
		return platform.Difference{TooLong: true, Pts: c.Pts(), Chat: c.chat(id)}, nil
	}
	to := min(from+100, len(c.log))
	d = platform.Difference{Chat: c.chat(id), Pts: 1 + to, More: to < len(c.log)}
	told := map[*ChannelPost]bool{}
	for _, e := range c.log[from:to] {
		switch {
		case e.kind == deleted:
			d.Deleted = append(d.Deleted, e.post.ID)
		case e.post.Gone || told[e.post]:
		case e.post.Spoiled:
			return platform.Difference{}, Malformed()
		default:
			told[e.post] = true
			d.Messages = append(d.Messages, e.post.Message)
		}
	}
	slices.SortFunc(d.Messages, func(a, b platform.Message) int { return a.ID - b.ID })
	return d, nil
}

// Photo returns the content of a photo: its reference.
func (f *Channels) Photo(_ context.Context, _ uint64, id int64, _ int, p platform.PhotoFile) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.enter("photo", id)
	return p.Reference, err
}
