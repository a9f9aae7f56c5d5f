package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newJobs returns the commands for jobs.
func newJobs() *cobra.Command {
	return newGroup("jobs", "Jobs: list, pause, resume and run them.", newJobsList,
		newPause("pause", "Pause a job, or all."), newPause("resume", "Resume a job, or all."),
		newAPICommand("run JOB", "Run a job now. Its schedule does not change.", func(ctx context.Context, l *local, args []string) error {
			return l.call(ctx, http.MethodPost, "/jobs/"+url.PathEscape(args[0])+"/run", nil, nil)
		}))
}

// newJobsList returns the command that lists the jobs.
func newJobsList() *cobra.Command {
	type job struct {
		ID, State string
		NextRun   time.Time `json:"next_run"`
		Reason    struct{ Text string }
	}
	return newList("list", "List the jobs by their next run.", "/jobs", [][2]string{{"kind", "Only jobs of this kind, such as post."}},
		"JOB|STATE|NEXT RUN (UTC)|WHY", func(j job) []any { return []any{j.ID, j.State, moment(j.NextRun), j.Reason.Text} })
}

// newPause returns the command that pauses or resumes a job or all.
func newPause(action, short string) *cobra.Command {
	var all bool
	c := newAPICommand(action+" [JOB]", short, func(ctx context.Context, l *local, args []string) error {
		switch {
		case all != (len(args) == 0):
			return store.Invalid("JOB", "invalid.jobs_or_all")
		case all:
			return l.call(ctx, http.MethodPost, "/"+action, nil, nil)
		}
		return l.call(ctx, http.MethodPost, "/jobs/"+url.PathEscape(args[0])+"/"+action, nil, nil)
	})
	c.Flags().BoolVar(&all, "all", false, "All jobs.")
	return c
}
