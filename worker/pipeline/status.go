package pipeline

import (
	"time"

	"belfry/store"
)

// lagLimit is since when something may wait in a stage before it is an alert.
const lagLimit = 10 * time.Minute

// Status is how a stage stands.
type Status struct {
	store.Flow
	Stage string
	Off   bool
	Rate  float64 // events in a minute
	Lag   uint64  // events that wait, or are tried again
	Held  time.Time
}

// Statuses returns how the stages and the relay stand, in the order in which a message passes them. The first one is
// persist, which reading does itself.
func (w *Worker) Statuses(tx *store.Tx) []Status {
	head := tx.Streams.Head(store.TopicParsed)
	persist := Status{Stage: store.StagePersist, Flow: store.Flow{In: head, Group: store.Group{Name: store.StagePersist, Topic: store.TopicParsed, Done: head}}}
	all := []Status{persist}
	flows := map[string]store.Flow{}
	for f := range tx.Streams.Flows() {
		flows[f.Name] = f
	}
	add := func(name string, off bool) {
		if f, ok := flows[name]; ok {
			all = append(all, Status{Flow: f, Stage: name, Off: off, Rate: f.Group.Rate(tx.Now()), Lag: f.Waiting + f.Retrying, Held: f.Held(tx.Now())})
		}
	}
	for _, s := range w.stages {
		add(s.Name, s.Off)
	}
	for _, topic := range store.Topics {
		add(relayGroup(topic), false)
	}
	return all
}

// passes reports whether reading hands a message to the stages: not what has no content, or none that is known.
func passes(m store.Message) bool { return m.Service == "" && m.Unreadable == "" && !m.Date.IsZero() }

// Waits reports whether a message is still to pass one of the stages that each message passes, or to be tried again.
func Waits(m store.Message) bool {
	if !passes(m) {
		return false
	}
	for _, name := range []string{"vision", "tag", "enrich", "index", "album"} {
		if m.Stages[name].State == "" {
			return true
		}
	}
	for _, s := range m.Stages {
		if s.State == store.StageRetrying {
			return true
		}
	}
	return false
}

// Passport returns what the stages made of a message, in their order; a stage without a record waits for it, unless what
// it works on does not come.
func (w *Worker) Passport(m store.Message) []Stamp {
	all := []Stamp{{store.StagePersist, store.StageState{State: store.StageDone, At: m.ReadAt, Attempts: 1}}}
	for _, s := range w.stages {
		state, ok := m.Stages[s.Name]
		if !ok {
			state = store.StageState{State: store.StageWaiting}
			if !passes(m) || s.From == store.TopicVision && m.Stages["vision"].State != store.StageDone {
				continue
			}
		}
		all = append(all, Stamp{s.Name, state})
	}
	return all
}

// Stamp is what a stage made of a message.
type Stamp struct {
	Stage string
	store.StageState
}

// wrong returns the stages that lag, have parked something, or have lost something.
func (w *Worker) wrong(tx *store.Tx) (all []store.Alert) {
	for f := range tx.Streams.Flows() {
		alert := store.Alert{About: f.Name, Name: f.Name, Reason: f.LastError}
		if f.Lost() != 0 {
			alert.Kind, alert.Count = store.AlertStageLost, f.Lost()
			all = append(all, alert)
		}
		if !f.Oldest.IsZero() && tx.Now().Sub(f.Oldest) > lagLimit {
			alert.Kind, alert.Count = store.AlertStageLag, int64(f.Waiting+f.Retrying)
			all = append(all, alert)
		}
		if f.Parked > 0 {
			alert.Kind, alert.Count = store.AlertStageParked, int64(f.Parked)
			all = append(all, alert)
		}
	}
	return all
}
