package page

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/tasks"
)

// shownChats is how many of an account's chats the form offers.
const shownChats = 500

func (s taskPages) mountSend(g *echo.Group) {
	g.GET("/tasks/new", s.newTask)
	g.POST("/tasks/new", s.saveTask)
	g.POST("/tasks/check", s.answerForm(func(v view, f form) (templ.Component, error) {
		return v.checkedNow([]check{s.checkTask(v, f)}), nil
	}))
	g.POST("/tasks/chats", s.answerForm(func(v view, f form) (templ.Component, error) {
		login := f.number("identity_id")
		chats, err := s.someChats(login)
		return v.chatChoice(f, login, chats), err
	}))
}

// newTask shows an empty form, or one filled with the broadcast that the query names.
func (s taskPages) newTask(c echo.Context) error {
	v, f := s.view(c), newForm(nil)
	f.fill(map[string]string{"when": "now", "time": v.in(v.Now.Add(suggestAhead).Truncate(5 * time.Minute))})
	if from, err := strconv.ParseUint(v.query.Get("from"), 10, 64); err == nil {
		old, err := fetch(s.Server, func(tx *store.Tx) (store.Task, error) { return getTask(tx, from) })
		if err == nil {
			err = s.fillTask(f, old)
		}
		if err != nil {
			return err
		}
	}
	return s.showTaskForm(c, http.StatusOK, v, f)
}

// fillTask writes what a broadcast says into a form, with its chats if they are not too many to be looked
// through.
func (s taskPages) fillTask(f form, t store.Task) error {
	f.fillContent(taskPost(t))
	f.fill(map[string]string{
		"min_seconds_between_chats": inSeconds(t.MinPause), "max_seconds_between_chats": inSeconds(t.MaxPause),
		"quiet_from": t.Quiet.From, "quiet_to": t.Quiet.To,
	})
	if t.DailyCap > 0 {
		f.values.Set("daily_cap", strconv.Itoa(t.DailyCap))
	}
	if t.Total > checkLimit {
		return nil
	}
	chats, err := s.someDeliveries(t, "")
	var names []string
	for _, d := range chats.Items {
		names = append(names, d.Target)
	}
	f.values.Set("target_chat_ids", strings.Join(names, "\n"))
	return err
}

// someChats are the first chats of an account.
func (s taskPages) someChats(login uint64) (store.Page[store.Chat], error) {
	return fetch(s.Server, func(tx *store.Tx) (store.Page[store.Chat], error) {
		return tx.Chats.ByTitle(login, store.Query{Limit: shownChats})
	})
}

// isTicked reports whether the form has chosen a chat that it may choose.
func (f form) isTicked(c store.Chat) bool {
	return !c.Off && !c.ReadOnly && slices.Contains(f.values["chat"], c.Target())
}

func (f form) ticked(chats []store.Chat) (n int) {
	for _, c := range chats {
		if f.isTicked(c) {
			n++
		}
	}
	return n
}

func (s taskPages) showTaskForm(c echo.Context, status int, v view, f form) error {
	users, err := fetch(s.Server, func(tx *store.Tx) ([]store.Identity, error) { return userLogins(tx), nil })
	if err != nil {
		return err
	}
	f.dropLogin(users)
	login := chosenLogin(f, users).ID
	chats, err := s.someChats(login)
	if err != nil {
		return err
	}
	p := screen{nav: "/tasks", title: v.T("send.new")}
	if len(users) > 0 {
		p.form = "compose"
	}
	if f.get("do") == "preview" && status == http.StatusOK {
		v.query.Set("done", "task-previewed")
	}
	f.prepare(v.T("send.fix"))
	p.body = v.sendBody(f, users, v.chatChoice(f, login, chats), s.checkTask(v, f))
	return s.show(c, status, v, p)
}

// checkTask measures what the form says now.
func (s taskPages) checkTask(v view, f form) check {
	p := f.content()
	p.Platform = tasks.Platform
	measure, err := s.worker.Measure(tasks.Request{Text: p.Text, Format: p.Format, Media: p.Media})
	return v.checked(p, measure, err)
}

// saveTask sends the broadcast of the form to the account itself, has its chats looked at, or starts it; or
// asks again.
func (s taskPages) saveTask(c echo.Context) error {
	f, err := s.readMediaForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if status := f.notSaved(); status != 0 {
		return s.showTaskForm(c, status, v, f)
	}
	request, err := f.taskRequest(v)
	if err == nil && f.get("do") == "preview" {
		allowTime(c)
		if _, err = s.worker.PreviewOf(c.Request().Context(), request); err == nil {
			return s.showTaskForm(c, http.StatusOK, v, f)
		}
	}
	var draft tasks.Draft
	if err == nil {
		draft, err = s.worker.Prepare(request)
	}
	if err == nil && !request.DryRun {
		var asks bool
		if asks, err = s.askAboutSending(v, f, draft); asks {
			return s.showTaskForm(c, http.StatusOK, v, f)
		}
	}
	var made uint64
	if err == nil {
		made, err = s.once(v, "tasks", f, func(tx *store.Tx) (uint64, error) {
			t, err := s.worker.Create(tx, draft)
			return t.ID, err
		})
	}
	fields := append(contentFields(), "target_chat_ids", "min_seconds_between_chats", "max_seconds_between_chats", "max_attempts",
		"quiet_from", "quiet_to", "daily_cap", "start_at:time", "scheduled_time:time")
	switch {
	case err == nil && request.DryRun:
		return did(c, taskPath(made), "task-checked")
	case err == nil:
		return did(c, taskPath(made), "task-made")
	case f.refuse(v, err, fields...):
		return s.showTaskForm(c, http.StatusUnprocessableEntity, v, f)
	}
	return err
}

// askAboutSending puts the question into the form to how many chats the draft goes and how long that takes,
// unless it was answered for as many.
func (s taskPages) askAboutSending(v view, f form, draft tasks.Draft) (asks bool, err error) {
	var chats int
	var ends time.Time
	err = s.DB.View(func(tx *store.Tx) (err error) {
		chats, ends, err = s.worker.Outlook(tx, draft)
		return err
	})
	asked := strconv.Itoa(chats)
	if err != nil || (f.get("do") == "sure" && f.get("asked") == asked) {
		return false, err
	}
	f.values.Set("asked", asked)
	f.values.Set("ask", v.T("send.ask", chats, ends, v.Relative(ends)))
	return true, nil
}

// taskRequest reads the form. The errors are about its fields.
func (f form) taskRequest(v view) (tasks.Request, error) {
	p := f.content()
	shortest, err1 := f.pause("min_seconds_between_chats")
	longest, err2 := f.pause("max_seconds_between_chats")
	dailyCap, err3 := f.whole("daily_cap")
	attempts, err4 := f.whole("max_attempts")
	request := tasks.Request{
		Text: p.Text, Media: p.Media, Format: p.Format, IdentityID: p.IdentityID, Silent: p.Silent, NoLinkPreview: p.NoLinkPreview,
		Targets:  append(chatNames(f.values.Get("target_chat_ids")), f.values["chat"]...),
		MinPause: shortest, MaxPause: longest, DailyCap: dailyCap, Attempts: attempts,
		QuietFrom: f.get("quiet_from"), QuietTo: f.get("quiet_to"), DryRun: f.get("do") == "check",
	}
	err := cmp.Or(err1, err2, err3, err4)
	if err == nil && f.get("when") == "at" {
		var at time.Time
		at, err = v.formTime(f.get("time"))
		request.StartAt = at.UTC().Format(time.RFC3339)
	}
	return request, err
}

// chatNames takes a list of chats apart that a person has typed or pasted.
func chatNames(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ';' || unicode.IsSpace(c) })
}

// pause reads seconds.
func (f form) pause(name string) (*time.Duration, error) {
	text := strings.Replace(f.get(name), ",", ".", 1)
	if text == "" {
		return nil, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) {
		return nil, store.Invalid(name, "invalid.not_number")
	}
	return tasks.Seconds(&number), nil
}

func (f form) whole(name string) (int, error) {
	if f.get(name) == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(f.get(name))
	if err != nil {
		return 0, store.Invalid(name, "invalid.not_number")
	}
	return number, nil
}
