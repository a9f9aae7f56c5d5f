package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/tasks"
)

// chatsPage lists where an account can send to.
type chatsPage struct {
	frame
	Accounts    []tab
	Account     string // its id; empty if there is none
	Rows        []chatRow
	Reading     bool // the list is being read
	First, More string
}

type chatRow struct {
	ID, Title, Target, Kind, Seen, Slow, Error string
	Off, ReadOnly                              bool
	Last, SlowUntil                            *moment
}

func (s *Server) loadChats(r reader) (page, error) {
	accounts, err := s.userLogins()
	if err != nil {
		return nil, err
	}
	w := r.words.Chats
	p := &chatsPage{frame: s.frame(r, "tasks", w.Title)}
	if len(accounts) == 0 {
		return p, nil
	}
	chosen := accounts[0]
	for _, i := range accounts {
		if id(i.ID) == r.query.Get("identity_id") {
			chosen = i
		}
	}
	for _, i := range accounts {
		p.Accounts = append(p.Accounts, tab{Key: id(i.ID), Name: r.loginName(i), Link: chatsPath(i.ID), Current: i.ID == chosen.ID})
	}
	p.Account = id(chosen.ID)
	var list store.Page[store.Chat]
	err = s.db.View(func(tx *store.Tx) (err error) {
		if list, err = tx.Chats.ByTitle(chosen.ID, store.Query{Limit: chatsPerPage, Cursor: r.query.Get("cursor")}); err != nil {
			return err
		}
		_, err = tx.Jobs.ByName(fmt.Sprintf("%s_%d", tasks.ListKind, chosen.ID))
		p.Reading = err == nil
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.query.Get("cursor") != "" {
		p.First = chatsPath(chosen.ID)
	}
	if list.Next != "" {
		p.More = withQuery(chatsPath(chosen.ID), "cursor", list.Next)
	}
	for _, c := range list.Items {
		row := chatRow{
			ID: id(c.ID), Title: c.Title, Target: c.Target(), Kind: w.Types[c.Type], Off: c.Off, ReadOnly: c.ReadOnly,
			Error: shorten(r.Say(c.LastError), 160), Last: r.momentIf(c.LastSuccess),
		}
		if !c.LastSuccess.IsZero() {
			row.Seen = w.SeenSince(c.Seen)
		}
		if c.Slowmode > 0 {
			row.Slow = w.SlowMode(time.Duration(c.Slowmode) * time.Second)
		}
		if c.SlowUntil.After(r.now) {
			row.SlowUntil = r.moment(c.SlowUntil)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

func chatsPath(account uint64) string { return "/chats?identity_id=" + id(account) }

// switchChat switches a chat off or on.
func (s *Server) switchChat(c echo.Context) error {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return echo.ErrNotFound
	}
	off, done := true, "chat-off"
	switch c.FormValue("do") {
	case "off":
	case "on":
		off, done = false, "chat-on"
	default:
		return echo.ErrBadRequest
	}
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := tasks.SwitchChat(tx, number, off)
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, withQuery(localPath(c.FormValue("back")), "done", done))
}

// readChats has the list of an account's chats read again.
func (s *Server) readChats(c echo.Context) error {
	number, err := strconv.ParseUint(c.FormValue("identity_id"), 10, 64)
	if err != nil {
		return echo.ErrBadRequest
	}
	if err := s.db.Update(func(tx *store.Tx) error { return tasks.ListChats(tx, number) }); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, withQuery(chatsPath(number), "done", "chats-read"))
}
