package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/tasks"
)

// shownChats is how many of an account's chats the form offers.
const shownChats = 500

// sendPage writes a new broadcast.
type sendPage struct {
	frame
	Action, Wrong, FormKey       string
	Ask, Sure, Asked             string // the question before it starts, its button, and about how many chats it is
	NoLogin, Now                 bool
	Login, Text, Format, Targets input
	Min, Max, From, To           input
	Cap, Attempts                input
	Time, Silent, NoPreview      input
	Media                        []mediaRow
	Chats                        chatChoice
	check
}

// chatChoice is the list of an account's chats to tick.
type chatChoice struct {
	W       *words
	Account string // its id
	Items   []chatItem
	More    bool // there are others
	Chosen  string
}

type chatItem struct {
	ID, Target, Title, State string // State says why it cannot be chosen
	Chosen                   bool
}

// newTaskForm shows an empty form, or one filled with the broadcast that the query names.
func (s *Server) newTaskForm(c echo.Context) error {
	r, f := s.readerOf(c), newForm(nil)
	f.values.Set("when", "now")
	f.values.Set("time", r.now.Add(suggestAhead).Truncate(5*time.Minute).In(r.zone).Format(inputTime))
	if from, err := strconv.ParseUint(r.query.Get("from"), 10, 64); err == nil {
		old, err := s.task(from)
		if err != nil {
			return err
		}
		if err := s.fillTask(f, old); err != nil {
			return err
		}
	}
	return s.showTaskForm(c, http.StatusOK, r, f)
}

// fillTask writes what a broadcast says into a form, with its chats if they are not too many to be
// looked through.
func (s *Server) fillTask(f form, t store.Task) error {
	fillForm(f, store.Post{IdentityID: t.IdentityID, Text: t.Text, Format: t.Format, Media: t.Media, Silent: t.Silent, NoLinkPreview: t.NoLinkPreview})
	f.values.Set("min_seconds_between_chats", strconv.FormatFloat(t.MinPause.Seconds(), 'f', -1, 64))
	f.values.Set("max_seconds_between_chats", strconv.FormatFloat(t.MaxPause.Seconds(), 'f', -1, 64))
	f.values.Set("quiet_from", t.Quiet.From)
	f.values.Set("quiet_to", t.Quiet.To)
	if t.DailyCap > 0 {
		f.values.Set("daily_cap", strconv.Itoa(t.DailyCap))
	}
	if t.Total > checkLimit {
		return nil
	}
	var names []string
	err := s.firstDeliveries(t, "", func(d store.Delivery) { names = append(names, d.Target) }, nil)
	f.values.Set("target_chat_ids", strings.Join(names, "\n"))
	return err
}

// showTaskForm renders the form.
func (s *Server) showTaskForm(c echo.Context, status int, r reader, f form) error {
	accounts, err := s.userLogins()
	if err != nil {
		return err
	}
	chats, err := s.chatChoice(r, f, chosenLogin(f, accounts).ID)
	if err != nil {
		return err
	}
	w, cw := r.words.Send, r.words.Compose
	p := &sendPage{
		frame: s.frame(r, "tasks", w.New), Action: "/tasks/new", Wrong: f.wrong[""], FormKey: f.get("form"),
		NoLogin: len(accounts) == 0, Now: f.get("when") != "at",
		Login: f.choice("identity_id", w.Account, "", loginOptions(r, accounts)), Text: f.text("text", cw.Text, ""),
		Format:  f.choice("format", cw.Format, cw.FormatHint, formatOptions(r)),
		Targets: f.text("target_chat_ids", w.Targets, w.TargetsHint),
		Min:     f.text("min_seconds_between_chats", w.Min, w.PauseHint), Max: f.text("max_seconds_between_chats", w.Max, ""),
		From: f.text("quiet_from", w.QuietFrom, w.QuietHint), To: f.text("quiet_to", w.QuietTo, ""),
		Cap: f.text("daily_cap", w.Cap, w.CapHint), Attempts: f.text("max_attempts", w.Attempts, w.AttemptsHint),
		Time: f.text("time", w.Time, cw.TimeHint+" "+r.zone.String()), Silent: f.checkbox("silent", cw.Silent),
		NoPreview: f.checkbox("no_link_preview", cw.NoLinkPreview), Media: mediaRows(r, f), Chats: chats, check: s.checkTaskForm(r, f),
	}
	p.Composes = !p.NoLogin
	p.Text.Value = f.values.Get("text")
	p.Time.Type, p.From.Type, p.To.Type = "datetime-local", "time", "time"
	if p.FormKey == "" {
		p.FormKey = newSecret()
	}
	if f.get("do") == "preview" && status == http.StatusOK {
		p.Done = w.Previewed
	}
	if len(f.wrong) > 0 && p.Wrong == "" {
		p.Wrong = w.Fix
	}
	p.Ask, p.Asked, p.Sure = f.get("ask"), f.get("asked"), w.Sure
	return s.render(c, status, "send", p)
}

// chatChoice lists the chats of an account, those ticked that the form says.
func (s *Server) chatChoice(r reader, f form, account uint64) (chatChoice, error) {
	w := r.words.Send
	shown := chatChoice{W: r.words, Account: id(account)}
	chosen := make(map[string]bool)
	for _, target := range f.values["chat"] {
		chosen[target] = true
	}
	ticked := 0
	err := s.db.View(func(tx *store.Tx) error {
		shown.Items, shown.More, ticked = nil, false, 0
		for c, err := range tx.Chats.Of(account) {
			if err != nil {
				continue // a damaged one must not hide the others
			}
			if len(shown.Items) == shownChats {
				shown.More = true
				break
			}
			item := chatItem{ID: id(c.ID), Target: c.Target(), Title: c.Title}
			switch {
			case c.Off:
				item.State = w.Off
			case c.ReadOnly:
				item.State = w.ReadOnly
			default:
				item.Chosen = chosen[item.Target]
			}
			if item.Chosen {
				ticked++
			}
			shown.Items = append(shown.Items, item)
		}
		return nil
	})
	if ticked > 0 {
		shown.Chosen = w.Chosen(ticked)
	}
	return shown, err
}

// showChatChoice answers with the chats of another account.
func (s *Server) showChatChoice(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	account, _ := strconv.ParseUint(f.get("identity_id"), 10, 64) // what is no id has no chats
	chats, err := s.chatChoice(r, f, account)
	if err != nil {
		return err
	}
	return s.answerPart(c, "send", "chats", chats)
}

// answerPart answers with one template of a page.
func (s *Server) answerPart(c echo.Context, page, name string, data any) error {
	html, err := s.pages.part(page, name, data)
	if err != nil {
		return err
	}
	return c.HTML(http.StatusOK, string(html))
}

// checkTaskForm measures and previews what the form says now.
func (s *Server) checkTaskForm(r reader, f form) check {
	files, _ := formMedia(f)
	post := store.Post{Text: f.values.Get("text"), Format: f.get("format"), Media: files}
	measure, err := s.tasks.Measure(tasks.Request{Text: post.Text, Format: post.Format, Media: files})
	return r.checked(post, measure, err)
}

// checkTask answers the form while somebody writes.
func (s *Server) checkTask(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	return s.answerPart(c, "send", "check", s.checkTaskForm(s.readerOf(c), newForm(values)))
}

// saveTask sends the broadcast of the form to the account itself, has its chats looked at, or starts
// it; or asks again.
func (s *Server) saveTask(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	if f.onlyShow() {
		return s.showTaskForm(c, http.StatusOK, r, f)
	}
	request, err := f.taskRequest(r)
	if err == nil && f.get("do") == "preview" {
		allowTime(c)
		if _, err = s.tasks.PreviewOf(c.Request().Context(), request); err == nil {
			return s.showTaskForm(c, http.StatusOK, r, f)
		}
	}
	var draft tasks.Draft
	if err == nil {
		draft, err = s.tasks.Prepare(request)
	}
	if err == nil && !request.DryRun {
		var asked bool
		if asked, err = s.askAboutSending(r, f, draft); err == nil && asked {
			return s.showTaskForm(c, http.StatusOK, r, f)
		}
	}
	var made uint64
	if err == nil {
		made, err = s.onceFromPage(r, "tasks", f.get("form"), func(tx *store.Tx) (uint64, error) {
			t, err := s.tasks.Create(tx, draft)
			return t.ID, err
		})
	}
	if err == nil {
		done := "task-made"
		if request.DryRun {
			done = "task-checked"
		}
		return c.Redirect(http.StatusSeeOther, taskPath(made)+"?done="+done)
	}
	if !f.refuseTask(r, err) {
		return err
	}
	return s.showTaskForm(c, http.StatusUnprocessableEntity, r, f)
}

// askAboutSending puts the question into the form to how many chats the draft goes and how long that takes,
// unless it was answered for as many.
func (s *Server) askAboutSending(r reader, f form, draft tasks.Draft) (asks bool, err error) {
	var chats int
	var ends time.Time
	err = s.db.View(func(tx *store.Tx) (err error) {
		chats, ends, err = s.tasks.Outlook(tx, draft)
		return err
	})
	asked := strconv.Itoa(chats)
	if err != nil || (f.get("do") == "sure" && f.get("asked") == asked) {
		return false, err
	}
	f.values.Set("asked", asked)
	f.values.Set("ask", r.words.Send.Ask(chats, r.moment(ends).Exact, r.moment(ends).Relative))
	return true, nil
}

// refuseTask notes a refusal of a broadcast beside the form's field.
func (f form) refuseTask(r reader, err error) bool {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok {
		return f.refuse(r, err)
	}
	field, _, _ := strings.Cut(wrong.Field, ".")
	if strings.HasPrefix(field, "target_chat_ids") {
		field = "target_chat_ids"
	}
	switch {
	case field == "start_at", field == "scheduled_time":
		field = "time"
	case strings.HasPrefix(field, "media["):
	case !strings.Contains(" text format identity_id target_chat_ids min_seconds_between_chats max_seconds_between_chats max_attempts quiet_from quiet_to daily_cap ", " "+field+" "):
		field = ""
	}
	f.wrong[field] = r.Error(wrong)
	return true
}
