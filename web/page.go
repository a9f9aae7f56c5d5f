package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
)

// pageFiles are the templates that fill the layout, by the name of their page.
const pageFiles = "next posts post compose confirm tasks task send chats accounts account accounts_add account_change sites alerts jobs job logins login log_in signin link password error"

// pages are the parsed templates, one set for each page.
type pages map[string]*template.Template

func newPages(a assets) (pages, error) {
	base, err := template.New("").Funcs(template.FuncMap{"asset": a.path}).ParseFS(embedded,
		"templates/layout.html", "templates/pieces.html", "templates/fields.html")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	all := make(pages)
	for _, name := range strings.Fields(pageFiles) {
		set, err := base.Clone()
		if err == nil {
			set, err = set.ParseFS(embedded, "templates/"+name+".html")
		}
		if err != nil {
			return nil, fmt.Errorf("read the templates: %w", err)
		}
		all[name] = set
	}
	return all, nil
}

// part renders one template of a page.
func (p pages) part(page, name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	if err := p[page].ExecuteTemplate(&out, name, data); err != nil {
		return "", fmt.Errorf("render %s of page %s: %w", name, page, err)
	}
	return template.HTML(out.String()), nil
}

// frame is what each page has: its words, where it is, who looks at it, and its live parts.
type frame struct {
	W        *words
	Lang     string
	Page     string // which entry of the navigation it belongs to
	Title    string
	Path     string // with the query: where a form that changes nothing of the page comes back to
	CSRF     string
	SignedIn bool
	Watches  bool   // whether there are pages about accounts
	Alerts   bool   // whether there is a page about alerts
	Done     string // what was just done, as a sentence
	Composes bool   // whether it has a form whose text outlasts a change of the language
	Live     string // where its parts are sent from when they change; empty for a page that stands still
	Version  string
	Zone     string

	parts map[string]template.HTML
}

// Part returns a live part as it was rendered.
func (f *frame) Part(name string) template.HTML { return f.parts[name] }

// OtherLang is the language that the page can be switched to.
func (f *frame) OtherLang() string {
	if f.Lang == russian {
		return english
	}
	return russian
}

func (f *frame) base() *frame { return f }

// page is the data of a template: a struct that embeds a frame.
type page interface{ base() *frame }

// reader is who looks at a page, and what was asked for.
type reader struct {
	i18n.Printer
	lang   string
	words  *words
	zone   *time.Location
	now    time.Time
	query  url.Values
	id     string // of the record, where the page is about one
	path   string // of the page, with the query
	signIn store.SignIn
	known  bool // signed in
	watch  bool // whether there are pages about accounts
	alerts bool // whether there is a page about alerts
}

// printer says messages in lang.
func (s *Server) printer(lang string) i18n.Printer {
	p := i18n.For(lang, s.cfg.Timezone)
	p.Now = s.db.Now()
	return p
}

func (s *Server) readerOf(c echo.Context) reader {
	lang := s.language(c)
	signIn, known := signInOf(c)
	r := reader{
		Printer: s.printer(lang), lang: lang, words: wordsIn(lang), zone: s.cfg.Timezone, now: s.db.Now(), query: c.QueryParams(),
		id: c.Param("id"), path: c.Request().URL.RequestURI(), signIn: signIn, known: known,
		watch: s.accounts != nil, alerts: s.alerts != nil,
	}
	if c.Request().Method != http.MethodGet {
		r.path = "/"
	}
	return r
}

// frame begins a page.
func (s *Server) frame(r reader, page, title string) frame {
	return frame{
		W: r.words, Lang: r.lang, Page: page, Title: title, Path: withQuery(r.path, "done", ""), CSRF: r.signIn.CSRF, SignedIn: r.known, Watches: r.watch, Alerts: r.alerts,
		Version: s.cfg.Version, Zone: s.cfg.Timezone.String(), Done: r.words.done(r.query.Get("done")),
	}
}

// render answers with a page.
func (s *Server) render(c echo.Context, status int, name string, data page) error {
	html, err := s.pages.part(name, "layout", data)
	if err != nil {
		return err
	}
	return c.HTML(status, string(html))
}

// languageCookie keeps the reader's choice.
const languageCookie = "belfry-language"

func (s *Server) language(c echo.Context) string {
	if cookie, err := c.Cookie(languageCookie); err == nil && (cookie.Value == english || cookie.Value == russian) {
		return cookie.Value
	}
	return s.cfg.Lang
}

// chooseLanguage keeps the language and goes back to the page.
func (s *Server) chooseLanguage(c echo.Context) error {
	if lang := c.FormValue("lang"); lang == english || lang == russian {
		c.SetCookie(&http.Cookie{
			Name: languageCookie, Value: lang, Path: "/", MaxAge: int(365 * 24 * time.Hour / time.Second),
			HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
		})
	}
	if c.FormValue("form") != "" { // what was typed comes along, and is shown again
		return c.Redirect(http.StatusTemporaryRedirect, localPath(c.FormValue("back")))
	}
	return c.Redirect(http.StatusSeeOther, localPath(c.FormValue("back")))
}

// localPath returns the path if it leads to a page of this server, and the first page otherwise.
func localPath(path string) string {
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
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// errorPage tells a reader what went wrong and where to go on.
type errorPage struct {
	frame
	Heading, Detail, Back string
}

// handleError is where the errors of all handlers end: as a problem document for programs, as a
// page for people, and in the log if it is Belfry's own fault.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := problemOf(err)
	if h, ok := errors.AsType[*echo.HTTPError](err); ok {
		p = newProblem(h.Code, http.StatusText(h.Code))
		if h.Code == http.StatusNotFound {
			p.Detail = "there is nothing at " + c.Request().Method + " " + c.Request().URL.Path + ": see /api/openapi.json for what there is"
		}
	}
	if p.Status >= http.StatusInternalServerError {
		s.cfg.Log.Error().Err(err).Str("path", c.Request().URL.Path).Msg("request failed")
	}
	if err := s.answerError(c, p); err != nil {
		s.cfg.Log.Error().Err(err).Str("path", c.Request().URL.Path).Msg("error page failed")
	}
}

func (s *Server) answerError(c echo.Context, p *Problem) error {
	path := c.Request().URL.Path
	if strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/health") {
		return writeProblem(c, p)
	}
	for name, values := range p.GetHeaders() {
		c.Response().Header()[name] = values
	}
	r := s.readerOf(c)
	r.path = "/"
	data := &errorPage{frame: s.frame(r, "", r.words.Errors.Title), Heading: r.words.Errors.Title, Detail: r.refused(p), Back: "/"}
	switch p.Status {
	case http.StatusNotFound:
		data.Heading, data.Detail = r.words.Errors.NotFound, r.words.Errors.NotFoundHow
	case http.StatusInternalServerError:
		data.Detail = r.words.Errors.Own
	case http.StatusServiceUnavailable:
		data.Detail = r.words.Errors.Unavailable
		if p.full {
			data.Detail = r.words.Errors.Full
		}
	case http.StatusForbidden:
		data.Detail = r.words.Errors.Forbidden
	}
	return s.render(c, p.Status, "error", data)
}
