package page

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
)

// XCallback is where X leads the owner back to who has let Belfry in.
const XCallback = "/logins/x"

func (s identityPages) mountNetworks(g *echo.Group) {
	g.POST("/logins/instagram", s.sent(s.addInstagram))
	g.POST("/logins/x/keys", s.sent(s.addX))
	g.POST("/logins/:id/x", of(s.Server, getLogin, s.beginX))
	g.GET(XCallback, func(c echo.Context) error {
		f := newForm(nil)
		f.fill(map[string]string{"code": c.QueryParam("code"), "state": c.QueryParam("state")})
		return s.showX(c, http.StatusOK, "", f)
	})
	g.POST(XCallback, s.sent(s.finishX))
}

// addInstagram adds an account of Instagram, whose token is tried out.
func (s identityPages) addInstagram(c echo.Context, v view, f form) error {
	r := identities.Request{Platform: "instagram", Name: f.get("instagram_name"), Token: f.get("instagram_token")}
	return s.addProfile(c, v, f, r, "name:instagram_name", "token:instagram_token")
}

// addX adds an account of X, by its four keys or by an application through which it then logs in.
func (s identityPages) addX(c echo.Context, v view, f form) error {
	r := identities.Request{Platform: "twitter", Name: f.get("x_name"), Keys: xKeys(f)}
	return s.addProfile(c, v, f, r, "name:x_name", "consumer_key", "consumer_secret", "access_token", "access_token_secret", "client_id", "client_secret")
}

func xKeys(f form) identities.Keys {
	return identities.Keys{
		ConsumerKey: f.get("consumer_key"), ConsumerSecret: f.get("consumer_secret"), AccessToken: f.get("access_token"),
		AccessSecret: f.get("access_token_secret"), ClientID: f.get("client_id"), ClientSecret: f.get("client_secret"),
	}
}

func (s identityPages) addProfile(c echo.Context, v view, f form, r identities.Request, fields ...string) error {
	allowTime(c)
	return s.add(c, v, f, r, func(i store.Identity) string {
		if i.State == store.IdentityLogin {
			return withQuery("/logins", "done", "profile-added")
		}
		return withQuery("/logins", "done", "profile-connected")
	}, fields...)
}

// beginX begins the login of an account of X and shows the way.
func (s identityPages) beginX(c echo.Context, login *store.Identity) error {
	allowTime(c)
	step, err := s.worker.BeginLogin(c.Request().Context(), login.ID)
	f := newForm(nil)
	if f.refuse(s.view(c), err) {
		return s.showX(c, http.StatusUnprocessableEntity, "", f)
	}
	if err != nil {
		return err
	}
	return s.showX(c, http.StatusOK, step.URL, f)
}

// finishX ends a login with the address that X has led the owner to, or what it says.
func (s identityPages) finishX(c echo.Context, v view, f form) error {
	allowTime(c)
	code, state := f.get("code"), f.get("state")
	if pasted, err := url.Parse(f.get("address")); err == nil && pasted.RawQuery != "" {
		code, state = pasted.Query().Get("code"), pasted.Query().Get("state")
	}
	number, err := s.worker.LoginOf(state)
	if err == nil {
		_, err = s.worker.FinishLogin(c.Request().Context(), number, code, state)
	}
	if err == nil {
		return did(c, "/logins", "logged-in")
	}
	if !f.refuse(v, err) {
		return err
	}
	f.values.Del("code")
	return s.showX(c, http.StatusUnprocessableEntity, "", f)
}

func (s identityPages) showX(c echo.Context, status int, address string, f form) error {
	v := s.view(c)
	return s.show(c, status, v, screen{nav: "/logins", title: v.T("log_in.title"), body: v.logInX(address, f)})
}

// siteLogin reports whether an account logs in on its network's site.
func siteLogin(i store.Identity) bool {
	return i.Kind == store.IdentityProfile && i.Platform == "twitter" && i.State == store.IdentityLogin
}
