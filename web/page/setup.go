package page

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/platform"
	"belfry/store"
	"belfry/web/session"
	"belfry/worker/identities"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/setup"
)

// The steps of the setup, in their order.
const (
	stepApplication = "application"
	stepLogin       = "login"
	stepChannel     = "channel"
	stepPost        = "post"
	stepLocale      = "locale" // before anybody is told anything
	stepAdmin       = "admin"
	// setupFinished is the page that follows the last step.
	setupFinished = "finished"
)

const (
	setupPath    = "/setup"
	settingsPath = "/settings"
)

// Setup is the door to what owners choose about Belfry itself: the first setup, step by step, and Settings.
func Setup(w *setup.Worker, logins *identities.Worker, p *posts.Worker, told *notices.Worker) Door {
	return func(server *Server, own *echo.Group) {
		s := setupPages{server, w, logins, p, told}
		server.setup = s.card
		s.entry(system, "settings", settingsPath)
		s.live(own, settingsPath, func(v view) (screen, error) { return s.page(v, newForm(nil)) })
		own.GET(setupPath, s.nextStep)
		s.live(own, setupPath+"/:id", func(v view) (screen, error) { return s.page(v, newForm(nil)) })
		for path, deed := range map[string]deed{
			settingsPath + "/application": {"application-saved", s.saveApplication, []string{"telegram_api_id", "telegram_api_hash"}},
			settingsPath + "/bot":         {"admin-bot", s.chooseBot, []string{"admin_bot", "token"}},
			settingsPath + "/admin":       {"admin-removed", s.removeAdmin, nil},
			settingsPath + "/locale":      {"locale-saved", s.saveLocale, []string{"timezone", "lang"}},
			setupPath + "/bot":            {"", s.addBot, []string{"token"}},
			setupPath + "/account":        {"", s.addAccount, nil},
			setupPath + "/channel":        {"channel-saved", s.saveChannel, []string{"target"}},
			setupPath + "/post":           {"", s.testPost, []string{"text"}},
			setupPath + "/skip":           {"", s.skip, nil},
		} {
			own.POST(path, s.sent(func(c echo.Context, v view, f form) error { return s.take(c, v, f, deed) }))
		}
	}
}

type setupPages struct {
	*Server
	worker *setup.Worker
	logins *identities.Worker
	posts  *posts.Worker
	told   *notices.Worker
}

// deed is what a form does. It returns where to go on; empty: to the next step, or back to Settings.
type deed struct {
	done   string // the code of the sentence that is shown afterwards
	do     func(c echo.Context, f form) (then string, err error)
	fields []string // of the form, beside which a refusal may stand
}

// setupState is what was chosen so far.
type setupState struct {
	application      identities.Application
	fixedApplication bool
	poster           store.Identity   // that posts to the channel; ID 0: none
	bots             []store.Identity // that could tell the admins
	anyPost          bool
	published        bool
	post             store.Post // the test post; ID 0: none
	told             notices.Told
	bot              store.Identity // that tells them
	locale, fixed    setup.Locale
	noPassword       bool
	skipped          []string
	begun            bool
}

func (s setupPages) read(v view) (st setupState, err error) {
	st.fixed = s.worker.Fixed()
	post, _ := strconv.ParseUint(v.query.Get("post"), 10, 64)
	err = s.DB.View(func(tx *store.Tx) (err error) {
		st.readLogins(tx)
		if st.application, st.fixedApplication, err = s.logins.Application(tx); err != nil {
			return err
		}
		if st.told, err = s.told.Told(tx); err != nil {
			return err
		}
		last, err1 := tx.Posts.ByTime("", store.Query{Limit: 1})
		published, err2 := tx.Posts.ByTime(store.PostPublished, store.Query{Limit: 1})
		st.anyPost, st.published = len(last.Items) > 0, len(published.Items) > 0
		var err3, err4, err5 error
		st.locale, err3 = s.worker.Locale(tx)
		st.skipped, st.begun, err4 = setup.Skipped(tx)
		chosen, err5 := session.HasPassword(tx)
		st.noPassword = !chosen
		st.bot, _ = tx.Identities.Get(st.told.Login) // there may be none
		st.post, _ = tx.Posts.Get(post)
		return errors.Join(err1, err2, err3, err4, err5)
	})
	return st, err
}

// readLogins finds the login that posts: the one that can, and of these the one that is meant where none is named.
func (st *setupState) readLogins(tx *store.Tx) {
	for _, i := range tx.Identities.Of("telegram") {
		if i.Kind == store.IdentityBot {
			st.bots = append(st.bots, i)
		}
		rank := func(i store.Identity) (n int) {
			if i.State == store.IdentityReady {
				n += 2
			}
			if i.Name == identities.Main {
				n++
			}
			return n
		}
		if i.Name != identities.Notify && (st.poster.ID == 0 || rank(i) > rank(st.poster)) {
			st.poster = i
		}
	}
}

// setupStep is a step as the list shows it: done, skipped or open.
type setupStep struct{ key, state, fact string }

func (st setupState) steps() (all []setupStep) {
	add := func(key string, done bool, fact string) {
		state := "open"
		switch {
		case done:
			state = "done"
		case slices.Contains(st.skipped, key):
			state, fact = "skipped", ""
		}
		all = append(all, setupStep{key, state, fact})
	}
	application := ""
	if st.application.Known() {
		application = strconv.Itoa(st.application.ID)
	}
	var admins []string
	for _, a := range st.told.Admins {
		admins = append(admins, cmp.Or(a.Name, a.Chat))
	}
	add(stepApplication, st.application.Known(), application)
	add(stepLogin, st.poster.State == store.IdentityReady, st.poster.Title)
	add(stepChannel, st.poster.Target != "", st.poster.Target)
	add(stepPost, st.published, "")
	add(stepLocale, st.locale.Timezone != "" && st.locale.Lang != "" && !st.noPassword, st.locale.Timezone)
	add(stepAdmin, len(admins) > 0 && st.bot.ID != 0, strings.Join(admins, ", "))
	return all
}

// next is the first step that is open; empty if none is.
func (st setupState) next() string {
	for _, step := range st.steps() {
		if step.state == "open" {
			return step.key
		}
	}
	return ""
}

// state is that of a step; empty for one that does not exist.
func (st setupState) state(key string) string {
	for _, step := range st.steps() {
		if step.key == key {
			return step.state
		}
	}
	return ""
}

// card is the list of the steps for the first page. It shows once the setup was begun, and in a file without a post,
// until all are done: who has set Belfry up by other means is not asked.
func (s setupPages) card(v view) (templ.Component, bool) {
	st, err := s.read(v)
	if err != nil || st.next() == "" || !st.begun && st.anyPost { // what cannot be read is told elsewhere
		return templ.NopComponent, false
	}
	return v.setupCard(st), true
}

// nextStep leads to the first step that is open.
func (s setupPages) nextStep(c echo.Context) error {
	st, err := s.read(s.view(c))
	if err != nil {
		return err
	}
	return did(c, setupPath+"/"+cmp.Or(st.next(), setupFinished), c.QueryParam("done"))
}

// page shows a step of the setup, or Settings.
func (s setupPages) page(v view, f form) (screen, error) {
	st, err := s.read(v)
	if err != nil {
		return screen{}, err
	}
	if v.id == "" {
		return screen{nav: settingsPath, title: v.T("nav.settings"), body: v.settings(st, f), parts: []part{{"told", v.toldNow(st)}}}, nil
	}
	if v.id != setupFinished && st.state(v.id) == "" {
		return screen{}, echo.ErrNotFound
	}
	return screen{nav: "/", title: v.T("setup.title"), body: v.setupStep(st, f), parts: []part{
		{"setup-now", v.setupNow(st)}, {"setup-list", v.setupList(st)},
	}}, nil
}

// take does what a form asks for, and goes on; a refusal is shown beside the form's fields.
func (s setupPages) take(c echo.Context, v view, f form, d deed) error {
	allowTime(c)
	back := LocalPath(f.get("back"))
	then, err := d.do(c, f)
	step, inSetup := strings.CutPrefix(back, setupPath+"/")
	if err == nil && inSetup {
		back, err = setupPath, s.DB.Update(setup.Begin)
	}
	if err == nil {
		return did(c, cmp.Or(then, back), d.done)
	}
	v.path, v.id = back, step
	if !inSetup {
		v.path, v.id = settingsPath, ""
	}
	if !f.refuse(v, err, d.fields...) {
		return err
	}
	return s.showPage(c, http.StatusUnprocessableEntity, v, func(v view) (screen, error) { return s.page(v, f) })
}

// back is the path of the page that a form leads back to.
func (v view) back() string {
	path, _, _ := strings.Cut(v.path, "?")
	return path
}

// botLink opens the bot with the code that makes a person an admin; empty while it would not work.
func (v view) botLink(st setupState) string {
	connected := v.server.connection(st.bot.ID).State == platform.Connected
	if st.told.FixedAdmins || !st.told.CodeWorks(v.Now) || st.bot.Username == "" || !connected {
		return ""
	}
	return "https://t.me/" + st.bot.Username + "?start=" + st.told.Code
}
