package bookings

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"belfry/store"
)

// Entry is a booking or a post in the calendar.
type Entry struct {
	Kind   string    `json:"kind" enum:"booking,post"`
	ID     uint64    `json:"id"`
	Title  string    `json:"title"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end" doc:"Of a post the same as start"`
	Status string    `json:"status"`

	NeedsApproval bool `json:"needs_approval,omitempty" doc:"Of a post: it is not published before somebody approves it"`

	sequence         int
	changed, created time.Time
}

const (
	// MaxCalendar is how much of the calendar is shown at once.
	MaxCalendar = 100 * 24 * time.Hour
	maxEntries  = 20_000
	maxTitle    = 80 // characters

	// The feed has what was, and what will be.
	feedPast   = 31 * 24 * time.Hour
	feedFuture = 366 * 24 * time.Hour

	feedSecret = "bookings.feed" // a setting; whoever has the file has the calendar too, so it is not sealed
	feedHost   = "bookings.host" // a setting: what makes the ids of the feed's events different from those of another Belfry
)

// Calendar returns the bookings and posts that begin from from, included, to to, excluded, the earliest first.
func (w *Worker) Calendar(tx *store.Tx, from, to time.Time) (all []Entry, err error) {
	switch {
	case !to.After(from):
		return nil, store.Invalid("to", "invalid.calendar_order")
	case to.Sub(from) > MaxCalendar:
		return nil, store.Invalid("to", "invalid.calendar_long", int(MaxCalendar/(24*time.Hour)))
	}
	return w.entries(tx, from, to), nil
}

func (w *Worker) entries(tx *store.Tx, from, to time.Time) (all []Entry) {
	for b := range tx.Bookings.Between(from, to) {
		if len(all) < maxEntries {
			all = append(all, Entry{
				Kind: "booking", ID: b.ID, Title: title(b), Start: b.Start, End: b.End(), Status: string(b.Status),
				sequence: b.Sequence, changed: b.UpdatedAt, created: b.CreatedAt,
			})
		}
	}
	for p := range tx.Posts.Between(from, to) {
		if len(all) < maxEntries {
			line, _, _ := strings.Cut(strings.TrimSpace(w.cfg.Plain(p)), "\n")
			all = append(all, Entry{
				Kind: "post", ID: p.ID, Title: cmp.Or(store.Shorten(line, maxTitle), p.Target), Start: p.ScheduledTime, End: p.ScheduledTime,
				Status: string(p.Status), NeedsApproval: p.AwaitsApproval(), sequence: int(p.UpdatedAt.Sub(p.CreatedAt) / time.Second), changed: p.UpdatedAt, created: p.CreatedAt,
			})
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// FeedPath returns the path of the feed, with the secret that lets its holder read it.
func FeedPath(tx *store.Tx) (string, error) {
	secret, err := tx.Settings.Value(feedSecret)
	if err != nil || secret == "" {
		return "", err
	}
	return "/calendar/" + secret + ".ics", nil
}

// RenewFeed gives the feed another secret, or its first one, and returns its path. The old link leads nowhere.
func RenewFeed(tx *store.Tx) (string, error) {
	host, err := tx.Settings.Value(feedHost)
	if err == nil && host == "" {
		err = tx.Settings.Set(feedHost, strings.ToLower(rand.Text()[:12])+".belfry")
	}
	if err != nil {
		return "", err
	}
	if err := tx.Settings.Set(feedSecret, rand.Text()); err != nil {
		return "", err
	}
	return FeedPath(tx)
}

// Feed returns the calendar as iCalendar for the holder of the secret. A wrong one is [store.ErrNotFound].
func (w *Worker) Feed(secret string) (out string, err error) {
	var all []Entry
	var host string
	err = w.db.View(func(tx *store.Tx) error {
		right, err := tx.Settings.Value(feedSecret)
		if err != nil {
			return err
		}
		if right == "" || subtle.ConstantTimeCompare([]byte(right), []byte(secret)) != 1 {
			return fmt.Errorf("calendar feed: %w", store.ErrNotFound)
		}
		if host, err = tx.Settings.Value(feedHost); err != nil {
			return err
		}
		all = w.entries(tx, tx.Now().Add(-feedPast), tx.Now().Add(feedFuture))
		return nil
	})
	if err != nil {
		return "", err
	}
	c := ics.NewCalendar()
	c.SetProductId("-//Belfry//EN")
	c.SetMethod(ics.MethodPublish)
	c.SetName("Belfry")
	for _, e := range all {
		event := c.AddEvent(fmt.Sprintf("%s-%d@%s", e.Kind, e.ID, host))
		event.SetDtStampTime(e.changed)
		event.SetCreatedTime(e.created)
		event.SetModifiedAt(e.changed)
		event.SetSequence(e.sequence)
		event.SetStartAt(e.Start)
		event.SetEndAt(e.End)
		event.SetSummary(e.Title)
		switch {
		case slices.Contains([]string{"cancelled", "skipped", "failed"}, e.Status):
			event.SetStatus(ics.ObjectStatusCancelled)
		case e.Status == string(store.BookingBooked), e.NeedsApproval:
			event.SetStatus(ics.ObjectStatusTentative)
		default:
			event.SetStatus(ics.ObjectStatusConfirmed)
		}
	}
	return c.Serialize(ics.WithNewLineWindows), nil
}
