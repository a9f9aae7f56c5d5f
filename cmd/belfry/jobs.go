package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newJobs returns the commands for jobs.
func newJobs() *cobra.Command {
	return newGroup("jobs", "Jobs: list, make, pause, resume and run them.", newJobsList,
		newAsk("show JOB", "Show a job.", http.MethodGet, "/jobs/{id}", cliJob.print), newJobCreate(), newJobReschedule(),
		newPause("pause", "Pause jobs, or all."), newPause("resume", "Resume jobs, or all."),
		newBulk("run", "Run jobs now. Their schedules do not change."), newBulk("delete", "Delete own jobs, or cancel the posts of posts' jobs."),
		newJobPreview(), newJobHistory(), newJobCounts(), newWhyNot())
}

// cliJob is a job as the commands show it.
type cliJob struct {
	ID, Kind, State, About string
	NextRun                time.Time `json:"next_run"`
	Trigger                struct{ Text string }
	Reason                 struct{ Text string }
	Tags                   []string
	LastRun                time.Time `json:"last_run"`
	LastResult             string    `json:"last_result"`
	Action                 *struct{ Type, Secret string }
}

func jobPath(name string) string { return "/jobs/" + url.PathEscape(name) }

// newJobsList returns the command that lists the jobs.
func newJobsList() *cobra.Command {
	return newList("list", "List the jobs by their next run.", "/jobs", [][2]string{
		{"kind", "Only jobs of this kind, such as post."}, {"state", "Only jobs in this state: waiting, running, paused or set_aside."},
		{"tag", "Only jobs with this tag."},
	}, "JOB|ABOUT|STATE|NEXT RUN (UTC)|SCHEDULE|WHY", func(j cliJob) []any {
		return []any{j.ID, store.Shorten(j.About, 40), j.State, moment(j.NextRun), j.Trigger.Text, j.Reason.Text}
	})
}

// print prints what a job is and how it stands.
func (j cliJob) print(w io.Writer) error {
	does := ""
	if j.Action != nil {
		does = j.Action.Type
	}
	lines := [][2]string{
		{"Job", j.ID}, {"About", j.About}, {"Does", does}, {"State", j.State}, {"Schedule", j.Trigger.Text}, {"Next run (UTC)", moment(j.NextRun)},
		{"Why", j.Reason.Text}, {"Last run (UTC)", moment(j.LastRun)}, {"Last result", j.LastResult}, {"Tags", strings.Join(j.Tags, ", ")},
	}
	lines = slices.DeleteFunc(lines, func(line [2]string) bool { return line[1] == "" })
	if err := printTable(w, "FIELD|VALUE", lines, func(line [2]string) []any { return []any{line[0], line[1]} }); err != nil || does == "" || j.Action.Secret == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "Signing secret, shown only now: %s\n", j.Action.Secret)
	return err
}

// triggerFlags say when a job runs.
type triggerFlags struct {
	At    string   `flag:"at" help:"Once, at this time, such as 2027-03-01T12:00:00+03:00."`
	Every string   `flag:"every" help:"At an interval, such as 90m."`
	Cron  string   `flag:"cron" help:"Cron expression: minute, hour, day of month, month, day of week."`
	Times []string `flag:"times" help:"Times of day, such as 09:00,18:30."`
	Days  string   `flag:"days" help:"With --times: days of the week, 1 (Monday) to 7, such as 1,2,3,4,5."`
	Zone  string   `flag:"zone" help:"Time zone of --cron and --times, such as Europe/Moscow."`
}

// body is the flags as the API takes them.
func (f triggerFlags) body() (map[string]any, error) {
	t := given(map[string]any{"at": f.At, "every": f.Every, "cron": f.Cron, "zone": f.Zone})
	if len(f.Times) > 0 {
		t["times"] = f.Times
	}
	if f.Days == "" {
		return t, nil
	}
	var days []int
	if err := json.Unmarshal([]byte("["+f.Days+"]"), &days); err != nil {
		return nil, store.Invalid("--days", "invalid.job_not_number", f.Days)
	}
	t["days_of_week"] = days
	return t, nil
}

// given leaves out what was not given.
func given(all map[string]any) map[string]any {
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == "" || v == 0 })
	return all
}

// newJobCreate returns the command that makes a job.
func newJobCreate() *cobra.Command {
	var when triggerFlags
	var what struct {
		Title    string   `flag:"title" help:"What you call it."`
		Message  string   `flag:"message" help:"Send this text."`
		Target   string   `flag:"target" help:"With --message: the chat. By default where the account posts."`
		Identity int      `flag:"identity" help:"With --message: the id of the account that sends it."`
		Format   string   `flag:"format" help:"With --message: html, markdown or plain."`
		Webhook  string   `flag:"webhook" help:"Call this address with a signed POST."`
		Payload  string   `flag:"payload" help:"With --webhook: the JSON that is sent."`
		Rule     int      `flag:"rule" help:"Run the rule with this id."`
		Check    bool     `flag:"autocheck" help:"Check the watched accounts."`
		Backup   bool     `flag:"backup" help:"Make a backup."`
		Tags     []string `flag:"tags" help:"For filtering, separated by commas."`
		Attempts int      `flag:"max-attempts" help:"Attempts of a run that fails. By default 3."`
		Backoff  string   `flag:"backoff" help:"Pause after the first failure. By default 1m."`
		Timeout  string   `flag:"timeout" help:"Time limit of one attempt, such as 30s."`
		Late     string   `flag:"lateness" help:"If its time has passed: run_once (default), skip or run_each."`
		Grace    string   `flag:"grace" help:"With --lateness skip: how late is still in time, such as 15m."`
	}
	c := newAPICommand("create", "Make a job. Say what it does and when.", func(ctx context.Context, l *local, _ []string) error {
		trigger, err := when.body()
		if err != nil {
			return err
		}
		var kinds []string
		for kind, is := range map[string]bool{"message": what.Message != "", "webhook": what.Webhook != "", "rule": what.Rule != 0, "autocheck": what.Check, "backup": what.Backup} {
			if is {
				kinds = append(kinds, kind)
			}
		}
		if len(kinds) > 1 {
			slices.Sort(kinds)
			return store.Invalid("--"+strings.Join(kinds, " and --"), "invalid.both_given")
		}
		action := map[string]any{}
		if len(kinds) == 1 {
			action["type"] = kinds[0]
		} else {
			return store.Invalid("--message, --webhook, --rule, --autocheck or --backup", "invalid.job_action_missing")
		}
		maps.Copy(action, given(map[string]any{"text": what.Message, "target": what.Target, "identity_id": what.Identity, "format": what.Format, "url": what.Webhook, "id": what.Rule}))
		if what.Payload != "" {
			action["payload"] = json.RawMessage(what.Payload)
			if !json.Valid([]byte(what.Payload)) {
				return store.Invalid("--payload", "invalid.job_payload")
			}
		}
		body := given(map[string]any{"title": cmp.Or(what.Title, fmt.Sprint(action["type"])), "max_attempts": what.Attempts, "backoff": what.Backoff, "timeout": what.Timeout})
		body["trigger"], body["action"] = trigger, action
		if what.Late != "" || what.Grace != "" {
			body["lateness"] = given(map[string]any{"policy": what.Late, "grace": what.Grace})
		}
		if len(what.Tags) > 0 {
			body["tags"] = what.Tags
		}
		var j cliJob
		return l.ask(ctx, http.MethodPost, "/jobs", body, &j, func() error { return j.print(l.out) })
	})
	bind(c.Flags(), &what)
	bind(c.Flags(), &when)
	return withJSON(c)
}

// newJobReschedule returns the command that gives a job another schedule.
func newJobReschedule() *cobra.Command {
	var when triggerFlags
	c := newAPICommand("reschedule JOB", "Give an own job another schedule.", func(ctx context.Context, l *local, args []string) error {
		trigger, err := when.body()
		if err != nil {
			return err
		}
		var j cliJob
		return l.ask(ctx, http.MethodPost, jobPath(args[0])+"/reschedule", map[string]any{"trigger": trigger}, &j, func() error { return j.print(l.out) })
	})
	bind(c.Flags(), &when)
	return withJSON(c)
}

// newJobPreview returns the command that shows the next times of a schedule.
func newJobPreview() *cobra.Command {
	var when triggerFlags
	var page struct {
		Count int    `flag:"count" default:"10" help:"Times at most, up to 100."`
		After string `flag:"after" help:"Times after this one. By default now."`
	}
	type planned struct {
		At          time.Time
		Local, Note string
	}
	c := newAPICommand("preview", "Show the next times of a schedule, before it is used.", func(ctx context.Context, l *local, _ []string) error {
		trigger, err := when.body()
		if err != nil {
			return err
		}
		body := given(map[string]any{"count": page.Count, "after": page.After})
		body["trigger"] = trigger
		var shown struct {
			Text  string
			Items []planned
		}
		return l.ask(ctx, http.MethodPost, "/jobs/preview", body, &shown, func() error {
			fmt.Fprintln(l.out, shown.Text)
			return printTable(l.out, "TIME (UTC)|LOCAL|NOTE", shown.Items, func(p planned) []any { return []any{moment(p.At), p.Local, p.Note} })
		})
	})
	bind(c.Flags(), &page)
	bind(c.Flags(), &when)
	return withJSON(c)
}
