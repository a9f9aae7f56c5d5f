package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newPipeline returns the commands for the stages that messages of channels pass.
func newPipeline() *cobra.Command {
	return newGroup("pipeline", "Pipeline of read channels: list its stages, replay messages.", newPipelineList, newPipelinePassport(), newPipelineReplay())
}

// newPipelineList returns the command that lists the stages.
func newPipelineList() *cobra.Command {
	type stage struct {
		Stage                                                   string
		In, Done, Skipped, Retrying, Parked, Waiting, Lost, Lag int64
		Rate                                                    float64
		Oldest                                                  time.Time
	}
	return newAsk("list", "List the stages, in the order in which a message passes them.", http.MethodGet, "/pipeline", func(out struct{ Stages []stage }, w io.Writer) error {
		return printTable(w, "STAGE|IN|DONE|SKIPPED|RETRYING|PARKED|WAITING|LOST|OLDEST (UTC)|A MINUTE", out.Stages, func(s stage) []any {
			return []any{s.Stage, s.In, s.Done, s.Skipped, s.Retrying, s.Parked, s.Waiting, s.Lost, moment(s.Oldest), strconv.FormatFloat(s.Rate, 'f', 1, 64)}
		})
	})
}

// newPipelinePassport returns the command that shows what the stages made of a message.
func newPipelinePassport() *cobra.Command {
	type stamp struct {
		Stage, State string
		At           time.Time
		Reason       struct{ Text string }
	}
	return newAsk("passport ID", "Show what the stages made of a message.", http.MethodGet, "/messages/{id}/passport", func(out struct{ Stages []stamp }, w io.Writer) error {
		return printTable(w, "STAGE|STATE|AT (UTC)|WHY", out.Stages, func(s stamp) []any {
			return []any{s.Stage, s.State, moment(s.At), s.Reason.Text}
		})
	})
}

// newPipelineReplay returns the command that has a stage handle messages once more.
func newPipelineReplay() *cobra.Command {
	var request struct {
		Stage    string `json:"stage"`
		Message  uint64 `flag:"message" json:"message_id,omitempty" help:"One message, by its id."`
		Channel  uint64 `flag:"channel" json:"channel_id,omitempty" help:"The messages of a channel, by its id."`
		Since    string `flag:"since" json:"since,omitempty" help:"Only messages from this time on (RFC 3339); of all channels without --channel."`
		Parked   bool   `flag:"parked" json:"-" help:"What the stage has given up."`
		Estimate bool   `flag:"estimate" json:"estimate,omitempty" help:"Only say how many messages, and what the AI is asked."`
	}
	c := newAPICommand("replay STAGE", "Have a stage handle messages once more.", func(ctx context.Context, l *local, args []string) error {
		if request.Parked == (request.Message != 0 || request.Channel != 0 || request.Since != "") {
			return store.Invalid("parked", "invalid.replay")
		}
		request.Stage = args[0]
		var done struct {
			Messages   int
			AIRequests int `json:"ai_requests"`
			AITokens   int `json:"ai_tokens"`
		}
		return l.ask(ctx, http.MethodPost, "/pipeline/replay", request, &done, func() error {
			_, err := fmt.Fprintf(l.out, "%d messages, %d requests to the AI, about %d tokens\n", done.Messages, done.AIRequests, done.AITokens)
			return err
		})
	})
	bind(c.Flags(), &request)
	return withJSON(c)
}
