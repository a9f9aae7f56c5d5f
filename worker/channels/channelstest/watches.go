package channelstest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"belfry/platform/platformtest"
	"belfry/store"
	"belfry/worker/search"
	"belfry/worker/simulation"
)

// watched is what every watch looks for: some messages have it.
const watched = "news"

// watch adds a watch, or pauses, resumes, changes or removes one.
func (p *Part) watch(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil || w.Ahead().Abs() > time.Second { // messages that a wrong clock takes for older ones are none of the watch's
		return
	}
	q, what, salt := search.WatchRequest{Name: fmt.Sprintf("watch %x", r.Uint32()), Query: watched, Action: store.WatchNotify}, r.IntN(6), r.IntN(100)
	_, err := process.Update(func(tx *store.Tx) (err error) {
		page, err := tx.Watches.ByTime(store.Query{Limit: 10})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 || what == 0 && len(page.Items) < 3 {
			_, err = p.search.AddWatch(tx, q)
			return err
		}
		switch one := page.Items[salt%len(page.Items)]; {
		case what == 1:
			return p.search.RemoveWatch(tx, one.ID)
		case what == 2:
			_, err = p.search.ChangeWatch(tx, one.ID, func(to *search.WatchRequest) { to.Name = q.Name })
		case one.Active:
			_, err = p.search.PauseWatch(tx, one.ID)
		default:
			_, err = p.search.ResumeWatch(tx, one.ID)
		}
		return err
	})
	p.watchedSince = time.Now()
	w.Note("watches, %d: %v", what, err)
}

// hits returns the messages that each active watch has found lately, and complains of those of which nobody was told.
func (p *Part) hits(w *simulation.World, tx *store.Tx) map[string]map[uint64]bool {
	found := map[string]map[uint64]bool{}
	for watch := range tx.Watches.Active() {
		hits, err := tx.WatchHits.Of(watch.ID, store.Query{Limit: 500})
		if err != nil {
			return nil
		}
		found[watch.Name] = map[uint64]bool{}
		for _, h := range hits.Items {
			found[watch.Name][h.MessageID] = true
			if h.State == store.HitWaiting && tx.Now().Sub(h.At) > slack || h.State == store.HitFailed && h.Reason.Zero() {
				w.Complain("channels: watch", "%q has found message %d, and nothing came of it: %+v", watch.Name, h.MessageID, h)
			}
		}
	}
	return found
}

// missed complains of a message that no watch has found that looks for it. The history of a channel that was added, or read
// anew, is not for watches.
func (p *Part) missed(w *simulation.World, found map[string]map[uint64]bool, m *platformtest.ChannelPost, row store.Message, s *state) {
	changed := s.changed[m.ID]
	if m.Date.Before(s.joined) || !s.forgot.Before(m.Date) {
		return
	}
	if since := time.Since(p.watchedSince); time.Since(changed) > 48*time.Hour || m.Date.Before(truth(w).Add(-since+time.Minute)) || !strings.HasPrefix(m.Text, "News") {
		return
	}
	for name, messages := range found {
		if !messages[row.ID] {
			w.Complain("channels: watch", "%q has not found message %d (%q)", name, m.ID, m.Text)
		}
	}
}
