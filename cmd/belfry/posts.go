package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newPosts returns the commands for posts.
func newPosts() *cobra.Command {
	return newGroup("posts", "Posts: create, list, cancel, retry and approve them.", newPostsList,
		newAsk("show ID", "Show a post.", http.MethodGet, "/scheduled-posts/{id}", postShown.printAll), newPostsCreate(),
		newAsk("cancel ID", "Cancel a post before it is published.", http.MethodDelete, "/scheduled-posts/{id}", postShown.print),
		newAsk("retry ID", "Send a failed or unknown post again.", http.MethodPost, "/scheduled-posts/{id}/retry", postShown.print),
		newAsk("approve ID", "Approve a post: it is published at its time, or at once if that has passed.", http.MethodPost, "/scheduled-posts/{id}/approve", postShown.print))
}

// postShown is a post as the API shows it.
type postShown struct {
	ID            uint64
	Platform      string
	Target        string
	Text          string
	Status        string
	ScheduledTime time.Time `json:"scheduled_time"`
	PublishedAt   time.Time `json:"published_at"`
	NeedsApproval bool      `json:"needs_approval"`
	Attempts      int
	Link          string
	Reason        struct{ Text string }
}

// state is the status, or that it needs approval.
func (p postShown) state() string {
	if p.NeedsApproval {
		return p.Status + ", needs approval"
	}
	return p.Status
}

// newPostsList returns the command that lists the posts.
func newPostsList() *cobra.Command {
	return newList("list", "List the posts, the latest scheduled time first.", "/scheduled-posts",
		[][2]string{{"status", "Only scheduled, publishing, published, failed, unknown, cancelled or skipped."}},
		"POST|STATUS|TIME (UTC)|NETWORK|TARGET|TEXT|WHY", func(p postShown) []any {
			return []any{p.ID, p.state(), moment(p.ScheduledTime), p.Platform, p.Target, beginning(p.Text), p.Reason.Text}
		})
}

// beginning is the beginning of a text, for a column.
func beginning(text string) string { return store.Shorten(strings.Join(strings.Fields(text), " "), 40) }

// printAll prints a post with its text.
func (p postShown) printAll(w io.Writer) error {
	err := printFields(w, [][2]any{
		{"status", p.state()}, {"why", p.Reason.Text}, {"time (UTC)", moment(p.ScheduledTime)}, {"network", p.Platform}, {"target", p.Target},
		{"attempts", p.Attempts}, {"published (UTC)", moment(p.PublishedAt)}, {"link", p.Link},
	})
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%s\n", p.Text)
	}
	return err
}

// newPostsCreate returns the command that schedules a post.
func newPostsCreate() *cobra.Command {
	type media struct {
		Kind string `json:"kind"`
		URL  string `json:"url"`
	}
	var request struct {
		Text     string   `flag:"text" json:"text,omitempty" help:"The text; - reads it from standard input."`
		Content  uint64   `flag:"content" json:"content_id,omitempty" help:"The id of a content, instead of a text."`
		Format   string   `flag:"format" json:"format,omitempty" help:"Format of the text: html, markdown or plain."`
		Photos   []string `flag:"photo" json:"-" help:"Addresses of photos, separated by commas."`
		Media    []media  `json:"media,omitempty"`
		Platform string   `flag:"platform" default:"telegram" json:"platform" help:"telegram, instagram or x."`
		Identity uint64   `flag:"identity" json:"identity_id,omitempty" help:"The id of the connected account that posts, if there are several."`
		Target   string   `flag:"target" json:"target,omitempty" help:"Where it goes: @name, a link or an id. By default the account's own target."`
		At       string   `flag:"at" json:"scheduled_time" help:"When, such as 2027-03-01T12:00:00+03:00. By default now."`
		Silent   bool     `flag:"silent" json:"silent" help:"Deliver without a sound."`
		Approval bool     `flag:"needs-approval" json:"needs_approval" help:"Publish it only after a person has approved it."`
		Past     bool     `json:"allow_past"`
	}
	c := newAPICommand("create", "Schedule a post.", func(ctx context.Context, l *local, _ []string) error {
		if request.At == "" {
			request.At, request.Past = time.Now().UTC().Format(time.RFC3339), true
		}
		for _, url := range request.Photos {
			request.Media = append(request.Media, media{"photo", url})
		}
		var p postShown
		return l.ask(ctx, http.MethodPost, "/scheduled-posts", request, &p, func() error { return p.print(l.out) })
	})
	bind(c.Flags(), &request)
	c.PreRunE = func(*cobra.Command, []string) error {
		if request.Text != "" && request.Content != 0 {
			return store.Invalid("--text and --content", "invalid.both_given")
		}
		return readText(&request.Text)
	}
	return withJSON(c)
}

// readText reads a text from standard input that is given as -.
func readText(text *string) error {
	if *text != "-" {
		return nil
	}
	read, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	*text = strings.TrimRight(string(read), "\n")
	return nil
}

func (p postShown) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "post %d: %s, %s (UTC)\n", p.ID, p.state(), moment(p.ScheduledTime))
	return err
}
