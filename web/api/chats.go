package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/tasks"
)

// Chat is a place that an account can send to, as the API shows it.
type Chat struct {
	ID          uint64    `json:"id"`
	IdentityID  uint64    `json:"identity_id"`
	Target      string    `json:"target" doc:"What target_chat_ids calls it: @name if it has one, and else its id" example:"@evening_news"`
	ChatID      int64     `json:"chat_id" doc:"Its id as bots and Telethon write it" example:"-1001234567890"`
	Type        string    `json:"type" doc:"user, chat (a basic group) or channel (also a large group)" enum:"user,chat,channel"`
	Title       string    `json:"title"`
	Username    string    `json:"username,omitempty"`
	Off         bool      `json:"off" doc:"Nothing is sent there"`
	ReadOnly    bool      `json:"read_only" doc:"The account may not write there"`
	LastSuccess time.Time `json:"last_success_post_at,omitzero" doc:"When something was last sent there"`
	Seen        int       `json:"messages_seen" doc:"Messages of others that have come since, as far as the account was connected"`
	SlowMode    int       `json:"slow_mode_seconds,omitempty" doc:"The least time between two messages"`
	SlowUntil   time.Time `json:"slow_until,omitzero" doc:"Nothing is taken before that"`
	LastError   *Reason   `json:"last_error,omitempty" doc:"Of the last attempt, if that failed"`
	ListedAt    time.Time `json:"listed_at,omitzero" doc:"When the account's list of chats last had it"`
}

func (s *Server) shownChat(c store.Chat) Chat {
	number, _ := strconv.ParseInt(store.PeerTarget(c.Type, c.PeerID), 10, 64) // it is a number
	return Chat{
		ID: c.ID, IdentityID: c.IdentityID, Target: c.Target(), ChatID: number, Type: string(c.Type), Title: c.Title,
		Username: c.Username, Off: c.Off, ReadOnly: c.ReadOnly, LastSuccess: c.LastSuccess, Seen: c.Seen, SlowMode: c.Slowmode,
		SlowUntil: c.SlowUntil, LastError: s.reasonOf(c.LastError), ListedAt: c.ListedAt,
	}
}

// chatsAPI registers the operations on the chats of accounts.
func (s *Server) chatsAPI(a *api) {
	operation(a, http.MethodGet, "/chats", "List the chats of a user account by their titles", s.listChats)
	operation(a, http.MethodPatch, "/chats/{id}", "Switch a chat off, so that broadcasts skip it, or on", s.changeChat)
	operation(a, http.MethodPost, "/chats/refresh", "Refresh the list of an account's chats", s.refreshChats)
}

type chatFilter struct {
	IdentityID uint64 `query:"identity_id" doc:"The account; if left out the only one"`
	Paged
}

func (s *Server) listChats(_ context.Context, in *chatFilter) (*reply[List[Chat]], error) {
	account, err := s.account(in.IdentityID)
	if err != nil {
		return nil, err
	}
	return listed(s, func(tx *store.Tx) (store.Page[store.Chat], error) { return tx.Chats.ByTitle(account.ID, in.query()) }, plain(s.shownChat))
}

// account returns the user account that has an id, or with 0 the only one.
func (s *Server) account(id uint64) (store.Identity, error) {
	all, err := identities.Users(s.db)
	if err != nil {
		return store.Identity{}, err
	}
	for _, i := range all {
		if i.ID == id || (id == 0 && len(all) == 1) {
			return i, nil
		}
	}
	if id != 0 {
		return store.Identity{}, store.Invalid("identity_id", "invalid.not_user", id)
	}
	if len(all) == 0 {
		return store.Identity{}, store.Invalid("identity_id", "invalid.no_user")
	}
	return store.Identity{}, store.Invalid("identity_id", "invalid.which_account", len(all))
}

type chatChange struct {
	ID   uint64 `path:"id" doc:"The chat's id"`
	Body struct {
		Off bool `json:"off" doc:"Whether nothing is to be sent there"`
	}
}

func (s *Server) changeChat(_ context.Context, in *chatChange) (*reply[Chat], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Chat, error) { return tasks.SwitchChat(tx, in.ID, in.Body.Off) }, plain(s.shownChat))
}

type chatRefresh struct {
	Body struct {
		IdentityID number `json:"identity_id,omitempty" doc:"The account; if left out the only one"`
	}
}

// Refreshing names the job that reads the list.
type Refreshing struct {
	IdentityID uint64 `json:"identity_id"`
	Job        string `json:"job" doc:"The job that reads the list" example:"chat_list_2"`
}

func (s *Server) refreshChats(_ context.Context, in *chatRefresh) (*reply[Refreshing], error) {
	account, err := s.account(uint64(in.Body.IdentityID))
	if err != nil {
		return nil, err
	}
	if err := s.db.Update(func(tx *store.Tx) error { return tasks.ListChats(tx, account.ID) }); err != nil {
		return nil, err
	}
	return answer(Refreshing{account.ID, fmt.Sprintf("%s_%d", tasks.ListKind, account.ID)}), nil
}
