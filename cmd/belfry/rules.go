package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const rulesPath = "/auto-posting/rules"

// newRules returns the commands for rules.
func newRules() *cobra.Command {
	return newGroup("rules", "Rules that make posts: create, list, run, pause, resume and delete them.", newRulesList,
		newAsk("show ID", "Show a rule: its schedule, its next run and what it has made.", http.MethodGet, rulesPath+"/{id}", ruleShown.printAll), newRulesCreate(),
		newAsk("run ID", "Carry a rule out now. Its schedule does not change.", http.MethodPost, rulesPath+"/{id}/run", ruleShown.print),
		newAsk("dry-run ID", "Show what a rule would post now.", http.MethodPost, rulesPath+"/{id}/dry-run", ruleTrial.print),
		newAsk("pause ID", "Pause a rule.", http.MethodPost, rulesPath+"/{id}/pause", ruleShown.print),
		newAsk("resume ID", "Resume a rule that is paused or switched off.", http.MethodPost, rulesPath+"/{id}/resume", ruleShown.print),
		newCall("delete ID", "Delete a rule. Its posts stay.", http.MethodDelete, rulesPath+"/{id}"))
}

// ruleShown is a rule as the API shows it.
type ruleShown struct {
	ID         uint64
	Name       string
	Schedule   string
	Platforms  []string
	Active     bool      `json:"is_active"`
	Paused     bool      `json:"is_paused"`
	Executions int       `json:"total_executions"`
	Failed     int       `json:"failed_executions"`
	PostsMade  int       `json:"posts_made"`
	LastAt     time.Time `json:"last_execution_at"`
	NextAt     time.Time `json:"next_execution_at"`
	Reason     struct{ Text string }
	Note       string
}

func (r ruleShown) state() string {
	switch {
	case !r.Active:
		return "off"
	case r.Paused:
		return "paused"
	}
	return "active"
}

func (r ruleShown) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "rule %d: %s, %s, next run %s (UTC)\n", r.ID, r.state(), r.Schedule, moment(r.NextAt))
	return err
}

// newRulesList returns the command that lists the rules.
func newRulesList() *cobra.Command {
	return newList("list", "List the rules, the latest first.", rulesPath, nil, "RULE|NAME|STATE|SCHEDULE|NEXT (UTC)|POSTS|FAILED|WHY", func(r ruleShown) []any {
		return []any{r.ID, beginning(r.Name), r.state(), r.Schedule, moment(r.NextAt), r.PostsMade, r.Failed, r.Reason.Text}
	})
}

// printAll prints a rule with what it has made.
func (r ruleShown) printAll(w io.Writer) error {
	return printFields(w, [][2]any{
		{"name", r.Name}, {"state", r.state()}, {"why", r.Reason.Text}, {"schedule", r.Schedule}, {"next (UTC)", moment(r.NextAt)},
		{"last (UTC)", moment(r.LastAt)}, {"networks", strings.Join(r.Platforms, ", ")}, {"runs", r.Executions}, {"failed", r.Failed},
		{"posts", r.PostsMade}, {"note", r.Note},
	})
}

// ruleRequest is a rule as the command line names it.
type ruleRequest struct {
	Name     string `flag:"name" json:"name" help:"What you call it."`
	Type     string `json:"schedule_type"`
	Schedule struct {
		Times []string `flag:"times" json:"times,omitempty" help:"Times of day, such as 09:00,18:30."`
		Days  weekdays `flag:"days" json:"days_of_week,omitempty" help:"Days of the week, such as 1,5: 1 is Monday, 7 is Sunday. By default each day."`
		Every string   `flag:"every" json:"every,omitempty" help:"Instead of times: an interval such as 6h."`
		Cron  string   `flag:"cron" json:"cron_expression,omitempty" help:"Instead of times: minute, hour, day of month, month and day of week."`
		Zone  string   `flag:"zone" json:"zone,omitempty" help:"Time zone of the times, such as Europe/Moscow. By default the server's."`
	} `settings:"when it posts" json:"schedule_config"`
	Content struct {
		Source      string `json:"source,omitempty"`
		Title       string `flag:"title" json:"title,omitempty" help:"What the posts are about."`
		Description string `flag:"description" json:"description,omitempty" help:"What they should say."`
		Template    string `flag:"template" json:"template,omitempty" help:"A text with {title}, {date} and the like, instead of texts of an AI."`
		Feed        string `flag:"feed" json:"feed_url,omitempty" help:"The address of an RSS or Atom feed, whose items are posted."`
		Approval    bool   `flag:"needs-approval" json:"approval,omitempty" help:"Its posts need approval."`
	} `settings:"what it posts" json:"content_config"`
	Platforms []string `flag:"platform" json:"platforms" help:"telegram, instagram or x, separated by commas. By default telegram."`
}

// weekdays are days of the week, separated by commas.
type weekdays []int

// UnmarshalText reads them.
func (d *weekdays) UnmarshalText(text []byte) error {
	if json.Unmarshal(fmt.Appendf(nil, "[%s]", text), (*[]int)(d)) != nil {
		return fmt.Errorf("%q cannot be used: write days such as 1,5", text)
	}
	return nil
}

// newRulesCreate returns the command that makes a rule.
func newRulesCreate() *cobra.Command {
	var request ruleRequest
	c := newAPICommand("create", "Create a rule.", func(ctx context.Context, l *local, _ []string) error {
		request.Type = "daily"
		if request.Schedule.Every != "" {
			request.Type = "interval"
		} else if request.Schedule.Cron != "" {
			request.Type = "cron"
		}
		if request.Content.Template != "" {
			request.Content.Source = "template"
		}
		if request.Content.Feed != "" {
			request.Content.Source = "feed"
		}
		if len(request.Platforms) == 0 {
			request.Platforms = []string{"telegram"}
		}
		var r ruleShown
		return l.ask(ctx, http.MethodPost, rulesPath, request, &r, func() error { return r.print(l.out) })
	})
	bind(c.Flags(), &request)
	return withJSON(c)
}

// ruleTrial is what a rule would post.
type ruleTrial struct {
	Posts  []struct{ Platform, Text string }
	Reason struct{ Text string }
}

func (t ruleTrial) print(w io.Writer) (err error) {
	for _, p := range t.Posts {
		fmt.Fprintf(w, "%s:\n%s\n\n", p.Platform, p.Text)
	}
	if t.Reason.Text != "" {
		_, err = fmt.Fprintln(w, t.Reason.Text)
	}
	return err
}
