package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"belfry/store"
)

type alertsCommand struct {
	List alertsList `cmd:"" default:"withargs" help:"List what is wrong, or was, the latest first."`
	Ack  alertsAck  `cmd:"" help:"Say that alerts were seen."`
}

type alertsList struct {
	listing
	State string `help:"Only those that are open, acknowledged or over."`
}

// Run lists the alerts.
func (c *alertsList) Run(ctx context.Context, o output) error {
	var listed struct {
		Items []struct {
			ID               uint64 `json:"id"`
			State, What, Why string
			RaisedAt         time.Time `json:"raised_at"`
		}
	}
	err := c.list(ctx, o, "/alerts", map[string]string{"state": c.State}, &listed)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATE\tSINCE (UTC)\tWHAT\tWHY")
	for _, a := range listed.Items {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", a.ID, a.State, moment(a.RaisedAt), a.What, a.Why)
	}
	return table.Flush()
}

type alertsAck struct {
	fileSetting
	IDs []uint64 `arg:"" optional:"" name:"id" help:"Their ids, as the list shows them."`
	All bool     `help:"All that nobody has seen yet."`
}

// Run says that alerts were seen.
func (c *alertsAck) Run(ctx context.Context, o output) (err error) {
	if (len(c.IDs) == 0) != c.All {
		return store.Invalid("ID", "invalid.alerts_or_all")
	}
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if c.All {
		var done struct{ Acknowledged int }
		if err := l.call(ctx, http.MethodPost, "/alerts/acknowledge", nil, &done); err != nil {
			return err
		}
		_, err := fmt.Fprintf(o.out, "%d acknowledged\n", done.Acknowledged)
		return err
	}
	for _, id := range c.IDs { // those before one that is not there stay acknowledged
		if err := l.call(ctx, http.MethodPost, fmt.Sprintf("/alerts/%d/acknowledge", id), nil, nil); err != nil {
			return err
		}
	}
	return nil
}
