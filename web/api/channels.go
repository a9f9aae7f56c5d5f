package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/channels"
)

// Channel is a channel that is read, as the API shows it.
type Channel struct {
	ID            uint64    `json:"id"`
	ChannelID     int64     `json:"channel_id" doc:"Telegram's id, as bots and Telethon write it; 0 only in a dry run of one that has none" example:"-1001234567890"`
	Username      string    `json:"username,omitempty"`
	Title         string    `json:"title"`
	IdentityID    uint64    `json:"identity_id" doc:"The account that reads it"`
	Active        bool      `json:"is_active" doc:"False while it is paused"`
	Interval      string    `json:"interval" doc:"The time between two reads" example:"5m0s"`
	Since         time.Time `json:"since" doc:"Older messages are not read"`
	LastParsedAt  time.Time `json:"last_parsed_at,omitzero" doc:"The last read that succeeded"`
	LastMessageID int       `json:"last_message_id" doc:"Up to which it was read; 0: nothing yet"`
	LastMessageAt time.Time `json:"last_message_at,omitzero" doc:"The date of its latest message"`
	NextRun       time.Time `json:"next_run,omitzero"`
	LastError     *Reason   `json:"last_error,omitempty" doc:"Why the last read failed; missing if it did not"`
	Failures      int       `json:"failures" doc:"Reads that failed in a row"`
	Waiting       *Reason   `json:"waiting,omitempty" doc:"What it waits for besides its time, such as the end of a flood wait"`
	Freshness     string    `json:"freshness" enum:"fresh,late,failing,never,paused" doc:"never: not read yet; late: not read for three intervals"`
	Job           string    `json:"job" example:"channel_9"`
	CreatedAt     time.Time `json:"created_at,omitzero"`
}

type newChannel struct {
	Channel    string    `json:"channel" doc:"@name, a link, or the id of one that the account's dialogs have" example:"@durov"`
	IdentityID number    `json:"identity_id,omitempty" doc:"The user account that reads it; if left out the only one"`
	Interval   string    `json:"interval,omitempty" doc:"The time between two reads, from 5s up; 5m if left out" example:"5m"`
	Since      time.Time `json:"since,omitzero" doc:"Older messages are not read; 7 days ago if left out"`
}

func (n newChannel) request() channels.Request {
	return channels.Request{Channel: n.Channel, IdentityID: uint64(n.IdentityID), Interval: n.Interval, Since: n.Since}
}

// Channels is the door to channels and their messages.
func Channels(w *channels.Worker) Door {
	return func(server *Server, a *api) {
		const base = "/channels"
		s := channelDoor{server, w}
		operation(a, http.MethodPost, base, "Read a channel; its first read begins at once", s.create, patient)
		operation(a, http.MethodGet, base, "List the channels that are read, by name", s.list)
		operation(a, http.MethodPost, base+"/dry-run", "Show what would be read of a channel first; nothing is written", s.dryRun, patient)
		operation(a, http.MethodGet, base+"/available", "List the channels that an account is in and that are not read", s.available, patient)
		operation(a, http.MethodGet, base+"/{id}", "Read a channel's state", s.show)
		operation(a, http.MethodPatch, base+"/{id}", "Change, pause or resume a channel", s.change)
		operation(a, http.MethodDelete, base+"/{id}", "Remove a channel and its messages", s.remove)
		operation(a, http.MethodPost, base+"/{id}/read", "Read a channel now; its schedule is not shifted", s.action((*channels.Worker).ReadNow))
		operation(a, http.MethodPost, base+"/{id}/pause", "Pause a channel", s.action((*channels.Worker).Pause))
		operation(a, http.MethodPost, base+"/{id}/resume", "Resume a channel", s.action((*channels.Worker).Resume))
		operation(a, http.MethodGet, base+"/{id}/holes", "List the ids between a channel's messages that are none, the latest first", s.holes)
		operation(a, http.MethodGet, "/messages", "List messages of channels, the latest first", s.messages)
		operation(a, http.MethodGet, "/messages/{id}", "Read a message", s.message)
	}
}

type channelDoor struct {
	*Server
	channels *channels.Worker
}

func (s channelDoor) shown(tx *store.Tx, c store.Channel) (Channel, error) {
	status, err := s.channels.StatusOf(tx, c)
	number, _ := strconv.ParseInt(store.PeerTarget(store.PeerChannel, c.PeerID), 10, 64) // it is a number
	return Channel{
		ID: c.ID, ChannelID: number, Username: c.Username, Title: c.Title, IdentityID: c.IdentityID, Active: c.Active,
		Interval: c.Interval.String(), Since: c.Since, LastParsedAt: c.LastParsedAt, LastMessageID: c.LastMessageID, LastMessageAt: c.LastMessageAt,
		NextRun: status.Next, LastError: s.reasonOf(c.LastError), Failures: c.Failures, Waiting: s.reasonOf(status.Why),
		Freshness: status.Freshness, Job: c.JobName(), CreatedAt: c.CreatedAt,
	}, err
}

func (s channelDoor) create(ctx context.Context, in *creation[newChannel]) (*created[Channel], error) {
	return once(ctx, s.Server, "channels", in, func() (func(*store.Tx) (Channel, error), error) {
		draft, err := s.channels.Prepare(ctx, in.Body.request())
		if err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (Channel, error) {
			c, err := s.channels.Create(tx, draft)
			if err != nil {
				return Channel{}, err
			}
			return s.shown(tx, c)
		}, nil
	})
}

func (s channelDoor) list(_ context.Context, in *Paged) (*reply[List[Channel]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Channel], error) { return tx.Channels.ByName(in.query()) }, s.shown)
}

func (s channelDoor) show(_ context.Context, in *one) (*reply[Channel], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Channel, error) { return channels.Get(tx, in.ID) }, s.shown)
}

type channelChange struct {
	ID   uint64 `path:"id" doc:"The channel's id"`
	Body struct {
		Interval   *string `json:"interval,omitempty" doc:"The time between two reads, from 5s up" example:"5m"`
		Active     *bool   `json:"is_active,omitempty" doc:"False pauses it"`
		IdentityID number  `json:"identity_id,omitempty" doc:"The user account that reads it from now on"`
	}
}

func (s channelDoor) change(_ context.Context, in *channelChange) (*reply[Channel], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Channel, error) {
		return s.channels.Change(tx, in.ID, channels.Change{Interval: in.Body.Interval, Active: in.Body.Active, IdentityID: uint64(in.Body.IdentityID)})
	}, s.shown)
}

func (s channelDoor) remove(_ context.Context, in *one) (*struct{}, error) {
	return nil, s.db.Update(func(tx *store.Tx) error { return s.channels.Remove(tx, in.ID) })
}

func (s channelDoor) action(act func(*channels.Worker, *store.Tx, uint64) (store.Channel, error)) func(context.Context, *one) (*reply[Channel], error) {
	return func(_ context.Context, in *one) (*reply[Channel], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Channel, error) { return act(s.channels, tx, in.ID) }, s.shown)
	}
}

// ChannelPreview is what the first read of a channel would bring.
type ChannelPreview struct {
	Channel  Channel   `json:"channel"`
	Messages []Message `json:"messages" nullable:"false" doc:"The first ones, the oldest first"`
	More     bool      `json:"more" doc:"There are more"`
}

func (s channelDoor) dryRun(ctx context.Context, in *struct{ Body newChannel }) (*reply[ChannelPreview], error) {
	p, err := s.channels.DryRun(ctx, in.Body.request())
	if err != nil {
		return nil, err
	}
	return record(s.db.View, func(*store.Tx) (store.Channel, error) { return p.Channel, nil }, func(tx *store.Tx, c store.Channel) (ChannelPreview, error) {
		shown, err := s.shown(tx, c)
		out := ChannelPreview{Channel: shown, Messages: []Message{}, More: p.More}
		for _, m := range p.Messages {
			out.Messages = append(out.Messages, shownMessage(m))
		}
		return out, err
	})
}

// AvailableChannel is a channel that an account is in.
type AvailableChannel struct {
	ChannelID int64  `json:"channel_id" doc:"What channel may be when it is added" example:"-1001234567890"`
	Username  string `json:"username,omitempty"`
	Title     string `json:"title"`
}

type ofIdentity struct {
	IdentityID uint64 `query:"identity_id" doc:"The account; if left out the only one"`
}

func (s channelDoor) available(ctx context.Context, in *ofIdentity) (*reply[List[AvailableChannel]], error) {
	chats, err := s.channels.Chats(ctx, in.IdentityID)
	if err != nil {
		return nil, err
	}
	out := List[AvailableChannel]{Items: []AvailableChannel{}}
	for _, c := range chats {
		out.Items = append(out.Items, AvailableChannel{channelNumber(c), c.Username, c.Title})
	}
	return answer(out), nil
}

func channelNumber(c platform.Chat) int64 {
	n, _ := strconv.ParseInt(store.PeerTarget(store.PeerChannel, c.ID), 10, 64)
	return n
}

// Hole is a run of ids that are no messages to read.
type Hole struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Class string `json:"class" enum:"deleted,service,unknown" doc:"deleted only where that was seen"`
}

type holesOf struct {
	ID uint64 `path:"id" doc:"The channel's id"`
	Paged
}

// holes pages by the id below which the holes of the next page are.
func (s channelDoor) holes(_ context.Context, in *holesOf) (*reply[List[Hole]], error) {
	below := 0
	if in.Cursor != "" {
		var err error
		if below, err = strconv.Atoi(in.Cursor); err != nil {
			return nil, store.Invalid("cursor", "invalid.cursor")
		}
	}
	return record(s.db.View, func(tx *store.Tx) ([]channels.Hole, error) { return channels.Holes(tx, in.ID, below, in.Limit+1) }, func(_ *store.Tx, all []channels.Hole) (List[Hole], error) {
		out := List[Hole]{Items: []Hole{}}
		for _, h := range all[:min(len(all), in.Limit)] {
			out.Items = append(out.Items, Hole(h))
		}
		if len(all) > in.Limit {
			out.Next = strconv.Itoa(out.Items[in.Limit-1].From)
		}
		return out, nil
	})
}
