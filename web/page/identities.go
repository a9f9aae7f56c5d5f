package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/identities"
)

// Identities is the door to the accounts that Belfry acts as.
func Identities(w *identities.Worker) Door {
	return func(server *Server, own *echo.Group) {
		s := identityPages{server, w}
		server.connection = w.Connection
		s.entry(system, "logins", "/logins")
		s.live(own, "/logins", func(v view) (screen, error) { return s.logins(v, newForm(nil)) })
		own.POST("/logins", s.addBot)
		own.GET("/logins/:id/change", func(c echo.Context) error {
			v := s.view(c)
			login, err := s.login(v)
			if err != nil {
				return err
			}
			f := newForm(nil)
			f.values.Set("target", login.Target)
			f.values.Set("window", login.Window)
			f.setSlots(login.Slots)
			return s.show(c, http.StatusOK, v, screen{nav: "/logins", title: v.T("logins.change_title"), body: v.loginChange(login, f)})
		})
		own.POST("/logins/:id/change", s.changeLogin)
		own.POST("/logins/:id/resume", s.resumeLogin)
		s.step(own, step{
			path: "/logins/:id/remove", done: "login-removed",
			ask: func(v view, _ uint64) (question, error) {
				login, err := s.login(v)
				return question{nav: "/logins", ask: "logins.remove_ask", about: v.loginName(login), means: v.T("logins.remove_means"),
					button: "logins.remove", danger: true, back: "/logins"}, err
			},
			act: func(tx *store.Tx, id uint64, _ string) error { return identities.Remove(tx, id) },
		})
		own.POST("/logins/account", s.addUser)
		s.mountNetworks(own)
		own.GET("/logins/:id/login", s.showLogIn)
		own.POST("/logins/:id/login", s.takeStep)
		own.POST("/logins/:id/qr", s.showQR)
		s.step(own, step{
			path: "/logins/:id/log-out", done: "logged-out",
			ask: func(v view, _ uint64) (question, error) {
				login, err := s.login(v)
				return question{nav: "/logins", ask: "log_in.log_out_ask", about: v.loginName(login), means: v.T("log_in.log_out_means"),
					button: "log_in.log_out", danger: true, back: "/logins"}, err
			},
			outside: func(c echo.Context, id uint64) error {
				allowTime(c)
				return s.worker.LogOut(c.Request().Context(), id)
			},
		})
	}
}

type identityPages struct {
	*Server
	worker *identities.Worker
}

func loginPath(n uint64) string { return fmt.Sprintf("/logins/%d", n) }

// login returns the login that the path names.
func (s identityPages) login(v view) (login store.Identity, err error) {
	number, err := v.number()
	if err != nil {
		return login, err
	}
	err = s.DB.View(func(tx *store.Tx) (err error) {
		login, err = tx.Identities.Get(number)
		return err
	})
	return login, err
}

// logins lists what Belfry posts as, and has the forms that add to it.
func (s identityPages) logins(v view, f form) (screen, error) {
	all, err := identities.List(s.DB)
	return screen{nav: "/logins", title: v.T("logins.title"), body: v.loginsBody(f), parts: []part{{"logins", v.loginList(all)}}}, err
}

// loginState is how a login stands, for people.
type loginState struct{ class, name, reason, cure string }

func (v view) loginState(i store.Identity) loginState {
	st := loginState{"id-" + string(i.State), v.T("identity.state." + string(i.State)), v.why(i.Reason), ""}
	c := v.server.connection(i.ID)
	off := func() loginState {
		return loginState{"id-off", v.T("logins.not_connected"), v.why(store.Reason{Code: store.ReasonNotConnected, Detail: c.Err}), ""}
	}
	switch i.State {
	case store.IdentityNew:
		if c.Err != "" {
			return off()
		}
		st.cure = v.T("logins.new_cure")
	case store.IdentityLogin:
		st.cure = v.T("logins.login_cure")
		if i.Kind == store.IdentityUser || siteLogin(i) {
			st.cure = v.T("log_in.user_cure")
		} else if i.Kind == store.IdentityProfile {
			st.cure = v.T("networks.token_cure")
		}
	case store.IdentityStopped:
		st.cure = v.T("logins.stopped_cure")
		if i.Kind == store.IdentityProfile {
			st.cure = v.T("networks.stopped_cure")
		}
	case store.IdentityReady:
		switch {
		case c.State == platform.Connected:
			st.name = v.T("logins.connected")
		case c.State != platform.Off:
			return off()
		}
	}
	return st
}

// loginFacts is what a login is, in a line.
func (v view) loginFacts(i store.Identity) string {
	facts := []string{v.T("platform." + i.Platform), v.T("identity.kind." + string(i.Kind))}
	if i.Username != "" {
		facts = append(facts, "@"+i.Username)
	}
	return strings.Join(facts, " · ")
}

// addBot adds a bot.
func (s identityPages) addBot(c echo.Context) error {
	return s.add(c, s.preparing(c, func(f form) identities.Request {
		return identities.Request{Platform: "telegram", Name: f.get("name"), Token: f.get("token"), Target: f.get("target")}
	}), func(store.Identity) string { return withQuery("/logins", "done", "login-added") }, "telegram_api_id:token", "name", "token", "target")
}

// addUser adds a user account that is to be logged in.
func (s identityPages) addUser(c echo.Context) error {
	return s.add(c, s.preparing(c, func(f form) identities.Request {
		return identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Name: f.get("account_name")}
	}), func(i store.Identity) string { return loginPath(i.ID) + "/login" }, "telegram_api_id:account_name", "name:account_name")
}

// preparing prepares what a form asks for, and adds it.
func (s identityPages) preparing(c echo.Context, request func(form) identities.Request) func(form) (func(*store.Tx) (store.Identity, error), error) {
	return func(f form) (func(*store.Tx) (store.Identity, error), error) {
		r, err := s.worker.Prepare(c.Request().Context(), request(f))
		return func(tx *store.Tx) (store.Identity, error) { return identities.Add(tx, r) }, err
	}
}

// add adds what the form says: prepare works outside a transaction.
func (s identityPages) add(c echo.Context, prepare func(form) (func(*store.Tx) (store.Identity, error), error), then func(store.Identity) string, fields ...string) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	var made store.Identity
	make, err := prepare(f)
	if err == nil {
		err = s.DB.Update(func(tx *store.Tx) (err error) {
			made, err = make(tx)
			return err
		})
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, then(made))
	}
	v := s.view(c)
	if !f.refuse(v, err, fields...) {
		return err
	}
	v.path = "/logins"
	p, err := s.logins(v, f)
	if err != nil {
		return err
	}
	return s.showLive(c, http.StatusUnprocessableEntity, v, p, liveBase+v.path)
}

// changeLogin saves a login's new target and, if one was given, its new token.
func (s identityPages) changeLogin(c echo.Context) error {
	v := s.view(c)
	login, err := s.login(v)
	if err != nil {
		return err
	}
	f, err := readForm(c)
	if err != nil {
		return err
	}
	target, token, window := f.get("target"), f.get("token"), f.get("window")
	slots := f.slots()
	f.setSlots(slots) // rows without times are gone
	patch := identities.Patch{Window: &window, Slots: &slots}
	if login.Kind != store.IdentityProfile {
		patch.Target = &target
	}
	if token != "" {
		patch.Token = &token
	}
	if keys := xKeys(f); keys != (identities.Keys{}) {
		patch.Keys = &keys
	}
	allowTime(c)
	if patch, err = s.worker.PrepareChange(c.Request().Context(), login.ID, patch); err != nil {
		return s.refuseChange(c, v, login, f, err)
	}
	err = s.DB.Update(func(tx *store.Tx) error {
		_, err := identities.Change(tx, login.ID, patch)
		return err
	})
	if err == nil {
		return did(c, "/logins", "login-changed")
	}
	return s.refuseChange(c, v, login, f, err)
}

func (s identityPages) refuseChange(c echo.Context, v view, login store.Identity, f form, err error) error {
	if !f.refuse(v, err, append(f.slotFields(), "token", "target", "window", "consumer_key", "consumer_secret", "access_token", "access_token_secret")...) {
		return err
	}
	return s.show(c, http.StatusUnprocessableEntity, v, screen{nav: "/logins", title: v.T("logins.change_title"), body: v.loginChange(login, f)})
}

// resumeLogin lets a login act again that the network had restricted.
func (s identityPages) resumeLogin(c echo.Context) error {
	login, err := s.login(s.view(c))
	if err != nil {
		return err
	}
	err = s.DB.Update(func(tx *store.Tx) error {
		_, err := identities.Resume(tx, login.ID)
		return err
	})
	// One that is not restricted any more may act anyway.
	if _, free := errors.AsType[*store.ConflictError](err); err != nil && !free {
		return err
	}
	return did(c, "/logins", "login-resumed")
}
