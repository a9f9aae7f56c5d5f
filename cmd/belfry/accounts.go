package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newAccounts returns the commands for watched accounts.
func newAccounts() *cobra.Command {
	return newGroup("accounts", "Watched accounts: add, import, list and check them.", newAccountsList,
		newWatch("add NAME...", "Watch accounts. A NAME is a user name, with or without @, or the address of a profile.",
			func(args []string) (string, error) { return strings.Join(args, "\n"), nil }),
		newWatch("import FILE", "Watch the accounts of a list, one name in a line, or of a CSV file with a header. - reads standard input.", readList),
		newCall("remove ID", "Remove an account and its history.", http.MethodDelete, "/accounts/{id}"),
		newAccountsCheck())
}

// newAccountsList returns the command that lists the watched accounts.
func newAccountsList() *cobra.Command {
	type account struct {
		ID                          uint64
		Site, Username, State, Note string
		CheckedAt                   time.Time `json:"checked_at"`
		Outcome                     string    `json:"last_outcome"`
	}
	return newList("list", "List the watched accounts.", "/accounts",
		[][2]string{{"state", "Only pending, found or not_found."}, {"tag", "Only those with this tag."}},
		"ID|SITE|NAME|STATE|CHECKED (UTC)|LAST|NOTE", func(a account) []any {
			return []any{a.ID, a.Site, a.Username, a.State, moment(a.CheckedAt), a.Outcome, strings.Join(strings.Fields(a.Note), " ")}
		})
}

// newWatch returns a command that adds the accounts of a list, and prints the lines that it could not add.
func newWatch(use, short string, list func(args []string) (string, error)) *cobra.Command {
	var request struct {
		Text string `json:"text"`
		Site string `flag:"site" json:"site,omitempty" help:"Their site. By default instagram."`
		Note string `flag:"note" json:"note,omitempty" help:"A note about them."`
		Tag  string `flag:"tag" json:"tag,omitempty" help:"A tag for filtering."`
		Keep bool   `flag:"keep-watching" json:"keep_watching" help:"Continue to check them when they have been found."`
	}
	c := newAPICommand(use, short, func(ctx context.Context, l *local, args []string) (err error) {
		if request.Text, err = list(args); err != nil {
			return err
		}
		var report struct {
			Added, Duplicates, Invalid int
			Lines                      []struct {
				Line                  int
				Text, Result, Problem string
			}
		}
		if err := l.call(ctx, http.MethodPost, "/accounts/import", request, &report); err != nil {
			return err
		}
		for _, line := range report.Lines {
			if line.Result != "added" {
				fmt.Fprintf(l.out, "line %d: %s: %s\n", line.Line, line.Text, cmp.Or(line.Problem, line.Result))
			}
		}
		fmt.Fprintf(l.out, "%d added, %d already watched, %d invalid\n", report.Added, report.Duplicates, report.Invalid)
		if report.Invalid > 0 && report.Added+report.Duplicates == 0 {
			return errors.New("no account was added")
		}
		return nil
	})
	bind(c.Flags(), &request)
	return c
}

// readList reads a list of accounts from a file or standard input.
func readList(args []string) (string, error) {
	data, err := readInput(args[0])
	if err != nil {
		return "", fmt.Errorf("read the list: %w", err)
	}
	if !utf8.Valid(data) { // JSON would lose the bytes
		return "", store.Invalid(args[0], "invalid.file_not_utf8")
	}
	return string(data), nil
}

// newAccountsCheck returns the command for the check of the accounts.
func newAccountsCheck() *cobra.Command {
	var now bool
	var interval string
	c := newAPICommand("check", "Show when the accounts are checked, change the interval, or check now.", func(ctx context.Context, l *local, _ []string) error {
		if interval != "" {
			if err := l.call(ctx, http.MethodPatch, "/autocheck", map[string]string{"interval": interval}, nil); err != nil {
				return err
			}
		}
		if now {
			if err := l.call(ctx, http.MethodPost, "/autocheck/run", nil, nil); err != nil {
				return err
			}
		}
		var check struct {
			Interval  string
			NextCheck time.Time `json:"next_check"`
			Waiting   struct{ Text string }
			Running   *struct{ Checked, Total int }
			Counts    struct {
				Pending, Found int
				NotFound       int `json:"not_found"`
			}
		}
		return l.ask(ctx, http.MethodGet, "/autocheck", nil, &check, func() error {
			if check.Running != nil {
				fmt.Fprintf(l.out, "checking now: %d of %d accounts are done\n", check.Running.Checked, check.Running.Total)
			} else if !check.NextCheck.IsZero() {
				fmt.Fprintf(l.out, "the next check is at %s (UTC)\n", moment(check.NextCheck))
			}
			if check.Waiting.Text != "" {
				fmt.Fprintln(l.out, check.Waiting.Text)
			}
			_, err := fmt.Fprintf(l.out, "every %s; %d found, %d not found yet, %d vanished\n",
				check.Interval, check.Counts.Found, check.Counts.Pending, check.Counts.NotFound)
			return err
		})
	})
	c.Flags().BoolVar(&now, "now", false, "Check now.")
	c.Flags().StringVar(&interval, "interval", "", "The time between two checks, such as 5m.")
	return withJSON(c)
}
