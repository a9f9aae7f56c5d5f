package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/store"
)

// AuditEntry is an entry of the audit as the API shows it.
type AuditEntry struct {
	ID     uint64    `json:"id"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor" doc:"Who: a token's name, page, the Telegram id of an admin, or a user of the machine" example:"curator"`
	Door   string    `json:"door" enum:"page,api,bot,cli"`
	Action string    `json:"action" example:"posts.create"`
	About  string    `json:"about,omitempty" doc:"The record; of sign-ins, and of who is not known, the address" example:"post_17"`
	Result string    `json:"result" enum:"done,refused,failed"`
}

// AuditFilter are the parameters that choose entries. Huma reads embedded fields of exported types only.
type AuditFilter struct {
	Actor  string    `query:"actor" doc:"Only what this actor did" example:"curator"`
	Door   string    `query:"door" enum:"page,api,bot,cli" doc:"Only what was done here"`
	Action string    `query:"action" doc:"Only this action, or all that begin with it and a dot" example:"posts"`
	Since  time.Time `query:"since" doc:"Not before this time"`
	Until  time.Time `query:"until" doc:"Before this time"`
}

func (f AuditFilter) filter() store.AuditFilter {
	return store.AuditFilter{Actor: f.Actor, Door: f.Door, Action: f.Action, Since: f.Since, Until: f.Until}
}

type auditPage struct {
	Paged
	AuditFilter
}

// Audit is the door to the audit.
func Audit(s *Server, a *api) {
	operation(a, http.MethodGet, "/audit", "List who did what, the latest first: a page may have few entries and yet be followed by another", func(_ context.Context, in *auditPage) (*reply[List[AuditEntry]], error) {
		show := func(e store.AuditEntry) AuditEntry {
			return AuditEntry{e.ID, e.At, e.Actor, string(e.Door), e.Action, e.About, string(e.Result)}
		}
		return listed(s, func(tx *store.Tx) (store.Page[store.AuditEntry], error) {
			return tx.Audit.Find(in.filter(), in.query())
		}, plain(show))
	})
	operation(a, http.MethodGet, "/audit.csv", "Fetch the audit as a table", func(_ context.Context, in *AuditFilter) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			SendAudit(humaecho.Unwrap(ctx), s.db, s.cfg.Log, in.filter(), "")
		}}, nil
	}, csvFile, func(op *huma.Operation) {
		op.Responses["200"].Description = "One line for each entry, the latest first; the first line has the names of the columns"
	})
}

// SendAudit answers with the entries of a filter as a table, beginning with mark.
func SendAudit(c echo.Context, db *store.DB, log zerolog.Logger, f store.AuditFilter, mark string) {
	sendTable(c, log, "belfry-audit.csv", mark, table[store.AuditEntry]{
		db:      db,
		columns: []string{"id", "at", "actor", "door", "action", "about", "result"},
		page:    func(tx *store.Tx, q store.Query) (store.Page[store.AuditEntry], error) { return tx.Audit.Find(f, q) },
		cells: func(e store.AuditEntry) []string {
			return []string{strconv.FormatUint(e.ID, 10), e.At.Format(time.RFC3339), e.Actor, string(e.Door), e.Action, e.About, string(e.Result)}
		},
	})
}
