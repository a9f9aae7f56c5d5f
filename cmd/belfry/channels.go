package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newChannels returns the commands for channels that are read.
func newChannels() *cobra.Command {
	return newGroup("channels", "Channels that are read: add, list, pause and read them.", newChannelsList, newChannelsAdd(),
		newCall("remove ID", "Remove a channel and its messages.", http.MethodDelete, "/channels/{id}"),
		newCall("pause ID", "Pause a channel.", http.MethodPost, "/channels/{id}/pause"),
		newCall("resume ID", "Resume a channel.", http.MethodPost, "/channels/{id}/resume"),
		newCall("read ID", "Read a channel now.", http.MethodPost, "/channels/{id}/read"),
		newChannelsMessages(), newChannelsHoles(), newChannelsImport())
}

// newChannelsList returns the command that lists the channels.
func newChannelsList() *cobra.Command {
	type channel struct {
		ID              uint64
		Username, Title string
		Freshness       string
		LastParsedAt    time.Time             `json:"last_parsed_at"`
		LastMessageID   int                   `json:"last_message_id"`
		NextRun         time.Time             `json:"next_run"`
		LastError       struct{ Text string } `json:"last_error"`
		Waiting         struct{ Text string }
	}
	return newList("list", "List the channels.", "/channels", nil, "ID|NAME|TITLE|STATE|READ (UTC)|LAST MESSAGE|NEXT (UTC)|WHY", func(c channel) []any {
		why := c.LastError.Text
		if why == "" {
			why = c.Waiting.Text
		}
		return []any{c.ID, c.Username, c.Title, c.Freshness, moment(c.LastParsedAt), c.LastMessageID, moment(c.NextRun), why}
	})
}

// newChannelsAdd returns the command that adds channels.
func newChannelsAdd() *cobra.Command {
	var request struct {
		Channel    string `json:"channel"`
		IdentityID uint64 `flag:"identity" json:"identity_id,omitempty" help:"The user account that reads them. By default the only one."`
		Interval   string `flag:"interval" json:"interval,omitempty" help:"The time between two reads, from 5s up. By default 5m."`
		Since      string `flag:"since" json:"since,omitempty" help:"Read no older messages, such as 2026-11-01T00:00:00Z. By default 7 days ago."`
		DryRun     bool   `flag:"dry-run" json:"-" help:"Show what would be read first, and add nothing."`
	}
	c := newAPICommand("add CHANNEL...", "Read channels. A CHANNEL is @name, a link, or the id of one that the account is in.", func(ctx context.Context, l *local, args []string) error {
		failed := 0
		for _, name := range args {
			request.Channel = name
			err := addChannel(ctx, l, name, request.DryRun, request)
			if err != nil && len(args) == 1 {
				return err
			}
			if err != nil {
				fmt.Fprintf(l.out, "%s: %s\n", name, said(err))
				failed++
			}
		}
		if failed > 0 {
			return fmt.Errorf("%d of %d channels were not added", failed, len(args))
		}
		return nil
	})
	bind(c.Flags(), &request)
	return c
}

func addChannel(ctx context.Context, l *local, name string, dry bool, request any) error {
	if !dry {
		var c struct {
			ID    uint64
			Title string
		}
		if err := l.call(ctx, http.MethodPost, "/channels", request, &c); err != nil {
			return err
		}
		_, err := fmt.Fprintf(l.out, "%s: added as %d, %s\n", name, c.ID, c.Title)
		return err
	}
	var p struct {
		Channel  struct{ Title string }
		Messages []shownMessage
		More     bool
	}
	if err := l.call(ctx, http.MethodPost, "/channels/dry-run", request, &p); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "%s: %s\n", name, p.Channel.Title)
	if err := printTable(l.out, messageHeader, p.Messages, shownMessage.row); err != nil || !p.More {
		return err
	}
	_, err := fmt.Fprintln(l.out, "and more")
	return err
}

// shownMessage is a message as the API shows it.
type shownMessage struct {
	ID        uint64
	ChannelID uint64 `json:"channel_id"`
	MessageID int    `json:"message_id"`
	Date      time.Time
	Text      string
	Service   string
	Views     int
	DeletedAt time.Time `json:"deleted_at"`
}

const messageHeader = "ID|CHANNEL|MESSAGE|DATE (UTC)|VIEWS|TEXT"

func (m shownMessage) row() []any {
	text := []rune(strings.Join(strings.Fields(m.Text), " "))
	if len(text) > 80 {
		text = append(text[:79], '…')
	}
	line := string(text)
	switch {
	case !m.DeletedAt.IsZero():
		line = "(deleted) " + line
	case m.Service != "":
		line = "(" + m.Service + ")"
	}
	return []any{m.ID, m.ChannelID, m.MessageID, moment(m.Date), m.Views, line}
}

// newChannelsMessages returns the command that lists messages.
func newChannelsMessages() *cobra.Command {
	return newList("messages", "List messages of all channels or of one, the latest first.", "/messages",
		[][2]string{{"channel_id", "Only those of the channel with this id."}, {"since", "Not older, such as 2026-11-01T00:00:00Z."}, {"until", "Older."}, {"tag", "Only those with this tag."}},
		messageHeader, shownMessage.row)
}

// newChannelsHoles returns the command that lists the holes in a channel's ids.
func newChannelsHoles() *cobra.Command {
	type hole struct {
		From, To int
		Class    string
	}
	return newList("holes ID", "List the ids between a channel's messages that are none.", "/channels/{id}/holes", nil,
		"FROM|TO|CLASS", func(h hole) []any { return []any{h.From, h.To, h.Class} })
}
