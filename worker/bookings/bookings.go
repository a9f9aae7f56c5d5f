// Package bookings reminds clients of their appointments, asks them afterwards how it was, and takes in what they answer.
//
// A booking and its jobs are written together: reminder_{id} comes again for each of its times, feedback_{id} once. Each
// message has a key that is fixed when the times are, so that it arrives once. What is not sent says why.
package bookings

import (
	"fmt"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// Teller writes notices in a transaction, which are sent after it.
type Teller interface {
	// Tell tells those who run Belfry.
	Tell(tx *store.Tx, n store.Notice, more ...string) error
	// Reply answers a client as the bot that the notice names.
	Reply(tx *store.Tx, n store.Notice) error
}

// Config is what the worker needs to know of its owner.
type Config struct {
	Lang string         // of what the owner is told, and of clients whose booking says nothing
	Zone *time.Location // of digests, and of bookings that say nothing; nil means UTC
	// Plain returns the text of a post without its markup; nil leaves it as it is.
	Plain func(p store.Post) string
}

const (
	deadline = 30 * time.Second // of a call that sends a message
	attempts = 5
	backoff  = time.Minute // after the first failure; after the second it is twice that
)

// Worker keeps bookings.
type Worker struct {
	db        *store.DB
	as        func(identityID uint64) platform.Publisher
	teller    Teller
	cfg       Config
	i18n.Live // of what the owner is told, of digests, and of bookings that say nothing
}

// New returns a worker for the bookings in db, whose messages the publishers of its bots send.
func New(db *store.DB, as func(identityID uint64) platform.Publisher, teller Teller, cfg Config) *Worker {
	if cfg.Plain == nil {
		cfg.Plain = func(p store.Post) string { return p.Text }
	}
	w := &Worker{db: db, as: as, teller: teller, cfg: cfg}
	w.Live.SetLocale(cfg.Lang, cfg.Zone)
	return w
}

// SetLocale makes a language and a zone the present ones, also of the digest that has a time of day.
func (w *Worker) SetLocale(lang string, zone *time.Location) error {
	w.Live.SetLocale(lang, zone)
	return w.start()
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	kind := func(s sender) scheduler.Kind {
		return scheduler.Kind{
			Worker: s, Timeout: deadline + 10*time.Second, Retry: scheduler.Retry{Attempts: attempts, Backoff: backoff, Jitter: send.Jitter},
			About: worker.About(func(tx *store.Tx) store.Table[store.Booking] { return tx.Bookings.Table }, title),
		}
	}
	return worker.Module{
		Kinds: scheduler.Kinds{
			store.ReminderKind: kind(sender{Worker: w}), store.FeedbackKind: kind(sender{Worker: w, asks: true}),
		},
		Start: w.start, HandleUpdate: w.HandleUpdate,
	}
}

// title is what a booking is called beside other things.
func title(b store.Booking) string { return b.Service + " – " + b.Client }

// printer says what a client reads. It stays in the chat and is read on other days, so that it has no today, as what the
// owner is told has none.
func (w *Worker) printer(b store.Booking) i18n.Printer {
	zone, err := time.LoadLocation(b.Zone)
	if err != nil {
		zone = w.Zone()
	}
	return i18n.For(b.Lang, zone)
}

// tell tells the owner.
func (w *Worker) tell(tx *store.Tx, text string) error {
	return w.teller.Tell(tx, store.Notice{Kind: "booking", Text: text})
}

// peer returns how the booking's bot knows its client, and whether it may write to the client.
func peer(tx *store.Tx, b store.Booking) (p store.Peer, reachable bool) {
	var err error
	if b.ClientID != 0 {
		p, err = tx.Peers.ByPeer(b.IdentityID, store.PeerUser, b.ClientID)
	} else {
		p, err = tx.Peers.ByUsername(b.IdentityID, b.Client[1:])
	}
	return p, err == nil && p.Type == store.PeerUser && p.Wrote // a row that is damaged is written anew when the client writes
}

// ClientLink returns the link with which a client opens the bot who has never written to it. It is empty once the client
// has, and while the bot has not logged in.
func ClientLink(tx *store.Tx, b store.Booking) string {
	if _, reachable := peer(tx, b); reachable || b.Status.Final() {
		return ""
	}
	identity, err := tx.Identities.Get(b.IdentityID)
	if err != nil || identity.Username == "" {
		return ""
	}
	return fmt.Sprintf("https://t.me/%s?start=b%d_%s", identity.Username, b.ID, b.Code)
}
