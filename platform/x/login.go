package x

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"belfry/platform"
	"belfry/platform/rest"
)

// Login is what an identity logs in with: the four keys of OAuth 1.0a, or those of OAuth 2.
type Login struct {
	ConsumerKey    string `json:"consumer_key,omitempty"`
	ConsumerSecret string `json:"consumer_secret,omitempty"`
	AccessToken    string `json:"access_token,omitempty"`
	AccessSecret   string `json:"access_token_secret,omitempty"`

	ClientID     string    `json:"client_id,omitempty"`
	ClientSecret string    `json:"client_secret,omitempty"`
	Access       string    `json:"access,omitempty"`
	Refresh      string    `json:"refresh,omitempty"` // works once: each refresh brings the next
	Expires      time.Time `json:"expires,omitzero"`  // of Access

	// State and Verifier are of a login that has begun and is not finished.
	State    string `json:"state,omitempty"`
	Verifier string `json:"verifier,omitempty"`

	UserID int64 `json:"user_id,omitempty"`

	stored []byte // what the identity's secret is
}

// refreshAhead is how long before its end an access is refreshed.
const refreshAhead = 15 * time.Minute

// login reads what an identity logs in with. A pair of tokens that could not be stored is stored first.
func (n *Network) login(identityID uint64) (Login, error) {
	l, stored, err := rest.Login[Login](n.cfg.Keys, identityID, "keys")
	if err != nil {
		return l, err
	}
	l.stored = stored
	replaced := l.Refresh
	if kept, ok := n.unsaved.Load(replaced); ok {
		pair := kept.(Login)
		l.Access, l.Refresh, l.Expires = pair.Access, pair.Refresh, pair.Expires
		if err = n.save(identityID, &l); err == nil {
			n.unsaved.Delete(replaced)
		}
	}
	return l, err
}

func (n *Network) save(identityID uint64, l *Login) (err error) {
	if l.stored, err = rest.SaveLogin(n.cfg.Keys, identityID, "keys", l.stored, l); err != nil { // what needs it is not sent
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: err}
	}
	return nil
}

func (n *Network) oauth2(l Login) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	if l.ClientSecret == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: l.ClientSecret, RedirectURL: n.cfg.Redirect,
		Scopes:   []string{"tweet.read", "tweet.write", "users.read", "media.write", "offline.access"},
		Endpoint: oauth2.Endpoint{AuthURL: n.site + "/i/oauth2/authorize", TokenURL: n.api + "/2/oauth2/token", AuthStyle: style},
	}
}

// Begin begins a login by OAuth 2 and returns the address where the owner lets Belfry in.
func (n *Network) Begin(_ context.Context, identityID uint64) (address string, err error) {
	l, err := n.login(identityID)
	if err != nil {
		return "", err
	}
	if l.ClientID == "" {
		return "", &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Err: errors.New("it has the keys of OAuth 1.0a and needs no login")}
	}
	l.State, l.Verifier = rand.Text(), oauth2.GenerateVerifier()
	return n.oauth2(l).AuthCodeURL(l.State, oauth2.S256ChallengeOption(l.Verifier)), n.save(identityID, &l)
}

// Finish ends a login with what X has given the owner. It returns whose it is and what the identity logs in with from
// now on, and stores nothing. An error with a Field says which of it is wrong.
func (n *Network) Finish(ctx context.Context, identityID uint64, code, state string) (platform.Profile, []byte, error) {
	l, err := n.login(identityID)
	if err != nil {
		return platform.Profile{}, nil, err
	}
	if l.State == "" || state != l.State {
		return platform.Profile{}, nil, refused("state", "is not of the login that was begun last: begin again")
	}
	token, err := n.oauth2(l).Exchange(n.with(ctx), code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		e := tokenError(err)
		if e.Kind == platform.Login {
			e = refused("code", e.Err.Error()+": begin again")
		}
		return platform.Profile{}, nil, e
	}
	l.State, l.Verifier = "", ""
	n.take(&l, token)
	profile, err := (&session{n, 0, Login{Access: l.Access}}).probe(ctx)
	if err != nil {
		return profile, nil, err
	}
	l.UserID = profile.ID
	secret, err := json.Marshal(l)
	return profile, secret, err
}

// Refresh replaces the access of an identity shortly before it ends, and returns when to do so again; zero for keys
// that do not end.
func (n *Network) Refresh(ctx context.Context, identityID uint64) (again time.Time, err error) {
	l, err := n.login(identityID)
	if err != nil || l.Refresh == "" {
		return time.Time{}, err
	}
	if n.cfg.Now().Before(l.Expires.Add(-refreshAhead)) {
		return l.Expires.Add(-refreshAhead), nil
	}
	if err := n.refresh(ctx, identityID, &l); err != nil {
		return time.Time{}, err
	}
	return l.Expires.Add(-refreshAhead), nil
}

func (n *Network) refresh(ctx context.Context, identityID uint64, l *Login) error {
	token, err := n.oauth2(*l).TokenSource(n.with(ctx), &oauth2.Token{RefreshToken: l.Refresh}).Token()
	if err != nil {
		e := tokenError(err)
		if e.Kind == platform.Login {
			return errors.Join(e, n.cfg.Keys.LoggedOut(identityID, l.stored, e.Error()))
		}
		return e
	}
	return n.renew(identityID, l, token)
}

// renew stores a new pair of tokens; the old one is void, so the new one is kept even where that fails.
func (n *Network) renew(identityID uint64, l *Login, token *oauth2.Token) error {
	replaced := l.Refresh
	n.take(l, token)
	err := n.save(identityID, l)
	if err != nil {
		n.unsaved.Store(replaced, *l)
	}
	return err
}

// take puts a new pair of tokens in the place of the old one.
func (n *Network) take(l *Login, token *oauth2.Token) {
	l.Access, l.Expires = token.AccessToken, n.cfg.Now().Add(time.Duration(token.ExpiresIn)*time.Second)
	if token.RefreshToken != "" {
		l.Refresh = token.RefreshToken
	}
}

func (n *Network) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, n.http)
}

// tokenError sorts what went wrong with a token: whatever became of the call, it may be repeated. A login has ended
// only if X says so by a code of OAuth: a gateway answers with any status.
func tokenError(err error) *platform.Error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if ok && slices.Contains([]string{"invalid_grant", "invalid_request", "invalid_client", "unauthorized_client"}, said.ErrorCode) {
		return loggedOut(fmt.Errorf("the login was refused: %s %s", said.ErrorCode, said.ErrorDescription))
	}
	if ok { // without its page
		err = fmt.Errorf("the server of X answers %s", said.Response.Status)
	}
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: err}
}

// Probe asks X whose keys a secret has, and returns the secret with the id of the user.
func (n *Network) Probe(ctx context.Context, secret []byte) (platform.Profile, []byte, error) {
	var l Login
	if err := json.Unmarshal(secret, &l); err != nil {
		return platform.Profile{}, nil, fmt.Errorf("read the keys: %w", err)
	}
	profile, err := (&session{n, 0, l}).probe(ctx)
	if err != nil {
		return profile, nil, err
	}
	l.UserID = profile.ID
	secret, err = json.Marshal(l)
	return profile, secret, err
}

func (s *session) probe(ctx context.Context) (platform.Profile, error) {
	var me struct {
		Data struct{ ID, Name, Username string }
	}
	if err := s.get(ctx, "/2/users/me", nil, &me); err != nil {
		return platform.Profile{}, err
	}
	number, err := strconv.ParseInt(me.Data.ID, 10, 64)
	if err != nil {
		return platform.Profile{}, fmt.Errorf("the id of the user: %w", err)
	}
	return platform.Profile{ID: number, Username: me.Data.Username, Title: me.Data.Name}, nil
}

func loggedOut(err error) *platform.Error {
	return &platform.Error{Kind: platform.Login, Scope: platform.ScopeIdentity, Err: err}
}
