package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// newToken returns the commands for tokens.
func newToken() *cobra.Command {
	return newGroup("token", "Tokens for the API: create, list and revoke them.", newTokenCreate, newTokenList(),
		newCall("revoke ID", "Revoke a token, by the id in the list.", http.MethodDelete, "/tokens/{id}"))
}

// newTokenCreate returns the command that makes a token.
func newTokenCreate() *cobra.Command {
	return newAPICommand("create [NAME]", "Create a token and print it. It cannot be shown again. NAME says what it is for.",
		func(ctx context.Context, l *local, args []string) error {
			var made struct{ Token string }
			name := append(args, "cli")[0]
			if err := l.call(ctx, http.MethodPost, "/tokens", map[string]string{"name": name}, &made); err != nil {
				return err
			}
			_, err := fmt.Fprintln(l.out, made.Token)
			return err
		})
}

// newTokenList returns the command that lists the tokens.
func newTokenList() *cobra.Command {
	type token struct {
		ID        uint64
		Name      string
		CreatedAt time.Time `json:"created_at"`
		RevokedAt time.Time `json:"revoked_at"`
	}
	return newAsk("list", "List the tokens.", http.MethodGet, "/tokens", func(listed struct{ Items []token }, w io.Writer) error {
		return printTable(w, "ID|NAME|CREATED (UTC)|REVOKED (UTC)", listed.Items, func(t token) []any {
			return []any{t.ID, t.Name, moment(t.CreatedAt), moment(t.RevokedAt)}
		})
	})
}
