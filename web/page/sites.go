package page

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// showSites lists the sites on which accounts can be watched, and takes rules for others.
func (s accountPages) showSites(c echo.Context, status int, f form) error {
	sites, err := fetch(s.Server, s.worker.Sites)
	if err != nil {
		return err
	}
	v := s.view(c)
	return s.show(c, status, v, screen{nav: "/accounts", title: v.T("sites.title"), body: v.sitesBody(f, sites)})
}

// saveSites takes rules that were typed, or those of a file; or it removes one.
func (s accountPages) saveSites(c echo.Context) error {
	v := s.view(c)
	f, text, err := typedList(c, v)
	if err != nil {
		return err
	}
	done := "sites-added"
	switch site := f.get("remove"); {
	case site != "":
		done = "site-removed"
		err = s.DB.Update(func(tx *store.Tx) error { return s.worker.RemoveRules(tx, site) })
	case len(f.wrong) == 0:
		err = s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.ImportRules(tx, []byte(text))) })
	}
	if err != nil && !f.refuse(v, err, "rules") {
		return err
	}
	if refused, ok := errors.AsType[*store.FieldError](err); ok && len(refused.Args) > 0 {
		if lines, ok := refused.Args[0].(error); ok { // what is wrong with each rule
			f.wrong["rules"] = v.Error(lines)
		}
	}
	if len(f.wrong) > 0 {
		return s.showSites(c, http.StatusUnprocessableEntity, f)
	}
	return did(c, "/accounts/sites", done)
}

// wrongRules says line by line what is wrong with a file of rules.
func (f form) wrongRules() []string {
	all := append(strings.Split(f.wrong["rules"], "\n"), f.wrong[""])
	return slices.DeleteFunc(all, func(line string) bool { return strings.TrimSpace(line) == "" })
}
