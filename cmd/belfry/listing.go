package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// newList returns a command that lists what the API has at path, in which {id} stands for the argument. It
// prints a table, with a row for each item, or JSON. Each filter is the name of a flag and its help.
func newList[T any](use, short, path string, filters [][2]string, header string, row func(T) []any) *cobra.Command {
	var page struct {
		Limit int `flag:"limit" default:"50" help:"Items at most, up to 500."`
	}
	given := map[string]*string{}
	c := newAPICommand(use, short, func(ctx context.Context, l *local, args []string) error {
		query := url.Values{"limit": {strconv.Itoa(page.Limit)}}
		for name, value := range given {
			if *value != "" {
				query.Set(name, *value)
			}
		}
		var listed struct {
			Items []T
			Next  string `json:"next_cursor"`
		}
		return l.ask(ctx, http.MethodGet, pathOf(path, args)+"?"+query.Encode(), nil, &listed, func() error {
			if err := printTable(l.out, header, listed.Items, row); err != nil || listed.Next == "" {
				return err
			}
			_, err := fmt.Fprintf(l.out, "more: --cursor %s\n", listed.Next)
			return err
		})
	})
	for _, f := range filters {
		given[f[0]] = c.Flags().String(f[0], "", f[1])
	}
	bind(c.Flags(), &page)
	given["cursor"] = c.Flags().String("cursor", "", "Where the page before ended.")
	return withJSON(c)
}

// newAsk returns a command that sends a request to the API at path, in which {id} stands for the argument. It prints what
// show writes of the answer, or JSON.
func newAsk[T any](use, help, method, path string, show func(T, io.Writer) error) *cobra.Command {
	return withJSON(newAPICommand(use, help, func(ctx context.Context, l *local, args []string) error {
		var answer T
		return l.ask(ctx, method, pathOf(path, args), nil, &answer, func() error { return show(answer, l.out) })
	}))
}

// newCall returns a command that sends a request as [newAsk] does, and prints nothing.
func newCall(use, help, method, path string) *cobra.Command {
	return newAPICommand(use, help, func(ctx context.Context, l *local, args []string) error {
		return l.call(ctx, method, pathOf(path, args), nil, nil)
	})
}

// pathOf puts the argument of a command in the place of {id}.
func pathOf(path string, args []string) string {
	return strings.Replace(path, "{id}", url.PathEscape(strings.Join(args, "")), 1)
}

// printTable prints a header and a row for each item.
func printTable[T any](w io.Writer, header string, items []T, row func(T) []any) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.ReplaceAll(header, "|", "\t"))
	for _, item := range items {
		for i, cell := range row(item) {
			if i > 0 {
				fmt.Fprint(table, "\t")
			}
			fmt.Fprint(table, cell)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// printFields prints a line for each field that is not empty.
func printFields(w io.Writer, fields [][2]any) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		if f[1] != "" {
			fmt.Fprintf(table, "%s\t%v\n", f[0], f[1])
		}
	}
	return table.Flush()
}

// moment writes a time in UTC, or nothing for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
