package main

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/worker/search"
)

// newSearch returns the command that searches the messages of channels.
func newSearch() *cobra.Command {
	var page struct {
		Limit int `flag:"limit" default:"20" help:"Messages at most, up to 100."`
	}
	given := map[string]*string{}
	c := newAPICommand("search QUERY...", "Search the messages of channels.", func(ctx context.Context, l *local, args []string) error {
		query := url.Values{"q": {strings.Join(args, " ")}, "limit": {strconv.Itoa(page.Limit)}}
		for flag, value := range given {
			if *value != "" {
				query.Set(strings.ReplaceAll(flag, "-", "_"), *value)
			}
		}
		var found struct {
			Items []struct {
				Snippet, Link, By string
				Message           struct {
					Channel string
					Date    time.Time
				}
			}
			Next      string `json:"next_cursor"`
			NoMeaning string `json:"no_meaning"`
		}
		return l.ask(ctx, http.MethodGet, "/search?"+query.Encode(), nil, &found, func() error {
			for _, f := range found.Items {
				text := html.UnescapeString(strings.NewReplacer("<mark>", "", "</mark>", "", "\n", " ").Replace(f.Snippet))
				note := ""
				if f.By == search.ByMeaning {
					note = "  (similar in meaning)"
				}
				fmt.Fprintf(l.out, "%s  %s  %s%s\n  %s\n", moment(f.Message.Date), f.Message.Channel, f.Link, note, text)
			}
			if len(found.Items) == 0 && found.Next == "" {
				fmt.Fprintln(l.out, "nothing found")
			}
			if found.NoMeaning != "" {
				fmt.Fprintf(l.out, "only by words: %s\n", found.NoMeaning)
			}
			if found.Next != "" {
				fmt.Fprintf(l.out, "more: --cursor %s\n", found.Next)
			}
			return nil
		})
	})
	for _, f := range [][2]string{
		{"channel-id", "Only messages of this channel."}, {"since", "Only messages from this time on (RFC 3339)."},
		{"until", "Only messages before this time."}, {"tag", "Only messages with this tag."},
		{"language", "Only messages in this language, such as ru."}, {"has-media", "true: only messages with media."},
		{"cursor", "Where the page before ended."},
	} {
		given[f[0]] = c.Flags().String(f[0], "", f[1])
	}
	bind(c.Flags(), &page)
	return withJSON(c)
}
