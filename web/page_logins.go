package web

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
)

// loginsPage lists what Belfry posts as.
type loginsPage struct {
	frame
	Rows   []loginRow
	Fields []input
	Wrong  string

	CanAdd       bool // user accounts
	Account      input
	AccountWrong string
}

type loginRow struct {
	ID, Title, Name, Platform, Kind, Username, Class, State string
	Reason, Cure, Target                                    string
	LogIn, LogOut, Resume, PostsNowhere                     bool
}

func (s *Server) loadLogins(r reader) (page, error) { return s.loginsPage(r, newForm(nil)) }

func (s *Server) loginsPage(r reader, f form) (*loginsPage, error) {
	rows, err := s.identities()
	if err != nil {
		return nil, err
	}
	w := r.words.Logins
	p := &loginsPage{
		frame: s.frame(r, "logins", w.Title), Wrong: f.wrong[""],
		Fields: []input{
			f.password("token", w.Token, w.TokenHint, "off"),
			f.text("target", w.Target, w.TargetHint),
			f.text("name", w.Name, w.NameHint),
		},
		CanAdd: s.logins != nil, Account: f.text("account_name", w.Name, r.words.LogIn.NameHint), AccountWrong: f.wrong["account"],
	}
	for _, i := range rows {
		p.Rows = append(p.Rows, s.loginRow(r, i))
	}
	return p, nil
}

func (s *Server) loginRow(r reader, i store.Identity) loginRow {
	w := r.words.Logins
	row := loginRow{
		ID: id(i.ID), Title: i.Title, Name: i.Name, Platform: r.words.Platforms[i.Platform], Kind: r.words.IdentityKinds[i.Kind],
		State: r.words.IdentityStates[i.State], Class: "id-" + string(i.State), Reason: r.Say(i.Reason), Target: i.Target,
	}
	if row.Title == "" {
		row.Title = i.Name
	}
	if i.Username != "" {
		row.Username = "@" + i.Username
	}
	if i.Kind == store.IdentityUser {
		row.PostsNowhere = i.Target == "" // it is for broadcasts, and names chats in each
		row.LogIn = s.logins != nil && i.State != store.IdentityReady && i.State != store.IdentityStopped
		row.LogOut = s.logins != nil && i.State == store.IdentityReady
	}
	switch i.State {
	case store.IdentityNew:
		row.Cure = w.NewCure
		if connection, _ := s.connectionOf(i); connection.Problem != "" {
			row.State, row.Class, row.Reason, row.Cure = w.NotConnected, "id-off", r.Heard(connection.Problem), ""
		}
	case store.IdentityLogin:
		row.Cure = w.LoginCure
		if i.Kind == store.IdentityUser {
			row.Cure = r.words.LogIn.UserCure
		}
	case store.IdentityStopped:
		row.Cure, row.Resume = w.StoppedCure, true
	case store.IdentityReady:
		connection, known := s.connectionOf(i)
		switch {
		case known && connection.Connected:
			row.State = w.Connected
		case known:
			row.State, row.Class, row.Reason = w.NotConnected, "id-off", r.Heard(connection.Problem)
		}
	}
	return row
}

// addLogin adds a bot.
func (s *Server) addLogin(c echo.Context) error {
	r := s.readerOf(c)
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f := newForm(values)
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := identities.Add(tx, identities.Request{
			Platform: "telegram", Name: f.get("name"), Token: f.get("token"), Target: f.get("target"),
		})
		return err
	})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/logins?done=login-added")
	}
	if !f.refuse(r, err, "name", "token", "target") {
		return err
	}
	r.path = "/logins"
	p, err := s.loginsPage(r, f)
	if err != nil {
		return err
	}
	return s.refusedLive(c, "logins", r, p)
}

// loginPage changes one login.
type loginPage struct {
	frame
	Heading, Action, Wrong string
	Fields                 []input
}

func loginPath(n uint64) string { return fmt.Sprintf("/logins/%d", n) }

// loginOf returns the login that the path names.
func (s *Server) loginOf(c echo.Context) (login store.Identity, err error) {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return login, echo.ErrNotFound
	}
	err = s.db.View(func(tx *store.Tx) (err error) {
		login, err = tx.Identities.Get(number)
		return err
	})
	return login, err
}

func (s *Server) editLogin(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	f := newForm(nil)
	f.values.Set("target", login.Target)
	return s.showLogin(c, http.StatusOK, login, f)
}

func (s *Server) showLogin(c echo.Context, status int, login store.Identity, f form) error {
	r := s.readerOf(c)
	w := r.words.Logins
	fields := []input{f.text("target", w.Target, w.TargetHint)}
	if login.Kind == store.IdentityBot {
		fields = append(fields, f.password("token", w.Token, w.NewTokenHint, "off"))
	}
	return s.render(c, status, "login", &loginPage{
		frame: s.frame(r, "logins", w.ChangeTitle), Heading: w.ChangeTitle + " " + login.Name, Wrong: f.wrong[""],
		Action: loginPath(login.ID) + "/change", Fields: fields,
	})
}

// changeLogin saves a login's new target and, if one was given, its new token.
func (s *Server) changeLogin(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f := newForm(values)
	target, token := f.get("target"), f.get("token")
	patch := identities.Patch{Target: &target}
	if token != "" {
		patch.Token = &token
	}
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := identities.Change(tx, login.ID, patch)
		return err
	})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/logins?done=login-changed")
	}
	if !f.refuse(s.readerOf(c), err, "token", "target") {
		return err
	}
	return s.showLogin(c, http.StatusUnprocessableEntity, login, f)
}
