package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/store"
	"belfry/worker/tasks"
)

const (
	// checkLimit is how many chats the page looks at to count and to find those that the dry run
	// could not reach: there is no index of them.
	checkLimit = 1000
	// shownTries is how many attempts at a chat the page shows.
	shownTries = 4
	// unreachable is the filter for the chats that the dry run could not reach.
	unreachable = "unreachable"
	// byteOrderMark is what a table begins with: without it spreadsheets take the text for another encoding.
	byteOrderMark = "\ufeff"
)

// SendDeliveries answers with the chats of a broadcast as a table that begins with mark; why says why one has its status.
type SendDeliveries func(c echo.Context, db *store.DB, log zerolog.Logger, t store.Task, mark string, why func(store.Reason) string)

// Tasks is the door to broadcasts and to the chats of accounts.
func Tasks(w *tasks.Worker, send SendDeliveries) Door {
	return func(server *Server, g *echo.Group) {
		s := taskPages{server, w, send}
		s.jobPages[tasks.ListKind] = func(j store.Job) string { return "/chats?identity_id=" + id(j.Subject) }
		s.entry(publish, "tasks", "/tasks")
		s.canMake("task", "/tasks/new")
		s.live(g, "/tasks", s.tasks)
		s.live(g, "/tasks/:id", s.task)
		s.buttons(g, "/tasks/:id", s.task, map[string]button{
			"pause": {"task-paused", act(server, w.Pause)}, "resume": {"task-resumed", act(server, w.Resume)}, "dry-run": {"task-checked", act(server, w.DryRun)},
			"preview": {"task-previewed", func(ctx context.Context, id uint64) error { return failure(w.Preview(ctx, id)) }},
		})
		s.taskStep(g, "cancel", "task-cancelled", w.Cancel)
		s.taskStep(g, "retry", "task-retried", w.Retry)
		g.GET("/tasks/:id/deliveries.csv", of(server, getTask, s.deliveriesFile))
		s.mountSend(g)
		s.mountChats(g)
	}
}

type taskPages struct {
	*Server
	worker *tasks.Worker
	send   SendDeliveries
}

func taskPath(n uint64) string { return fmt.Sprintf("/tasks/%d", n) }

// taskPost is what a broadcast sends.
func taskPost(t store.Task) store.Post {
	return store.Post{
		Platform: tasks.Platform, IdentityID: t.IdentityID, Text: t.Text, Format: t.Format, Media: t.Media,
		Silent: t.Silent, NoLinkPreview: t.NoLinkPreview,
	}
}

// progress is a broadcast with what comes next and who sends it.
type progress struct {
	store.Task
	next  tasks.Progress
	login store.Identity
}

func (s taskPages) readProgress(tx *store.Tx, t store.Task) (p progress, err error) {
	p.Task = t
	if p.next, err = s.worker.ProgressOf(tx, t); err != nil {
		return p, err
	}
	if p.login, err = tx.Identities.Get(t.IdentityID); errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return p, err
}

// tasks is the list of broadcasts.
func (s taskPages) tasks(v view) (screen, error) {
	status := store.TaskStatus(v.query.Get("status"))
	if !slices.Contains(store.TaskStatuses(), status) {
		status = ""
	}
	var list store.Page[store.Task]
	var rows []progress
	var users []store.Identity
	counts := make(map[store.TaskStatus]int)
	err := s.DB.View(func(tx *store.Tx) (err error) {
		for _, each := range store.TaskStatuses() {
			counts[each] = tx.Tasks.Count(each, countLimit)
		}
		users = userLogins(tx)
		if list, err = tx.Tasks.ByTime(status, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")}); err != nil {
			return err
		}
		rows, err = each(tx, list.Items, s.readProgress)
		return err
	})
	return screen{
		nav: "/tasks", title: v.T("tasks.title"), body: v.tasksBody(),
		parts: []part{{"tabs", v.tabs(v.taskTabs(status, counts))}, {"list", v.taskList(rows, list.Next, status, len(users) > 0)}},
	}, err
}

func (v view) taskTabs(current store.TaskStatus, counts map[store.TaskStatus]int) []tab {
	all := 0
	for _, n := range counts {
		all += n
	}
	tabs := []tab{{"all", v.T("posts.all"), "/tasks", upTo(all, countLimit), current == ""}}
	for _, status := range store.TaskStatuses() {
		tabs = append(tabs, tab{string(status), v.T("task.status." + string(status) + ".name"),
			withQuery("/tasks", "status", string(status)), upTo(counts[status], countLimit), current == status})
	}
	return tabs
}

// task is one broadcast: how far it is, what comes next and why it waits, and each of its chats.
func (s taskPages) task(v view) (screen, error) {
	p, err := named(v, func(tx *store.Tx, id uint64) (progress, error) {
		t, err := getTask(tx, id)
		if err != nil {
			return progress{}, err
		}
		return s.readProgress(tx, t)
	})
	if err != nil {
		return screen{}, err
	}
	chats, err := s.readDeliveries(p.Task, v.query.Get("show"), v.query.Get("cursor"))
	return screen{
		nav: "/tasks", title: v.T("task.title") + " " + v.id, body: v.taskBody(p),
		stale: p.Status == store.TaskFailed && v.query.Get("done") != "task-previewed",
		parts: []part{
			{"progress", v.taskProgress(p)}, {"found", v.checkFound(p, chats)},
			{"tabs", v.tabs(v.deliveryTabs(p.Task, chats.show))}, {"deliveries", v.deliveryList(p.Task, chats)},
		},
	}, err
}

// taskMeans says what the state of a broadcast means.
func (v view) taskMeans(p progress) string {
	if p.next.Paused {
		return v.T("task.paused_means")
	}
	return v.T("task.status." + string(p.Status) + ".means")
}

// nextTarget names the chat that comes next.
func nextTarget(d store.Delivery) string {
	if d.Title != "" {
		return d.Title + " (" + d.Target + ")"
	}
	return d.Target
}

// pauseRange writes pauses in seconds, as in 20–40.
func pauseRange(from, to time.Duration) string {
	if from == to {
		return inSeconds(from)
	}
	return inSeconds(from) + "–" + inSeconds(to)
}

func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// taskButtons are what can be done with a broadcast at once, by the value of the button.
func (v view) taskButtons(p progress) []action {
	preview := action{key: "preview", name: v.T("task.preview"), class: "quiet-button"}
	if p.Status.Final() {
		return []action{preview}
	}
	first := action{key: "pause", name: v.T("task.pause")}
	switch {
	case p.next.Paused && p.StartedAt.IsZero():
		first = action{key: "resume", name: v.T("task.begin")}
	case p.next.Paused:
		first = action{key: "resume", name: v.T("task.resume")}
	}
	if p.Check == store.CheckRunning {
		return []action{first, preview}
	}
	return []action{first, preview, {key: "dry-run", name: v.T("task.dry_run"), class: "quiet-button"}}
}

// taskLinks are what can be done with a broadcast after a question or a form.
func (v view) taskLinks(p progress) (links []action) {
	path := taskPath(p.ID)
	// One that was not started here was recorded by an import, without its chats.
	if unsent := p.Failed + p.Skipped; unsent > 0 && !p.StartedAt.IsZero() || (p.Status.Final() && p.Left() > 0) {
		links = append(links, action{"retry", v.T("task.retry"), path + "/retry", "quiet-button"})
	}
	if p.Status.Final() {
		return append(links, action{"again", v.T("task.again"), "/tasks/new?from=" + id(p.ID), "quiet-button"})
	}
	return append(links, action{"cancel", v.T("task.cancel"), path + "/cancel", "quiet-button danger"})
}

func getTask(tx *store.Tx, id uint64) (store.Task, error) { return tx.Tasks.Get(id) }

// taskStep mounts an action on a broadcast that is asked about first.
func (s taskPages) taskStep(g *echo.Group, name, done string, do func(*store.Tx, uint64) (store.Task, error)) {
	s.step(g, step{
		path: "/tasks/:id/" + name, done: done,
		ask: about(getTask, func(v view, t store.Task) question {
			return question{
				nav: "/tasks", ask: "task." + name + "_ask", means: v.T("task." + name + "_means"), button: "task." + name,
				danger: name == "cancel", subject: v.message(taskPost(t)), back: taskPath(t.ID),
			}
		}),
		act: func(tx *store.Tx, id uint64) error { return failure(do(tx, id)) },
	})
}

// deliveriesFile answers with the chats of a broadcast as a file.
func (s taskPages) deliveriesFile(c echo.Context, t *store.Task) error {
	s.send(c, s.DB, s.Log, *t, byteOrderMark, s.view(c).why)
	return nil
}

// deliveries is a page of a broadcast's chats, and what the dry run has found among the first ones.
type deliveries struct {
	show   string // a status, [unreachable], or empty
	page   store.Page[store.Delivery]
	found  map[string]int // by what the dry run said: yes, no, or nothing yet
	looked int
}

// readDeliveries reads a page of a broadcast's chats in views that are short however many it has.
func (s taskPages) readDeliveries(t store.Task, show, cursor string) (d deliveries, err error) {
	d = deliveries{show: show, found: make(map[string]int)}
	if t.Check != "" {
		first, err := s.someDeliveries(t, "")
		if err != nil {
			return d, err
		}
		for _, each := range first.Items {
			d.found[each.Reach]++
		}
		d.looked = len(first.Items)
	}
	if show == unreachable {
		d.page, err = s.someDeliveries(t, cursor)
		d.page.Items = slices.DeleteFunc(d.page.Items, func(each store.Delivery) bool { return each.Reach != "no" })
		return d, err
	}
	if !slices.Contains(store.DeliveryStatuses(), store.DeliveryStatus(show)) {
		d.show = ""
	}
	err = s.DB.View(func(tx *store.Tx) (err error) {
		d.page, err = tx.Deliveries.Of(t, store.DeliveryStatus(d.show), store.Query{Limit: perPage, Cursor: cursor})
		return err
	})
	return d, err
}

// someDeliveries reads up to [checkLimit] chats from a cursor on.
func (s taskPages) someDeliveries(t store.Task, cursor string) (all store.Page[store.Delivery], err error) {
	all.Next = cursor
	for more := true; more; more = err == nil && all.Next != "" && len(all.Items) < checkLimit {
		err = s.DB.View(func(tx *store.Tx) error {
			page, err := tx.Deliveries.Of(t, "", store.Query{Limit: checkLimit / 2, Cursor: all.Next})
			all.Items, all.Next = append(all.Items, page.Items...), page.Next
			return err
		})
	}
	return all, err
}

func (v view) deliveryTabs(t store.Task, show string) []tab {
	path := taskPath(t.ID)
	tabs := []tab{{"all", v.T("task.all"), path, v.Number(t.Total), show == ""}}
	counts := map[store.DeliveryStatus]int{
		store.DeliveryPending: t.Left(), store.DeliverySent: t.Sent, store.DeliveryFailed: t.Failed, store.DeliverySkipped: t.Skipped,
	}
	for _, status := range store.DeliveryStatuses() {
		tabs = append(tabs, tab{string(status), v.deliveryName(t, status), withQuery(path, "show", string(status)), v.Number(counts[status]), show == string(status)})
	}
	if t.Check != "" {
		tabs = append(tabs, tab{unreachable, v.T("task.unreachable"), withQuery(path, "show", unreachable), "", show == unreachable})
	}
	return tabs
}

// deliveryName is what the page calls the status of a chat. In a broadcast that has ended none waits.
func (v view) deliveryName(t store.Task, status store.DeliveryStatus) string {
	if status == store.DeliveryPending && t.Status.Final() {
		return v.T("task.not_sent")
	}
	return v.T("delivery." + string(status))
}

// checked is how many chats of a broadcast the dry run has looked at.
func checked(t store.Task) int {
	if t.Checked < t.First {
		return 0
	}
	return min(int(t.Checked-t.First)+1, t.Total)
}

// lastTries are the last attempts at a chat, and how many there were before them. The last one has no reason
// where the chat's own says it.
func lastTries(d store.Delivery) (tries []store.Try, earlier int) {
	tries = slices.Clone(d.Tries[max(0, len(d.Tries)-shownTries):])
	if last := len(tries) - 1; last >= 0 && d.Reason.Code != "" && tries[last].Reason.Detail == d.Reason.Detail {
		tries[last].Reason = store.Reason{}
	}
	return tries, d.Tried - len(tries)
}

// plainWhy says a reason where what the network has said says it all.
func (v view) plainWhy(because store.Reason) string {
	if because.Detail != "" && (because.Code == store.ReasonRefused || because.Code == store.ReasonError) {
		return v.Heard(because.Detail)
	}
	return v.why(because)
}
