package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/accounts"
)

// newAccount is the request for an account to be watched.
type newAccount struct {
	Site         string `json:"site,omitempty" doc:"Where: instagram (default), x, tiktok, youtube, github, telegram, or one of an imported rule" example:"instagram"`
	Username     string `json:"username" doc:"The name, with or without @, or the address of the profile" example:"evening_news"`
	Note         string `json:"note,omitempty" doc:"What people want to know of it"`
	Tag          string `json:"tag,omitempty" doc:"A word that lists can be narrowed by" example:"press"`
	OwnerChat    string `json:"owner_chat,omitempty" doc:"Who is told beside the admins: @name or a chat's id" example:"@editor"`
	KeepWatching bool   `json:"keep_watching,omitempty" doc:"Go on looking at it when it has been found, so that its vanishing is noticed"`
}

// newAccounts is a list of accounts.
type newAccounts struct {
	Text         string `json:"text" doc:"One name in each line, or CSV; the README describes both" example:"evening_news\n@morning_news"`
	Site         string `json:"site,omitempty" doc:"Of the lines that name none; instagram if left out" example:"instagram"`
	Note         string `json:"note,omitempty" doc:"Of the lines that have none"`
	Tag          string `json:"tag,omitempty" doc:"Of the lines that have none" example:"press"`
	OwnerChat    string `json:"owner_chat,omitempty" doc:"Of the lines that name none"`
	KeepWatching bool   `json:"keep_watching,omitempty" doc:"Of the lines that do not say"`
}

// accountPatch is a change to an account; what is left out stays.
type accountPatch struct {
	Note         *string `json:"note,omitempty"`
	Tag          *string `json:"tag,omitempty"`
	OwnerChat    *string `json:"owner_chat,omitempty"`
	KeepWatching *bool   `json:"keep_watching,omitempty"`
}

// WatchedAccount is an account as the API shows it.
type WatchedAccount struct {
	ID           uint64    `json:"id"`
	Site         string    `json:"site"`
	Username     string    `json:"username"`
	Link         string    `json:"link,omitempty" doc:"Of the profile, for people"`
	Note         string    `json:"note,omitempty"`
	Tag          string    `json:"tag,omitempty"`
	OwnerChat    string    `json:"owner_chat,omitempty"`
	KeepWatching bool      `json:"keep_watching"`
	State        string    `json:"state" doc:"What is believed: pending (never found yet), found, or not_found (it was there, and has vanished)" enum:"pending,found,not_found"`
	Watched      bool      `json:"watched" doc:"Whether the next check looks at it"`
	Outcome      string    `json:"last_outcome,omitempty" doc:"What the last check came to: found, not_found, or error (the site would not say, and nothing is believed of it)" enum:"found,not_found,error"`
	Detail       string    `json:"last_detail,omitempty" doc:"The words for it"`
	Failures     int       `json:"failures,omitempty" doc:"Checks in a row that came to an error"`
	CheckedAt    time.Time `json:"checked_at,omitzero"`
	FoundAt      time.Time `json:"found_at,omitzero" doc:"When it was found for the first time"`
	ChangedAt    time.Time `json:"changed_at,omitzero" doc:"When its state last changed"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

func (s accountDoor) shownAccount(tx *store.Tx, a store.Account) (WatchedAccount, error) {
	return shownAccount(s.accounts.ProfileLinks(tx), a), nil
}

func shownAccount(link func(store.Account) string, a store.Account) WatchedAccount {
	return WatchedAccount{
		ID: a.ID, Site: a.Site, Username: a.Username, Link: link(a), Note: a.Note, Tag: a.Tag, OwnerChat: a.OwnerChat,
		KeepWatching: a.KeepWatching, State: string(a.State), Watched: a.Watched(), Outcome: string(a.Outcome), Detail: a.Detail,
		Failures: a.Failures, CheckedAt: a.CheckedAt, FoundAt: a.FoundAt, ChangedAt: a.ChangedAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// Accounts is the door to accounts, their sites and their check.
func Accounts(w *accounts.Worker) Door {
	return func(server *Server, a *api) {
		s := accountDoor{server, w}
		operation(a, http.MethodGet, "/accounts", "List the accounts that are watched", s.listAccounts)
		operation(a, http.MethodPost, "/accounts", "Watch an account", s.createAccount)
		operation(a, http.MethodPost, "/accounts/import", "Watch the accounts of a list, with a report of each line", s.importAccounts, longBodies, patient)
		operation(a, http.MethodGet, "/accounts/{id}", "Read an account", s.readAccount)
		operation(a, http.MethodPatch, "/accounts/{id}", "Change a watched account", s.changeAccount)
		operation(a, http.MethodDelete, "/accounts/{id}", "Remove an account and its history", s.removeAccount)
		operation(a, http.MethodGet, "/accounts/{id}/results", "List the results of an account's checks, the latest first", s.listResults)
		s.sitesAPI(a)
		s.autocheckAPI(a)
	}
}

type accountDoor struct {
	*Server
	accounts *accounts.Worker
}

type accountFilter struct {
	Paged
	State string `query:"state" enum:"pending,found,not_found" doc:"Only accounts in this state"`
	Site  string `query:"site" doc:"Only accounts of this site" example:"instagram"`
	Tag   string `query:"tag" doc:"Only accounts with this tag"`
	Name  string `query:"name" maxLength:"200" doc:"Only accounts with this in their names"`
}

func (s accountDoor) listAccounts(_ context.Context, in *accountFilter) (*reply[List[WatchedAccount]], error) {
	var link func(store.Account) string
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Account], error) {
		link = s.accounts.ProfileLinks(tx)
		return s.accounts.Find(tx, store.AccountFilter{State: store.AccountState(in.State), Site: in.Site, Tag: in.Tag, Name: in.Name}, in.query())
	}, plain(func(a store.Account) WatchedAccount { return shownAccount(link, a) }))
}

func (s accountDoor) createAccount(ctx context.Context, in *creation[newAccount]) (*created[WatchedAccount], error) {
	return once(ctx, s.Server, "accounts", in, func() (func(*store.Tx) (WatchedAccount, error), error) {
		b := in.Body
		return func(tx *store.Tx) (WatchedAccount, error) {
			a, err := s.accounts.Add(tx, accounts.Request{
				Site: b.Site, Username: b.Username, Note: b.Note, Tag: b.Tag, OwnerChat: b.OwnerChat, KeepWatching: b.KeepWatching,
			})
			if err != nil {
				return WatchedAccount{}, err
			}
			return shownAccount(s.accounts.ProfileLinks(tx), a), nil
		}, nil
	})
}

// ImportedLine is what became of one name of a list.
type ImportedLine struct {
	Line      int    `json:"line" doc:"From 1"`
	Text      string `json:"text" doc:"As it was written"`
	Username  string `json:"username,omitempty" doc:"As it was understood"`
	AccountID uint64 `json:"account_id,omitempty"`
	Result    string `json:"result" doc:"added, duplicate (watched already, or named further up) or invalid" enum:"added,duplicate,invalid"`
	Problem   string `json:"problem,omitempty" doc:"With invalid: what is wrong, and what to do"`
}

// Imported is what became of a list.
type Imported struct {
	Added      int            `json:"added"`
	Duplicates int            `json:"duplicates"`
	Invalid    int            `json:"invalid"`
	Lines      []ImportedLine `json:"lines" nullable:"false"`
}

func (s accountDoor) importAccounts(ctx context.Context, in *creation[newAccounts]) (*created[Imported], error) {
	return once(ctx, s.Server, "accounts/import", in, func() (func(*store.Tx) (Imported, error), error) {
		b := in.Body
		return func(tx *store.Tx) (Imported, error) {
			list, err := s.accounts.AddList(tx, b.Text, accounts.Request{
				Site: b.Site, Note: b.Note, Tag: b.Tag, OwnerChat: b.OwnerChat, KeepWatching: b.KeepWatching,
			})
			if err != nil {
				return Imported{}, ofField(err, "list", "text")
			}
			out := Imported{Added: list.Added, Duplicates: list.Duplicates, Invalid: list.Invalid, Lines: make([]ImportedLine, 0, len(list.Lines))}
			for _, line := range list.Lines {
				shown := ImportedLine{Line: line.N, Text: line.Text, Username: line.Username, AccountID: line.ID, Result: string(line.Result)}
				if line.Problem != nil {
					shown.Problem = ProblemOf(line.Problem).Detail
				}
				out.Lines = append(out.Lines, shown)
			}
			return out, nil
		}, nil
	})
}

// ofField gives a refusal of a field the name that the field has here.
func ofField(err error, name, here string) error {
	if wrong, ok := errors.AsType[*store.FieldError](err); ok && wrong.Field == name {
		return store.Invalid(here, wrong.Key, wrong.Args...)
	}
	return err
}

func (s accountDoor) readAccount(_ context.Context, in *one) (*reply[WatchedAccount], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Account, error) { return tx.Accounts.Get(in.ID) }, s.shownAccount)
}

type accountChange struct {
	ID   uint64 `path:"id" doc:"The account's id"`
	Body accountPatch
}

func (s accountDoor) changeAccount(_ context.Context, in *accountChange) (*reply[WatchedAccount], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Account, error) {
		return s.accounts.Change(tx, in.ID, accounts.Change(in.Body))
	}, s.shownAccount)
}

func (s accountDoor) removeAccount(_ context.Context, in *one) (*struct{}, error) {
	return nil, s.db.Update(func(tx *store.Tx) error { return s.accounts.Remove(tx, in.ID) })
}

// AccountResult is what checks of an account came to, as long as they came to the same.
type AccountResult struct {
	ID      uint64    `json:"id"`
	Outcome string    `json:"outcome" doc:"found, not_found or error" enum:"found,not_found,error"`
	State   string    `json:"state" doc:"What was believed of the account then" enum:"pending,found,not_found"`
	Changed bool      `json:"changed" doc:"The first of these checks changed what was believed"`
	Status  int       `json:"status,omitempty" doc:"Of the site's answer"`
	Detail  string    `json:"detail,omitempty"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Times   int       `json:"times" doc:"How many checks"`
	CheckID uint64    `json:"check_id" doc:"The last of them"`
}

type resultFilter struct {
	ID uint64 `path:"id" doc:"The account's id"`
	Paged
}

func (s accountDoor) listResults(_ context.Context, in *resultFilter) (*reply[List[AccountResult]], error) {
	return listed(s.Server, func(tx *store.Tx) (page store.Page[store.AccountResult], err error) {
		if _, err := tx.Accounts.Get(in.ID); err != nil {
			return page, err
		}
		return tx.AccountResults.Of(in.ID, in.query())
	}, plain(func(r store.AccountResult) AccountResult {
		return AccountResult{
			ID: r.ID, Outcome: string(r.Outcome), State: string(r.State), Changed: r.Changed, Status: r.Status, Detail: r.Detail,
			From: r.From, To: r.To, Times: r.Times, CheckID: r.CheckID,
		}
	}))
}
