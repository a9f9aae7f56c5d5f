package page

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/search"
)

// mountTags mounts the pages of rules for tags.
func (s searchPages) mountTags(g *echo.Group) {
	s.entry(read, "tags", "/tags")
	g.GET("/tags", s.tags)
	g.GET("/tags/new", func(c echo.Context) error { return s.showTag(c, http.StatusOK, newForm(nil), nil, nil) })
	g.POST("/tags/new", func(c echo.Context) error { return s.saveTag(c, nil) })
	g.POST("/tags/preview", func(c echo.Context) error { return s.tryTag(c, nil) })
	g.GET("/tags/:id", of(s.Server, getTag, func(c echo.Context, r *store.TagRule) error {
		f := newForm(nil)
		f.fill(map[string]string{"name": r.Name, "keywords": strings.Join(r.Keywords, "\n"), "pattern": r.Pattern})
		return s.showTag(c, http.StatusOK, f, r, nil)
	}))
	g.POST("/tags/:id/change", of(s.Server, getTag, s.saveTag))
	g.POST("/tags/:id/preview", of(s.Server, getTag, s.tryTag))
	s.step(g, step{
		path: "/tags/:id/remove", done: "tag-removed",
		ask: about(getTag, func(v view, r store.TagRule) question {
			return question{
				nav: "/tags", ask: "tags.remove_ask", about: r.Name, means: v.T("tags.remove_means"), button: "tags.remove", danger: true,
				back: tagPath(r.ID), then: "/tags",
			}
		}),
		act: func(tx *store.Tx, id uint64) error { return tx.TagRules.Delete(id) },
	})
}

func tagPath(n uint64) string { return "/tags/" + id(n) }

func getTag(tx *store.Tx, id uint64) (store.TagRule, error) { return tx.TagRules.Get(id) }

// tags lists the rules with how many messages have got their tags lately.
func (s searchPages) tags(c echo.Context) error {
	v := s.view(c)
	var rules store.Page[store.TagRule]
	var counts map[string]int
	err := s.DB.View(func(tx *store.Tx) (err error) {
		counts = search.TaggedLately(tx)
		rules, err = tx.TagRules.ByName(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, v, screen{nav: "/tags", title: v.T("nav.tags"), body: v.tagsBody(rules, counts)})
}

// showTag shows the form of a rule; r is the one that exists, or nil. trial is what the form's rule would match, or nil.
func (s searchPages) showTag(c echo.Context, status int, f form, r *store.TagRule, trial *search.Trial) error {
	v := s.view(c)
	f.prepare("")
	title := v.T("tags.new")
	v.path = "/tags/new"
	if r != nil {
		title, v.path = r.Name, tagPath(r.ID)
	}
	return s.show(c, status, v, screen{nav: "/tags", title: title, form: "tag", body: v.tagBody(f, title, r, trial)})
}

// tagOf writes what the form says into a rule.
func (f form) tagOf(r *store.TagRule) {
	r.Name, r.Keywords, r.Pattern = f.get("name"), lines(f.get("keywords")), f.get("pattern")
}

// tryTag shows what the rule of the form would match.
func (s searchPages) tryTag(c echo.Context, r *store.TagRule) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	var rule store.TagRule
	f.tagOf(&rule)
	trial, err := s.worker.TryTag(rule)
	if err != nil {
		return s.refuseTag(c, f, r, err)
	}
	return s.showTag(c, http.StatusOK, f, r, &trial)
}

// saveTag saves the rule of the form.
func (s searchPages) saveTag(c echo.Context, r *store.TagRule) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	if f.onlyShow() {
		return s.showTag(c, http.StatusOK, f, r, nil)
	}
	done := "tag-added"
	err = s.DB.Update(func(tx *store.Tx) error {
		if r != nil {
			done = "tag-changed"
			return failure(search.ChangeTag(tx, r.ID, f.tagOf))
		}
		var rule store.TagRule
		f.tagOf(&rule)
		return failure(search.AddTag(tx, rule))
	})
	if err != nil {
		return s.refuseTag(c, f, r, err)
	}
	return did(c, "/tags", done)
}

func (s searchPages) refuseTag(c echo.Context, f form, r *store.TagRule, err error) error {
	if !f.refuse(s.view(c), err, "name", "keywords", "pattern") {
		return err
	}
	return s.showTag(c, http.StatusUnprocessableEntity, f, r, nil)
}
