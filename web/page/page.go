// Package page is the admin page, one of Belfry's doors. Each handler reads a request, calls an action of
// the worker that owns it, and says what came of it; it decides nothing itself. Pages are templ components
// that take records and the reader's [view], which says what is said in the reader's language.
//
// Views of the store are short, and nothing is rendered or sent inside one, so the page never holds up the
// scheduler.
package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web/session"
	"belfry/worker/rules"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// Config is the settings of a [Server].
type Config struct {
	// Locale returns the language, until the reader chooses another (en or ru), and the zone in which times are shown
	// and read.
	Locale  func() (lang string, zone *time.Location)
	Version string
	Idle    bool // nothing is run on purpose (DISABLE_WORKERS)
	Log     zerolog.Logger

	DB        *store.DB
	Scheduler *scheduler.Scheduler
	Sessions  *session.Sessions
	Doors     []Door
	// Ending is closed when live pages are to end.
	Ending <-chan struct{}
	// Streams has a place for each live page that may be open at once.
	Streams chan struct{}
}

// Door mounts the pages of a worker, with their entries of the navigation, for browsers that are signed in.
type Door func(s *Server, own *echo.Group)

// Server shows the page. Make it with [New].
type Server struct {
	Config
	assets   assets
	public   *echo.Group // what anybody may open
	nav      map[group][]entry
	made     []entry                           // what can be made
	jobPages map[string]func(store.Job) string // the page of a job, for kinds that have one of their own

	// What the doors give to other pages.
	styled     func(platform, format, text string) (platform.Styled, error)
	connection func(identityID uint64) platform.Connection
	wrong      func() ([]store.Alert, error)
	setup      func(view) (templ.Component, bool)                                                  // what is still to be set up, and whether anything is
	receive    func(c echo.Context, name, claimed string, from io.Reader) (store.MediaFile, error) // nil: no files are taken
	ai         *rules.Worker                                                                       // asks the AI
}

// New returns a server of the page.
func New(cfg Config) *Server {
	return &Server{
		Config: cfg, assets: newAssets(), nav: make(map[group][]entry), jobPages: make(map[string]func(store.Job) string),
		setup:      func(view) (templ.Component, bool) { return templ.NopComponent, false },
		wrong:      func() ([]store.Alert, error) { return nil, nil },
		connection: func(uint64) platform.Connection { return platform.Connection{State: platform.Off} },
		styled:     func(_, _, text string) (platform.Styled, error) { return platform.Styled{Text: text}, nil },
	}
}

// Mount registers the pages: in public those that anybody may open, in own those of a browser that is signed in.
func (s *Server) Mount(public, own *echo.Group) {
	public.GET(assetBase+":name", s.assets.serve)
	s.mountSignIn(public, own)
	s.public = public
	for _, door := range s.Doors {
		door(s, own)
	}
}

// view is who looks at a page, and what was asked for. Components are its methods.
type view struct {
	i18n.Printer
	server *Server
	query  url.Values
	id     string // of the record, where the page is about one
	path   string // of the page, with the query
	signIn store.SignIn
	known  bool   // signed in
	wrong  string // why what was just tried was refused; empty if it was not
}

// view reads who looks, and at what.
func (s *Server) view(c echo.Context) view {
	lang, zone := s.Locale()
	if cookie, err := c.Cookie(languageCookie); err == nil && i18n.Known(cookie.Value) {
		lang = cookie.Value
	}
	v := view{Printer: i18n.For(lang, zone), server: s, query: c.QueryParams(), id: c.Param("id"), path: "/"}
	v.Now = s.DB.Now()
	v.signIn, v.known = session.Of(c)
	if c.Request().Method == http.MethodGet {
		v.path = c.Request().URL.RequestURI()
	}
	return v
}

// number is the id of the record that the page is about; 0, which no record has, where the path names none.
func (v view) number() uint64 {
	n, _ := strconv.ParseUint(v.id, 10, 64)
	return n
}

// done is the sentence about what was just done; empty if that is not known.
func (v view) done() string {
	if key := "done." + v.query.Get("done"); v.Has(key) {
		return v.T("done." + v.query.Get("done"))
	}
	return ""
}

// otherLang is the language that the page can be switched to.
func (v view) otherLang() string {
	if v.Lang == "ru" {
		return "en"
	}
	return "ru"
}

// screen is a page that is ready to be shown.
type screen struct {
	nav   string // the path of its entry in the navigation
	title string
	body  templ.Component
	parts []part // of the body, that change while somebody looks
	stale bool   // what was just done is not said: since then, something else has happened
	form  string // the id of a form whose text outlasts a change of the language
}

// part is a part of a page that is sent anew when it changes. Its place in the body is [place].
type part struct {
	id string
	templ.Component
}

type placesKey struct{}

// place is where a part of a live page stands.
func place(id string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		parts, _ := ctx.Value(placesKey{}).(map[string]string)
		_, err := io.WriteString(w, parts[id])
		return err
	})
}

// show answers with a page that is not live.
func (s *Server) show(c echo.Context, status int, v view, p screen) error {
	return s.showLive(c, status, v, p, "")
}

func (s *Server) render(c echo.Context, status int, component templ.Component) error {
	var out bytes.Buffer
	if err := component.Render(c.Request().Context(), &out); err != nil {
		return err
	}
	return c.HTMLBlob(status, out.Bytes())
}

// languageCookie keeps the reader's choice.
const languageCookie = "belfry-language"

// chooseLanguage keeps the language and goes back to the page.
func (s *Server) chooseLanguage(c echo.Context) error {
	if lang := c.FormValue("lang"); i18n.Known(lang) {
		c.SetCookie(&http.Cookie{
			Name: languageCookie, Value: lang, Path: "/", MaxAge: int(365 * 24 * time.Hour / time.Second),
			HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
		})
	}
	if c.FormValue("form") != "" { // what was typed comes along, and is shown again
		return c.Redirect(http.StatusTemporaryRedirect, LocalPath(c.FormValue("back")))
	}
	return c.Redirect(http.StatusSeeOther, LocalPath(c.FormValue("back")))
}

// LocalPath returns the path if it leads to a page of this server, and the first page otherwise.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}

// withQuery adds parameters to a path; an empty value takes one away.
func withQuery(path string, pairs ...string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// webAddress returns a link only if it leads to the web, and not to a program of the reader's.
func webAddress(link string) string {
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return link
	}
	return ""
}

func id(n uint64) string { return strconv.FormatUint(n, 10) }

// ShowError tells a reader what went wrong and where to go on. full says that the disk of the file is full.
func (s *Server) ShowError(c echo.Context, err error, status int, full bool) error {
	v := s.view(c)
	v.path = "/"
	heading, detail := v.T("errors.title"), v.refusal(err)
	switch status {
	case http.StatusNotFound:
		heading, detail = v.T("errors.not_found"), v.T("errors.not_found_how")
	case http.StatusInternalServerError:
		detail = v.T("errors.own")
	case http.StatusServiceUnavailable:
		detail = v.T("errors.unavailable")
		if full {
			detail = v.T("errors.full")
		}
	case http.StatusRequestEntityTooLarge:
		detail = v.T("errors.too_large")
	case http.StatusForbidden:
		detail = v.T("errors.forbidden")
		if r, ok := errors.AsType[*session.Refusal](err); ok && r.Field == echo.HeaderOrigin {
			detail = v.T("errors.origin")
		}
	}
	if detail == "" {
		detail = http.StatusText(status)
	}
	return s.show(c, status, v, screen{title: heading, body: v.failure(heading, detail)})
}
