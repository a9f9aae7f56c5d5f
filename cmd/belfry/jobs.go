package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"belfry/store"
)

type jobsCommand struct {
	List   jobsList   `cmd:"" default:"withargs" help:"List the jobs by their next run."`
	Pause  jobsPause  `cmd:"" help:"Keep a job, or all, from being started."`
	Resume jobsResume `cmd:"" help:"Let a job, or all, go on."`
	Run    jobsRun    `cmd:"" help:"Run a job now; its schedule is not shifted."`
}

type jobsList struct {
	listing
	Kind string `help:"Only jobs of this kind."`
}

// Run lists the jobs.
func (c *jobsList) Run(ctx context.Context, o output) error {
	var jobs struct {
		Items []struct {
			ID      string    `json:"id"`
			State   string    `json:"state"`
			NextRun time.Time `json:"next_run"`
			Reason  struct {
				Text string `json:"text"`
			} `json:"reason"`
		} `json:"items"`
	}
	err := c.list(ctx, o, "/jobs", map[string]string{"kind": c.Kind}, &jobs)
	if err != nil || c.JSON {
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "JOB\tSTATE\tNEXT RUN (UTC)\tWHY")
	for _, j := range jobs.Items {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", j.ID, j.State, j.NextRun.Format(time.DateTime), j.Reason.Text)
	}
	return table.Flush()
}

// oneOrAll names a job, or says that all are meant.
type oneOrAll struct {
	fileSetting
	ID  string `arg:"" optional:"" help:"The job, such as post_17."`
	All bool   `help:"Everything."`
}

// act calls an action on one job or on all.
func (c *oneOrAll) act(ctx context.Context, action string) (err error) {
	if (c.ID == "") != c.All {
		return store.Invalid("ID", "invalid.jobs_or_all")
	}
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	path := "/" + action
	if !c.All {
		path = "/jobs/" + url.PathEscape(c.ID) + path
	}
	return l.call(ctx, http.MethodPost, path, nil, nil)
}

type jobsPause struct{ oneOrAll }

// Run pauses a job or all.
func (c *jobsPause) Run(ctx context.Context) error { return c.act(ctx, "pause") }

type jobsResume struct{ oneOrAll }

// Run lets a job or all go on.
func (c *jobsResume) Run(ctx context.Context) error { return c.act(ctx, "resume") }

type jobsRun struct {
	fileSetting
	ID string `arg:"" help:"The job, such as post_17."`
}

// Run runs a job now.
func (c *jobsRun) Run(ctx context.Context) error {
	return (&oneOrAll{fileSetting: c.fileSetting, ID: c.ID}).act(ctx, "run")
}
