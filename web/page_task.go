package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// taskPage is one broadcast: how far it is, what comes next and why it waits, and each of its chats.
type taskPage struct {
	frame
	ID, Heading, Wrong      string
	Message                 message
	Status                  chip
	Means, LastError        string
	Bar                     bar
	Counts                  []countOf
	Next                    *nextChat
	Ends, Begins            *moment
	Started, Ended, Created *moment
	Facts                   []fact
	Steps                   []action // of a form, by the value of its button
	Links                   []action
	Check                   *checkFound
	Tabs                    []tab
	Rows                    []deliveryRow
	First, More, Empty      string
	CSV                     string
}

type countOf struct {
	Name, N string
}

type fact struct{ Name, Value string }

func (s *Server) loadTask(r reader) (page, error) {
	number, err := strconv.ParseUint(r.id, 10, 64)
	if err != nil {
		return nil, echo.ErrNotFound
	}
	var p progress
	err = s.db.View(func(tx *store.Tx) error {
		t, err := tx.Tasks.Get(number)
		if err != nil {
			return err
		}
		p, err = s.readProgress(tx, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	chats := deliveriesOf{show: r.query.Get("show"), cursor: r.query.Get("cursor")}
	if err := s.readDeliveries(p.task, &chats); err != nil {
		return nil, err
	}
	w := r.words.Task
	out := &taskPage{
		frame: s.frame(r, "tasks", w.Title+" "+r.id), ID: r.id, Heading: w.Title + " " + r.id,
		Message: r.message(store.Post{Text: p.task.Text, Format: p.task.Format, Media: p.task.Media}),
		Status:  r.taskChip(p), Means: r.words.TaskStatus[p.task.Status].Means, LastError: r.Say(p.task.LastError),
		Bar: r.taskBar(p.task), Next: r.nextChat(p), Ends: r.momentIf(p.next.Ends), Started: r.momentIf(p.task.StartedAt),
		Ended: r.momentIf(p.task.EndedAt), Created: r.moment(p.task.CreatedAt), Facts: r.taskFacts(p),
		Check: r.checkFound(p.task, chats), CSV: taskPath(p.task.ID) + "/deliveries.csv",
	}
	if p.next.Paused {
		out.Means = w.PausedMeans
	}
	if p.task.Status == store.TaskFailed && r.query.Get("done") != "task-previewed" {
		out.Done = "" // since then it has failed
	}
	if p.task.StartedAt.IsZero() && p.task.StartAt.After(r.now) {
		out.Begins = r.moment(p.task.StartAt)
	}
	if p.task.Left() == 0 {
		out.Ends = nil
	}
	out.Counts = []countOf{
		{w.Sent, group(p.task.Sent, r.thousands())}, {w.Failed, group(p.task.Failed, r.thousands())},
		{w.Skipped, group(p.task.Skipped, r.thousands())}, {w.Left, group(p.task.Left(), r.thousands())},
	}
	out.Steps, out.Links = r.taskSteps(p)
	out.chats(r, p.task, chats)
	return out, nil
}

// thousands is the mark between thousands.
func (r reader) thousands() string {
	if r.lang == russian {
		return "\u00a0"
	}
	return ","
}

func (r reader) taskFacts(p progress) []fact {
	t, w := p.task, r.words.Task
	facts := []fact{{w.Account, r.loginName(p.account)}, {w.Pauses, pauseRange(t.MinPause, t.MaxPause) + "\u00a0" + w.Seconds}}
	if !t.Quiet.IsZero() {
		facts = append(facts, fact{w.Quiet, w.Range(t.Quiet.From, t.Quiet.To)})
	}
	if t.DailyCap > 0 {
		facts = append(facts, fact{w.Cap, w.PerDay(t.DailyCap)})
	}
	if t.Attempts > 1 {
		facts = append(facts, fact{w.TakenUp, r.words.Tasks.Of(t.Attempts, t.MaxAttempts)})
	}
	var options []string
	if t.Silent {
		options = append(options, r.words.Post.Silent)
	}
	if t.NoLinkPreview {
		options = append(options, r.words.Post.NoPreview)
	}
	if len(options) > 0 {
		facts = append(facts, fact{w.Options, strings.Join(options, ", ")})
	}
	return facts
}

// pauseRange writes pauses in seconds, as in 20–40.
func pauseRange(from, to time.Duration) string {
	write := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	if from == to {
		return write(from)
	}
	return write(from) + "–" + write(to)
}

// taskSteps are what can be done with a broadcast: at once, and after a question.
func (r reader) taskSteps(p progress) (steps, links []action) {
	w, path, t := r.words.Task, taskPath(p.task.ID), p.task
	again := action{"again", w.Again, "/tasks/new?from=" + id(t.ID), "quiet-button"}
	preview := action{Key: "preview", Name: w.Preview, Class: "quiet-button"}
	if t.Status.Final() {
		if t.Failed+t.Skipped+t.Left() > 0 {
			links = append(links, action{"retry", w.Retry, path + "/retry", "quiet-button"})
		}
		return []action{preview}, append(links, again)
	}
	switch {
	case p.next.Paused && t.StartedAt.IsZero():
		steps = append(steps, action{Key: "resume", Name: w.Begin})
	case p.next.Paused:
		steps = append(steps, action{Key: "resume", Name: w.Resume})
	default:
		steps = append(steps, action{Key: "pause", Name: w.Pause})
	}
	steps = append(steps, preview)
	if t.Check != store.CheckRunning {
		steps = append(steps, action{Key: "dry-run", Name: w.DryRun, Class: "quiet-button"})
	}
	if t.Failed+t.Skipped > 0 {
		links = append(links, action{"retry", w.Retry, path + "/retry", "quiet-button"})
	}
	return steps, append(links, action{"cancel", w.Cancel, path + "/cancel", "quiet-button danger"})
}
