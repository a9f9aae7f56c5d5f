// Package identities manages the logins that Belfry acts as: it keeps them connected, logs user accounts in and
// out, and carries out the actions that people take on them.
package identities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

const (
	// Main is the name of the bot that the settings describe, and that posts use by default.
	Main = "main"
	// Notify is the name of the bot that tells the admins, if that is another one.
	Notify = "notify"
	// User is the name of the user account that the settings describe.
	User = "user"
)

// Network is where identities log in.
type Network interface {
	platform.Logins
	// Run keeps the identities connected until ctx ends.
	Run(ctx context.Context) error
	// Connect connects an identity that is new or was changed, and ends the connection of one that is gone.
	Connect(id uint64)
	Connection(id uint64) platform.Connection
}

// Config is the settings of the worker.
type Config struct {
	// LoggedIn is called when a user account has logged in; it may be nil.
	LoggedIn func(tx *store.Tx, id uint64) error
	// Connectors are the networks beside Telegram, by platform.
	Connectors map[string]Connector
	// Applications has the application as which Telegram is asked. Without a TryApplication it is not looked at.
	Applications Applications
	// TryApplication asks Telegram whether it accepts an application. Its error is a [*platform.Error].
	TryApplication func(ctx context.Context, id int, hash string) error
	// Connected receives after an identity was connected; it may be nil.
	Connected <-chan struct{}
	Log       zerolog.Logger
}

// Worker connects identities and logs them in and out. The errors of its steps are of type [*store.FieldError]
// where what a person entered is wrong, and [*store.ConflictError] where it is not their fault.
type Worker struct {
	db      *store.DB
	network Network
	cfg     Config
}

// New returns a worker for the identities in db, which log in at the network.
func New(db *store.DB, network Network, cfg Config) *Worker { return &Worker{db, network, cfg} }

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{Run: w.run, Wrong: w.wrong, Kinds: scheduler.Kinds{TokenKind: {
		Worker: refresher{w}, Timeout: time.Minute,
		About: worker.About(func(tx *store.Tx) store.Table[store.Identity] { return tx.Identities.Table }, func(i store.Identity) string { return i.Name }),
	}}}
}

// Request is a login as somebody adds it.
type Request struct {
	Platform string // telegram, instagram or twitter
	Name     string // what to call it; empty means main, or user for a user account
	Kind     string // bot or user; empty means bot
	Token    string // of the bot
	Session  []byte // of the user account, from [Logins.Session]; empty: it is logged in later
	Target   string // where its posts go unless they say otherwise
	Window   string // how many posts it may send; empty: as the settings say
	Keys     Keys   // of Instagram and X; their Token is the request's

	proved proved // by [Worker.Prepare]
}

// Patch is a change to a login. What is nil stays.
type Patch struct {
	Token  *string
	Target *string
	Window *string
	Slots  *[]store.Slot
	Keys   *Keys

	proved proved // by [Worker.PrepareChange]
}

// Add writes a new identity. Its adapter logs it in. One of Instagram or X must have been prepared.
func Add(tx *store.Tx, r Request) (store.Identity, error) {
	i := store.Identity{
		Platform: canonical(r.Platform), Name: strings.TrimSpace(r.Name),
		Kind: store.IdentityKind(r.Kind), Secret: strings.TrimSpace(r.Token), Target: strings.TrimSpace(r.Target),
		Window: strings.TrimSpace(r.Window), State: store.IdentityNew, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if err := checkWindow(i.Window); err != nil {
		return i, err
	}
	if r.proved.secret != nil {
		i.Kind, i.Name = store.IdentityProfile, cmp.Or(i.Name, Main)
		i.Target = cmp.Or(i.Target, "@"+i.Name)
		return i, taken(i, enter(tx, &i, r.proved))
	}
	if i.Kind == "" {
		i.Kind = store.IdentityBot
	}
	if i.Name == "" && i.Kind == store.IdentityUser {
		i.Name = User
	}
	if i.Name == "" {
		i.Name = Main
	}
	switch {
	case i.Platform != "telegram":
		return i, store.Invalid("platform", "invalid.not_in_version", r.Platform, "telegram")
	case i.Kind == store.IdentityUser && i.Secret != "":
		return i, store.Invalid("token", "invalid.token_for_bots")
	case i.Kind == store.IdentityUser && len(r.Session) == 0:
		i.State = store.IdentityLogin
	case i.Kind == store.IdentityUser:
	case i.Kind != store.IdentityBot:
		return i, store.Invalid("kind", "invalid.kind", r.Kind)
	}
	if i.Kind == store.IdentityBot {
		if err := checkToken(i.Secret); err != nil {
			return i, err
		}
	}
	err := taken(i, tx.Identities.Put(&i))
	if err == nil && len(r.Session) > 0 {
		err = tx.Sessions.Put(&store.Session{IdentityID: i.ID, Data: r.Session, UpdatedAt: tx.Now()})
	}
	return i, err
}

func taken(i store.Identity, err error) error {
	if errors.Is(err, store.ErrExists) {
		return store.Invalid("name", "invalid.taken", i.Name)
	}
	return err
}

func checkWindow(text string) error {
	if err := new(send.Window).UnmarshalText([]byte(text)); err != nil {
		return store.Invalid("window", "invalid.window", text)
	}
	return nil
}

// maxSlots bounds the parts of a queue, and the times of each.
const maxSlots = 50

// checkSlots checks the times of a queue. The errors are about fields such as slots[0].times[1].
func checkSlots(slots []store.Slot) error {
	if len(slots) > maxSlots {
		return store.Invalid("slots", "invalid.slots_number", maxSlots)
	}
	for i, s := range slots {
		field := fmt.Sprintf("slots[%d]", i)
		switch {
		case len(s.Times) == 0:
			return store.Invalid(field+".times", "invalid.times_missing")
		case len(s.Times) > maxSlots:
			return store.Invalid(field+".times", "invalid.slots_number", maxSlots)
		case s.Zone == "": // it would be UTC, which few owners mean
			return store.Invalid(field+".zone", "invalid.zone", s.Zone)
		}
		err := scheduler.Validate(s.Trigger())
		if wrong, ok := errors.AsType[*store.FieldError](err); ok {
			name := strings.NewReplacer("trigger.weekdays", field+".days_of_week", "trigger", field).Replace(wrong.Field)
			return store.Invalid(name, wrong.Key, wrong.Args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Import gives a user account the session that another program has written, in the place of its
// own. It connects with it.
func Import(tx *store.Tx, id uint64, session []byte) (store.Identity, error) {
	i, err := tx.Identities.Get(id)
	if err != nil {
		return i, err
	}
	if i.Kind != store.IdentityUser {
		return i, store.Conflict("conflict.is_bot", i.Name)
	}
	if err := forget(tx, id); err != nil {
		return i, err
	}
	if err := tx.Sessions.Put(&store.Session{IdentityID: id, Data: session, UpdatedAt: tx.Now()}); err != nil {
		return i, err
	}
	i.State, i.Reason, i.UpdatedAt = store.IdentityNew, store.Reason{}, tx.Now()
	return i, tx.Identities.Put(&i)
}

// checkToken checks the form of a bot's token, so that a slip in copying is found at once.
func checkToken(token string) error {
	form := regexp.MustCompile(`^\d{3,}:[A-Za-z0-9_-]{20,}$`)
	switch {
	case token == "":
		return store.Invalid("token", "invalid.token_missing")
	case !form.MatchString(token):
		return store.Invalid("token", "invalid.token")
	}
	return nil
}

// Change gives an identity another token or target. With another token it is logged in anew.
func Change(tx *store.Tx, id uint64, p Patch) (store.Identity, error) {
	i, err := tx.Identities.Get(id)
	if err != nil {
		return i, err
	}
	if p.Target != nil {
		i.Target = strings.TrimSpace(*p.Target)
	}
	if p.Window != nil {
		i.Window = strings.TrimSpace(*p.Window)
		if err := checkWindow(i.Window); err != nil {
			return i, err
		}
	}
	if p.Slots != nil {
		if err := checkSlots(*p.Slots); err != nil {
			return i, err
		}
		i.Slots = *p.Slots
	}
	if p.proved.secret != nil {
		return i, enter(tx, &i, p.proved)
	}
	if p.Token != nil && i.Kind != store.IdentityBot {
		return i, store.Invalid("token", "invalid.token_for_bots")
	}
	if p.Token != nil {
		token := strings.TrimSpace(*p.Token)
		if err := checkToken(token); err != nil {
			return i, err
		}
		if err := endSession(tx, id); err != nil {
			return i, err
		}
		if bot, _, _ := strings.Cut(token, ":"); bot != strconv.FormatInt(i.NetworkID, 10) {
			if err := errors.Join(forgetPeers(tx, id), tx.Identities.EndWaits(i)); err != nil {
				return i, err
			}
		} // else it is the same bot, and still may write to those who have written to it
		i.Secret, i.State, i.Reason = token, store.IdentityNew, store.Reason{}
	}
	i.UpdatedAt = tx.Now()
	return i, tx.Identities.Put(&i)
}

// Remove deletes an identity with all that it needs to log in. One that posts, broadcasts or bookings wait for stays.
func Remove(tx *store.Tx, id uint64) error {
	i, err := tx.Identities.Get(id)
	if err != nil {
		return err
	}
	for post := range tx.Posts.Pending(id) {
		return store.Conflict("conflict.post_waits", post.ID, i.Name)
	}
	for task := range tx.Tasks.Active(id) {
		return store.Conflict("conflict.task_waits", task.ID, i.Name)
	}
	for booking := range tx.Bookings.Open(id) {
		return store.Conflict("conflict.booking_waits", booking.ID, i.Name)
	}
	if err := errors.Join(forget(tx, id), scheduler.Delete(tx, tokenJob(id))); err != nil {
		return err
	}
	return tx.Identities.Delete(id)
}

// Configure makes a bot what the settings say, and returns it: there if it was not, with this token
// and, unless it is empty, this target. Settings that are the same as before change nothing.
func Configure(tx *store.Tx, name, token, target string) (store.Identity, error) {
	i, err := tx.Identities.ByName("telegram", name)
	if errors.Is(err, store.ErrNotFound) {
		return Add(tx, Request{Platform: "telegram", Name: name, Token: token, Target: target})
	}
	if err != nil {
		return i, err
	}
	var p Patch
	if i.Secret != strings.TrimSpace(token) {
		p.Token = &token
	}
	if target != "" && i.Target != strings.TrimSpace(target) {
		p.Target = &target
	}
	if p.Token == nil && p.Target == nil {
		return i, nil
	}
	return Change(tx, i.ID, p)
}

// Resume lets a login act again that the network had restricted, because its owner says that the
// restriction is over. If it is not, the next call tells.
func Resume(tx *store.Tx, id uint64) (store.Identity, error) {
	i, err := tx.Identities.Get(id)
	if err != nil {
		return i, err
	}
	if i.State != store.IdentityStopped {
		return i, store.Conflict("conflict.not_restricted", i.Name)
	}
	i.State, i.Reason, i.UpdatedAt = store.IdentityNew, store.Reason{}, tx.Now()
	if i.Kind == store.IdentityProfile { // no connection will say that it is logged in
		i.State = store.IdentityReady
	}
	if err := tx.Identities.Put(&i); err != nil || i.Kind != store.IdentityProfile {
		return i, err
	}
	return i, keepToken(tx, i)
}

// settingImported holds the marks of the sessions that were taken over from the settings.
const settingImported = "imported_session"

// HasAdopted reports whether a session was ever taken over from the settings.
func HasAdopted(tx *store.Tx) (bool, error) {
	marks, err := tx.Settings.Value(settingImported)
	return marks != "", err
}

// Adopt takes over the session of a user account that the settings name, once: mark says which one
// it is, and one that was taken over before changes nothing, so that an account which was logged out
// or logged in anew since stays as it is. Whose session it is shows when it connects, so it is added
// beside the accounts that are there; the adapter gives it to one of them that is the same.
func Adopt(tx *store.Tx, session []byte, mark string) error {
	marks, err := tx.Settings.Value(settingImported)
	if err != nil || slices.Contains(strings.Fields(marks), mark) {
		return err
	}
	name := User
	for n := 2; ; n++ {
		_, err := tx.Identities.ByName("telegram", name)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return err
		}
		name = fmt.Sprint(User, n)
	}
	i, err := Add(tx, Request{Platform: "telegram", Name: name, Kind: string(store.IdentityUser), Session: session})
	if err != nil {
		return err
	}
	i.Adopted = true
	return errors.Join(tx.Identities.Put(&i), tx.Settings.Set(settingImported, strings.TrimSpace(marks+" "+mark)))
}

// List returns the identities in the order in which they were added.
func List(db *store.DB) ([]store.Identity, error) {
	return worker.Read(db, func(tx *store.Tx) ([]store.Identity, error) { return slices.Collect(tx.Identities.All()), nil })
}

// Users returns the identities that are user accounts.
func Users(db *store.DB) (users []store.Identity, err error) {
	all, err := List(db)
	for _, i := range all {
		if i.Kind == store.IdentityUser {
			users = append(users, i)
		}
	}
	return users, err
}
