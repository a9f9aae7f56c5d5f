package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Topic names a stream of events.
type Topic string

// The topics, by the names that the replaced system gave them.
const (
	TopicParsed   Topic = "posts.parsed"          // a message was read, edited or deleted
	TopicVision   Topic = "posts.vision.analyzed" // its picture was described
	TopicTagged   Topic = "posts.tagged"
	TopicEnriched Topic = "posts.enriched" // its links were read
	TopicIndexed  Topic = "posts.indexed"
	TopicAlbum    Topic = "album.assembled" // the event is about the album's first message
)

// Topics lists the topics in the order in which a message passes them.
var Topics = [...]Topic{TopicParsed, TopicVision, TopicTagged, TopicEnriched, TopicIndexed, TopicAlbum}

// Event says that something happened to a message of a channel. Its id is its place in its topic's log: the first one
// has 1, and there are no gaps.
type Event struct {
	ID      uint64    `json:"-"`
	Message uint64    `json:"message"`
	Why     string    `json:"why"` // new, edited, deleted, backfill, vision or replay
	At      time.Time `json:"at"`
}

// Why an event was appended.
const (
	EventNew      = "new"
	EventEdited   = "edited"
	EventDeleted  = "deleted"
	EventBackfill = "backfill" // read from before the channel was added
	EventVision   = "vision"   // what was seen in the picture is known now
	EventReplay   = "replay"   // a person asked for it
)

// Streams is the logs of events and how far each group has come. A group handles every event of its topic: at once, or
// as an item that is tried again later, or is parked. Whatever a group learns of an event is written in the
// transaction of [Streams.Commit], so nothing is lost and nothing takes effect twice.
type Streams struct {
	Groups Groups
	Items  StreamItems
	logs   [len(Topics)]Table[Event]
}

func eventTable(topic Topic) def[Event] {
	return def[Event]{name: "events_" + string(topic), id: func(e *Event) *uint64 { return &e.ID }}
}

// Group is who handles a topic's events, and how far it has come.
type Group struct {
	ID    uint64 `json:"id"`
	Name  string `json:"name"` // such as tag
	Topic Topic  `json:"topic"`
	Job   string `json:"job"` // the job that handles what waits

	Start    uint64 `json:"start"`  // the last event before the group's first
	Cursor   uint64 `json:"cursor"` // the last event that was taken up
	Replayed uint64 `json:"replayed,omitempty"`
	Done     uint64 `json:"done,omitempty"`
	Skipped  uint64 `json:"skipped,omitempty"`

	LastAt    time.Time `json:"last_at,omitzero"` // when something was handled last
	NotBefore time.Time `json:"not_before,omitzero"`
	LastError Reason    `json:"last_error,omitzero"`
	ErrorAt   time.Time `json:"error_at,omitzero"`
	// What was handled since RateFrom, and in the ten minutes before.
	RateFrom time.Time `json:"rate_from,omitzero"`
	RateNow  uint64    `json:"rate_now,omitempty"`
	RateLast uint64    `json:"rate_last,omitempty"`
}

// Groups is the table of groups.
type Groups struct{ Table[Group] }

func groupTable() def[Group] {
	return def[Group]{
		name:  "stream_groups",
		id:    func(g *Group) *uint64 { return &g.ID },
		cache: new(cache[Group]),
		indexes: []Index[Group]{
			{Name: "name", Unique: true, Key: func(g *Group, k key) key { return k.str(g.Name) }},
		},
	}
}

// ByName returns a group, or [ErrNotFound].
func (t Groups) ByName(name string) (Group, error) { return t.first("name", key(nil).str(name)) }

const rateSpan = 10 * time.Minute

// Rate is how many events a group handles in a minute, over the last ten to twenty minutes.
func (g Group) Rate(now time.Time) float64 {
	since := now.Sub(g.RateFrom)
	switch {
	case since < 0 || since > 2*rateSpan:
		return 0
	case since > rateSpan:
		return float64(g.RateNow) / since.Minutes()
	}
	return float64(g.RateNow+g.RateLast) / (since + rateSpan).Minutes()
}

func (g *Group) count(now time.Time, n int) {
	if since := now.Sub(g.RateFrom); since < 0 || since >= rateSpan {
		g.RateLast = g.RateNow
		if since < 0 || since >= 2*rateSpan {
			g.RateLast = 0
		}
		g.RateFrom, g.RateNow = now, 0
	}
	g.RateNow += uint64(n)
	g.LastAt = now
}

// StreamItem is an event that a group has to try again, or has given up.
type StreamItem struct {
	ID       uint64    `json:"id"`
	Group    uint64    `json:"group"`
	Event    Event     `json:"event"`
	Seq      uint64    `json:"seq,omitempty"` // of the event; 0 for a replay
	Parked   bool      `json:"parked,omitempty"`
	Due      time.Time `json:"due,omitzero"` // of one that is not parked
	Attempts int       `json:"attempts,omitempty"`
	Reason   Reason    `json:"reason,omitzero"`
	At       time.Time `json:"at"` // of the last attempt
}

// StreamItems is the table of what is tried again and what is parked.
type StreamItems struct{ Table[StreamItem] }

func streamItemTable() def[StreamItem] {
	return def[StreamItem]{
		name: "stream_items",
		id:   func(i *StreamItem) *uint64 { return &i.ID },
		indexes: []Index[StreamItem]{
			{Name: "due", Key: func(i *StreamItem, k key) key {
				if i.Parked {
					return nil
				}
				return k.uint(i.Group).time(i.Due)
			}},
			{Name: "parked", Key: func(i *StreamItem, k key) key {
				if !i.Parked {
					return nil
				}
				return k.uint(i.Group)
			}},
			{Name: "message", Key: func(i *StreamItem, k key) key { return k.uint(i.Event.Message) }},
		},
	}
}

// due yields what a group has to try again now: also what would wait longer than any wait is, for its time was written
// while the clock was wrong.
func (t StreamItems) due(group uint64, now time.Time) iter.Seq[StreamItem] {
	prefix := key(nil).uint(group)
	at := func(when time.Time) []byte { return slices.Clip(prefix).time(when).next() }
	return func(yield func(StreamItem) bool) {
		for item := range t.scan("due", prefix, at(now)) {
			if !yield(item) {
				return
			}
		}
		for item := range t.scan("due", at(now.Add(longestStreamWait)), prefix.next()) {
			if !yield(item) {
				return
			}
		}
	}
}

// after returns when a group tries something again for the first time after now; zero: nothing.
func (t StreamItems) after(group uint64, now time.Time) time.Time {
	prefix := key(nil).uint(group)
	at := func(when time.Time) []byte { return slices.Clip(prefix).time(when).next() }
	for entry := range t.entries("due", at(now), at(now.Add(longestStreamWait))) {
		return timeAt(entry[len(prefix):])
	}
	return time.Time{}
}

// Parked returns what a group has given up, the latest first.
func (t StreamItems) Parked(group uint64, q Query) (Page[StreamItem], error) {
	return t.page("parked", key(nil).uint(group), q, true)
}

// ParkedBy yields what a group has parked.
func (t StreamItems) ParkedBy(group uint64) iter.Seq[StreamItem] {
	prefix := key(nil).uint(group)
	return t.scan("parked", prefix, prefix.next())
}

// count counts the entries of a group in an index.
func (t StreamItems) count(index string, group uint64) (n uint64) {
	prefix := key(nil).uint(group)
	for range t.entries(index, prefix, prefix.next()) {
		n++
	}
	return n
}

func (s Streams) log(topic Topic) Table[Event] { return s.logs[slices.Index(Topics[:], topic)] }

func (s Streams) now() time.Time { return s.Groups.in().Now() }

// Head returns the id of a topic's last event; 0 if it never had one.
func (s Streams) Head(topic Topic) uint64 {
	log := s.log(topic)
	return log.bucket().Sequence()
}

// Append adds an event about each message to a topic, and wakes the jobs of the groups that handle it.
func (s Streams) Append(topic Topic, why string, messages ...uint64) error {
	if len(messages) == 0 {
		return nil
	}
	log := s.log(topic)
	for _, id := range messages {
		if err := log.Put(&Event{Message: id, Why: why, At: s.now()}); err != nil {
			return fmt.Errorf("append to %s: %w", topic, err)
		}
	}
	handled := false
	for group := range s.Groups.All() {
		if group.Topic != topic {
			continue
		}
		handled = true
		if err := s.wake(group); err != nil {
			return err
		}
	}
	if handled {
		return nil
	}
	return s.trim(topic, 2*len(messages)) // nobody else would
}

// longestStreamWait is more than any group has to wait; a wait that is longer was written while the clock was wrong.
const longestStreamWait = 65 * time.Minute

// Held returns until when a group waits for what it needs; zero if it does not.
func (g Group) Held(now time.Time) time.Time {
	if g.NotBefore.After(now) && g.NotBefore.Sub(now) <= longestStreamWait {
		return g.NotBefore
	}
	return time.Time{}
}

// wake lets a group's job run now, or when the group's wait is over.
func (s Streams) wake(g Group) error {
	at := s.now()
	if held := g.Held(at); !held.IsZero() {
		at = held
	}
	return s.Groups.in().Jobs.Wake(g.Job, at)
}

// Join makes sure that there is a group, which begins with the next event of its topic if it is new.
func (s Streams) Join(name string, topic Topic, job string) error {
	_, err := s.Groups.ByName(name)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	head := s.Head(topic)
	return s.Groups.Put(&Group{Name: name, Topic: topic, Job: job, Start: head, Cursor: head})
}

// Leave removes a group with what it has to try again and what it has parked. One that does not exist is no error.
func (s Streams) Leave(name string) error {
	group, err := s.Groups.ByName(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for item := range s.Items.All() {
		if item.Group == group.ID {
			if err := s.Items.Delete(item.ID); err != nil {
				return err
			}
		}
	}
	return s.Groups.Delete(group.ID)
}
