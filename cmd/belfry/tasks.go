package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"belfry/store"
)

type tasksCommand struct {
	List       tasksList       `cmd:"" default:"withargs" help:"List the broadcasts, the latest first."`
	Show       tasksShow       `cmd:"" help:"Show a broadcast: how far it is and what comes next."`
	Create     tasksCreate     `cmd:"" help:"Send a text to many chats as a user account."`
	Pause      tasksPause      `cmd:"" help:"Keep a broadcast from going on."`
	Resume     tasksResume     `cmd:"" help:"Let a broadcast go on."`
	Cancel     tasksCancel     `cmd:"" help:"Cancel a broadcast before its next chat."`
	Retry      tasksRetry      `cmd:"" help:"Send to the chats again that did not get it."`
	Preview    tasksPreview    `cmd:"" help:"Send its post to the account itself."`
	DryRun     tasksDryRun     `cmd:"" help:"Find out which of its chats can be reached."`
	Deliveries tasksDeliveries `cmd:"" help:"List its chats and what became of each."`
}

// taskShown is a broadcast as the API shows it.
type taskShown struct {
	ID           uint64    `json:"id"`
	Status       string    `json:"status"`
	Paused       bool      `json:"paused"`
	Total        int       `json:"total_count"`
	Sent         int       `json:"sent_count"`
	Failed       int       `json:"error_count"`
	Skipped      int       `json:"skipped_count"`
	LastError    string    `json:"last_error"`
	NextTarget   string    `json:"next_target"`
	NextAt       time.Time `json:"next_at"`
	EstimatedEnd time.Time `json:"estimated_end"`
	Waiting      struct {
		Text string `json:"text"`
	} `json:"waiting"`
}

// state is the status, or that it is paused.
func (t taskShown) state() string {
	if t.Paused {
		return t.Status + ", paused"
	}
	return t.Status
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}

type tasksList struct {
	listing
	Status string `help:"Only those that are pending, processing, done, failed or cancelled."`
}

// Run lists the broadcasts.
func (c *tasksList) Run(ctx context.Context, o output) error {
	var listed struct{ Items []taskShown }
	err := c.list(ctx, o, "/tasks", map[string]string{"status": c.Status}, &listed)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSTATUS\tSENT\tFAILED\tSKIPPED\tCHATS\tNEXT (UTC)\tNEXT CHAT\tWHY")
	for _, t := range listed.Items {
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", t.ID, t.state(), t.Sent, t.Failed, t.Skipped, t.Total,
			moment(t.NextAt), t.NextTarget, t.Waiting.Text)
	}
	return table.Flush()
}

// oneTask names a broadcast.
type oneTask struct {
	fileSetting
	ID uint64 `arg:"" help:"Its number."`
}

// act calls an action and says what the broadcast is then.
func (c *oneTask) act(ctx context.Context, o output, method, action string) error {
	var t taskShown
	err := ask(ctx, c.fileSetting, o, false, method, fmt.Sprintf("/tasks/%d%s", c.ID, action), nil, &t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "task %d: %s, %d of %d chats have it\n", t.ID, t.state(), t.Sent, t.Total)
	return err
}

type tasksShow struct {
	oneTask
	JSON bool `name:"json" help:"Print JSON."`
}

// Run shows a broadcast.
func (c *tasksShow) Run(ctx context.Context, o output) error {
	var t taskShown
	err := ask(ctx, c.fileSetting, o, c.JSON, http.MethodGet, fmt.Sprintf("/tasks/%d", c.ID), nil, &t)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"status", t.state()}, {"chats", fmt.Sprint(t.Total)}, {"sent", fmt.Sprint(t.Sent)}, {"failed", fmt.Sprint(t.Failed)},
		{"skipped", fmt.Sprint(t.Skipped)}, {"next chat", t.NextTarget}, {"next (UTC)", moment(t.NextAt)}, {"why not before", t.Waiting.Text},
		{"ends about (UTC)", moment(t.EstimatedEnd)}, {"last error", t.LastError},
	} {
		if line[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
		}
	}
	return table.Flush()
}

type tasksCreate struct {
	fileSetting
	Text     string   `xor:"post" help:"The text; - reads it from standard input."`
	Content  uint64   `xor:"post" help:"Or the id of a content."`
	Format   string   `help:"html, markdown or plain."`
	Account  uint64   `help:"The id of the user account that sends, if there are several."`
	Target   []string `help:"The chats: ids, @names or links. TARGET_CHAT_IDS if none is named."`
	Targets  string   `type:"existingfile" help:"A file that names them, one in a line."`
	Min      *float64 `help:"Least pause between two chats, in seconds."`
	Max      *float64 `help:"Longest pause."`
	Start    string   `help:"When to begin, as 2026-11-14T12:01:00Z."`
	Quiet    string   `help:"Hours of the day in which nothing is sent, as 22:00-08:00."`
	DailyCap int      `help:"Messages of the account in a day at most."`
	DryRun   bool     `help:"Find out which chats can be reached, and send nothing before the task is resumed."`
	Hold     bool     `help:"Do nothing before the task is resumed."`
	JSON     bool     `name:"json" help:"Print JSON."`
}

// Run makes a broadcast.
func (c *tasksCreate) Run(ctx context.Context, o output) error {
	if c.Text == "-" {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("read the text: %w", err)
		}
		c.Text = strings.TrimRight(string(text), "\n")
	}
	if c.Targets != "" {
		named, err := os.ReadFile(c.Targets)
		if err != nil {
			return fmt.Errorf("read the chats: %w", err)
		}
		c.Target = append(c.Target, strings.Fields(string(named))...)
	}
	request := map[string]any{"dry_run": c.DryRun, "hold": c.Hold}
	set := func(name string, value any, given bool) {
		if given {
			request[name] = value
		}
	}
	set("text", c.Text, c.Text != "")
	set("content_id", c.Content, c.Content != 0)
	set("format", c.Format, c.Format != "")
	set("identity_id", c.Account, c.Account != 0)
	set("target_chat_ids", c.Target, len(c.Target) > 0)
	set("min_seconds_between_chats", c.Min, c.Min != nil)
	set("max_seconds_between_chats", c.Max, c.Max != nil)
	set("start_at", c.Start, c.Start != "")
	set("daily_cap", c.DailyCap, c.DailyCap != 0)
	if c.Quiet != "" {
		from, to, ok := strings.Cut(c.Quiet, "-")
		if !ok {
			return store.Invalid("--quiet", "invalid.quiet", c.Quiet)
		}
		request["quiet_from"], request["quiet_to"] = from, to
	}
	var t taskShown
	err := ask(ctx, c.fileSetting, o, c.JSON, http.MethodPost, "/tasks", request, &t)
	if err != nil || c.JSON {
		return err
	}
	_, err = fmt.Fprintf(o.out, "task %d: %s, %d chats\n", t.ID, t.state(), t.Total)
	return err
}

type tasksPause struct{ oneTask }

// Run pauses a broadcast.
func (c *tasksPause) Run(ctx context.Context, o output) error {
	return c.act(ctx, o, http.MethodPost, "/pause")
}

type tasksResume struct{ oneTask }

// Run lets a broadcast go on.
func (c *tasksResume) Run(ctx context.Context, o output) error {
	return c.act(ctx, o, http.MethodPost, "/resume")
}

type tasksCancel struct{ oneTask }

// Run cancels a broadcast.
func (c *tasksCancel) Run(ctx context.Context, o output) error {
	return c.act(ctx, o, http.MethodDelete, "")
}

type tasksRetry struct{ oneTask }

// Run sends to the chats again that did not get it.
func (c *tasksRetry) Run(ctx context.Context, o output) error {
	return c.act(ctx, o, http.MethodPost, "/retry")
}

type tasksDryRun struct{ oneTask }

// Run has the chats looked at.
func (c *tasksDryRun) Run(ctx context.Context, o output) error {
	return c.act(ctx, o, http.MethodPost, "/dry-run")
}

type tasksPreview struct{ oneTask }

// Run sends the post to the account itself.
func (c *tasksPreview) Run(ctx context.Context, o output) error {
	var sent json.RawMessage
	err := ask(ctx, c.fileSetting, o, false, http.MethodPost, fmt.Sprintf("/tasks/%d/preview", c.ID), nil, &sent)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, "sent: look into the account's saved messages")
	return err
}

type tasksDeliveries struct {
	oneTask
	Status string `help:"Only those that are pending, sent, failed or skipped."`
	Limit  int    `default:"50" help:"How many at most."`
	Cursor string `help:"Where the page before ended."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run lists the chats of a broadcast.
func (c *tasksDeliveries) Run(ctx context.Context, o output) error {
	query := url.Values{"limit": {fmt.Sprint(c.Limit)}}
	for name, value := range map[string]string{"status": c.Status, "cursor": c.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var listed struct {
		Items []struct {
			Target, Title, Status string
			SentAt                time.Time `json:"sent_at"`
			Link                  string
			Reason                struct{ Text string }
			Attempts              []json.RawMessage
		}
		Next string `json:"next_cursor"`
	}
	err := ask(ctx, c.fileSetting, o, c.JSON, http.MethodGet, fmt.Sprintf("/tasks/%d/deliveries?%s", c.ID, query.Encode()), nil, &listed)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CHAT\tTITLE\tSTATUS\tATTEMPTS\tSENT (UTC)\tLINK\tWHY")
	for _, d := range listed.Items {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", d.Target, d.Title, d.Status, len(d.Attempts), moment(d.SentAt), d.Link, d.Reason.Text)
	}
	if err := table.Flush(); err != nil || listed.Next == "" {
		return err
	}
	_, err = fmt.Fprintf(o.out, "more: --cursor %s\n", listed.Next)
	return err
}
