package api

import (
	"context"
	"time"

	"belfry/store"
)

// Message is a message of a channel, as the API shows it.
type Message struct {
	ID        uint64          `json:"id" doc:"Here; 0 in a dry run"`
	ChannelID uint64          `json:"channel_id" doc:"The id of the channel here"`
	MessageID int             `json:"message_id" doc:"Telegram's, within the channel"`
	Date      time.Time       `json:"date,omitzero"`
	Text      string          `json:"text" doc:"Of the message, or under its media"`
	Entities  []MessageEntity `json:"entities" nullable:"false" doc:"The formatting, as the Bot API names it; offsets in UTF-16 code units"`
	GroupedID int64           `json:"grouped_id,omitempty" doc:"The same for all messages of an album"`
	EditedAt  time.Time       `json:"edited_at,omitzero"`
	DeletedAt time.Time       `json:"deleted_at,omitzero" doc:"When it was seen to be deleted"`
	Media     *MessageMedia   `json:"media,omitempty"`
	Forward   *MessageForward `json:"forward,omitempty"`
	ReplyTo   int             `json:"reply_to,omitempty" doc:"The message_id in the same channel"`
	Views     int             `json:"views"`
	Forwards  int             `json:"forwards"`
	Reactions []Reaction      `json:"reactions" nullable:"false"`
	Tags      []string        `json:"tags" nullable:"false"`
	Language  string          `json:"language,omitempty"`
	Service   string          `json:"service,omitempty" doc:"Of a service message: what happened" example:"pinMessage"`
	Problem   string          `json:"unreadable,omitempty" doc:"Why nothing, or nothing newer, is known of it"`
}

// MessageEntity is a piece of formatting.
type MessageEntity struct {
	Type     string `json:"type" example:"bold"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	UserID   int64  `json:"user_id,omitempty"`
	Language string `json:"language,omitempty"`
}

// MessageMedia is what a message carries.
type MessageMedia struct {
	Kind     string `json:"kind" doc:"photo, video, animation, audio, voice, video_note, sticker, document, poll, location, contact, web_page or unknown"`
	Class    string `json:"class,omitempty" doc:"Of unknown: Telegram's name for it"`
	Type     string `json:"mime_type,omitempty"`
	Name     string `json:"file_name,omitempty"`
	Size     int64  `json:"size,omitempty" doc:"Bytes"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Duration int    `json:"duration,omitempty" doc:"Seconds"`
	Title    string `json:"title,omitempty"`
	URL      string `json:"url,omitempty"`
}

// MessageForward is where a message was forwarded from.
type MessageForward struct {
	ChannelID int64     `json:"channel_id,omitempty" doc:"Telegram's id, without a prefix"`
	UserID    int64     `json:"user_id,omitempty"`
	MessageID int       `json:"message_id,omitempty"`
	Username  string    `json:"username,omitempty"`
	Name      string    `json:"name,omitempty"`
	Date      time.Time `json:"date,omitzero"`
}

// Reaction is how often a message has a reaction.
type Reaction struct {
	Emoji string `json:"emoji"`
	Count int    `json:"count"`
}

func shownMessage(m store.Message) Message {
	shown := Message{
		ID: m.ID, ChannelID: m.ChannelID, MessageID: m.MessageID, Date: m.Date, Text: m.Text, Entities: []MessageEntity{}, GroupedID: m.GroupedID,
		EditedAt: m.EditedAt, DeletedAt: m.DeletedAt, Media: (*MessageMedia)(m.Media), Forward: (*MessageForward)(m.Forward), ReplyTo: m.ReplyTo,
		Views: m.Views, Forwards: m.Forwards, Reactions: []Reaction{}, Tags: append([]string{}, m.Tags...), Language: m.Language, Service: m.Service,
		Problem: m.Unreadable,
	}
	for _, e := range m.Entities {
		shown.Entities = append(shown.Entities, MessageEntity(e))
	}
	for _, r := range m.Reactions {
		shown.Reactions = append(shown.Reactions, Reaction(r))
	}
	return shown
}

type messageFilter struct {
	ChannelID uint64    `query:"channel_id" doc:"Only those of one channel"`
	Since     time.Time `query:"since" doc:"Not older"`
	Until     time.Time `query:"until" doc:"Older"`
	Tag       string    `query:"tag" doc:"Only those with this tag; then a page may be short although another one follows"`
	Paged
}

func (s channelDoor) messages(_ context.Context, in *messageFilter) (*reply[List[Message]], error) {
	of := store.MessageFilter{ChannelID: in.ChannelID, Since: in.Since, Until: in.Until, Tag: in.Tag}
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Message], error) { return tx.Messages.List(of, in.query()) }, plain(shownMessage))
}

func (s channelDoor) message(_ context.Context, in *one) (*reply[Message], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Message, error) { return tx.Messages.Get(in.ID) }, plain(shownMessage))
}
