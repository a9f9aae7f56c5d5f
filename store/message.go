package store

import (
	"bytes"
	"encoding/base64"
	"iter"
	"slices"
	"time"
)

// Message is a message of a channel, as it was read last, and what the stages of the pipeline made of it.
type Message struct {
	ID        uint64    `json:"id"`
	ChannelID uint64    `json:"channel_id"` // of the [Channel]
	MessageID int       `json:"message_id"` // Telegram's, within the channel
	Date      time.Time `json:"date,omitzero"`
	Text      string    `json:"text,omitempty"` // of the message, or under its media
	// Entities are the formatting, sorted by offset.
	Entities  []MessageEntity `json:"entities,omitempty"`
	GroupedID int64           `json:"grouped_id,omitempty"` // the same for all messages of an album
	EditedAt  time.Time       `json:"edited_at,omitzero"`
	// DeletedAt is when it was seen to be deleted. One that was deleted before it was read has no date.
	DeletedAt time.Time         `json:"deleted_at,omitzero"`
	Media     *MessageMedia     `json:"media,omitempty"`
	Forward   *MessageForward   `json:"forward,omitempty"`
	ReplyTo   int               `json:"reply_to,omitempty"` // the message id in the same channel
	Views     int               `json:"views,omitempty"`
	Forwards  int               `json:"forwards,omitempty"` // how often it was forwarded
	Reactions []MessageReaction `json:"reactions,omitempty"`
	Service   string            `json:"service,omitempty"` // of a service message: what happened, such as pinMessage
	// Unreadable is why nothing more is known of it: Telegram's answer about it could not be read.
	Unreadable string    `json:"unreadable,omitempty"`
	ReadAt     time.Time `json:"read_at"` // when it was read first

	// What the stages add.
	Tags     []string              `json:"tags,omitempty"`
	Language string                `json:"language,omitempty"`
	Vision   string                `json:"vision,omitempty"` // what its picture shows, in words
	Links    []MessageLink         `json:"links,omitempty"`
	Stages   map[string]StageState `json:"stages,omitempty"` // the passport: by the name of the stage
}

// MessageEntity is a piece of formatting, named as the Bot API names it. Offset and Length are UTF-16 code units.
type MessageEntity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`      // of a text_link
	UserID   int64  `json:"user_id,omitempty"`  // of a text_mention
	Language string `json:"language,omitempty"` // of a pre
}

// MessageMedia describes what a message carries. The file itself is not kept.
type MessageMedia struct {
	// Kind is photo, video, animation, audio, voice, video_note, sticker, document, poll, location, contact, web_page
	// or, for what is of no known kind, unknown.
	Kind     string `json:"kind"`
	Class    string `json:"class,omitempty"` // of one unknown: Telegram's name for it
	Type     string `json:"mime_type,omitempty"`
	Name     string `json:"file_name,omitempty"`
	Size     int64  `json:"size,omitempty"` // bytes
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Duration int    `json:"duration,omitempty"` // seconds
	Title    string `json:"title,omitempty"`    // of a web page, a poll, a piece of music or a place
	URL      string `json:"url,omitempty"`      // of a web page
}

// Has reports whether there is media; the preview of a link is none.
func (m *MessageMedia) Has() bool { return m != nil && m.Kind != "web_page" }

// MessageForward is where a message was forwarded from. Of the ids one is set, or neither where the sender hides.
type MessageForward struct {
	ChannelID int64     `json:"channel_id,omitempty"` // Telegram's id, without a prefix
	UserID    int64     `json:"user_id,omitempty"`
	MessageID int       `json:"message_id,omitempty"`
	Username  string    `json:"username,omitempty"`
	Name      string    `json:"name,omitempty"` // for people to read
	Date      time.Time `json:"date,omitzero"`
}

// MessageReaction is how often a message has a reaction.
type MessageReaction struct {
	Emoji string `json:"emoji"` // of a custom one: its id; of a paid one: star
	Count int    `json:"count"`
}

// MessageLink is a link of a message, with what is behind it or the reason why that was not read.
type MessageLink struct {
	URL    string `json:"url"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text,omitempty"`
	Reason Reason `json:"reason,omitzero"`
}

// StageState is what has become of a message in a stage.
type StageState struct {
	State    string    `json:"state"`
	At       time.Time `json:"at"`
	Attempts int       `json:"attempts,omitempty"`
	Reason   Reason    `json:"reason,omitzero"`
}

// The states of a message in a stage, and the stage that is done when it is read.
const (
	StageDone     = "done"
	StageSkipped  = "skipped"
	StageRetrying = "retrying"
	StageParked   = "parked"
	StageWaiting  = "waiting"

	StagePersist = "persist"
)

// Messages is the table of messages.
type Messages struct{ Table[Message] }

func messageTable() def[Message] {
	return def[Message]{
		name: "messages",
		id:   func(m *Message) *uint64 { return &m.ID },
		indexes: []Index[Message]{
			{Name: "message", Unique: true, Key: func(m *Message, k key) key { return k.uint(m.ChannelID).int(int64(m.MessageID)) }},
			{Name: "time", Key: func(m *Message, k key) key {
				if m.Date.IsZero() {
					return nil
				}
				return k.time(m.Date)
			}},
			{Name: "channel", Key: func(m *Message, k key) key {
				if m.Date.IsZero() {
					return nil
				}
				return k.uint(m.ChannelID).time(m.Date)
			}},
			{Name: "album", Key: func(m *Message, k key) key {
				if m.GroupedID == 0 {
					return nil
				}
				return k.uint(m.ChannelID).int(m.GroupedID).int(int64(m.MessageID))
			}},
		},
	}
}

// ByMessage returns a channel's message by Telegram's id, or [ErrNotFound].
func (t Messages) ByMessage(channelID uint64, messageID int) (Message, error) {
	return t.first("message", key(nil).uint(channelID).int(int64(messageID)))
}

// Of yields a channel's messages in the order of their ids from one id, included, to another, excluded; 0 is without end.
func (t Messages) Of(channelID uint64, from, to int) iter.Seq[Message] {
	prefix := key(nil).uint(channelID)
	end := prefix.next()
	if to > 0 {
		end = slices.Clone(prefix).int(int64(to))
	}
	return t.scan("message", slices.Clone(prefix).int(int64(from)), end)
}

// Below returns up to limit messages of a channel whose ids are at most from, in descending order, as long as they are
// not older than since.
func (t Messages) Below(channelID uint64, from int, since time.Time, limit int) (rows []Message) {
	prefix, bucket := key(nil).uint(channelID), t.indexNamed("message").Cursor()
	after := slices.Clone(prefix).int(int64(from) + 1).uint(0)
	for k := start(bucket, prefix, after, true); bytes.HasPrefix(k, prefix) && len(rows) < limit; k = step(bucket, true) {
		m, err := t.named("message", k)
		if err != nil {
			continue
		}
		if !m.Date.IsZero() && m.Date.Before(since) {
			break
		}
		rows = append(rows, m)
	}
	return rows
}

// Album yields the messages of an album in the order of their ids.
func (t Messages) Album(channelID uint64, groupedID int64) iter.Seq[Message] {
	prefix := key(nil).uint(channelID).int(groupedID)
	return t.scan("album", prefix, prefix.next())
}

// MessageFilter narrows a list of messages. What is empty narrows nothing.
type MessageFilter struct {
	ChannelID uint64
	Since     time.Time // included
	Until     time.Time // excluded
	Tag       string
}

// maxMessagesLooked bounds how many messages are looked at for one page of those with a tag.
const maxMessagesLooked = 10_000

// List returns messages by their dates, the latest first. With a tag a page may be short, and even empty, and yet be
// followed by another one.
func (t Messages) List(f MessageFilter, q Query) (page Page[Message], err error) {
	index, prefix := "time", key(nil)
	if f.ChannelID != 0 {
		index, prefix = "channel", prefix.uint(f.ChannelID)
	}
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(after) > 0 && (len(after) <= idSize || !bytes.HasPrefix(after, prefix)) {
		return page, errCursor()
	}
	if len(after) == 0 && !f.Until.IsZero() {
		after = slices.Clone(prefix).time(f.Until)
	}
	cursor := t.indexNamed(index).Cursor()
	looked := 0
	for k := start(cursor, prefix, after, true); k != nil && bytes.HasPrefix(k, prefix); k = step(cursor, true) {
		if len(k) < len(prefix)+8+idSize { // damaged
			continue
		}
		if timeAt(k[len(prefix):]).Before(f.Since) {
			break
		}
		if looked++; len(page.Items) == q.limit() || looked > maxMessagesLooked {
			page.Next = base64.RawURLEncoding.EncodeToString(after)
			break
		}
		after = bytes.Clone(k)
		m, err := t.named(index, k)
		if err == nil && (f.Tag == "" || slices.Contains(m.Tags, f.Tag)) {
			page.Items = append(page.Items, m)
		}
	}
	return page, nil
}

// Photo is the picture of a message, kept until the vision stage is done with it, and a day at most.
type Photo struct {
	ID        uint64    `json:"-"`
	MessageID uint64    `json:"message_id"` // of the [Message]
	Type      string    `json:"type"`       // such as image/jpeg
	Data      []byte    `json:"data"`
	At        time.Time `json:"at"`
}

// Photos is the table of photos.
type Photos struct{ Table[Photo] }

const maxPhotoAge = 24 * time.Hour

func photoTable() def[Photo] {
	return def[Photo]{
		name: "photos",
		id:   func(p *Photo) *uint64 { return &p.ID },
		indexes: []Index[Photo]{
			{Name: "message", Unique: true, Key: func(p *Photo, k key) key { return k.uint(p.MessageID) }},
		},
	}
}

// Of returns the photo of a message, or [ErrNotFound].
func (t Photos) Of(messageID uint64) (Photo, error) {
	return t.first("message", key(nil).uint(messageID))
}

// Add writes the photo of a message in the place of an earlier one, and deletes some that are too old.
func (t Photos) Add(p *Photo) error {
	if before, err := t.Of(p.MessageID); err == nil {
		p.ID = before.ID
	}
	p.At = t.in().Now()
	if err := t.Put(p); err != nil {
		return err
	}
	return t.DropOld(16)
}

// DropOld deletes up to limit photos that are older than a day.
func (t Photos) DropOld(limit int) error {
	var old []uint64
	for p := range t.All() { // in the order in which they came
		if len(old) == limit || p.At.After(t.in().Now().Add(-maxPhotoAge)) {
			break
		}
		old = append(old, p.ID)
	}
	for _, id := range old {
		if err := t.Delete(id); err != nil {
			return err
		}
	}
	return nil
}
