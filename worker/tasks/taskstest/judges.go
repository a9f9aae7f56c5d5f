package taskstest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/store"
	"belfry/worker/simulation"
)

const (
	// lateBy is how long a broadcast may stand still that nothing keeps.
	lateBy = 20 * time.Minute
	// settled is on how many days a task must have been seen at its end not to be looked at any more.
	settled = 3
)

// heard judges a message when the network makes it.
func (p *Part) heard(m simulation.Message) {
	tag := tagOf(m.Post.Text)
	if tag == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w, wi := p.world, p.wishes[tag]
	last, before := p.last[m.Login]
	if !before || m.Asked.After(last.Asked) {
		p.last[m.Login] = m
	}
	if wi == nil {
		return
	}
	w.Judged(1)
	if wi.got[m.Target]++; wi.got[m.Target] > 1 {
		w.Complain("tasks: at most once", "task %d (%s) is in %s twice; the second is message %d", wi.id, tag, m.Target, m.ID)
	}
	if since, off := p.off[fmt.Sprint(m.Login, " ", m.Target)]; off && m.Asked.After(since) {
		w.Complain("tasks: off", "task %d (%s) is sent to %s %v after that chat was switched off", wi.id, tag, m.Target, m.Asked.Sub(since))
	}
	if wi.doubt {
		return
	}
	if !wi.stopped.IsZero() && m.Asked.After(wi.stopped) {
		w.Complain("tasks: stopped", "task %d (%s) goes on in %s %v after it was paused or cancelled", wi.id, tag, m.Target, m.Asked.Sub(wi.stopped))
	}
	if gap := m.Asked.Sub(last.Asked); before && gap.Abs() < wi.pause && w.Calm(time.Minute+wi.pause, "clock") {
		w.Complain("tasks: pause", "task %d (%s) is sent to %s %v after %q to %s, and its least pause is %v", wi.id, tag, m.Target, gap, last.Post.Text, last.Target, wi.pause)
	}
	if w.Calm(5*time.Minute, "clock") && wi.isQuiet(m.Clock) && wi.isQuiet(m.Clock.Add(-2*time.Minute)) {
		w.Complain("tasks: quiet", "task %d (%s) is sent to %s at %v", wi.id, tag, m.Target, m.Clock)
	}
}

// isQuiet reports whether nothing is to be sent at a time.
func (wi *wish) isQuiet(at time.Time) bool {
	if wi.quiet.IsZero() {
		return false
	}
	hour := at.In(newYork).Hour()
	return hour >= 22 || hour < 8
}

// explained complains of a task that waits and does not say why.
func explained(w *simulation.World, tx *store.Tx, wi *wish, task store.Task) {
	job, err := tx.Jobs.ByName(task.JobName())
	if err == nil && job.Due.After(tx.Now()) && job.Reason.Zero() && task.StartAt.Before(tx.Now()) {
		w.Complain("tasks: no reason", "task %d (%s) waits until %v without a reason", wi.id, wi.tag, job.Due)
	}
}

// hourly looks whether tasks go on that can.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	p.settleDoubts(w, tx)
	paused, _ := tx.Settings.Value(store.Paused)
	if paused != "" || !w.Calm(lateBy, "process", "disk", "clock", "network") {
		return
	}
	for _, wi := range p.all() {
		task, err := tx.Tasks.Get(wi.id)
		if err != nil || task.Status.Final() || !wi.stopped.IsZero() {
			continue
		}
		login, err := tx.Identities.Get(task.IdentityID)
		if _, told := w.Network.LongestWait(task.IdentityID); err != nil || login.State != store.IdentityReady || time.Since(told) < lateBy {
			continue
		}
		w.Judged(1)
		job, err := tx.Jobs.ByName(task.JobName())
		wait := job.Due.Sub(tx.Now())
		switch {
		case err != nil:
			w.Complain("tasks: no job", "task %d (%s) is %s and has none: %v", wi.id, wi.tag, task.Status, err)
		case job.State == store.JobPaused:
			w.Complain("tasks: paused", "task %d (%s) is paused, and nobody has done that", wi.id, wi.tag)
		case wait < -lateBy && job.State != store.JobRunning: // one that was just resumed runs, and has been due for long
			w.Complain("tasks: late", "task %d (%s) is due since %v and is not taken up: %+v", wi.id, wi.tag, job.Due, job)
		case job.Occurrence.After(tx.Now()): // the clock was set back to before it was begun, or tried again
		case wait > 25*time.Hour && task.StartAt.Before(tx.Now()):
			w.Complain("tasks: waits", "task %d (%s) waits until %v because of %+v", wi.id, wi.tag, job.Due, job.Reason)
		default:
			explained(w, tx, wi, task)
		}
	}
}

// settleDoubts finds out what became of changes whose commit failed.
func (p *Part) settleDoubts(w *simulation.World, tx *store.Tx) {
	for _, wi := range p.all() {
		if !wi.doubt {
			continue
		}
		task, err := tx.Tasks.Get(wi.id)
		if err == nil && tagOf(task.Text) != wi.tag || errors.Is(err, store.ErrNotFound) {
			err = store.ErrNotFound
			for other := range tx.Tasks.Newest(0) {
				if tagOf(other.Text) == wi.tag {
					task, err = other, nil
					break
				}
			}
		}
		p.mu.Lock()
		switch {
		case errors.Is(err, store.ErrNotFound):
			delete(p.wishes, wi.tag)
		case err == nil:
			wi.id, wi.doubt, wi.stopped = task.ID, false, time.Time{}
			job, err := tx.Jobs.ByName(task.JobName())
			if err != nil || job.State == store.JobPaused || job.Paused {
				wi.stopped = time.Now()
			}
		}
		p.mu.Unlock()
	}
}

// daily compares each task with its deliveries, and these with the network's ledger.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	for _, wi := range p.all() {
		task, err := tx.Tasks.Get(wi.id)
		if wi.doubt {
			continue
		}
		if err != nil {
			w.Complain("tasks: lost", "task %d (%s): %v", wi.id, wi.tag, err)
			continue
		}
		w.Judged(1)
		p.count(w, tx, wi, task)
		p.mu.Lock()
		if wi.finals++; !task.Status.Final() {
			wi.finals = 0
		}
		if wi.finals >= settled {
			delete(p.wishes, wi.tag)
		}
		p.mu.Unlock()
	}
}

func (p *Part) count(w *simulation.World, tx *store.Tx, wi *wish, task store.Task) {
	counted := map[store.DeliveryStatus]int{}
	yesterday, onThatDay := w.Now().In(newYork).AddDate(0, 0, -1).Format(time.DateOnly), 0
	for q := (store.Query{Limit: 500}); ; {
		page, err := tx.Deliveries.Of(task, "", q)
		if err != nil {
			w.Complain("tasks: deliveries", "task %d (%s): %v", wi.id, wi.tag, err)
			return
		}
		for _, d := range page.Items {
			counted[d.Status]++
			if d.Status == store.DeliverySent && d.SentAt.In(newYork).Format(time.DateOnly) == yesterday {
				onThatDay++
			}
			p.mu.Lock()
			got := wi.got[fmt.Sprint("chat ", number(d.Target))]
			p.mu.Unlock()
			switch {
			case d.Status == store.DeliverySent && got == 0:
				w.Complain("tasks: sent", "task %d (%s), delivery %d: sent to %s by its record, and the network has not got it", wi.id, wi.tag, d.ID, d.Target)
			case d.Status != store.DeliveryPending && d.Status != store.DeliverySent && got > 0 && !wi.restored && d.Key != 0 && d.Reason.Code != store.ReasonSameChat && !mayBeOut(d):
				w.Complain("tasks: out", "task %d (%s), delivery %d to %s: %s by its record (%+v), and it is out", wi.id, wi.tag, d.ID, d.Target, d.Status, d)
			case d.Status != store.DeliveryPending && d.Status != store.DeliverySent && d.Reason.Zero():
				w.Complain("tasks: no reason", "task %d (%s), delivery %d is %s without a reason", wi.id, wi.tag, d.ID, d.Status)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if task.DailyCap > 0 && onThatDay > task.DailyCap && w.Calm(49*time.Hour, "clock") {
		w.Complain("tasks: cap", "task %d (%s) was sent to %d chats on %s, and %d are the most in a day", wi.id, wi.tag, onThatDay, yesterday, task.DailyCap)
	}
	if counted[store.DeliverySent] != task.Sent || counted[store.DeliveryFailed] != task.Failed || counted[store.DeliverySkipped] != task.Skipped ||
		counted[store.DeliveryPending] != task.Left() {
		w.Complain("tasks: counts", "task %d (%s) counts %d sent, %d failed, %d skipped of %d, and its deliveries are %v", wi.id, wi.tag, task.Sent, task.Failed, task.Skipped, task.Total, counted)
	}
}

// mayBeOut reports whether a delivery's record says that a call was not answered.
func mayBeOut(d store.Delivery) bool {
	return slices.ContainsFunc(d.Tries, store.Try.Unanswered)
}
