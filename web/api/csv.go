package api

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/store"
)

// csvRows is how many rows of a file are read in one view of the store.
const csvRows = 500

// partTime is how long sending that many may take.
const partTime = time.Minute

// csvFile describes the answer as what it is.
func csvFile(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{"200": {
		Description: "One line for each chat, in the order in which they were named; the first line has the names of the columns",
		Content:     map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

func (s *Server) deliveryFile(_ context.Context, in *one) (*huma.StreamResponse, error) {
	var t store.Task
	err := s.db.View(func(tx *store.Tx) (err error) {
		t, err = tx.Tasks.Get(in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		SendDeliveries(humaecho.Unwrap(ctx), s.db, s.cfg.Log, t, "", func(r store.Reason) string { return inEnglish().Say(r) })
	}}, nil
}

// SendDeliveries answers with the chats of a broadcast as a table, beginning with mark.
func SendDeliveries(c echo.Context, db *store.DB, log zerolog.Logger, t store.Task, mark string, why func(store.Reason) string) {
	sendTable(c, log, fmt.Sprintf("belfry-task-%d.csv", t.ID), mark, table[store.Delivery]{
		db:      db,
		columns: []string{"task", "target", "chat", "status", "reason", "attempts", "sent_at", "message_id", "link", "history"},
		page: func(tx *store.Tx, q store.Query) (store.Page[store.Delivery], error) {
			return tx.Deliveries.Of(t, "", q)
		},
		cells: func(d store.Delivery) []string { return deliveryCells(d, why) },
	})
}

// table is a list that is sent as a file.
type table[R any] struct {
	db      *store.DB
	columns []string
	page    func(*store.Tx, store.Query) (store.Page[R], error)
	cells   func(R) []string
}

// sendTable answers with a table, beginning with mark. It is sent while it is read, some hundred lines at a time; if
// that fails in the middle the connection is cut, so that nobody takes a part for the whole.
func sendTable[R any](c echo.Context, log zerolog.Logger, name, mark string, t table[R]) {
	h := c.Response().Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, name))
	c.Response().WriteHeader(http.StatusOK)
	if err := t.write(c, mark); err != nil {
		if c.Request().Context().Err() == nil {
			log.Error().Err(err).Str("file", name).Msg("a table was cut off")
		}
		panic(http.ErrAbortHandler)
	}
}

func (t table[R]) write(c echo.Context, mark string) error {
	if _, err := c.Response().Write([]byte(mark)); err != nil {
		return err
	}
	out, control := csv.NewWriter(c.Response()), http.NewResponseController(c.Response())
	err := out.Write(t.columns)
	for cursor := ""; err == nil; {
		var page store.Page[R]
		err = t.db.View(func(tx *store.Tx) (err error) {
			page, err = t.page(tx, store.Query{Limit: csvRows, Cursor: cursor})
			return err
		})
		for _, row := range page.Items {
			if err == nil {
				err = out.Write(safeCells(t.cells(row)))
			}
		}
		if out.Flush(); err == nil {
			err = out.Error()
		}
		if cursor = page.Next; cursor == "" || err != nil {
			break
		}
		err = control.SetWriteDeadline(time.Now().Add(partTime))
	}
	return err
}

func deliveryCells(d store.Delivery, why func(store.Reason) string) []string {
	ids := make([]string, len(d.MessageIDs))
	for i, n := range d.MessageIDs {
		ids[i] = strconv.FormatInt(n, 10)
	}
	history := make([]string, len(d.Tries))
	for i, t := range d.Tries {
		history[i] = strings.TrimSpace(t.At.UTC().Format(time.RFC3339) + " " + string(t.Outcome) + " " + why(t.Reason))
	}
	sent := ""
	if !d.SentAt.IsZero() {
		sent = d.SentAt.UTC().Format(time.RFC3339)
	}
	return []string{
		strconv.FormatUint(d.TaskID, 10), d.Target, d.Title, string(d.Status), why(d.Reason), strconv.Itoa(d.Tried), sent,
		strings.Join(ids, " "), d.Link, strings.Join(history, "; "),
	}
}

func safeCells(cells []string) []string {
	for i, cell := range cells {
		cells[i] = safeCell(cell)
	}
	return cells
}

// safeCell keeps a spreadsheet from taking what somebody else has written for a formula.
func safeCell(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err == nil {
		return cell
	}
	return "'" + cell
}
