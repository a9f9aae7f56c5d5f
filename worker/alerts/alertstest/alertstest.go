// Package alertstest brings alerts into the simulation, and judges who look whether each wrong state has an
// alert and each alert a wrong state.
package alertstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"belfry/store"
	"belfry/worker"
	"belfry/worker/alerts"
	"belfry/worker/identities"
	"belfry/worker/identities/identitiestest"
	"belfry/worker/notices/noticestest"
	"belfry/worker/simulation"
)

// Part is the alerts of one world.
type Part struct {
	Worker  *alerts.Worker                   // of the process that runs
	Wrong   func(tx *store.Tx) []store.Alert // with other parts; nil: nothing
	notices *noticestest.Part
	beat    atomic.Int64 // the last heartbeat, in nanoseconds of the bubble's time
}

// New returns the part of a world, which tells with the notices.
func New(notices *noticestest.Part) *Part { return &Part{notices: notices} }

// Part is what the simulation plays. It comes after that of the notices.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "alerts",
		Actions: []simulation.Action{
			{Name: "alerts: acknowledge", Rate: 1, Do: p.acknowledge},
			{Name: "alerts: acknowledge all", Rate: .3, Do: p.acknowledgeAll},
			{Name: "weather: disk nearly full", Rate: .1, Weather: true, Do: func(w *simulation.World, r *rand.Rand) {
				w.Begin(simulation.Spell{Of: "room", What: "disk nearly full", Strength: 1}, time.Duration(r.Int64N(int64(6*time.Hour))))
			}},
		},
		Start:  p.start,
		Hourly: p.hourly,
		Daily:  p.daily,
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	w := process.World
	p.Worker = alerts.New(process.DB, p.notices.Worker, alerts.Config{
		Heartbeat: func(context.Context) error { return p.heartbeat(process) },
		Disk: func() (alerts.Disk, error) {
			if w.Spell("disk nearly full") != nil {
				return alerts.Disk{Free: 1, Need: 1 << 30}, nil
			}
			return alerts.Disk{Free: 10 << 30, Need: 1 << 30}, nil
		},
		Wrong: worker.Join(p.notices.Worker.Module(), identities.New(process.DB, identitiestest.Network{World: w}, identities.Config{}).Module(), worker.Module{Wrong: p.Wrong}).Wrong,
	})
	return p.Worker.Module()
}

func (p *Part) acknowledge(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	var all []store.Alert
	_ = process.DB.View(func(tx *store.Tx) error { // a file that has just failed has no alerts to look at
		all = slices.Collect(tx.Alerts.AllStanding())
		return nil
	})
	if len(all) == 0 {
		return
	}
	a := simulation.Pick(r, all, func(a store.Alert) string { return string(a.Kind) + a.About })
	_, err := process.Update(func(tx *store.Tx) error {
		_, err := p.Worker.Acknowledge(tx, a.ID, "anna")
		return err
	})
	w.Note("acknowledge alert %d, %s about %s: %v", a.ID, a.Kind, a.About, err)
}

func (p *Part) acknowledgeAll(w *simulation.World, _ *rand.Rand) {
	if process := w.Process(); process != nil {
		_, err := process.Update(func(tx *store.Tx) error {
			_, err := p.Worker.AcknowledgeAll(tx, "anna", time.Time{})
			return err
		})
		w.Note("acknowledge all alerts: %v", err)
	}
}

const (
	// wrongFor is how long something must be wrong to have an alert, and the schedule have worked for it to be
	// written: two looks more than the longest time that an alert gives.
	wrongFor = 7 * time.Minute
	// rightFor is how long all must have been well for what comes and goes to have no alert.
	rightFor = store.FlapTime + wrongFor
)

// heartbeat notes a heartbeat, and complains of one while something that is known for a while needs a person.
func (p *Part) heartbeat(process *simulation.Process) error {
	if process.Dead() {
		return nil
	}
	p.beat.Store(time.Now().UnixNano())
	return process.DB.View(func(tx *store.Tx) error {
		for a := range tx.Alerts.AllStanding() {
			if a.State() == store.AlertOpen && a.GoneAt.IsZero() && tx.Now().Sub(a.RaisedAt) > wrongFor {
				process.World.Complain("alerts: heartbeat", "all is said to be well, and alert %d, %s about %s, is new since %v", a.ID, a.Kind, a.About, a.RaisedAt)
			}
		}
		return nil
	})
}

// beats complains if there are no heartbeats although no alert is new.
func (p *Part) beats(w *simulation.World, tx *store.Tx) {
	restored, err := tx.Settings.Value(store.Restored)
	silent := time.Since(time.Unix(0, p.beat.Load()))
	if w.Judged(1); err != nil || restored != "" || silent <= wrongFor || !w.Calm(rightFor, "process", "disk", "clock", "network", "room", "pause") {
		return
	}
	for a := range tx.Alerts.AllStanding() {
		if a.State() == store.AlertOpen || tx.Now().Sub(a.AcknowledgedAt) < wrongFor {
			return
		}
	}
	for a := range tx.Alerts.Newest(0) {
		if tx.Now().Sub(a.OverAt) < wrongFor {
			return
		}
	}
	w.Complain("alerts: heartbeat", "the last one was %v ago, and no alert is new", silent)
}

// hourly compares the alerts with what is wrong at this moment.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	if !w.Calm(wrongFor, "process", "disk", "clock") {
		return
	}
	p.beats(w, tx)
	gone, room := w.Spell(simulation.NetworkGone), w.Spell("disk nearly full")
	for login := range tx.Identities.All() {
		out := (login.State == store.IdentityLogin || login.State == store.IdentityStopped) && tx.Now().Sub(login.UpdatedAt) > wrongFor
		if lost := gone != nil && time.Since(gone.From) > wrongFor; out || lost {
			p.stands(w, tx, store.AlertLogin, fmt.Sprint("login_", login.ID))
		} else if login.State == store.IdentityReady && w.Calm(rightFor, "network", "process") {
			p.over(w, tx, store.AlertLogin, fmt.Sprint("login_", login.ID))
		}
	}
	if room != nil && time.Since(room.From) > wrongFor {
		p.stands(w, tx, store.AlertDisk, "disk")
	} else if room == nil && w.Calm(rightFor, "room", "process") {
		p.over(w, tx, store.AlertDisk, "disk")
	}
	for a := range tx.Alerts.AllStanding() {
		w.Judged(1)
		if a.Untold && a.State() == store.AlertOpen && a.GoneAt.IsZero() && tx.Now().Sub(a.RaisedAt) > wrongFor {
			w.Complain("alerts: told", "alert %d, %s about %s, was not told for %v", a.ID, a.Kind, a.About, tx.Now().Sub(a.RaisedAt))
		}
		if a.Kind == store.AlertOverdue && w.Calm(rightFor, "process", "disk", "clock", "network", "pause") {
			w.Complain("alerts: no reason", "alert %d, %s about %s, stands, and all is well for %v: %+v", a.ID, a.Kind, a.About, rightFor, a)
		}
		if _, err := tx.Identities.Get(a.Subject); a.Kind == store.AlertLogin && errors.Is(err, store.ErrNotFound) && w.Calm(rightFor, "process") {
			w.Complain("alerts: no reason", "alert %d about %s stands, which was removed", a.ID, a.About)
		}
		if a.Kind == store.AlertPostFailed && a.Subject != 0 {
			post, err := tx.Posts.Get(a.Subject)
			if err == nil && post.Status == store.PostPublished && tx.Now().Sub(post.UpdatedAt) > wrongFor {
				w.Complain("alerts: no reason", "alert %d about %s stands, and the post is published since %v", a.ID, a.About, post.UpdatedAt)
			}
		}
	}
}

// seen complains of alerts that only a person can end, and that have ended although nobody has seen them.
func (p *Part) seen(w *simulation.World, tx *store.Tx) {
	for a := range tx.Alerts.Newest(0) {
		w.Judged(1)
		if (a.Kind == store.AlertBooking || a.Kind == store.AlertCopy) && a.State() == store.AlertOver && a.AcknowledgedAt.IsZero() {
			w.Complain("alerts: seen", "alert %d, %s about %s, is over, and nobody has seen it", a.ID, a.Kind, a.About)
		}
	}
}

// stands complains if there is no alert.
func (p *Part) stands(w *simulation.World, tx *store.Tx, kind store.AlertKind, about string) {
	w.Judged(1)
	if _, err := tx.Alerts.Standing(kind, about); err != nil {
		w.Complain("alerts: missing", "%s about %s is wrong for more than %v and has no alert: %v", kind, about, wrongFor, err)
	}
}

// over complains if there is an alert that is not about to end.
func (p *Part) over(w *simulation.World, tx *store.Tx, kind store.AlertKind, about string) {
	w.Judged(1)
	if a, err := tx.Alerts.Standing(kind, about); err == nil {
		w.Complain("alerts: no reason", "alert %d, %s about %s, stands although nothing is wrong for more than %v: %+v", a.ID, kind, about, rightFor, a)
	}
}

// daily looks whether everything that has failed since yesterday had an alert. A clock that is wrong by months makes
// the program forget old ones.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	p.seen(w, tx)
	const since = 25 * time.Hour
	if !w.Calm(since, "clock") {
		return
	}
	failed := map[string]string{}
	note := func(about string, at time.Time, why store.Reason) {
		if w.Judged(1); at.After(tx.Now().Add(-since)) && !at.After(tx.Now()) { // by a clock that was wrong it may lie ahead
			failed[about] = fmt.Sprintf("%s has failed at %v (%+v)", about, at, why)
		}
	}
	for _, status := range []store.PostStatus{store.PostFailed, store.PostUnknown} {
		page, err := tx.Posts.ByTime(status, store.Query{Limit: 200})
		if err != nil {
			return
		}
		for _, post := range page.Items {
			note(post.JobName(), post.UpdatedAt, post.Reason)
		}
	}
	page, err := tx.Tasks.ByTime(store.TaskFailed, store.Query{Limit: 200})
	if err != nil {
		return
	}
	for _, task := range page.Items {
		note(task.JobName(), task.UpdatedAt, task.LastError)
	}
	for a := range tx.Alerts.Newest(0) {
		if delete(failed, a.About); len(failed) == 0 || a.About == "more" {
			return
		}
	}
	for _, what := range failed {
		w.Complain("alerts: missing", "%s and never had an alert", what)
	}
}
