package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"belfry/store"
)

type accountsCommand struct {
	List   accountsList   `cmd:"" default:"withargs" help:"List the accounts that are watched."`
	Add    accountsAdd    `cmd:"" help:"Have accounts watched."`
	Import accountsImport `cmd:"" help:"Have the accounts of a list or CSV file watched."`
	Remove accountsRemove `cmd:"" help:"Forget an account and its history."`
	Check  accountsCheck  `cmd:"" help:"Say how the check stands, change its interval, or check now."`
}

type accountsList struct {
	listing
	State string `help:"Only those that are pending, found or not_found."`
	Tag   string `help:"Only those with this tag."`
}

// Run lists the accounts.
func (c *accountsList) Run(ctx context.Context, o output) error {
	var listed struct {
		Items []struct {
			ID                          uint64 `json:"id"`
			Site, Username, State, Note string
			CheckedAt                   time.Time `json:"checked_at"`
			Outcome                     string    `json:"last_outcome"`
			Detail                      string    `json:"last_detail"`
		}
	}
	err := c.list(ctx, o, "/accounts", map[string]string{"state": c.State, "tag": c.Tag}, &listed)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSITE\tNAME\tSTATE\tCHECKED (UTC)\tLAST\tNOTE")
	for _, a := range listed.Items {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, a.Site, a.Username, a.State, moment(a.CheckedAt), a.Outcome, strings.Join(strings.Fields(a.Note), " "))
	}
	return table.Flush()
}

// watched is what is said of accounts that are added.
type watched struct {
	fileSetting
	Site string `help:"Their site; instagram if it is left out."`
	Note string `help:"What people want to know of them."`
	Tag  string `help:"A word that lists can be narrowed by."`
	Keep bool   `help:"Go on looking at them when they have been found."`
}

// add adds a list and says what became of each line that was not added.
func (w *watched) add(ctx context.Context, o output, text string) error {
	request := map[string]any{"text": text, "keep_watching": w.Keep}
	for name, value := range map[string]string{"site": w.Site, "note": w.Note, "tag": w.Tag} {
		if value != "" {
			request[name] = value
		}
	}
	var report struct {
		Added, Duplicates, Nonsense int
		Lines                       []struct {
			Line                  int
			Text, Result, Problem string
		}
	}
	if err := ask(ctx, w.fileSetting, o, false, http.MethodPost, "/accounts/import", request, &report); err != nil {
		return err
	}
	for _, line := range report.Lines {
		if line.Result != "added" {
			fmt.Fprintf(o.out, "line %d: %s: %s\n", line.Line, line.Text, cmp.Or(line.Problem, line.Result))
		}
	}
	fmt.Fprintf(o.out, "%d added, %d already watched, %d invalid\n", report.Added, report.Duplicates, report.Nonsense)
	if report.Nonsense > 0 && report.Added+report.Duplicates == 0 {
		return errors.New("no account was added")
	}
	return nil
}

type accountsAdd struct {
	watched
	Names []string `arg:"" help:"Their names, with or without @, or the addresses of their profiles."`
}

// Run adds accounts.
func (c *accountsAdd) Run(ctx context.Context, o output) error {
	text := ""
	for _, name := range c.Names {
		text += name + "\n"
	}
	return c.add(ctx, o, text)
}

type accountsImport struct {
	watched
	File string `arg:"" help:"A list, one name in a line, or CSV with a first line that names its columns; - is standard input."`
}

// Run adds the accounts of a file.
func (c *accountsImport) Run(ctx context.Context, o output) error {
	var data []byte
	var err error
	if c.File == "-" {
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(c.File)
	}
	if err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	if !utf8.Valid(data) { // on its way as JSON that would be lost
		return store.Invalid(c.File, "invalid.file_not_utf8")
	}
	return c.add(ctx, o, string(data))
}

type accountsRemove struct {
	fileSetting
	ID uint64 `arg:"" help:"Its id, as the list shows it."`
}

// Run forgets an account.
func (c *accountsRemove) Run(ctx context.Context) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	return l.call(ctx, http.MethodDelete, fmt.Sprintf("/accounts/%d", c.ID), nil, nil)
}

// checkShown is how the check stands, as the API shows it.
type checkShown struct {
	Interval  string    `json:"interval"`
	NextCheck time.Time `json:"next_check"`
	Waiting   struct{ Text string }
	Counts    struct {
		Pending  int `json:"pending"`
		Found    int `json:"found"`
		NotFound int `json:"not_found"`
	} `json:"counts"`
	Running *struct{ Checked, Total int }
}

type accountsCheck struct {
	fileSetting
	Now      bool   `help:"Check now."`
	Interval string `help:"The time between two checks, such as 5m; it holds at once."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// Run says how the check stands, after what was asked for was done.
func (c *accountsCheck) Run(ctx context.Context, o output) error {
	var nothing json.RawMessage
	if c.Interval != "" {
		change := map[string]any{"interval": c.Interval}
		if err := ask(ctx, c.fileSetting, o, false, http.MethodPatch, "/autocheck", change, &nothing); err != nil {
			return err
		}
	}
	if c.Now {
		if err := ask(ctx, c.fileSetting, o, false, http.MethodPost, "/autocheck/run", nil, &nothing); err != nil {
			return err
		}
	}
	var s checkShown
	err := ask(ctx, c.fileSetting, o, c.JSON, http.MethodGet, "/autocheck", nil, &s)
	if err != nil || c.JSON {
		return err
	}
	if s.Running != nil {
		fmt.Fprintf(o.out, "checking now: %d of %d accounts are done\n", s.Running.Checked, s.Running.Total)
	} else if !s.NextCheck.IsZero() {
		fmt.Fprintf(o.out, "the next check is at %s (UTC)\n", moment(s.NextCheck))
	}
	if s.Waiting.Text != "" {
		fmt.Fprintln(o.out, s.Waiting.Text)
	}
	_, err = fmt.Fprintf(o.out, "every %s; %d found, %d not found yet, %d vanished\n", s.Interval, s.Counts.Found, s.Counts.Pending, s.Counts.NotFound)
	return err
}
