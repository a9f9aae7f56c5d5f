package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/identities"
)

// newIdentity is the request for an identity.
type newIdentity struct {
	Platform string `json:"platform" doc:"telegram, instagram, twitter or x" example:"telegram"`
	Name     string `json:"name,omitempty" doc:"What to call it; if left out main, or user for a user account"`
	Kind     string `json:"kind,omitempty" doc:"bot (default) or user"`
	Token    string `json:"token,omitempty" doc:"Of a bot: what @BotFather gave; of an Instagram account: its access token. It is never shown again"`
	Session  string `json:"session,omitempty" doc:"Of a user account: a Telethon StringSession, or its .session file in base64; never shown again. Without one it is logged in later"`
	Target   string `json:"target,omitempty" doc:"Where its posts go unless they say otherwise" example:"@evening_news"`
	Window   string `json:"window,omitempty" doc:"How many posts it may send in any hour or day, or off; if left out as the settings say" example:"25/1h,100/24h"`
	Keys
}

// Keys are what accounts of Instagram and X log in with. None is ever shown again.
type Keys struct {
	ExpiresAt      time.Time `json:"expires_at,omitzero" doc:"When the access token of Instagram ends, if that is known"`
	ConsumerKey    string    `json:"consumer_key,omitempty" doc:"X, OAuth 1.0a: API key of the application"`
	ConsumerSecret string    `json:"consumer_secret,omitempty" doc:"X, OAuth 1.0a: its secret"`
	AccessToken    string    `json:"access_token,omitempty" doc:"X, OAuth 1.0a: access token of the user"`
	AccessSecret   string    `json:"access_token_secret,omitempty" doc:"X, OAuth 1.0a: its secret"`
	ClientID       string    `json:"client_id,omitempty" doc:"X, OAuth 2: the application; the user then logs in"`
	ClientSecret   string    `json:"client_secret,omitempty" doc:"X, OAuth 2: its secret, if it has one"`
}

func (k Keys) entered() identities.Keys {
	return identities.Keys{
		ExpiresAt: k.ExpiresAt, ConsumerKey: k.ConsumerKey, ConsumerSecret: k.ConsumerSecret, AccessToken: k.AccessToken,
		AccessSecret: k.AccessSecret, ClientID: k.ClientID, ClientSecret: k.ClientSecret,
	}
}

// identityPatch is a change to an identity; what is left out stays.
type identityPatch struct {
	Token  *string `json:"token,omitempty"`
	Target *string `json:"target,omitempty"`
	Window *string `json:"window,omitempty" doc:"How many posts it may send; empty: as the settings say" example:"25/1h,100/24h"`
	Slots  *[]Slot `json:"slots,omitempty" doc:"The times of its queue, for posts with queue; they replace those before. Posts that are scheduled stay"`
	Keys
}

// Identity is an account that Belfry acts as, as the API shows it: without what it logs in with.
type Identity struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"`
	Platform  string    `json:"platform"`
	Kind      string    `json:"kind" enum:"bot,user,profile"`
	Target    string    `json:"target,omitempty"`
	State     string    `json:"state" doc:"new, ready, login (a person has to log it in) or stopped (restricted by the network)" enum:"new,ready,login,stopped"`
	Reason    *Reason   `json:"reason,omitempty"`
	Connected bool      `json:"connected" doc:"Whether there is a connection to the network now"`
	Window    string    `json:"window,omitempty" doc:"How many posts it may send, if not as the settings say"`
	Slots     []Slot    `json:"slots" nullable:"false" doc:"The times of its queue"`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"When its token ends unless it is refreshed"`
	Username  string    `json:"username,omitempty"`
	Title     string    `json:"title,omitempty" doc:"The name that readers see"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Slot is times of a queue: at each, one post of a channel is published.
type Slot struct {
	Times []string `json:"times" nullable:"false" doc:"Times of day" example:"[\"09:00\",\"18:30\"]"`
	Days  []int    `json:"days_of_week,omitempty" nullable:"false" doc:"1 is Monday, 7 is Sunday; each day if left out"`
	Zone  string   `json:"zone" doc:"Their time zone" example:"Europe/Moscow"`
}

func storedSlots(slots []Slot) []store.Slot {
	stored := make([]store.Slot, 0, len(slots))
	for _, s := range slots {
		stored = append(stored, store.Slot(s))
	}
	return stored
}

func shownSlots(stored []store.Slot) []Slot {
	slots := make([]Slot, 0, len(stored))
	for _, s := range stored {
		slots = append(slots, Slot(s))
	}
	return slots
}

func (s identityDoor) shownIdentity(i store.Identity) Identity {
	connection := s.logins.Connection(i.ID)
	if i.Reason.Zero() && connection.Err != "" {
		i.Reason = store.Reason{Code: store.ReasonNotConnected, Detail: connection.Err}
	}
	return Identity{
		ID: i.ID, Name: i.Name, Platform: i.Platform, Kind: string(i.Kind), Target: i.Target, State: string(i.State),
		Reason: s.reasonOf(i.Reason), Connected: connection.State == platform.Connected, Username: i.Username, Title: i.Title,
		Window: i.Window, Slots: shownSlots(i.Slots), ExpiresAt: i.Expires,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
}

// Identities is the door to identities.
func Identities(w *identities.Worker) Door {
	return func(server *Server, a *api) {
		s := identityDoor{server, w}
		operation(a, http.MethodGet, "/identities", "List the identities: the accounts that Belfry acts as", s.listIdentities)
		operation(a, http.MethodPost, "/identities", "Add an identity", s.createIdentity, longBodies, patient)
		operation(a, http.MethodPatch, "/identities/{id}", "Change an identity", s.changeIdentity, patient)
		operation(a, http.MethodDelete, "/identities/{id}", "Remove an identity", s.removeIdentity)
		operation(a, http.MethodPost, "/identities/{id}/resume", "Let an identity act again after the network restricted it", s.resumeIdentity)
		s.loginAPI(a)
	}
}

type identityDoor struct {
	*Server
	logins *identities.Worker
}

type identityFilter struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"500" doc:"How many items at most"`
	Cursor uint64 `query:"cursor" doc:"next_cursor of the page before"`
}

func (s identityDoor) listIdentities(_ context.Context, in *identityFilter) (*reply[List[Identity]], error) {
	rows, err := identities.List(s.db)
	if err != nil {
		return nil, err
	}
	out := List[Identity]{Items: []Identity{}}
	for _, i := range rows {
		if i.ID < in.Cursor {
			continue
		}
		if len(out.Items) == in.Limit {
			out.Next = strconv.FormatUint(i.ID, 10)
			break
		}
		out.Items = append(out.Items, s.shownIdentity(i))
	}
	return answer(out), nil
}

func (s identityDoor) createIdentity(ctx context.Context, in *creation[newIdentity]) (*created[Identity], error) {
	return once(ctx, s.Server, "identities", in, func() (func(*store.Tx) (Identity, error), error) {
		session, err := s.readSession(in.Body.Session)
		if err != nil {
			return nil, err
		}
		request, err := s.logins.Prepare(ctx, identities.Request{
			Platform: in.Body.Platform, Name: in.Body.Name, Kind: in.Body.Kind, Token: in.Body.Token, Session: session,
			Target: in.Body.Target, Window: in.Body.Window, Keys: in.Body.entered(),
		})
		if err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (Identity, error) {
			i, err := identities.Add(tx, request)
			return s.shownIdentity(i), err
		}, nil
	})
}

type identityChange struct {
	ID   uint64 `path:"id" doc:"The identity's id"`
	Body identityPatch
}

func (s identityDoor) changeIdentity(ctx context.Context, in *identityChange) (*reply[Identity], error) {
	patch := identities.Patch{Token: in.Body.Token, Target: in.Body.Target, Window: in.Body.Window}
	if in.Body.Slots != nil {
		slots := storedSlots(*in.Body.Slots)
		patch.Slots = &slots
	}
	if entered := in.Body.entered(); entered != (identities.Keys{}) {
		patch.Keys = &entered
	}
	patch, err := s.logins.PrepareChange(ctx, in.ID, patch)
	if err != nil {
		return nil, err
	}
	return record(s.db.Update, func(tx *store.Tx) (store.Identity, error) {
		return identities.Change(tx, in.ID, patch)
	}, plain(s.shownIdentity))
}

func (s identityDoor) removeIdentity(_ context.Context, in *one) (*struct{}, error) {
	return nil, s.db.Update(func(tx *store.Tx) error { return identities.Remove(tx, in.ID) })
}

func (s identityDoor) resumeIdentity(_ context.Context, in *one) (*reply[Identity], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Identity, error) { return identities.Resume(tx, in.ID) }, plain(s.shownIdentity))
}
