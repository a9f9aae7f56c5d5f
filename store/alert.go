package store

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// Alert is something that is wrong, or was, and that those who run Belfry are told of.
type Alert struct {
	ID   uint64    `json:"id"`
	Kind AlertKind `json:"kind"`
	// About says what is wrong with what, such as post_17 or a login's name. As long as it is, no other
	// alert has the same kind and the same About.
	About   string `json:"about"`
	Subject uint64 `json:"subject,omitempty"` // the id of the record that it is about; 0 if it is about none
	Name    string `json:"name,omitempty"`    // what people know it by: a login's name, a job's, where a post goes
	Reason  Reason `json:"reason,omitzero"`
	// Count and Limit are the numbers that the kind has: failures in a row; posts and broadcasts that failed
	// besides; chats that have a broadcast, of all of them; minutes; jobs that wait; bytes that are free, and
	// that are needed.
	Count int64 `json:"count,omitempty"`
	Limit int64 `json:"limit,omitempty"`

	// ChangedAt is when the copy that is bad was given up, by which one is told from the next.
	ChangedAt time.Time `json:"changed_at,omitzero"`

	// Flaps says that it was raised several times within an hour. It is over when it has been right for longer.
	Flaps bool `json:"flaps,omitempty"`
	// Untold says that the admins and the webhook are still to be notified, and Told is what Count was when they were.
	Untold bool  `json:"untold,omitempty"`
	Told   int64 `json:"told,omitempty"`

	RaisedAt       time.Time `json:"raised_at"`
	GoneAt         time.Time `json:"gone_at,omitzero"` // since when it seems to be over
	AcknowledgedAt time.Time `json:"acknowledged_at,omitzero"`
	AcknowledgedBy string    `json:"acknowledged_by,omitempty"`
	OverAt         time.Time `json:"over_at,omitzero"`
}

// AlertKind says what is wrong.
type AlertKind string

// The kinds of alerts.
const (
	AlertJobFailing  AlertKind = "job_failing"  // a job has failed several times in a row, or was set aside
	AlertPostFailed  AlertKind = "post_failed"  // a post has not gone out
	AlertPostUnknown AlertKind = "post_unknown" // nobody knows whether a post is out
	AlertTaskFailed  AlertKind = "task_failed"  // a broadcast has failed
	AlertRulePaused  AlertKind = "rule_paused"  // a rule has paused itself after failures in a row, or failed at its last time
	AlertBooking     AlertKind = "booking"      // a message to the client of a booking was not sent
	AlertWatch       AlertKind = "watch"        // what a watch has found was not passed on
	AlertOverdue     AlertKind = "overdue"      // something is due and was not started
	AlertLogin       AlertKind = "login"        // a login has ended, was restricted or cannot connect
	AlertToken       AlertKind = "token"        // what a login uses ends soon and was not refreshed
	AlertDisk        AlertKind = "disk"         // the disk is nearly full
	AlertQueue       AlertKind = "queue"        // more becomes due than is done
	AlertUnreached   AlertKind = "unreached"    // messages to a chat, or calls of the webhook, are refused
	AlertDamage      AlertKind = "damage"       // something in the file is damaged
	AlertCopy        AlertKind = "copy"         // a copy of the live file took too long, and is bad
	AlertChannel     AlertKind = "channel"      // a channel cannot be read
	AlertStageLag    AlertKind = "stage_lag"    // messages wait for a stage for too long
	AlertStageParked AlertKind = "stage_parked" // a stage has given messages up
	AlertStageLost   AlertKind = "stage_lost"   // a stage has neither handled nor kept what went into it
	AlertReading     AlertKind = "reading"      // channels were not read in time
)

// Lasts reports whether alerts of the kind stand as long as something is so. The others are about
// something that has happened, and are over when somebody has seen it.
func (k AlertKind) Lasts() bool {
	switch k {
	case AlertPostFailed, AlertPostUnknown, AlertTaskFailed, AlertRulePaused, AlertBooking, AlertWatch, AlertCopy:
		return false
	}
	return true
}

// AlertState says whether somebody has to look at an alert.
type AlertState string

// The states of an alert.
const (
	AlertOpen         AlertState = "open"
	AlertAcknowledged AlertState = "acknowledged" // somebody has seen it
	AlertOver         AlertState = "over"
)

// State says whether somebody has to look at the alert.
func (a Alert) State() AlertState {
	switch {
	case !a.OverAt.IsZero():
		return AlertOver
	case !a.AcknowledgedAt.IsZero():
		return AlertAcknowledged
	}
	return AlertOpen
}

// Alerts is the table of alerts.
type Alerts struct{ Table[Alert] }

const (
	maxAlerts   = 10_000
	maxAlertAge = 180 * 24 * time.Hour

	// What others have written is shortened to so many characters, so that a message about it can be read,
	// and networks take it.
	maxAlertName   = 100
	maxAlertDetail = 500
	// While so many alerts are open, further posts and tasks that fail are one alert with their number, and so are further
	// posts of unknown result.
	maxOpenAlerts = 100
	// What is raised for the thirdTime within FlapTime, among the latest alerts, comes and goes.
	thirdTime    = 3
	latestAlerts = 200
)

// FlapTime is how long something that comes and goes must be right for its alert to be over.
const FlapTime = time.Hour

func alertTable() def[Alert] {
	return def[Alert]{
		name:  "alerts",
		id:    func(a *Alert) *uint64 { return &a.ID },
		valid: (*Alert).validate,
		cache: new(cache[Alert]),
		indexes: []Index[Alert]{
			{Name: "state", Key: func(a *Alert, k key) key { return k.str(string(a.State())).time(a.RaisedAt) }},
			{Name: "counts", Counted: true, Key: func(a *Alert, k key) key { return k.str(string(a.State())) }},
			{Name: "standing", Unique: true, Key: func(a *Alert, k key) key {
				if a.State() == AlertOver {
					return nil
				}
				return k.str(string(a.Kind)).str(a.About)
			}},
		},
	}
}

func (a *Alert) validate() error {
	if a.Kind == "" || a.About == "" {
		return fmt.Errorf("alert %d does not say what is wrong", a.ID)
	}
	return nil
}

// Add writes a new alert and forgets those that are too old or too many.
func (t Alerts) Add(a *Alert) error {
	if err := t.Put(a); err != nil {
		return err
	}
	return trim(t.Table, a.ID, maxAlerts, func(past *Alert) bool {
		return past.State() == AlertOver && t.in().Now().Sub(past.OverAt) >= maxAlertAge
	})
}

// Raise writes that something is wrong: as a new alert or, if one of the kind about the same stands, in that
// one. The admins are notified of a new alert, of each further failure of a post or a task, and where it has become
// worse than what they were told and have seen.
func (t Alerts) Raise(a Alert) error {
	a.Name, a.Reason.Detail = Shorten(a.Name, maxAlertName), Shorten(a.Reason.Detail, maxAlertDetail)
	known, err := t.Standing(a.Kind, a.About)
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		if err := t.LetGo(damaged.ID); err != nil {
			return err
		}
		known, err = Alert{}, ErrNotFound
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	before := known
	switch {
	case known.ID != 0:
		if a.Subject == 0 && !a.Kind.Lasts() { // it is about many, and these come on top
			a.Count += known.Count
		}
		if a.worse(known) {
			known.Untold, known.AcknowledgedAt, known.AcknowledgedBy = true, time.Time{}, ""
		}
		known.Subject, known.Name, known.Reason, known.Count, known.Limit = a.Subject, a.Name, a.Reason, a.Count, a.Limit
		known.ChangedAt, known.GoneAt = a.ChangedAt, time.Time{}
		if !a.Kind.Lasts() && a.Kind != AlertWatch { // it has happened again: who has seen the one before has not seen this
			known.RaisedAt, known.Untold = t.in().Now(), true
		}
	case a.many() != "" && t.count("state", key(nil).str(string(AlertOpen)), maxOpenAlerts) == maxOpenAlerts:
		return t.Raise(Alert{Kind: a.many(), About: "more", Count: 1})
	default:
		known, known.RaisedAt, known.Untold = a, t.in().Now(), true
		known.Flaps = a.Kind.Lasts() && t.latest(FlapTime, a.Kind, a.About)+1 >= thirdTime
	}
	if known == before {
		return nil
	}
	if err := t.Add(&known); err != nil {
		return fmt.Errorf("raise an alert about %s: %w", a.About, err)
	}
	return nil
}

// many is the kind of the alert that stands for further ones of a storm; empty if each stands for itself.
func (a Alert) many() AlertKind {
	switch {
	case a.Subject == 0:
		return ""
	case a.Kind == AlertPostFailed || a.Kind == AlertTaskFailed:
		return AlertPostFailed
	case a.Kind == AlertPostUnknown:
		return AlertPostUnknown
	}
	return ""
}

// worse reports whether people have to look once more at what they know: an account that could not connect has to be
// logged in, or a stage that gave a message up gives up all. Of a watch each message would be one too many.
func (a Alert) worse(known Alert) bool {
	switch a.Kind {
	case AlertLogin:
		return a.Reason.Code != known.Reason.Code && a.Reason.Code != ReasonNotConnected
	case AlertStageParked, AlertWatch:
		return a.Count >= 4*known.Told+10
	}
	return false
}

// latest returns how many of the latest alerts were raised within a time, of a kind and about the same.
func (t Alerts) latest(within time.Duration, kind AlertKind, about string) (n int) {
	looked := 0
	for past := range t.Newest(0) {
		if looked++; looked > latestAlerts || t.in().Now().Sub(past.RaisedAt).Abs() >= within {
			break
		}
		if past.Kind == kind && past.About == about {
			n++
		}
	}
	return n
}

// Standing returns the alert of a kind about something that is not over, or [ErrNotFound].
func (t Alerts) Standing(kind AlertKind, about string) (Alert, error) {
	return t.first("standing", key(nil).str(string(kind)).str(about))
}

// AllStanding yields the alerts that are not over, by their kinds.
func (t Alerts) AllStanding() iter.Seq[Alert] { return t.scan("standing", nil, nil) }

// ByState returns the alerts that have a state, the latest first.
func (t Alerts) ByState(state AlertState, q Query) (Page[Alert], error) {
	return t.page("state", key(nil).str(string(state)), q, true)
}

// Count returns how many alerts have a state, and counts no further than limit.
func (t Alerts) Count(state AlertState, limit int) int {
	return t.count("state", key(nil).str(string(state)), limit)
}

// Open reports whether somebody has to look at an alert. Nobody can look at one that is damaged.
func (t Alerts) Open() bool {
	prefix := key(nil).str(string(AlertOpen))
	for range t.scan("state", prefix, prefix.next()) {
		return true
	}
	return false
}
