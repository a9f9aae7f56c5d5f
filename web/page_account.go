package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/accounts"
)

// resultsPerPage is how much of an account's history a page shows.
const resultsPerPage = 25

// accountPage is one account: what is believed of it, and what the checks have said.
type accountPage struct {
	frame
	ID, Heading, Site, Link string
	State                   chip
	Means, Wrong, Failures  string
	Watched                 string
	Note, Tag, TagLink      string
	Told                    string
	Checked, Found, Changed *moment
	Since                   *moment
	Outcome                 string
	Rows                    []resultRow
	First, More             string
}

// resultRow is what checks came to, as long as they came to the same.
type resultRow struct {
	Class, Outcome, Detail, Times string
	From, To                      *moment // To is nil for a single check
	Until                         string  // To, without the day where it is that of From
	Changed                       string  // what was believed from then on, if that changed
}

func (s *Server) loadAccount(r reader) (page, error) {
	number, err := strconv.ParseUint(r.id, 10, 64)
	if err != nil {
		return nil, echo.ErrNotFound
	}
	var a store.Account
	var link string
	var results store.Page[store.AccountResult]
	err = s.db.View(func(tx *store.Tx) error {
		var err error
		if a, err = tx.Accounts.Get(number); err != nil {
			return err
		}
		of, err := s.profileLink(tx)
		if err != nil {
			return err
		}
		link = of(a)
		results, err = tx.AccountResults.Of(a.ID, store.Query{Limit: resultsPerPage, Cursor: r.query.Get("cursor")})
		return err
	})
	if err != nil {
		return nil, err
	}
	w := r.words.Accounts
	p := &accountPage{
		frame: s.frame(r, "accounts", a.Username), ID: r.id, Heading: "@" + a.Username, Site: siteName(a.Site), Link: link,
		State: r.accountChip(a), Means: r.words.AccountStates[a.State].Means, Watched: w.Watched, Note: a.Note, Tag: a.Tag, Told: a.OwnerChat,
		Checked: r.momentIf(a.CheckedAt), Found: r.momentIf(a.FoundAt), Changed: r.momentIf(a.ChangedAt), Since: r.moment(a.CreatedAt),
		Outcome: r.accountOutcome(a.Outcome, a.Detail),
	}
	if !a.Watched() {
		p.Watched = w.NotWatched
	}
	if a.Tag != "" {
		p.TagLink = withQuery("/accounts", "tag", a.Tag)
	}
	if a.Failures > 0 {
		p.Failures = w.InRow(a.Failures)
	}
	if r.query.Get("cursor") != "" {
		p.First = accountPath(a.ID)
	}
	if results.Next != "" {
		p.More = withQuery(accountPath(a.ID), "cursor", results.Next)
	}
	for _, result := range results.Items {
		p.Rows = append(p.Rows, r.resultRow(result))
	}
	return p, nil
}

func (r reader) resultRow(result store.AccountResult) resultRow {
	row := resultRow{
		Class: "was-" + string(result.Outcome), Outcome: r.words.AccountOutcomes[result.Outcome], Times: r.words.Accounts.Times(result.Times),
		From: r.moment(result.From),
	}
	if result.Outcome == store.OutcomeError {
		row.Detail = shorten(r.Heard(result.Detail), 200)
	}
	if result.Times > 1 {
		row.To = r.moment(result.To)
		if row.Until = row.To.Exact; dayNumber(result.From.In(r.zone)) == dayNumber(result.To.In(r.zone)) {
			row.Until = row.To.Clock
		}
	}
	if result.Changed {
		row.Changed = r.words.AccountStates[result.State].Name
	}
	return row
}

// accountOf returns the account that the path names.
func (s *Server) accountOf(c echo.Context) (a store.Account, err error) {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return a, echo.ErrNotFound
	}
	err = s.db.View(func(tx *store.Tx) (err error) {
		a, err = tx.Accounts.Get(number)
		return err
	})
	return a, err
}

// accountChangePage changes what is said of an account.
type accountChangePage struct {
	frame
	Heading, Action, Back, Wrong string
	Fields                       []input
	Keep                         input
}

func (s *Server) editAccount(c echo.Context) error {
	a, err := s.accountOf(c)
	if err != nil {
		return err
	}
	f := newForm(nil)
	f.values.Set("note", a.Note)
	f.values.Set("tag", a.Tag)
	f.values.Set("owner_chat", a.OwnerChat)
	if a.KeepWatching {
		f.values.Set("keep_watching", "on")
	}
	return s.showAccountForm(c, http.StatusOK, a, f)
}

func (s *Server) showAccountForm(c echo.Context, status int, a store.Account, f form) error {
	r := s.readerOf(c)
	w := r.words.Accounts
	note := f.text("note", w.Note, "")
	note.Rows = 3
	return s.render(c, status, "account_change", &accountChangePage{
		frame: s.frame(r, "accounts", w.ChangeTitle), Heading: "@" + a.Username, Wrong: f.wrong[""],
		Action: accountPath(a.ID) + "/change", Back: accountPath(a.ID),
		Fields: []input{note, f.text("tag", w.Tag, w.TagHint), f.text("owner_chat", w.OwnerChat, w.OwnerChatHint)},
		Keep:   f.checkbox("keep_watching", w.Keep),
	})
}

// saveAccount keeps what was changed.
func (s *Server) saveAccount(c echo.Context) error {
	a, err := s.accountOf(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f := newForm(values)
	note, tag, chat, keep := strings.ReplaceAll(f.get("note"), "\r\n", "\n"), f.get("tag"), f.get("owner_chat"), f.get("keep_watching") == "on"
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := s.accounts.Change(tx, a.ID, accounts.Change{Note: &note, Tag: &tag, OwnerChat: &chat, KeepWatching: &keep})
		return err
	})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, accountPath(a.ID)+"?done=account-changed")
	}
	if !f.refuse(s.readerOf(c), err, "note", "tag", "owner_chat") {
		return err
	}
	return s.showAccountForm(c, http.StatusUnprocessableEntity, a, f)
}

// askAccountRemoval asks before an account is forgotten.
func (s *Server) askAccountRemoval(c echo.Context) error {
	a, err := s.accountOf(c)
	if err != nil {
		return err
	}
	r := s.readerOf(c)
	w := r.words.Accounts
	return s.render(c, http.StatusOK, "confirm", &confirmPage{
		frame: s.frame(r, "accounts", w.RemoveAsk), Question: w.RemoveAsk + " @" + a.Username, Consequence: w.RemoveMeans,
		Action: accountPath(a.ID) + "/remove", Button: w.Remove, Class: "danger", Back: accountPath(a.ID),
	})
}

// takeAccountAway carries it out.
func (s *Server) takeAccountAway(c echo.Context) error {
	a, err := s.accountOf(c)
	if err != nil {
		return err
	}
	if err := s.db.Update(func(tx *store.Tx) error { return s.accounts.Remove(tx, a.ID) }); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/accounts?done=account-removed")
}
