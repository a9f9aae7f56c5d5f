package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newTasks returns the commands for broadcasts.
func newTasks() *cobra.Command {
	return newGroup("tasks", "Broadcasts: create, list, pause, resume and cancel them.", newTasksList,
		newAsk("show ID", "Show a broadcast: its progress and what comes next.", http.MethodGet, "/tasks/{id}", taskShown.printAll), newTasksCreate(),
		newTaskAction("pause", "Pause a broadcast.", http.MethodPost, "/pause"),
		newTaskAction("resume", "Resume a broadcast.", http.MethodPost, "/resume"),
		newTaskAction("cancel", "Cancel a broadcast before its next chat.", http.MethodDelete, ""),
		newTaskAction("retry", "Send again to the chats that did not get it.", http.MethodPost, "/retry"),
		newTasksPreview(),
		newTaskAction("dry-run", "Find out which of its chats can be reached.", http.MethodPost, "/dry-run"),
		newTasksDeliveries())
}

// taskShown is a broadcast as the API shows it.
type taskShown struct {
	ID           uint64
	Status       string
	Paused       bool
	Total        int       `json:"total_count"`
	Sent         int       `json:"sent_count"`
	Failed       int       `json:"error_count"`
	Skipped      int       `json:"skipped_count"`
	LastError    string    `json:"last_error"`
	NextTarget   string    `json:"next_target"`
	NextAt       time.Time `json:"next_at"`
	EstimatedEnd time.Time `json:"estimated_end"`
	Waiting      struct{ Text string }
}

// state is the status, or that it is paused.
func (t taskShown) state() string {
	if t.Paused {
		return t.Status + ", paused"
	}
	return t.Status
}

// newTasksList returns the command that lists the broadcasts.
func newTasksList() *cobra.Command {
	return newList("list", "List the broadcasts, the latest first.", "/tasks",
		[][2]string{{"status", "Only preparing, pending, processing, done, failed or cancelled."}},
		"TASK|STATUS|SENT|FAILED|SKIPPED|CHATS|NEXT (UTC)|NEXT CHAT|WHY", func(t taskShown) []any {
			return []any{t.ID, t.state(), t.Sent, t.Failed, t.Skipped, t.Total, moment(t.NextAt), t.NextTarget, t.Waiting.Text}
		})
}

// printAll prints how far a broadcast is.
func (t taskShown) printAll(w io.Writer) error {
	return printFields(w, [][2]any{
		{"status", t.state()}, {"chats", t.Total}, {"sent", t.Sent}, {"failed", t.Failed}, {"skipped", t.Skipped},
		{"next chat", t.NextTarget}, {"next (UTC)", moment(t.NextAt)}, {"why not before", t.Waiting.Text},
		{"ends about (UTC)", moment(t.EstimatedEnd)}, {"last error", t.LastError},
	})
}

// newTasksCreate returns the command that makes a broadcast.
func newTasksCreate() *cobra.Command {
	var request struct {
		Text      string   `flag:"text" json:"text,omitempty" help:"The text; - reads it from standard input."`
		Content   uint64   `flag:"content" json:"content_id,omitempty" help:"The id of a content, instead of a text."`
		Format    string   `flag:"format" json:"format,omitempty" help:"Format of the text: html, markdown or plain."`
		Identity  uint64   `flag:"identity" json:"identity_id,omitempty" help:"The id of the user account that sends, if there are several."`
		Target    []string `flag:"target" json:"target_chat_ids,omitempty" help:"The chats: ids, @names or links. By default TARGET_CHAT_IDS."`
		Targets   string   `flag:"targets" json:"-" help:"A file that lists chats, one in a line."`
		Min       *float64 `flag:"min" json:"min_seconds_between_chats,omitempty" help:"Shortest pause between two chats, in seconds."`
		Max       *float64 `flag:"max" json:"max_seconds_between_chats,omitempty" help:"Longest pause between two chats, in seconds."`
		Start     string   `flag:"start" json:"start_at,omitempty" help:"When to start, such as 2026-11-14T12:01:00Z."`
		Quiet     string   `flag:"quiet" json:"-" help:"Hours of the day in which nothing is sent, such as 22:00-08:00."`
		QuietFrom string   `json:"quiet_from,omitempty"`
		QuietTo   string   `json:"quiet_to,omitempty"`
		DailyCap  int      `flag:"daily-cap" json:"daily_cap,omitempty" help:"Daily limit of the user account's messages."`
		DryRun    bool     `flag:"dry-run" json:"dry_run" help:"Find out which chats can be reached; send nothing until it is resumed."`
		Paused    bool     `flag:"paused" json:"paused" help:"Create it paused: do nothing until it is resumed."`
	}
	c := newAPICommand("create", "Send a text to many chats as a user account.", func(ctx context.Context, l *local, _ []string) error {
		var t taskShown
		return l.ask(ctx, http.MethodPost, "/tasks", request, &t, func() error {
			_, err := fmt.Fprintf(l.out, "task %d: %s, %d chats\n", t.ID, t.state(), t.Total)
			return err
		})
	})
	bind(c.Flags(), &request)
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		if request.Text != "" && request.Content != 0 {
			return store.Invalid("--text and --content", "invalid.both_given")
		}
		if request.Targets != "" {
			named, err := os.ReadFile(request.Targets)
			if err != nil {
				return store.Invalid("--targets", "invalid.chats_unreadable", err)
			}
			request.Target = append(request.Target, strings.Fields(strings.TrimPrefix(string(named), "\ufeff"))...)
		}
		both := true
		if request.QuietFrom, request.QuietTo, both = strings.Cut(request.Quiet, "-"); request.Quiet != "" && !both {
			return store.Invalid("--quiet", "invalid.quiet", request.Quiet)
		}
		return readText(&request.Text)
	}
	return withJSON(c)
}

// newTaskAction returns a command for one action on a broadcast.
func newTaskAction(name, short, method, action string) *cobra.Command {
	return newAPICommand(name+" ID", short, func(ctx context.Context, l *local, args []string) error {
		var t taskShown
		if err := l.call(ctx, method, "/tasks/"+args[0]+action, nil, &t); err != nil {
			return err
		}
		_, err := fmt.Fprintf(l.out, "task %d: %s, %d of %d chats have it\n", t.ID, t.state(), t.Sent, t.Total)
		return err
	})
}

// newTasksPreview returns the command that sends the post of a broadcast to the user account that sends it.
func newTasksPreview() *cobra.Command {
	return newAPICommand("preview ID", "Send its post to the user account's Saved Messages.", func(ctx context.Context, l *local, args []string) error {
		if err := l.call(ctx, http.MethodPost, "/tasks/"+args[0]+"/preview", nil, nil); err != nil {
			return err
		}
		_, err := fmt.Fprintln(l.out, "sent: look into the user account's Saved Messages")
		return err
	})
}

// newTasksDeliveries returns the command that lists the chats of a broadcast.
func newTasksDeliveries() *cobra.Command {
	type delivery struct {
		Target, Title, Status, Link string
		SentAt                      time.Time `json:"sent_at"`
		Reason                      struct{ Text string }
		Attempts                    []json.RawMessage
	}
	return newList("deliveries ID", "List its chats and the result in each.", "/tasks/{id}/deliveries",
		[][2]string{{"status", "Only pending, sent, failed or skipped."}},
		"CHAT|TITLE|STATUS|ATTEMPTS|SENT (UTC)|LINK|WHY", func(d delivery) []any {
			return []any{d.Target, d.Title, d.Status, len(d.Attempts), moment(d.SentAt), d.Link, d.Reason.Text}
		})
}
