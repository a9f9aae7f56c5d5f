package web

import (
	"errors"
	"fmt"

	"belfry/store"
	"belfry/worker/tasks"
)

// tasksPage is the list of broadcasts.
type tasksPage struct {
	frame
	Tabs         []tab
	Rows         []taskRow
	NoAccount    bool
	First, Older string
	Empty        string
}

// taskRow is one broadcast of the list.
type taskRow struct {
	ID, Link, Title, Account, Reason string
	Created                          *moment
	Status                           chip
	Bar                              bar
	Next                             *nextChat
}

// bar is how far something is.
type bar struct {
	Value, Max int
	Text       string
}

// nextChat is what comes next in a broadcast.
type nextChat struct {
	Target, Why string
	When        *moment // nil if nobody knows
}

func taskPath(n uint64) string { return fmt.Sprintf("/tasks/%d", n) }

// progress is a broadcast with what comes next.
type progress struct {
	task    store.Task
	next    tasks.Progress
	account store.Identity
}

func (s *Server) readProgress(tx *store.Tx, t store.Task) (p progress, err error) {
	p.task = t
	if p.next, err = s.tasks.ProgressOf(tx, t); err != nil {
		return p, err
	}
	p.account, err = tx.Identities.Get(t.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		p.account, err = store.Identity{}, nil
	}
	return p, err
}

func (s *Server) loadTasks(r reader) (page, error) {
	status := store.TaskStatus(r.query.Get("status"))
	if _, known := r.words.TaskStatus[status]; !known {
		status = ""
	}
	var rows []progress
	var next string
	counts := make(map[store.TaskStatus]int)
	err := s.db.View(func(tx *store.Tx) error {
		rows = nil
		for _, each := range store.TaskStatuses() {
			counts[each] = tx.Tasks.Count(each, countLimit)
		}
		list, err := tx.Tasks.ByTime(status, store.Query{Limit: postsPerPage, Cursor: r.query.Get("cursor")})
		if err != nil {
			return err
		}
		next = list.Next
		for _, t := range list.Items {
			p, err := s.readProgress(tx, t)
			if err != nil {
				return err
			}
			rows = append(rows, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	accounts, err := s.userLogins()
	if err != nil {
		return nil, err
	}
	w := r.words.Tasks
	p := &tasksPage{frame: s.frame(r, "tasks", w.Title), Empty: w.Empty, NoAccount: len(accounts) == 0}
	if status != "" {
		p.Empty = w.EmptyOf[status]
	}
	p.tabs(r, status, counts)
	here := withQuery("/tasks", "status", string(status))
	if r.query.Get("cursor") != "" {
		p.First = here
	}
	if next != "" {
		p.Older = withQuery(here, "cursor", next)
	}
	for _, row := range rows {
		p.Rows = append(p.Rows, r.taskRow(row))
	}
	return p, nil
}

func (p *tasksPage) tabs(r reader, current store.TaskStatus, counts map[store.TaskStatus]int) {
	all := 0
	for _, n := range counts {
		all += n
	}
	p.Tabs = append(p.Tabs, tab{"all", r.words.Posts.All, "/tasks", upTo(all, countLimit), current == ""})
	for _, status := range store.TaskStatuses() {
		p.Tabs = append(p.Tabs, tab{string(status), r.words.TaskStatus[status].Name,
			withQuery("/tasks", "status", string(status)), upTo(counts[status], countLimit), current == status})
	}
}

func (r reader) taskRow(p progress) taskRow {
	row := taskRow{
		ID: id(p.task.ID), Link: taskPath(p.task.ID), Title: r.taskTitle(p.task), Account: r.loginName(p.account),
		Created: r.moment(p.task.CreatedAt), Status: r.taskChip(p), Bar: r.taskBar(p.task), Next: r.nextChat(p),
	}
	if p.task.Status == store.TaskFailed {
		row.Reason = shorten(r.Say(p.task.LastError), 160)
	}
	return row
}

// taskTitle is the first words of a broadcast.
func (r reader) taskTitle(t store.Task) string {
	return r.postTitle(store.Post{Text: t.Text, Format: t.Format, Media: t.Media})
}

func (r reader) taskChip(p progress) chip {
	if p.next.Paused {
		return chip{"job-paused", r.words.Task.Paused}
	}
	return chip{"is-task-" + string(p.task.Status), r.words.TaskStatus[p.task.Status].Name}
}

func (r reader) taskBar(t store.Task) bar {
	done := t.Total - t.Left()
	return bar{Value: done, Max: max(t.Total, 1), Text: r.words.Tasks.Of(done, t.Total)}
}

// nextChat returns nil for a broadcast that has ended.
func (r reader) nextChat(p progress) *nextChat {
	if p.next.Next.ID == 0 {
		return nil
	}
	next := &nextChat{Target: p.next.Next.Target}
	if title := p.next.Next.Title; title != "" {
		next.Target = title + " (" + next.Target + ")"
	}
	if p.next.Paused {
		return next
	}
	next.Why = r.Say(p.next.Why)
	if next.When = r.momentIf(p.next.At); next.When != nil && !p.next.At.After(r.now) {
		next.When.Relative = r.words.Time.Now
	}
	return next
}
