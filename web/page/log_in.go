package page

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"

	"belfry/store"
	"belfry/worker/identities"
)

// The ways to log a user account in.
const (
	wayPhone   = "phone"
	wayQR      = "qr"
	waySession = "session"
)

// maxSession is the largest .session file that is read, in bytes.
const maxSession = 1 << 20

// showLogIn shows where a login stands, or how it can begin.
func (s identityPages) showLogIn(c echo.Context, login *store.Identity) error {
	if s.worker.At(login.ID).State == identities.StepDone && login.State != store.IdentityLogin {
		return did(c, s.afterLogIn(s.view(c)), "logged-in")
	}
	return s.showStep(c, http.StatusOK, *login, c.QueryParam("way"), newForm(nil))
}

// afterLogIn is where a person goes on whose account is logged in.
func (s identityPages) afterLogIn(v view) string {
	if _, open := s.setup(v); open {
		return setupPath
	}
	return "/logins"
}

// logInStep is the step that a login waits for, as a form. Nothing secret that was typed before is in it.
type logInStep struct {
	way, lead  string
	do, button string // what the form does
	fields     []input
	underWay   bool // a login is under way and can be given up
}

func (v view) logInStep(step identities.Step, way string, f form) logInStep {
	st := logInStep{way: way, underWay: step.State == identities.StepCode || step.State == identities.StepPassword}
	switch {
	case step.State == identities.StepCode:
		st.lead, st.do, st.button = v.T("log_in.code_sent")+" "+v.via(step), "code", v.T("log_in.enter_code")
		st.fields = []input{f.secret("code", v.T("log_in.code"), "", "one-time-code")}
	case step.State == identities.StepPassword:
		st.lead, st.do, st.button = v.T("log_in.password_how"), "password", v.T("log_in.enter_password")
		hint := ""
		if step.Hint != "" {
			hint = v.T("log_in.hint") + " " + step.Hint
		}
		st.fields = []input{f.password("password", v.T("log_in.password"), hint, "off")}
	case way == wayQR:
		st.lead = v.T("log_in.qr_how")
	case way == waySession:
		st.lead, st.do, st.button = v.T("log_in.session_how"), waySession, v.T("log_in.use_session")
		file := f.secret("session_file", v.T("log_in.file"), v.T("log_in.file_hint"), "off")
		file.Type = "file"
		st.fields = []input{f.password("session", v.T("log_in.session"), v.T("log_in.session_hint"), "off"), file}
	default:
		st.way, st.do, st.button = wayPhone, wayPhone, v.T("log_in.send_code")
		phone := f.text("phone", v.T("log_in.phone"), v.T("log_in.phone_hint"))
		phone.Type, phone.Autocomplete = "tel", "tel"
		st.fields = []input{phone}
	}
	return st
}

// showStep shows the step that a login waits for.
func (s identityPages) showStep(c echo.Context, status int, login store.Identity, way string, f form) error {
	v := s.view(c)
	v.path = loginPath(login.ID) + "/login"
	return s.show(c, status, v, screen{
		nav: "/logins", title: v.T("log_in.title"), body: v.logIn(login, v.logInStep(s.worker.At(login.ID), way, f), f),
	})
}

// logInWays are the ways to log in, to choose from.
func (v view) logInWays(current string) (tabs []tab) {
	add := func(way, name string) {
		tabs = append(tabs, tab{key: way, name: name, link: withQuery(v.path, "way", way), current: way == current})
	}
	add(wayPhone, v.T("log_in.by_phone"))
	add(wayQR, v.T("log_in.by_qr"))
	add(waySession, v.T("log_in.by_session"))
	return tabs
}

// via says where a code was sent.
func (v view) via(step identities.Step) string {
	where := step.Via
	if key := "log_in.via." + step.Via; v.Has(key) {
		where = v.T("log_in.via." + step.Via)
	}
	if step.Phone == "" {
		return where + "."
	}
	return fmt.Sprintf("%s (%s).", where, step.Phone)
}

// takeStep takes a login one step further.
func (s identityPages) takeStep(c echo.Context, login *store.Identity) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var step identities.Step
	allowTime(c)
	switch f.get("do") {
	case wayPhone:
		step, err = s.worker.SendCode(ctx, login.ID, f.get("phone"))
	case "code":
		step, err = s.worker.EnterCode(ctx, login.ID, f.get("code"))
	case "password":
		step, err = s.worker.EnterPassword(ctx, login.ID, f.values.Get("password"))
	case waySession:
		if err = s.takeSession(c, login.ID, f); err == nil {
			return did(c, s.afterLogIn(s.view(c)), "session-used")
		}
	case "over":
		s.worker.Abandon(login.ID)
	default:
		return echo.ErrBadRequest
	}
	switch {
	case err == nil && step.State == identities.StepDone:
		return did(c, s.afterLogIn(s.view(c)), "logged-in")
	case err == nil:
		return c.Redirect(http.StatusSeeOther, loginPath(login.ID)+"/login")
	case !f.refuse(s.view(c), err, "phone", "code", "password", "session"):
		return err
	}
	way := wayPhone
	if f.get("do") == waySession {
		way = waySession
	}
	return s.showStep(c, http.StatusUnprocessableEntity, *login, way, f)
}

// takeSession reads the session that was pasted, or the file.
func (s identityPages) takeSession(c echo.Context, account uint64, f form) error {
	if text := f.get("session"); text != "" {
		return s.worker.TakeOver(account, []byte(text))
	}
	data, err := formFile(c, "session_file", maxSession+1)
	if err != nil {
		return fmt.Errorf("read the session file: %w", err)
	}
	if len(data) > maxSession {
		return store.Invalid("session", "invalid.session_large")
	}
	return s.worker.TakeOver(account, data)
}

// showQR answers with the QR code that is good now, with nothing if the page has it already, or
// leads on if somebody has scanned it.
func (s identityPages) showQR(c echo.Context, login *store.Identity) error {
	v := s.view(c)
	allowTime(c)
	step, err := s.worker.ShowQR(c.Request().Context(), login.ID)
	switch said := v.refusal(err); {
	case said != "":
		return s.render(c, http.StatusOK, v.qr("", "trouble", said))
	case err != nil:
		return err
	case step.State == identities.StepDone:
		c.Response().Header().Set("HX-Redirect", withQuery(s.afterLogIn(v), "done", "logged-in"))
		return c.NoContent(http.StatusOK)
	case step.State != identities.StepQR:
		c.Response().Header().Set("HX-Redirect", loginPath(login.ID)+"/login")
		return c.NoContent(http.StatusOK)
	}
	sum := sha256.Sum256([]byte(step.URL))
	have := fmt.Sprintf("%x", sum[:8])
	if c.FormValue("have") == have {
		return c.NoContent(http.StatusNoContent)
	}
	return s.render(c, http.StatusOK, v.qr(step.URL, have, ""))
}

// qrMargin is the width of the empty frame that a QR code needs around it, in modules.
const qrMargin = 4

// qrPath draws a text as a QR code: a path of squares, and the width of the whole in modules.
func qrPath(text string) (path string, side int) {
	code, err := qr.Encode(text, qr.M)
	if err != nil { // the text is too long, which no link of a login is
		return "", 0
	}
	var out strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&out, "M%d %dh%dv1h-%dz", from+qrMargin, y+qrMargin, x-from, x-from)
			}
		}
	}
	return out.String(), code.Size + 2*qrMargin
}
