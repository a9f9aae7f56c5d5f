package page

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
)

// onPage is who has written what was written on the page.
const onPage = "page"

// mountContents mounts the pages of the texts from which posts are made.
func (s postPages) mountContents(g *echo.Group) {
	s.entry(publish, "contents", "/contents")
	s.live(g, "/contents", s.contents)
	g.GET("/contents/new", func(c echo.Context) error { return s.showContent(c, http.StatusOK, newForm(nil), nil) })
	g.POST("/contents/new", func(c echo.Context) error { return s.saveContent(c, nil) })
	g.POST("/contents/check", s.answerForm(func(v view, f form) (templ.Component, error) { return v.checkedNow(s.checkContent(v, f)), nil }))
	g.GET("/contents/:id", of(s.Server, getContent, func(c echo.Context, content *store.Content) error {
		f := newForm(nil)
		f.fillText(*content)
		return s.showContent(c, http.StatusOK, f, content)
	}))
	g.POST("/contents/:id", of(s.Server, getContent, s.saveContent))
	g.POST("/contents/:id/restore", of(s.Server, getContent, s.restoreContent))
}

func getContent(tx *store.Tx, id uint64) (store.Content, error) { return tx.Contents.Get(id) }

func contentPath(n uint64) string { return fmt.Sprintf("/contents/%d", n) }

// contents is the list of texts.
func (s postPages) contents(v view) (screen, error) {
	list, err := fetch(s.Server, func(tx *store.Tx) (store.Page[store.Content], error) {
		return tx.Contents.ByTime(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
	})
	return screen{nav: "/contents", title: v.T("contents.title"), body: v.contentsBody(), parts: []part{{"list", v.contentList(list)}}}, err
}

// contentName is the title of a text, or its first words.
func (v view) contentName(c store.Content) string {
	if c.Title != "" {
		return c.Title
	}
	return v.postTitle(store.Post{Platform: posts.Platforms()[0], Text: c.Text, Format: c.Format, Media: c.Media})
}

// writer says who has written a version.
func (v view) writer(by string) string {
	switch by {
	case "": // a rule, or a version of Belfry that did not note it
		return ""
	case onPage:
		return v.T("contents.by_page")
	case "ai":
		return v.T("contents.by_ai")
	}
	return v.T("contents.by_api", by)
}

// fillText writes a text into a form.
func (f form) fillText(c store.Content) {
	f.fillContent(store.Post{Text: c.Text, Format: c.Format, Media: c.Media})
	f.fill(map[string]string{
		"title": c.Title, "description": c.Description, "language": c.Language, "version": strconv.Itoa(c.Version().Number),
	})
	if c.Draft {
		f.values.Set("status", "draft")
	}
	for _, v := range c.Variants {
		f.values.Set("text-"+v.Platform, v.Text)
		f.values.Set("hashtags-"+v.Platform, strings.Join(v.Hashtags, " "))
	}
}

// fillContentRequest changes a request to what the form says. What the form does not show stays.
func (f form) fillContentRequest(r *posts.ContentRequest) {
	p := f.content()
	r.Title, r.Description, r.Text, r.Format, r.Media = f.get("title"), f.get("description"), p.Text, p.Format, p.Media
	r.Language, r.Draft, r.By = f.get("language"), f.get("status") == "draft", onPage
	r.Variants = nil
	for _, platform := range posts.Platforms() {
		r.Variants = append(r.Variants, store.Variant{
			Platform: platform, Text: strings.TrimSpace(f.plain("text-" + platform)), Hashtags: chatNames(f.get("hashtags-" + platform)),
		})
	}
}

// checkContent shows what the form says now on each network.
func (s postPages) checkContent(v view, f form) []check {
	var r posts.ContentRequest
	f.fillContentRequest(&r)
	all, err := s.worker.PreviewsOf(r)
	checks := make([]check, len(all))
	for i, p := range all {
		checks[i] = v.checked(p.Post, p.Measure, p.Refused)
		checks[i].where = v.T("platform." + p.Platform)
	}
	if said := v.refusal(err); said != "" && strings.HasPrefix(fieldOf(err), "variants") {
		checks[0].trouble = said
	}
	return checks
}

// showContent shows the form of a text; content is the one that exists, or nil.
func (s postPages) showContent(c echo.Context, status int, f form, content *store.Content) error {
	v := s.view(c)
	f.prepare(v.T("contents.fix"))
	title := v.T("contents.new")
	if content != nil {
		title = v.contentName(*content)
	}
	spent, err := s.aiToday(v)
	if err != nil {
		return err
	}
	return s.show(c, status, v, screen{nav: "/contents", title: title, form: "compose", body: v.contentBody(f, content, title, spent, s.checkContent(v, f))})
}

// saveContent makes the text of the form, or changes the one that exists.
func (s postPages) saveContent(c echo.Context, content *store.Content) error {
	f, err := s.readMediaForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if status := f.notSaved(); status != 0 {
		return s.showContent(c, status, f, content)
	}
	if f.get("do") == "write" || f.get("do") == "draw" {
		return s.askAI(c, f, content)
	}
	var saved uint64
	if content == nil {
		saved, err = s.once(v, "content", f, func(tx *store.Tx) (uint64, error) {
			var r posts.ContentRequest
			f.fillContentRequest(&r)
			made, err := posts.CreateContent(tx, r)
			return made.ID, err
		})
	} else {
		saved = content.ID
		seen, _ := strconv.Atoi(f.get("version")) // 0, where there is none, is any
		err = s.DB.Update(func(tx *store.Tx) error { return failure(posts.ChangeContent(tx, saved, seen, f.fillContentRequest)) })
	}
	if err == nil {
		return did(c, contentPath(saved), "content-saved")
	}
	fields := append(contentFields(), "title", "description", "language")
	for i, platform := range posts.Platforms() {
		fields = append(fields, fmt.Sprintf("variants[%d].text:text-%s", i, platform), fmt.Sprintf("variants[%d].hashtags:hashtags-%s", i, platform))
	}
	if !f.refuse(v, err, fields...) {
		return err
	}
	if _, changed := errors.AsType[*store.ConflictError](err); changed {
		f.wrong[""] = v.T("contents.changed")
		f.values.Set("version", strconv.Itoa(content.Version().Number)) // it was said: saved again, this text replaces the other one
	}
	return s.showContent(c, http.StatusUnprocessableEntity, f, content)
}

func (s postPages) restoreContent(c echo.Context, content *store.Content) error {
	version, err := strconv.Atoi(c.FormValue("version"))
	if err != nil {
		return echo.ErrBadRequest
	}
	return s.do(c, contentPath(content.ID), "content-restored", func(tx *store.Tx) error {
		return failure(posts.RestoreContent(tx, content.ID, version, onPage))
	})
}

// fillFrom writes into the form of a post what a text says on each network.
func (s postPages) fillFrom(f form, number uint64) error {
	content, err := fetch(s.Server, func(tx *store.Tx) (store.Content, error) { return getContent(tx, number) })
	if err != nil {
		return err
	}
	logins, err := identities.List(s.DB)
	if err != nil || len(logins) == 0 {
		return err
	}
	main := logins[max(0, slices.IndexFunc(logins, func(i store.Identity) bool { return i.Platform == posts.Platforms()[0] }))]
	text, format := s.worker.ContentFor(content, main.Platform)
	f.fillContent(store.Post{IdentityID: main.ID, Text: text, Format: format, Media: content.Media})
	for _, login := range logins {
		if slices.ContainsFunc(content.Variants, func(v store.Variant) bool { return v.Platform == login.Platform && v.Platform != main.Platform }) {
			own, _ := s.worker.ContentFor(content, login.Platform)
			f.values.Set("text-"+id(login.ID), own)
		}
	}
	return nil
}
