package page

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/tasks"
)

func (s taskPages) mountChats(g *echo.Group) {
	s.live(g, "/chats", s.chats)
	g.POST("/chats/refresh", s.readChats)
	switched := func(off bool) func(context.Context, uint64) error {
		return act(s.Server, func(tx *store.Tx, id uint64) (store.Chat, error) { return tasks.SwitchChat(tx, id, off) })
	}
	s.buttons(g, "/chats/:id", s.chats, map[string]button{"off": {"chat-off", switched(true)}, "on": {"chat-on", switched(false)}})
}

func chatsPath(login uint64) string { return "/chats?identity_id=" + id(login) }

// userLogins returns the logins that are user accounts.
func userLogins(tx *store.Tx) (users []store.Identity) {
	for i := range tx.Identities.All() {
		if i.Kind == store.IdentityUser {
			users = append(users, i)
		}
	}
	return users
}

// accountsOf are the accounts whose chats can be shown.
func (v view) accountsOf(users []store.Identity, chosen store.Identity) (tabs []tab) {
	for _, i := range users {
		tabs = append(tabs, tab{key: id(i.ID), name: v.loginName(i), link: chatsPath(i.ID), current: i.ID == chosen.ID})
	}
	return tabs
}

// chats lists where an account can send to.
func (s taskPages) chats(v view) (screen, error) {
	var users []store.Identity
	var chosen store.Identity
	var list store.Page[store.Chat]
	var reading bool
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if users = userLogins(tx); len(users) == 0 {
			return nil
		}
		chosen = users[0]
		for _, i := range users {
			if id(i.ID) == v.query.Get("identity_id") {
				chosen = i
			}
		}
		if list, err = tx.Chats.ByTitle(chosen.ID, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")}); err != nil {
			return err
		}
		_, err = tx.Jobs.ByName(fmt.Sprintf("%s_%d", tasks.ListKind, chosen.ID))
		if reading = err == nil; errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	})
	return screen{
		nav: "/tasks", title: v.T("chats.title"), body: v.chatsBody(users, chosen),
		parts: []part{{"chats", v.chatList(chosen, list, reading)}},
	}, err
}

// readChats starts a new reading of an account's chats.
func (s taskPages) readChats(c echo.Context) error {
	number, err := strconv.ParseUint(c.FormValue("identity_id"), 10, 64)
	if err != nil {
		return echo.ErrBadRequest
	}
	return s.do(c, chatsPath(number), "chats-read", func(tx *store.Tx) error { return tasks.ListChats(tx, number) })
}
