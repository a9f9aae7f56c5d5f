package identities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/instagram"
	"belfry/platform/x"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// Connector is a network without connections that last: each call carries what the identity logs in with.
type Connector interface {
	// Probe asks the network whose secret it is, and returns it completed.
	Probe(ctx context.Context, secret []byte) (platform.Profile, []byte, error)
	// Refresh replaces what ends soon, and returns when to do so again; zero: it does not end.
	Refresh(ctx context.Context, identityID uint64) (again time.Time, err error)
}

// Authorizer is a network whose owners let Belfry in on its site.
type Authorizer interface {
	Begin(ctx context.Context, identityID uint64) (address string, err error)
	// Finish returns whose login it is and the secret that it brings, which is not stored.
	Finish(ctx context.Context, identityID uint64, code, state string) (platform.Profile, []byte, error)
}

// Keys are what an identity of Instagram or X logs in with.
type Keys struct {
	Token     string    // of Instagram
	ExpiresAt time.Time // of the token; zero: not known

	// Of X: the four keys of OAuth 1.0a, or the application's of OAuth 2.
	ConsumerKey, ConsumerSecret, AccessToken, AccessSecret string
	ClientID, ClientSecret                                 string
}

// proved is a secret that its network has accepted.
type proved struct {
	secret  []byte
	profile platform.Profile // zero: it has to log in first
}

// secret returns the keys as their adapter reads them, and whether they are good without a login.
func (k Keys) secret(platformName string) (secret []byte, complete bool, err error) {
	k.Token = strings.TrimSpace(k.Token)
	if platformName == instagram.Platform {
		if k.Token == "" {
			return nil, false, store.Invalid("token", "invalid.instagram_token_missing")
		}
		secret, err = json.Marshal(instagram.Login{Token: k.Token, Expires: k.ExpiresAt})
		return secret, true, err
	}
	if k.ClientID != "" {
		secret, err = json.Marshal(x.Login{ClientID: strings.TrimSpace(k.ClientID), ClientSecret: strings.TrimSpace(k.ClientSecret)})
		return secret, false, err
	}
	l := x.Login{
		ConsumerKey: strings.TrimSpace(k.ConsumerKey), ConsumerSecret: strings.TrimSpace(k.ConsumerSecret),
		AccessToken: strings.TrimSpace(k.AccessToken), AccessSecret: strings.TrimSpace(k.AccessSecret),
	}
	for _, key := range [][2]string{{"consumer_key", l.ConsumerKey}, {"consumer_secret", l.ConsumerSecret}, {"access_token", l.AccessToken}, {"access_token_secret", l.AccessSecret}} {
		if key[1] == "" {
			return nil, false, store.Invalid(key[0], "invalid.x_key_missing")
		}
	}
	secret, err = json.Marshal(l)
	return secret, true, err
}

// prove tries keys out, so that wrong ones are refused when they are entered.
func (w *Worker) prove(ctx context.Context, platformName string, k Keys) (p proved, err error) {
	network := w.cfg.Connectors[platformName]
	if network == nil {
		return p, store.Invalid("platform", "invalid.not_in_version", platformName, "telegram")
	}
	secret, complete, err := k.secret(platformName)
	if err != nil || !complete {
		return proved{secret: secret}, err
	}
	field := "token"
	if platformName == x.Platform {
		field = "access_token"
	}
	p.profile, p.secret, err = network.Probe(ctx, secret)
	return p, refusal(field, err)
}

// refusal makes an error of a network one of a field, where it says that what was entered is wrong.
func refusal(field string, err error) error {
	e, ok := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		return nil
	case ok && (e.Kind == platform.Login || e.Kind == platform.Refused || e.Kind == platform.Stopped):
		return store.Invalid(cmp.Or(e.Field, field), "invalid.refused", store.Detail(e.Error()))
	}
	return send.Conflict(err)
}

// canonical is the name under which a platform is stored.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "x" {
		return x.Platform
	}
	return name
}

// Prepare completes a request for what only its network knows. It takes a call. One for Telegram is refused while
// there is no application.
func (w *Worker) Prepare(ctx context.Context, r Request) (Request, error) {
	r.Platform = canonical(r.Platform)
	if r.Platform != instagram.Platform && r.Platform != x.Platform {
		if err := checkTarget(r.Target); err != nil {
			return r, err
		}
		return r, w.mustHaveApplication()
	}
	r.Keys.Token = r.Token
	var err error
	r.proved, err = w.prove(ctx, r.Platform, r.Keys)
	return r, err
}

// chatForm is how people write a chat of Telegram: @name, a link, or an id.
var chatForm = regexp.MustCompile(`^(@?[A-Za-z][A-Za-z0-9_]{3,31}|-?[0-9]+|me|(https?://)?(t|telegram)\.(me|dog)/\S+)$`)

// checkTarget refuses a target that is no chat, which else only the next post would find out.
func checkTarget(target string) error {
	if target = strings.TrimSpace(target); target != "" && !chatForm.MatchString(target) {
		return store.Invalid("target", "invalid.chat", target)
	}
	return nil
}

// PrepareChange does for a change what [Worker.Prepare] does for a request.
func (w *Worker) PrepareChange(ctx context.Context, id uint64, p Patch) (Patch, error) {
	i, err := w.identity(id)
	if err == nil && i.Kind != store.IdentityProfile && p.Target != nil {
		err = checkTarget(*p.Target)
	}
	if err != nil || i.Kind != store.IdentityProfile || p.Token == nil && p.Keys == nil {
		return p, err
	}
	var k Keys
	if p.Keys != nil {
		k = *p.Keys
	}
	if p.Token != nil {
		k.Token = *p.Token
	}
	p.proved, err = w.prove(ctx, i.Platform, k)
	if err != nil {
		return p, err
	}
	return p, sameProfile(i, p.proved.profile, "token")
}

// sameProfile refuses what would make an identity post as another account than before.
func sameProfile(i store.Identity, p platform.Profile, field string) error {
	if i.NetworkID != 0 && p.ID != 0 && p.ID != i.NetworkID {
		return store.Invalid(field, "invalid.other_profile", p.Username)
	}
	return nil
}

// enter gives an identity a secret that was proved.
func enter(tx *store.Tx, i *store.Identity, p proved) error {
	i.Secret, i.Sealed, i.Reason, i.State = string(p.secret), "", store.Reason{}, store.IdentityLogin
	if i.Platform == instagram.Platform {
		i.Expires = instagram.Expires(p.secret)
	}
	if p.profile.ID != 0 {
		become(i, p.profile)
	}
	i.UpdatedAt = tx.Now()
	if err := tx.Identities.Put(i); err != nil {
		return err
	}
	return keepToken(tx, *i)
}

// become makes an identity one that its network knows.
func become(i *store.Identity, p platform.Profile) {
	i.State, i.Reason = store.IdentityReady, store.Reason{}
	i.NetworkID, i.Username, i.Title = p.ID, p.Username, p.Title
	i.Target = "@" + p.Username
}

// BeginLogin returns where the owner of an identity lets Belfry in.
func (w *Worker) BeginLogin(ctx context.Context, id uint64) (Step, error) {
	network, i, err := w.authorizer(id)
	if err != nil {
		return Step{}, err
	}
	address, err := network.Begin(ctx, i.ID)
	return Step{State: platform.LoginLink, URL: address}, refusal("client_id", err)
}

// FinishLogin ends a login with what the network has given the owner. One of another account than before is refused.
func (w *Worker) FinishLogin(ctx context.Context, id uint64, code, state string) (Step, error) {
	network, i, err := w.authorizer(id)
	if err != nil {
		return Step{}, err
	}
	profile, secret, err := network.Finish(ctx, i.ID, strings.TrimSpace(code), strings.TrimSpace(state))
	if err != nil {
		return Step{}, refusal("code", err)
	}
	return Step{State: platform.LoginDone, Title: profile.Title}, w.db.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(id)
		if err != nil {
			return err
		}
		if err := sameProfile(i, profile, "code"); err != nil {
			return err
		}
		return enter(tx, &i, proved{secret, profile})
	})
}

// LoginOf returns the identity whose login was begun with this state.
func (w *Worker) LoginOf(state string) (id uint64, err error) {
	all, err := List(w.db)
	for _, i := range all {
		var l x.Login
		if i.Platform == x.Platform && json.Unmarshal([]byte(i.Secret), &l) == nil && l.State != "" && l.State == state {
			return i.ID, nil
		}
	}
	if err == nil {
		err = store.Invalid("state", "invalid.no_login_begun")
	}
	return 0, err
}

func (w *Worker) authorizer(id uint64) (Authorizer, store.Identity, error) {
	i, err := w.identity(id)
	if err != nil {
		return nil, i, err
	}
	if i.Kind != store.IdentityProfile {
		return nil, i, store.Invalid("body", "invalid.one_step")
	}
	network, can := w.cfg.Connectors[i.Platform].(Authorizer)
	if !can {
		return nil, i, store.Conflict("conflict.no_site_login", i.Name)
	}
	return network, i, nil
}

// Vault is the identities' secrets as adapters need them.
type Vault struct{ DB *store.DB }

var _ platform.Keys = Vault{}

// Secret implements [platform.Keys].
func (v Vault) Secret(id uint64) (secret []byte, err error) {
	err = v.DB.View(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(id)
		secret = []byte(i.Secret)
		return err
	})
	if err == nil && len(secret) == 0 {
		err = errors.New("it has none, or it is sealed with another key")
	}
	return secret, err
}

// SetSecret implements [platform.Keys].
func (v Vault) SetSecret(id uint64, used, secret []byte) error {
	changed, err := v.change(id, used, func(i *store.Identity) {
		i.Secret, i.Sealed = string(secret), ""
		if i.Platform == instagram.Platform {
			i.Expires = instagram.Expires(secret)
		}
	})
	if err == nil && !changed {
		err = errors.New("another login was entered meanwhile")
	}
	return err
}

// LoggedOut implements [platform.Keys].
func (v Vault) LoggedOut(id uint64, used []byte, words string) error {
	_, err := v.change(id, used, func(i *store.Identity) {
		i.State, i.Reason = store.IdentityLogin, store.Reason{Code: store.ReasonLogin, Detail: words}
	})
	return err
}

// change changes an identity whose secret is still the one that was used.
func (v Vault) change(id uint64, used []byte, do func(*store.Identity)) (changed bool, err error) {
	err = v.DB.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(id)
		changed = err == nil && i.Secret == string(used)
		if !changed {
			return err
		}
		do(&i)
		i.UpdatedAt = tx.Now()
		return tx.Identities.Put(&i)
	})
	return changed, err
}

// TokenKind is the kind of the jobs that refresh what identities log in with.
const TokenKind = "token"

func tokenJob(id uint64) string { return fmt.Sprintf("%s_%d", TokenKind, id) }

// keepToken has what an identity logs in with refreshed ahead of its end.
func keepToken(tx *store.Tx, i store.Identity) error {
	if i.State != store.IdentityReady {
		return nil
	}
	return scheduler.Put(tx, store.Job{
		Name: tokenJob(i.ID), Kind: TokenKind, Subject: i.ID, Lane: i.Lane(), Trigger: store.Trigger{At: tx.Now()},
	})
}

const (
	// tokenPause is before a token is refreshed again for which there was no answer.
	tokenPause = 5 * time.Minute
	// tokenWarning is how long before the end of a token that could not be refreshed people are told.
	tokenWarning = 7 * 24 * time.Hour
)

// refresher refreshes the token of one identity. It runs in the lane of its posts: both may replace it.
type refresher struct{ *Worker }

// Run implements [scheduler.Worker].
func (r refresher) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	i, err := r.identity(job.Subject)
	network := r.cfg.Connectors[i.Platform]
	if errors.Is(err, store.ErrNotFound) || err == nil && (network == nil || i.State != store.IdentityReady) {
		return scheduler.Outcome{}, nil // a login puts the job anew
	}
	if err != nil {
		return scheduler.Outcome{}, err
	}
	again, err := network.Refresh(ctx, i.ID)
	if err == nil {
		return scheduler.Outcome{Again: again}, nil
	}
	answer := send.To(platform.AsError(err), r.db.Now(), send.Attempts{Most: 2})
	if answer.Next == send.IdentityOut {
		return scheduler.Outcome{Failed: true, Reason: answer.Reason, Err: err}, nil
	}
	again = worker.Later(again, r.db.Now().Add(tokenPause))
	return scheduler.Outcome{Again: again, Reason: store.Reason{Code: store.ReasonRetry, Detail: err.Error()}, Failed: true, Err: err}, nil
}

// ending returns an alert about a token that ends soon and was not refreshed.
func ending(i store.Identity, now time.Time) (store.Alert, bool) {
	ends := !i.Expires.IsZero() && i.State == store.IdentityReady && i.Expires.Sub(now) < tokenWarning
	return store.Alert{Kind: store.AlertToken, About: tokenJob(i.ID), Subject: i.ID, Name: i.Name,
		Reason: store.Reason{Code: store.ReasonTokenEnds, Until: i.Expires}}, ends
}
