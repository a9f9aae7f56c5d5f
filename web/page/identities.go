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
		own.POST("/logins", s.sent(s.addBot))
		own.GET("/logins/:id/change", of(server, getLogin, func(c echo.Context, login *store.Identity) error {
			f := newForm(nil)
			f.fill(map[string]string{"target": login.Target, "window": login.Window})
			f.setSlots(login.Slots)
			return s.showChange(c, http.StatusOK, *login, f)
		}))
		own.POST("/logins/:id/change", of(server, getLogin, s.changeLogin))
		own.POST("/logins/:id/resume", of(server, getLogin, s.resumeLogin))
		s.step(own, step{
			path: "/logins/:id/remove", done: "login-removed",
			ask: about(getLogin, func(v view, login store.Identity) question {
				return question{nav: "/logins", ask: "logins.remove_ask", about: v.loginName(login), means: v.T("logins.remove_means"),
					button: "logins.remove", danger: true, back: "/logins"}
			}),
			act: identities.Remove,
		})
		own.POST("/logins/account", s.sent(s.addUser))
		s.mountNetworks(own)
		own.GET("/logins/:id/login", of(server, getLogin, s.showLogIn))
		own.POST("/logins/:id/login", of(server, getLogin, s.takeStep))
		own.POST("/logins/:id/qr", of(server, getLogin, s.showQR))
		s.step(own, step{
			path: "/logins/:id/log-out", done: "logged-out",
			ask: about(getLogin, func(v view, login store.Identity) question {
				return question{nav: "/logins", ask: "log_in.log_out_ask", about: v.loginName(login), means: v.T("log_in.log_out_means"),
					button: "log_in.log_out", danger: true, back: "/logins"}
			}),
			outside: w.LogOut,
		})
	}
}

type identityPages struct {
	*Server
	worker *identities.Worker
}

func loginPath(n uint64) string { return fmt.Sprintf("/logins/%d", n) }

func getLogin(tx *store.Tx, id uint64) (store.Identity, error) { return tx.Identities.Get(id) }

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
func (s identityPages) addBot(c echo.Context, v view, f form) error {
	r := identities.Request{Platform: "telegram", Name: f.get("name"), Token: f.get("token"), Target: f.get("target")}
	return s.add(c, v, f, r, func(store.Identity) string { return withQuery("/logins", "done", "login-added") }, "telegram_api_id:token", "name", "token", "target")
}

// addUser adds a user account that is to be logged in.
func (s identityPages) addUser(c echo.Context, v view, f form) error {
	r := identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Name: f.get("account_name")}
	return s.add(c, v, f, r, func(i store.Identity) string { return loginPath(i.ID) + "/login" }, "telegram_api_id:account_name", "name:account_name")
}

// add adds what the form asks for, and goes on to the page that then says.
func (s identityPages) add(c echo.Context, v view, f form, r identities.Request, then func(store.Identity) string, fields ...string) error {
	var made store.Identity
	r, err := s.worker.Prepare(c.Request().Context(), r)
	if err == nil {
		err = s.DB.Update(func(tx *store.Tx) (err error) {
			made, err = identities.Add(tx, r)
			return err
		})
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, then(made))
	}
	if !f.refuse(v, err, fields...) {
		return err
	}
	v.path = "/logins"
	return s.showPage(c, http.StatusUnprocessableEntity, v, func(v view) (screen, error) { return s.logins(v, f) })
}

func (s identityPages) showChange(c echo.Context, status int, login store.Identity, f form) error {
	v := s.view(c)
	return s.show(c, status, v, screen{nav: "/logins", title: v.T("logins.change_title"), body: v.loginChange(login, f)})
}

// changeLogin saves a login's new target and, if one was given, its new token.
func (s identityPages) changeLogin(c echo.Context, login *store.Identity) error {
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
	patch, err = s.worker.PrepareChange(c.Request().Context(), login.ID, patch)
	if err == nil {
		err = s.DB.Update(func(tx *store.Tx) error { return failure(identities.Change(tx, login.ID, patch)) })
	}
	if err == nil {
		return did(c, "/logins", "login-changed")
	}
	if !f.refuse(s.view(c), err, append(f.slotFields(), "token", "target", "window", "consumer_key", "consumer_secret", "access_token", "access_token_secret")...) {
		return err
	}
	return s.showChange(c, http.StatusUnprocessableEntity, *login, f)
}

// resumeLogin lets a login act again that the network had restricted.
func (s identityPages) resumeLogin(c echo.Context, login *store.Identity) error {
	err := s.DB.Update(func(tx *store.Tx) error { return failure(identities.Resume(tx, login.ID)) })
	// One that is not restricted any more may act anyway.
	if _, free := errors.AsType[*store.ConflictError](err); err != nil && !free {
		return err
	}
	return did(c, "/logins", "login-resumed")
}
