// Package bookingstest brings bookings into the simulation: an owner who makes, moves and cancels them, clients who press
// buttons, and judges who compare what the clients got with the records.
package bookingstest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/bookings"
	"belfry/worker/notices/noticestest"
	"belfry/worker/simulation"
)

const (
	mostBookings = 30 // that are open at once
	clients      = 5
	lateBy       = 30 * time.Minute // that a message may be late which nothing keeps
)

// bots are the logins that clients write to.
var bots = []string{"main", "second"}

// Part is the bookings of one world.
type Part struct {
	Worker  *bookings.Worker // of the process that runs
	notices *noticestest.Part
	judged  int64          // the last message of the ledger
	there   map[int64]bool // keys of messages

	mu        sync.Mutex
	cancelled map[string]time.Time // by service, in the bubble's time
	moved     map[string]bool      // by service: messages of earlier starts are not in the record any more
}

// New returns the part of a world. It is started after the notices.
func New(notices *noticestest.Part) *Part {
	return &Part{notices: notices, there: map[int64]bool{}, cancelled: map[string]time.Time{}, moved: map[string]bool{}}
}

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "bookings",
		Actions: []simulation.Action{
			{Name: "bookings: make", Rate: 3, Do: p.create}, {Name: "bookings: move", Rate: 1, Do: p.move},
			{Name: "bookings: cancel", Rate: .5, Do: p.cancel}, {Name: "bookings: press", Rate: 4, Do: p.press},
			{Name: "bookings: change", Rate: 1, Do: p.change},
			{Name: "bookings: quiet hours", Rate: .2, Do: p.quiet},
		},
		Start: p.start, Hourly: p.hourly, Daily: p.daily, Backup: p.backup,
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	p.Worker = bookings.New(process.DB, func(id uint64) platform.Publisher { return process.World.Network.Publisher(process, id) },
		p.notices.Worker, bookings.Config{})
	return p.Worker.Module()
}

func (p *Part) backup() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancelled, moved := maps.Clone(p.cancelled), maps.Clone(p.moved)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.cancelled, p.moved = maps.Clone(cancelled), maps.Clone(moved)
	}
}

// when is a start that is not far away.
func when(w *simulation.World, r *rand.Rand) string {
	return w.Now().Add(time.Duration(1+r.IntN(60)) * time.Hour).Truncate(time.Minute).UTC().Format(time.RFC3339)
}

func (p *Part) create(w *simulation.World, r *rand.Rand) {
	if w.Process() == nil {
		return
	}
	q := bookings.Request{
		Client: fmt.Sprint(5001 + r.IntN(clients)), Service: fmt.Sprintf("svc%x", r.Uint64()), Start: when(w, r), IdentityID: w.Logins[bots[r.IntN(2)]],
		Zone: []string{"UTC", "Europe/Berlin", "America/New_York"}[r.IntN(3)], Reminders: [][]string{nil, {"2h"}, {}, {"30h", "45m"}}[r.IntN(4)],
		Feedback: []string{"1h", "off", "5m"}[r.IntN(3)], Duration: []string{"1h", "20m"}[r.IntN(2)],
	}
	_, err := w.Process().Update(func(tx *store.Tx) error {
		for _, login := range bots {
			for id := range int64(clients) {
				client := store.Peer{IdentityID: w.Logins[login], Type: store.PeerUser, PeerID: 5001 + id, Wrote: true}
				if err := tx.Peers.Put(&client); err != nil && !errors.Is(err, store.ErrExists) {
					return err
				}
			}
		}
		n := 0
		for range tx.Bookings.Open(q.IdentityID) {
			if n++; n > mostBookings {
				return nil
			}
		}
		_, err := p.Worker.Create(tx, q)
		return err
	})
	w.Note("book %+v: %v", q, err)
}

// open returns the bookings that have not ended.
func open(w *simulation.World, tx *store.Tx) (all []store.Booking) {
	for _, login := range bots {
		all = slices.AppendSeq(all, tx.Bookings.Open(w.Logins[login]))
	}
	return all
}

// pick chooses an open booking, or returns false.
func (p *Part) pick(w *simulation.World, r *rand.Rand) (b store.Booking, ok bool) {
	if w.Process() == nil {
		return b, false
	}
	var all []store.Booking
	err := w.Process().DB.View(func(tx *store.Tx) error {
		all = open(w, tx)
		return nil
	})
	if err != nil || len(all) == 0 {
		return b, false
	}
	return simulation.Pick(r, all, func(b store.Booking) string { return b.Service }), true
}

func (p *Part) move(w *simulation.World, r *rand.Rand) {
	b, ok := p.pick(w, r)
	if !ok {
		return
	}
	start := when(w, r)
	p.mu.Lock()
	p.moved[b.Service] = true
	p.mu.Unlock()
	_, err := w.Process().Update(func(tx *store.Tx) error {
		_, err := p.Worker.Change(tx, b.ID, func(q *bookings.Request) { q.Start = start })
		return err
	})
	w.Note("move booking %d to %s: %v", b.ID, start, err)
}

// change gives a booking another bot, or other messages.
func (p *Part) change(w *simulation.World, r *rand.Rand) {
	b, ok := p.pick(w, r)
	if !ok {
		return
	}
	login, reminders, feedback, what := w.Logins[bots[r.IntN(2)]], []string{fmt.Sprint(1+r.IntN(40), "h"), "45m"}, []string{"1h", "off", "5m"}[r.IntN(3)], r.IntN(3)
	p.mu.Lock()
	p.moved[b.Service] = true
	p.mu.Unlock()
	_, err := w.Process().Update(func(tx *store.Tx) error {
		_, err := p.Worker.Change(tx, b.ID, func(q *bookings.Request) {
			switch what {
			case 0:
				q.IdentityID = login
			case 1:
				q.Reminders = reminders
			case 2:
				q.Feedback = feedback
			}
		})
		return err
	})
	w.Note("change booking %d, %d: login %d, %v, %s: %v", b.ID, what, login, reminders, feedback, err)
}

func (p *Part) cancel(w *simulation.World, r *rand.Rand) {
	if b, ok := p.pick(w, r); ok {
		p.end(w, b.ID, b.Service, func(tx *store.Tx) error {
			_, err := p.Worker.Cancel(tx, b.ID)
			return err
		})
	}
}

// end does what may cancel a booking, and notes it if that is certain.
func (p *Part) end(w *simulation.World, id uint64, service string, do func(*store.Tx) error) {
	cancelled := false
	doubt, err := w.Process().Update(func(tx *store.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		b, err := tx.Bookings.Get(id)
		cancelled = b.Status == store.BookingCancelled
		return err
	})
	w.Note("booking %d may be cancelled: %v, %v", id, cancelled, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.cancelled[service]; !known && cancelled && err == nil && !doubt {
		p.cancelled[service] = time.Now()
	}
}

// press has a client, or now and then somebody else, press a button under a message.
func (p *Part) press(w *simulation.World, r *rand.Rand) {
	all := w.Network.Latest(10, func(m simulation.Message) bool { return len(m.Post.Buttons) > 0 && serviceOf(m.Post.Text) != "" })
	if len(all) == 0 || w.Process() == nil {
		return
	}
	m := all[r.IntN(len(all))]
	row := m.Post.Buttons[0]
	var from int64
	if _, err := fmt.Sscan(m.Target, &from); err != nil {
		return
	}
	if r.IntN(8) == 0 {
		from++
	}
	button := row[r.IntN(len(row))]
	var id uint64
	if _, err := fmt.Sscanf(button.Data, "booking/%d/", &id); err != nil {
		w.Complain("bookings: button", "%q: %v", button.Data, err)
		return
	}
	p.end(w, id, serviceOf(m.Post.Text), func(tx *store.Tx) error {
		_, err := p.Worker.HandleUpdate(tx, platform.Heard{IdentityID: m.Login, From: from, MessageID: m.ID, QueryID: r.Int64(), Data: button.Data})
		return err
	})
}

func (p *Part) quiet(w *simulation.World, r *rand.Rand) {
	if w.Process() == nil {
		return
	}
	from := r.IntN(24)
	_, err := w.Process().Update(func(tx *store.Tx) error {
		s, err := p.Worker.Settings(tx)
		if err != nil {
			return err
		}
		s.QuietFrom, s.QuietTo = fmt.Sprintf("%02d:00", from), fmt.Sprintf("%02d:30", (from+r.IntN(8))%24)
		return p.Worker.SetSettings(tx, s)
	})
	w.Note("quiet hours from %d: %v", from, err)
}

// serviceOf is the service that a reminder or a question is about; empty for any other message.
func serviceOf(text string) string {
	if !strings.HasPrefix(text, "Reminder: ") && !strings.HasPrefix(text, "How was it: ") {
		return ""
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,?", c) }) {
		if strings.HasPrefix(word, "svc") {
			return word
		}
	}
	return ""
}

// hourly complains of messages that wait for nothing.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	paused, _ := tx.Settings.Value(store.Paused)
	if paused != "" || !w.Calm(lateBy, "process", "disk", "clock", "network") {
		return
	}
	for _, b := range open(w, tx) {
		login, err := tx.Identities.Get(b.IdentityID)
		_, told := w.Network.LongestWait(b.IdentityID)
		if err != nil || login.State != store.IdentityReady || time.Since(told) < lateBy {
			continue
		}
		w.Judged(1)
		late := func(m store.BookingMessage, name string) {
			job, err := tx.Jobs.ByName(name)
			// It is tried again, or quiet hours keep it or the one before it.
			waits := job.Due.After(tx.Now().Add(-lateBy)) && !(m.Reason.Zero() && job.Reason.Zero())
			if m.State == store.MessageWaiting && tx.Now().Sub(m.At) > lateBy && !waits || err == nil && job.State == store.JobSetAside {
				w.Complain("bookings: late", "%s is due since %v: %+v; its job: %+v, %v", name, m.At, m, job, err)
			}
		}
		for _, r := range b.Reminders {
			late(r.BookingMessage, b.ReminderName())
		}
		late(b.Feedback.BookingMessage, b.FeedbackName())
	}
}

// daily compares the records with the network's ledger.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	var sent []simulation.Message
	for _, m := range w.Network.After(p.judged) {
		if serviceOf(m.Post.Text) != "" {
			p.there[m.Post.Key] = true
			sent = append(sent, m)
		}
		p.judged = m.ID
	}
	known := map[string][]int64{} // keys by service
	for b := range tx.Bookings.All() {
		all := []store.BookingMessage{b.Feedback.BookingMessage}
		for _, r := range b.Reminders {
			all = append(all, r.BookingMessage)
		}
		for _, m := range all {
			known[b.Service] = append(known[b.Service], m.Key)
			if m.State == store.MessageSent && !p.there[m.Key] {
				w.Complain("bookings: sent", "a message of booking %d is sent by its record, and is not there: %+v", b.ID, m)
			}
			if (m.State == store.MessageDropped && b.Feedback.After >= 0 || m.State == store.MessageFailed) && m.Reason.Zero() {
				w.Complain("bookings: no reason", "a message of booking %d was not sent, and does not say why: %+v", b.ID, m)
			}
		}
		w.Judged(len(all))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range sent {
		service := serviceOf(m.Post.Text)
		if at, cancelled := p.cancelled[service]; cancelled && m.Asked.After(at) && !m.Undone {
			w.Complain("bookings: cancelled", "%q was sent after the booking was cancelled at %v", m.Post.Text, at)
		}
		if keys := known[service]; keys != nil && !p.moved[service] && !m.Undone && !slices.Contains(keys, m.Post.Key) {
			w.Complain("bookings: at most once", "%q was sent with a key that its booking does not have", m.Post.Text)
		}
	}
}
