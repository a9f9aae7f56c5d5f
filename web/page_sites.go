package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// sitesPage lists the sites on which accounts can be watched, and takes rules for others.
type sitesPage struct {
	frame
	Rows  []siteRow
	Rules input
	File  input
	Wrong []string // what is wrong with a file, one sentence each
}

type siteRow struct {
	Site, Name, Profile string
	Own                 bool
}

func (s *Server) showSites(c echo.Context) error {
	return s.showSitesPage(c, http.StatusOK, newForm(nil), nil)
}

func (s *Server) showSitesPage(c echo.Context, status int, f form, wrong []string) error {
	r := s.readerOf(c)
	w := r.words.Sites
	var sites []watchedSite
	err := s.db.View(func(tx *store.Tx) (err error) {
		sites, err = s.readSites(tx)
		return err
	})
	if err != nil {
		return err
	}
	p := &sitesPage{frame: s.frame(r, "accounts", w.Title), Rules: f.text("list", w.Rules, w.RulesHint), File: f.text("file", r.words.Accounts.File, ""), Wrong: wrong}
	p.Rules.Value, p.File.Type = f.values.Get("list"), "file"
	for _, site := range sites {
		p.Rows = append(p.Rows, siteRow{site.Site, siteName(site.Site), strings.ReplaceAll(site.Profile, "{}", "…"), site.Own})
	}
	return s.render(c, status, "sites", p)
}

// addSites takes rules that were typed, or those of a file.
func (s *Server) addSites(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	if site := f.get("remove"); site != "" {
		if err := s.db.Update(func(tx *store.Tx) error { return s.accounts.RemoveRules(tx, site) }); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, "/accounts/sites?done=site-removed")
	}
	text, err := f.names(c, r)
	if err == nil {
		err = s.db.Update(func(tx *store.Tx) error {
			_, err := s.accounts.ImportRules(tx, []byte(text))
			return err
		})
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/accounts/sites?done=sites-added")
	}
	if !f.refuse(r, err, "rules") {
		return err
	}
	return s.showSitesPage(c, http.StatusUnprocessableEntity, f, r.wrongRules(err, f))
}

// wrongRules says line by line what is wrong with a file of rules. The names in it are those of the
// file's fields, and stay as they are.
func (r reader) wrongRules(err error, f form) (sentences []string) {
	if f.wrong["rules"] == "" {
		return []string{f.wrong[""]}
	}
	if wrong, ok := errors.AsType[*store.FieldError](err); ok && len(wrong.Args) > 0 {
		if rules, ok := wrong.Args[0].(error); ok {
			return strings.Split(r.Error(rules), "\n")
		}
	}
	return []string{f.wrong["rules"]}
}
