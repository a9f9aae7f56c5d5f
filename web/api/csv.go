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

// csvRows is how many chats of a file are read in one view of the store.
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

// SendDeliveries answers with the chats of a broadcast as a table, beginning with mark. It is sent
// while it is read, some hundred lines at a time; if that fails in the middle the connection is cut,
// so that nobody takes a part for the whole.
func SendDeliveries(c echo.Context, db *store.DB, log zerolog.Logger, t store.Task, mark string, why func(store.Reason) string) {
	h := c.Response().Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="belfry-task-%d.csv"`, t.ID))
	c.Response().WriteHeader(http.StatusOK)
	if err := writeDeliveries(c, db, t, mark, why); err != nil {
		if c.Request().Context().Err() == nil {
			log.Error().Err(err).Uint64("task", t.ID).Msg("a list of chats was cut off")
		}
		panic(http.ErrAbortHandler)
	}
}

func writeDeliveries(c echo.Context, db *store.DB, t store.Task, mark string, why func(store.Reason) string) error {
	if _, err := c.Response().Write([]byte(mark)); err != nil {
		return err
	}
	out, control := csv.NewWriter(c.Response()), http.NewResponseController(c.Response())
	err := out.Write([]string{"task", "target", "chat", "status", "reason", "attempts", "sent_at", "message_id", "link", "history"})
	for cursor := ""; err == nil; {
		var page store.Page[store.Delivery]
		err = db.View(func(tx *store.Tx) (err error) {
			page, err = tx.Deliveries.Of(t, "", store.Query{Limit: csvRows, Cursor: cursor})
			return err
		})
		for _, d := range page.Items {
			if err == nil {
				err = out.Write(deliveryCells(d, why))
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
	cells := []string{
		strconv.FormatUint(d.TaskID, 10), d.Target, d.Title, string(d.Status), why(d.Reason), strconv.Itoa(d.Tried), sent,
		strings.Join(ids, " "), d.Link, strings.Join(history, "; "),
	}
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
