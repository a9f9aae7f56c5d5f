package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" default:"withargs" help:"Make a token and print it. It is not kept and cannot be shown again."`
	List   tokenList   `cmd:"" help:"List the tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

type tokenCreate struct {
	fileSetting
	Name string `arg:"" optional:"" default:"cli" help:"What the token is for."`
}

// Run makes a token.
func (c *tokenCreate) Run(ctx context.Context, o output) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var made struct{ Token string }
	if err := l.call(ctx, http.MethodPost, "/tokens", map[string]string{"name": c.Name}, &made); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, made.Token)
	return err
}

type tokenList struct {
	fileSetting
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the tokens.
func (c *tokenList) Run(ctx context.Context, o output) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var listed struct {
		Items []struct {
			ID        uint64    `json:"id"`
			Name      string    `json:"name"`
			CreatedAt time.Time `json:"created_at"`
			RevokedAt time.Time `json:"revoked_at,omitzero"`
		} `json:"items"`
	}
	if err := l.call(ctx, http.MethodGet, "/tokens", nil, &listed); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(o.out).Encode(listed)
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tMADE\tREVOKED")
	for _, t := range listed.Items {
		revoked := ""
		if !t.RevokedAt.IsZero() {
			revoked = t.RevokedAt.Format(time.DateTime)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", t.ID, t.Name, t.CreatedAt.Format(time.DateTime), revoked)
	}
	return table.Flush()
}

type tokenRevoke struct {
	fileSetting
	ID uint64 `arg:"" help:"Its id, as token list shows it."`
}

// Run revokes a token.
func (c *tokenRevoke) Run(ctx context.Context, _ output) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	return l.call(ctx, http.MethodDelete, fmt.Sprintf("/tokens/%d", c.ID), nil, nil)
}
