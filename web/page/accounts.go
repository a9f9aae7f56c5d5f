package page

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
)

// shownLines is how many lines of a list that were not added the page shows.
const shownLines = 100

// Accounts is the door to the accounts that are watched.
func Accounts(w *accounts.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := accountPages{server, w}
		s.jobPages[accounts.Kind] = func(store.Job) string { return "/accounts" }
		s.entry(watch, "accounts", "/accounts")
		s.canMake("accounts", "/accounts/new")
		s.live(g, "/accounts", func(v view) (screen, error) { return s.accounts(v, newForm(nil)) })
		g.POST("/accounts/check", s.sent(s.actOnCheck))
		g.GET("/accounts/new", func(c echo.Context) error { return s.showAddAccounts(c, http.StatusOK, newForm(nil), accounts.List{}) })
		g.POST("/accounts/new", s.addAccounts)
		g.GET("/accounts/sites", func(c echo.Context) error { return s.showSites(c, http.StatusOK, newForm(nil)) })
		g.POST("/accounts/sites", s.saveSites)
		s.live(g, "/accounts/:id", s.account)
		g.GET("/accounts/:id/change", of(server, getAccount, s.editAccount))
		g.POST("/accounts/:id/change", of(server, getAccount, s.saveAccount))
		s.step(g, step{
			path: "/accounts/:id/remove", done: "account-removed",
			ask: about(getAccount, func(v view, a store.Account) question {
				return question{
					nav: "/accounts", ask: "accounts.remove_ask", about: "@" + a.Username, means: v.T("accounts.remove_means"),
					button: "accounts.remove", danger: true, back: accountPath(a.ID), then: "/accounts",
				}
			}),
			act: w.Remove,
		})
	}
}

type accountPages struct {
	*Server
	worker *accounts.Worker
}

func accountPath(n uint64) string { return "/accounts/" + id(n) }

// checkState is how the check of the accounts stands.
type checkState struct {
	accounts.Status
	why    store.Reason         // for which the check does not run now
	checks []store.AccountCheck // for the chart, the latest first
}

// accounts is what the check does, and the list of accounts. f is the form of the interval.
func (s accountPages) accounts(v view, f form) (screen, error) {
	of := store.AccountFilter{
		State: store.AccountState(v.query.Get("state")), Site: v.query.Get("site"),
		Tag: strings.TrimSpace(v.query.Get("tag")), Name: strings.TrimSpace(v.query.Get("name")),
	}
	if !slices.Contains(store.AccountStates(), of.State) {
		of.State = ""
	}
	var now checkState
	var sites []string
	var list store.Page[store.Account]
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if now.Status, err = s.worker.Status(tx); err != nil {
			return err
		}
		if now.Job.ID != 0 {
			if now.why, err = scheduler.Why(tx, now.Job); err != nil {
				return err
			}
		}
		checks, err := tx.AccountChecks.ByTime(store.Query{Limit: chartChecks})
		if err != nil {
			return err
		}
		now.checks = checks.Items
		sites = s.worker.Rules(tx).Sites()
		list, err = s.worker.Find(tx, of, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	if err != nil {
		return screen{}, err
	}
	if len(f.values) == 0 {
		f.values.Set("interval", strconv.FormatFloat(now.Interval.Minutes(), 'f', -1, 64))
		f.tick(map[string]bool{"quiet": now.Quiet})
	}
	all := 0
	for _, n := range now.Counts {
		all += n
	}
	return screen{
		nav: "/accounts", title: v.T("accounts.title"), body: v.accountsBody(f, of, sites, all),
		parts: []part{
			{"now", v.checkNow(now)}, {"chart", v.chart(now.checks)},
			{"tabs", v.tabs(v.accountTabs(of, now.Counts, all))}, {"list", v.accountList(list, of, all)},
		},
	}, nil
}

// accountsQuery is the path of a list of accounts.
func accountsQuery(of store.AccountFilter) string {
	return withQuery("/accounts", "state", string(of.State), "site", of.Site, "tag", of.Tag, "name", of.Name)
}

func narrowed(of store.AccountFilter) bool { return of.Site != "" || of.Tag != "" || of.Name != "" }

func (v view) accountTabs(of store.AccountFilter, counts map[store.AccountState]int, all int) []tab {
	current := of.State
	of.State = ""
	tabs := []tab{{"all", v.T("posts.all"), accountsQuery(of), v.Number(all), current == ""}}
	for _, of.State = range store.AccountStates() {
		tabs = append(tabs, tab{string(of.State), v.T("accounts.tabs." + string(of.State)), accountsQuery(of), v.Number(counts[of.State]), current == of.State})
	}
	return tabs
}

// siteName is what a site calls itself; one of an imported rule is called as in the rule.
func siteName(site string) string {
	names := map[string]string{"instagram": "Instagram", "x": "X", "tiktok": "TikTok", "youtube": "YouTube", "github": "GitHub", "telegram": "Telegram"}
	if name := names[site]; name != "" {
		return name
	}
	return site
}

// checkEnds guesses when a check ends; zero while nobody can know.
func (v view) checkEnds(c store.AccountCheck) (t time.Time) {
	if c.Checked > 0 && c.Total > c.Checked {
		t = v.Now.Add(v.Now.Sub(c.Began) / time.Duration(c.Checked) * time.Duration(c.Total-c.Checked))
	}
	return t
}

// leftAlone are the sites that are left alone for a while. Those that the last check gave up for that, as the
// page says already, are not among them.
func (v view) leftAlone(now checkState) (alone []store.GivenUp) {
	for _, site := range now.Alone {
		site.Reason.Until = site.Until
		said := func(g store.GivenUp) bool { return g.Site == site.Site && v.why(g.Reason) == v.why(site.Reason) }
		if now.Running != nil || now.Last == nil || !slices.ContainsFunc(now.Last.GivenUp, said) {
			alone = append(alone, store.GivenUp{Site: site.Site, Reason: site.Reason})
		}
	}
	return alone
}

// lastAnswer says what the last check of an account came to.
func (v view) lastAnswer(a store.Account) string {
	said := i18n.UpperFirst(v.T("account.outcome." + string(a.Outcome)))
	if a.Detail != "" && a.Outcome == store.OutcomeError {
		said += ": " + shorten(v.Heard(a.Detail), 160)
	}
	return said
}

// actOnCheck checks the accounts now, or changes how often that is done.
func (s accountPages) actOnCheck(c echo.Context, v view, f form) error {
	var err error
	done := "check-begun"
	switch f.get("do") {
	case "now":
		f.values = url.Values{}
		err = s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.CheckNow(tx)) })
	case "set":
		done = "check-set"
		number, bad := strconv.ParseFloat(strings.Replace(f.get("interval"), ",", ".", 1), 64)
		if bad != nil || math.IsNaN(number) {
			err = store.Invalid("interval", "invalid.minutes")
			break
		}
		err = s.DB.Update(func(tx *store.Tx) error {
			every := time.Duration(min(max(number, 0), 1e6) * float64(time.Minute))
			if _, err := s.worker.SetInterval(tx, every); err != nil {
				return err
			}
			return s.worker.SetQuiet(tx, f.on("quiet"))
		})
	default:
		return echo.ErrBadRequest
	}
	if err == nil {
		return did(c, "/accounts", done)
	}
	if !f.refuse(v, err, "interval") {
		return err
	}
	v.path, v.query = "/accounts", nil
	return s.showPage(c, http.StatusUnprocessableEntity, v, func(v view) (screen, error) { return s.accounts(v, f) })
}

func getAccount(tx *store.Tx, id uint64) (store.Account, error) { return tx.Accounts.Get(id) }

// account is one account: what is believed of it, and what the checks have said.
func (s accountPages) account(v view) (screen, error) {
	var a store.Account
	var link string
	var results store.Page[store.AccountResult]
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if a, err = tx.Accounts.Get(v.number()); err != nil {
			return err
		}
		link = s.worker.ProfileLinks(tx)(a)
		results, err = tx.AccountResults.Of(a.ID, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	return screen{
		nav: "/accounts", title: a.Username, body: v.accountBody(a),
		parts: []part{{"facts", v.accountFacts(a, link)}, {"history", v.accountHistory(a, results)}},
	}, err
}

func (s accountPages) editAccount(c echo.Context, a *store.Account) error {
	f := newForm(url.Values{"note": {a.Note}, "tag": {a.Tag}, "owner_chat": {a.OwnerChat}})
	f.tick(map[string]bool{"keep_watching": a.KeepWatching})
	return s.showAccountForm(c, http.StatusOK, *a, f)
}

func (s accountPages) showAccountForm(c echo.Context, status int, a store.Account, f form) error {
	f.prepare("")
	v := s.view(c)
	return s.show(c, status, v, screen{nav: "/accounts", title: v.T("accounts.change_title"), form: "account", body: v.changeAccountBody(a, f)})
}

// saveAccount keeps what was changed.
func (s accountPages) saveAccount(c echo.Context, a *store.Account) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	if f.onlyShow() {
		return s.showAccountForm(c, http.StatusOK, *a, f)
	}
	note, tag, chat, keep := strings.TrimSpace(f.plain("note")), f.get("tag"), f.get("owner_chat"), f.on("keep_watching")
	change := accounts.Change{Note: &note, Tag: &tag, OwnerChat: &chat, KeepWatching: &keep}
	err = s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Change(tx, a.ID, change)) })
	if err == nil {
		return did(c, accountPath(a.ID), "account-changed")
	}
	if !f.refuse(s.view(c), err, "note", "tag", "owner_chat") {
		return err
	}
	return s.showAccountForm(c, http.StatusUnprocessableEntity, *a, f)
}
