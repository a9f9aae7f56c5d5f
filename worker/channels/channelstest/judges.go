package channelstest

import (
	"errors"
	"fmt"
	"time"

	"belfry/platform/platformtest"
	"belfry/store"
	"belfry/worker/channels"
	"belfry/worker/simulation"
)

const (
	// settled is for how long all must have been well for a channel to be read as it should: the longest pause after a
	// refusal, and a read.
	settled = 9 * time.Hour
	// slack is what a read or a stage may take, and an alert.
	slack = 40 * time.Minute
	// comparePause, times the messages of a channel, is the least pause between two comparisons of what was read with what
	// is there: so they cost the same however long the channel is.
	comparePause = time.Minute
	// askedAgain is up to which age at least messages are asked for again when a difference was too long.
	askedAgain = 29 * 24 * time.Hour
)

// hourly complains of events that are lost or have taken effect twice and, once all is well for long enough, of channels
// that are not read in time, and alerts that are missing or wrong.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	p.flows(w, tx)
	paused, _ := tx.Settings.Value(store.Paused)
	if paused != "" || !w.Calm(settled, "process", "disk", "clock", "network", "pause") {
		return
	}
	for c := range tx.Channels.All() {
		login, err := tx.Identities.Get(c.IdentityID)
		_, told := w.Network.LongestWait(c.IdentityID)
		if err != nil || login.State != store.IdentityReady || tx.Now().Sub(login.UpdatedAt) < settled || time.Since(told) < settled {
			continue
		}
		if !c.Active || c.Removed || tx.Now().Sub(c.UpdatedAt) < settled {
			continue
		}
		p.net.Do(func() { p.channel(w, tx, c, p.net.ByID[c.PeerID], p.state[c.PeerID]) })
	}
}

// flows complains of events that are lost, or were handled twice with effect.
func (p *Part) flows(w *simulation.World, tx *store.Tx) {
	handled := map[store.Topic]uint64{}
	flows := map[string]store.Flow{}
	for f := range tx.Streams.Flows() {
		flows[f.Name] = f
		if w.Judged(1); f.Lost() != 0 {
			w.Complain("channels: conservation", "%+v", f)
		}
	}
	for _, s := range p.pipeline.Stages() {
		f := flows[s.Name]
		to := s.To
		if s.Name == "album" {
			to = store.TopicAlbum
		}
		handled[to] += f.Done + f.Skipped + f.Parked
	}
	p.net.Do(func() {
		for _, s := range p.state {
			handled[store.TopicParsed] += uint64(s.events * s.added)
		}
	})
	for _, topic := range store.Topics {
		if head := tx.Streams.Head(topic); head > handled[topic] {
			w.Complain("channels: twice", "%s has %d events, and only %d were handled or happened", topic, head, handled[topic])
		}
	}
}

// channel judges one channel that has had time to be read. The caller holds the network.
func (p *Part) channel(w *simulation.World, tx *store.Tx, c store.Channel, there *platformtest.Channel, s *state) {
	w.Judged(1)
	_, err := tx.Alerts.Standing(store.AlertChannel, c.JobName())
	if there.Shut {
		if since := time.Since(s.began); since > 2*c.Interval+slack && (c.Failures == 0 || err != nil) {
			w.Complain("channels: alert", "%s is private for %v, has failed %d times, and its alert is: %v", c.Name(), since, c.Failures, err)
		}
		return
	}
	if time.Since(s.shut) < settled {
		return
	}
	if late := tx.Now().Sub(c.LastParsedAt); c.Failures > 0 || late > c.Interval+slack {
		job, err := tx.Jobs.ByName(c.JobName())
		w.Complain("channels: late", "%s was read %v ago: %+v; its job: %+v, %v", c.Name(), late, c, job, err)
	}
	if err == nil {
		w.Complain("channels: alert", "%s has an alert, and is well", c.Name())
	}
	if time.Since(s.compared) < time.Duration(len(there.Posts))*comparePause {
		return
	}
	s.compared = time.Now()
	p.compare(w, tx, c, there, s)
	if err := p.holes(tx, c, there, s); err != nil {
		w.Complain("channels: holes", "%s: %v", c.Name(), err)
	}
}

// compare complains where what was read, or what the pipeline made of it, is not what is there.
func (p *Part) compare(w *simulation.World, tx *store.Tx, c store.Channel, there *platformtest.Channel, s *state) {
	found := p.hits(w, tx)
	for _, m := range there.Posts {
		row, err := tx.Messages.ByMessage(c.ID, m.ID)
		w.Judged(1)
		switch known := err == nil; {
		case time.Since(s.changed[m.ID]) < c.Interval+slack:
		case known && s.forgot.After(m.Date) && m.Date.Before(truth(w).Add(-askedAgain)):
			// After a long pause it may have been too old to be asked for again.
		case err != nil && !errors.Is(err, store.ErrNotFound):
			w.Complain("channels: read", "message %d of %s: %v", m.ID, c.Name(), err)
		case m.Gone && known && row.DeletedAt.IsZero():
			w.Complain("channels: deleted", "message %d of %s is gone, and it is not known: %+v", m.ID, c.Name(), row)
		case m.Gone || m.Date.Before(c.Since):
		case !known || !row.DeletedAt.IsZero() || row.Text != m.Text || row.GroupedID != m.GroupedID || row.Service != m.Service:
			w.Complain("channels: read", "message %d of %s is %+v, and was read as %+v, %v", m.ID, c.Name(), m.Message, row, err)
		case row.Service == "":
			if d, err := tx.Documents.OfMessage(row.ID); err != nil || row.Stages["index"].State != store.StageDone {
				w.Complain("channels: index", "message %d of %s is not in the index: %+v, %+v, %v", m.ID, c.Name(), row, d, err)
			}
			p.missed(w, found, m, row, s)
		}
	}
}

// holes says which hole in the ids of a channel is of the wrong class.
func (p *Part) holes(tx *store.Tx, c store.Channel, there *platformtest.Channel, s *state) error {
	holes, err := channels.Holes(tx, c.ID, 0, 1_000_000)
	if err != nil {
		return err
	}
	class := map[int]string{} // of those that are messages, or were
	for _, m := range there.Posts {
		switch {
		case m.Gone:
			class[m.ID] = channels.HoleDeleted
		case m.Service != "":
			class[m.ID] = channels.HoleService
		case time.Since(s.changed[m.ID]) > c.Interval+slack && !m.Date.Before(c.Since):
			class[m.ID] = "none"
		}
	}
	for _, h := range holes {
		for id := h.From; id <= h.To; id++ {
			// What was gone before it was asked for is unknown: it may never have been.
			if is := class[id]; h.Class != channels.HoleUnknown && is != h.Class || is == "none" {
				return fmt.Errorf("%d is %q, and in %+v", id, is, h)
			}
		}
	}
	return nil
}
