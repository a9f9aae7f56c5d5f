package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/store"
)

// SendAudit answers with the entries of a filter as a table that begins with mark.
type SendAudit func(c echo.Context, db *store.DB, log zerolog.Logger, f store.AuditFilter, mark string)

// Audit is the door to the audit.
func Audit(send SendAudit) Door {
	return func(s *Server, own *echo.Group) {
		s.entry(system, "audit", "/audit")
		own.GET("/audit", s.audit)
		own.GET("/audit.csv", func(c echo.Context) error {
			v := s.view(c)
			f, err := v.auditFilter()
			if err != nil {
				return err
			}
			send(c, s.DB, s.Log, f, byteOrderMark)
			return nil
		})
	}
}

// audit shows who did what. It is not live: what is looked for should stand still.
func (s *Server) audit(c echo.Context) error {
	v, status, f := s.view(c), http.StatusOK, newForm(c.QueryParams())
	filter, err := v.auditFilter()
	if f.refuse(v, err, "since", "until") {
		status = http.StatusUnprocessableEntity
	} else if err != nil {
		return err
	}
	list, err := fetch(s, func(tx *store.Tx) (store.Page[store.AuditEntry], error) {
		return tx.Audit.Find(filter, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
	})
	if err != nil {
		return err
	}
	return s.show(c, status, v, screen{nav: "/audit", title: v.T("audit.title"), body: v.auditBody(f, list, withQuery(v.path, "cursor", ""))})
}

// auditFilter reads the filter of the page. Its days are those of the page's zone; the last one is included.
func (v view) auditFilter() (f store.AuditFilter, err error) {
	f = store.AuditFilter{Actor: strings.TrimSpace(v.query.Get("actor")), Door: v.query.Get("door"), Action: strings.TrimSpace(v.query.Get("action"))}
	day := func(name string, more int) (at time.Time, err error) {
		if text := v.query.Get(name); text != "" {
			if at, err = time.Parse(time.DateOnly, text); err != nil {
				return at, store.Invalid(name, "invalid.audit_day")
			}
			at = i18n.StartOfDay(at.Year(), at.Month(), at.Day()+more, v.Zone)
		}
		return at, nil
	}
	if f.Since, err = day("since", 0); err == nil {
		f.Until, err = day("until", 1)
	}
	return f, err
}

// doors are what the list can be narrowed to.
func (v view) doors() []option {
	doors := []store.Door{store.DoorPage, store.DoorAPI, store.DoorBot, store.DoorCLI}
	return append([]option{{Name: v.T("audit.all")}}, options(doors, func(d store.Door) string { return v.T("audit.door." + string(d)) })...)
}

// auditAction says an action in words as far as there are some.
func (v view) auditAction(action string) string {
	resource, verb, _ := strings.Cut(action, ".")
	if key := "audit.what." + resource; v.Has(key) {
		resource = v.T("audit.what." + resource)
	}
	if key := "audit.verb." + verb; v.Has(key) {
		verb = v.T("audit.verb." + verb)
	}
	if verb == "" {
		return resource
	}
	return resource + ": " + verb
}
