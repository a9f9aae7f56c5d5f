package store

import (
	"fmt"
	"iter"
	"strings"
	"time"
)

// Channel is a Telegram channel that is read.
type Channel struct {
	ID         uint64 `json:"id"`
	PeerID     int64  `json:"peer_id"`     // Telegram's id, without a prefix; names may change, this one does not
	IdentityID uint64 `json:"identity_id"` // that reads it
	Username   string `json:"username,omitempty"`
	Title      string `json:"title,omitempty"`
	// Active says that it is read. One that is paused keeps its messages and its place.
	Active bool `json:"active"`
	// Removed says that its job deletes its messages, a few at a time, and then the channel.
	Removed  bool          `json:"removed,omitempty"`
	Interval time.Duration `json:"interval"` // between two reads, in nanoseconds
	Since    time.Time     `json:"since"`    // messages before that are not read

	LastParsedAt  time.Time `json:"last_parsed_at,omitzero"`  // the last read that succeeded
	LastMessageID int       `json:"last_message_id"`          // up to which its history was read
	Place         Place     `json:"place,omitzero"`           // where reading goes on
	Failures      int       `json:"failures,omitempty"`       // reads that failed in a row for a reason of its own
	FailedSince   time.Time `json:"failed_since,omitzero"`    // the first of them
	LastError     Reason    `json:"last_error,omitzero"`      // of the last read, if that failed
	LastMessageAt time.Time `json:"last_message_at,omitzero"` // the date of its latest message
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"` // by its owner
}

// Place is where the reading of a channel goes on.
type Place struct {
	// Pts is what the next difference is asked from. 0: history is read first.
	Pts int `json:"pts,omitempty"`
	// NextPts becomes Pts when history has been read to its end: nothing that happens meanwhile is missed.
	NextPts int `json:"next_pts,omitempty"`
	// Begun says that the message is known after which history begins.
	Begun bool `json:"begun,omitempty"`
	// Unmet says that the account has not met the channel, and has to find it before it reads it: it was imported, or the
	// account has another session.
	Unmet bool `json:"unmet,omitempty"`
	// Page is how many messages are asked for at once after an answer that could not be read. 0: as many as may be.
	Page int `json:"page,omitempty"`
	// Again is the id up to which known messages are asked for again, downward. 0: none are.
	Again int `json:"again,omitempty"`
	// Counted is when views and reactions were read last, and Counts the id up to which the present round still has
	// to ask, downward. 0: there is no round.
	Counted time.Time `json:"counted,omitzero"`
	Counts  int       `json:"counts,omitempty"`
}

// ChannelKind is the kind of the jobs that read channels.
const ChannelKind = "channel"

// JobName is the name of the channel's job.
func (c Channel) JobName() string { return fmt.Sprintf("channel_%d", c.ID) }

// Name is what people know the channel by.
func (c Channel) Name() string {
	switch {
	case c.Username != "":
		return "@" + c.Username
	case c.Title != "":
		return c.Title
	}
	return fmt.Sprint(c.PeerID)
}

// Link is the address of one of its messages. Only members can follow that of a channel without a name.
func (c Channel) Link(messageID int) string {
	if c.Username != "" {
		return fmt.Sprintf("https://t.me/%s/%d", c.Username, messageID)
	}
	return fmt.Sprintf("https://t.me/c/%d/%d", c.PeerID, messageID)
}

// ReadLane is the lane of all that an identity reads. It is not that of what it sends.
func (i Identity) ReadLane() string { return "read:" + i.Lane() }

// Channels is the table of channels.
type Channels struct{ Table[Channel] }

func channelTable() def[Channel] {
	return def[Channel]{
		name: "channels",
		id:   func(c *Channel) *uint64 { return &c.ID },
		job: func(tx *Tx, c *Channel) Job {
			if !c.Active && !c.Removed {
				return Job{}
			}
			job := c.Job("lost") // without its login the worker can only say so
			if identity, err := tx.Identities.Get(c.IdentityID); err == nil {
				job.Lane = identity.ReadLane()
			}
			job.State, job.Occurrence, job.Due = JobWaiting, tx.Now(), tx.Now()
			return job
		},
		cache: new(cache[Channel]),
		indexes: []Index[Channel]{
			{Name: "peer", Unique: true, Key: func(c *Channel, k key) key { return k.int(c.PeerID) }},
			{Name: "name", Key: func(c *Channel, k key) key {
				if c.Removed {
					return nil
				}
				return k.str(strings.ToLower(strings.TrimPrefix(c.Name(), "@")))
			}},
			{Name: "failing", Key: func(c *Channel, k key) key {
				if !c.Active || c.Removed || c.Failures == 0 {
					return nil
				}
				return k.time(c.FailedSince)
			}},
		},
	}
}

// Job is the channel's job, in the lane of what its identity reads. Jobs with the same interval are spread over it.
func (c Channel) Job(lane string) Job {
	return Job{Name: c.JobName(), Kind: ChannelKind, Subject: c.ID, Lane: lane, Trigger: Trigger{Every: c.Interval}}
}

// ByName returns the channels in the order of their names.
func (t Channels) ByName(q Query) (Page[Channel], error) { return t.page("name", nil, q, false) }

// ByPeer returns the channel with Telegram's id, or [ErrNotFound].
func (t Channels) ByPeer(peerID int64) (Channel, error) {
	return t.first("peer", key(nil).int(peerID))
}

// Failing yields the active channels whose last read failed for a reason of their own, the longest first.
func (t Channels) Failing() iter.Seq[Channel] { return t.scan("failing", nil, nil) }
