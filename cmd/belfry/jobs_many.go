package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newJobHistory returns the command that lists the runs of a job.
func newJobHistory() *cobra.Command {
	type run struct {
		Ended   time.Time
		Seconds float64
		Attempt int
		Result  string
		Reason  struct{ Text string }
	}
	return newList("history JOB", "List the runs of a job, the latest first, also of one that has ended.", "/jobs/{id}/runs", nil,
		"ENDED (UTC)|RESULT|TOOK|ATTEMPT|WHY", func(r run) []any {
			return []any{moment(r.Ended), r.Result, time.Duration(r.Seconds * float64(time.Second)).Round(time.Millisecond), r.Attempt, r.Reason.Text}
		})
}

// newJobCounts returns the command that counts the jobs.
func newJobCounts() *cobra.Command {
	type count struct {
		name string
		n    int
	}
	type counts struct {
		Total, Active int
		ByKind        map[string]int `json:"by_kind"`
		ByState       map[string]int `json:"by_state"`
		NextRun       time.Time      `json:"next_run"`
	}
	return newAsk("counts", "Count the jobs by kind and state.", http.MethodGet, "/jobs/counts", func(all counts, w io.Writer) error {
		rows := []count{{"total", all.Total}, {"active", all.Active}}
		for _, kind := range slices.Sorted(maps.Keys(all.ByKind)) {
			rows = append(rows, count{"kind " + kind, all.ByKind[kind]})
		}
		for _, state := range slices.Sorted(maps.Keys(all.ByState)) {
			rows = append(rows, count{"state " + state, all.ByState[state]})
		}
		if err := printTable(w, "JOBS|NUMBER", rows, func(c count) []any { return []any{c.name, c.n} }); err != nil || all.NextRun.IsZero() {
			return err
		}
		_, err := fmt.Fprintf(w, "next run (UTC): %s\n", moment(all.NextRun))
		return err
	})
}

// newWhyNot returns the command that lists the jobs that did not run when they could have.
func newWhyNot() *cobra.Command {
	type notRun struct {
		Job, Code, Text string
		Since, Until    time.Time
	}
	return newAsk("why-not", "List the jobs that did not run when they could have.", http.MethodGet, "/jobs/why-not", func(listed struct{ Items []notRun }, w io.Writer) error {
		return printTable(w, "JOB|CODE|SINCE (UTC)|UNTIL (UTC)|WHY", listed.Items, func(n notRun) []any {
			return []any{n.Job, n.Code, moment(n.Since), moment(n.Until), n.Text}
		})
	})
}

// newPause returns the command that pauses or resumes jobs, or all.
func newPause(action, short string) *cobra.Command {
	var all bool
	c := newAPICommand(action+" [JOB...]", short, func(ctx context.Context, l *local, args []string) error {
		switch {
		case all != (len(args) == 0):
			return store.Invalid("JOB", "invalid.jobs_or_all")
		case all:
			return l.call(ctx, http.MethodPost, "/"+action, nil, nil)
		}
		return l.bulk(ctx, action, args)
	})
	c.Flags().BoolVar(&all, "all", false, "All jobs.")
	return c
}

// newBulk returns the command that takes an action on jobs.
func newBulk(action, short string) *cobra.Command {
	return newAPICommand(action+" JOB...", short, func(ctx context.Context, l *local, args []string) error { return l.bulk(ctx, action, args) })
}

// bulk takes an action on jobs. Of one the refusal is the error; of several those that were left are listed.
func (l *local) bulk(ctx context.Context, action string, names []string) error {
	if len(names) == 1 && action == "delete" {
		return l.call(ctx, http.MethodDelete, jobPath(names[0]), nil, nil)
	}
	if len(names) == 1 {
		return l.call(ctx, http.MethodPost, jobPath(names[0])+"/"+action, nil, nil)
	}
	var out struct {
		Done    int
		Refused []struct{ Job, Detail string }
	}
	if err := l.call(ctx, http.MethodPost, "/jobs/bulk", map[string]any{"action": action, "ids": names}, &out); err != nil {
		return err
	}
	for _, r := range out.Refused {
		fmt.Fprintf(l.out, "%s: %s\n", r.Job, r.Detail)
	}
	if len(out.Refused) > 0 {
		return fmt.Errorf("%d of %d jobs were left as they are", len(out.Refused), len(names))
	}
	return nil
}
