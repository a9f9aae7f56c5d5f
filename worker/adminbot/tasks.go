package adminbot

import (
	"fmt"
	"strconv"
	"strings"

	"belfry/store"
	"belfry/worker/tasks"
)

// shownTasks is how many broadcasts have a button.
const shownTasks = 10

// tasks is the page of the broadcasts, or of one, and what its buttons do.
func (r request) tasks(path []string) (screen, error) {
	if len(path) == 0 {
		return r.tasksPage()
	}
	id, err := strconv.ParseUint(path[0], 10, 64)
	if err != nil {
		return r.hint(r.T("bot.not_understood")), nil
	}
	task, err := r.tx.Tasks.Get(id)
	if err != nil {
		return screen{}, err
	}
	if len(path) == 1 {
		return r.taskPage(task)
	}
	if len(path) == 2 || path[2] != taskMark(task) {
		s, err := r.taskPage(task)
		s.text = r.T("bot.task_changed") + "\n\n" + s.text
		return s, err
	}
	switch path[1] {
	case "pause":
		r.does("tasks.pause", task.JobName())
		task, err = r.bot.workers.Tasks.Pause(r.tx, id)
	case "resume":
		r.does("tasks.resume", task.JobName())
		task, err = r.bot.workers.Tasks.Resume(r.tx, id)
	default:
		return r.hint(r.T("bot.not_understood")), nil
	}
	if err != nil {
		return screen{}, err
	}
	return r.taskPage(task)
}

// taskMark tells a broadcast from any other, also from one that has its id in a restored file.
func taskMark(t store.Task) string { return strconv.FormatUint(uint64(t.Key), 36) }

// tasksPage lists the broadcasts that have not ended, and the last ones that have.
func (r request) tasksPage() (screen, error) {
	var rows [][]store.Button
	for _, status := range []store.TaskStatus{store.TaskProcessing, store.TaskPending, store.TaskPreparing, store.TaskFailed, store.TaskDone} {
		page, err := r.tx.Tasks.ByTime(status, store.Query{Limit: shownTasks})
		if err != nil {
			return screen{}, err
		}
		for _, t := range page.Items {
			if len(rows) < shownTasks {
				line := fmt.Sprintf("%s %d · %d/%d %s", r.T("bot.task_mark."+string(t.Status)), t.ID, t.Total-t.Left(), t.Total, short(r.plain(tasks.Platform, t.Format, t.Text)))
				rows = append(rows, []store.Button{button(line, pageTasks, t.ID)})
			}
		}
	}
	text := "📣 " + r.T("bot.title.tasks") + "\n\n"
	if len(rows) == 0 {
		text += r.T("bot.no_tasks")
	} else {
		text += r.T("bot.tasks_below")
	}
	return r.page(text, rows, button(r.T("bot.refresh"), pageTasks)), nil
}

// taskTitle is a broadcast in a list of other things.
func (r request) taskTitle(t store.Task) string {
	return r.T("bot.task_title", t.ID, t.Total-t.Left(), t.Total, short(r.plain(tasks.Platform, t.Format, t.Text)))
}

func (r request) taskPage(t store.Task) (screen, error) {
	p, err := r.bot.workers.Tasks.ProgressOf(r.tx, t)
	if err != nil {
		return screen{}, err
	}
	done := t.Total - t.Left()
	lines := []string{
		r.T("bot.task_mark."+string(t.Status)) + " " + r.T("bot.task_head", t.ID),
		fmt.Sprintf("%s %d/%d", bar(done, t.Total), done, t.Total),
		r.T("bot.task_counts", t.Sent, t.Failed, t.Skipped),
	}
	lines = append(lines, r.taskNext(t, p)...)
	if !t.LastError.Zero() {
		lines = append(lines, r.T("bot.last_error", t.LastError))
	}
	lines = append(lines, "", r.plain(tasks.Platform, t.Format, t.Text))
	var rows [][]store.Button
	switch {
	case t.Status.Final():
	case p.Paused:
		rows = append(rows, []store.Button{button(r.T("bot.resume"), pageTasks, t.ID, "resume", taskMark(t))})
	default:
		rows = append(rows, []store.Button{button(r.T("bot.pause"), pageTasks, t.ID, "pause", taskMark(t))})
	}
	return r.page(strings.Join(lines, "\n"), rows, button(r.T("bot.refresh"), pageTasks, t.ID), button(r.T("bot.back"), pageTasks)), nil
}

// taskNext says what comes next in a broadcast.
func (r request) taskNext(t store.Task, p tasks.Progress) (lines []string) {
	switch {
	case t.Status.Final():
		return []string{r.T("task.status." + string(t.Status) + ".means")}
	case p.Paused:
		return []string{r.T("bot.task_paused")}
	case !p.At.IsZero():
		lines = append(lines, r.T("bot.task_next", p.At, p.Next.Target))
	}
	if !p.Why.Zero() {
		lines = append(lines, r.Say(p.Why))
	}
	if !p.Ends.IsZero() {
		lines = append(lines, r.T("bot.task_ends", p.Ends))
	}
	return lines
}

// bar draws how much is done.
func bar(done, of int) string {
	const width = 10
	full := 0
	if of > 0 {
		full = done * width / of
	}
	return strings.Repeat("▓", full) + strings.Repeat("░", width-full)
}
