package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Post is a content that goes to a platform at a time.
type Post struct {
	ID         uint64  `json:"id"`
	ContentID  uint64  `json:"content_id,omitempty"` // 0 for a post that was made from a text directly
	RuleID     uint64  `json:"rule_id,omitempty"`    // the rule that made it; 0 if none did
	Group      uint64  `json:"group,omitempty"`      // the first of the posts that were made together; 0 if it was made alone
	Platform   string  `json:"platform"`
	IdentityID uint64  `json:"identity_id"`
	Target     string  `json:"target"`
	Text       string  `json:"text"`
	Format     string  `json:"format"`
	Media      []Media `json:"media,omitempty"`

	Silent        bool `json:"silent,omitempty"`
	NoLinkPreview bool `json:"no_link_preview,omitempty"`

	ScheduledTime time.Time `json:"scheduled_time"`
	Lateness      Lateness  `json:"lateness,omitzero"`
	// Key makes the call to the network repeatable: chosen when the post is made, used by each attempt.
	Key int64 `json:"key"`

	Status   PostStatus `json:"status"`
	Reason   Reason     `json:"reason,omitzero"`    // why it has that status, or why it waits
	Attempts int        `json:"attempts,omitempty"` // calls to the network that were begun
	Failures int        `json:"failures,omitempty"` // those of them that failed and count against the limit
	// Held says that it waits for somebody's approval, whatever its time.
	Held bool `json:"held,omitempty"`
	// Unsettled says that a call was begun of which nobody knows whether it had its effect.
	Unsettled bool `json:"unsettled,omitempty"`
	// SentAgain says that a person had it sent again while it was not known whether it was out.
	SentAgain bool `json:"sent_again,omitempty"`
	// State is what the network's adapter has learned and made so far, such as the ids of uploaded media.
	State []byte `json:"state,omitempty"`
	// Slot is when the attempt that is under way was begun last, as [Pace.Posts] has it; 0 if none is.
	Slot        int64     `json:"slot,omitempty"`
	MessageIDs  []int64   `json:"message_ids,omitempty"`
	Link        string    `json:"link,omitempty"`
	PublishedAt time.Time `json:"published_at,omitzero"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// PostStatus says how far a post has come.
type PostStatus string

// The statuses of a post.
const (
	PostScheduled  PostStatus = "scheduled"
	PostPublishing PostStatus = "publishing" // an attempt is under way or will be made again
	PostPublished  PostStatus = "published"
	PostFailed     PostStatus = "failed"
	PostUnknown    PostStatus = "unknown" // nobody knows whether it went out
	PostCancelled  PostStatus = "cancelled"
	PostSkipped    PostStatus = "skipped" // its time passed, and it was not to be sent late
)

// PostStatuses are all statuses, in the order in which a post may pass through them.
func PostStatuses() []PostStatus {
	return []PostStatus{PostScheduled, PostPublishing, PostPublished, PostFailed, PostUnknown, PostCancelled, PostSkipped}
}

// Final reports whether the post will not change by itself any more.
func (s PostStatus) Final() bool { return s != PostScheduled && s != PostPublishing }

// MayBeOut reports whether a call was begun of which it is not known whether it had its effect.
func (p Post) MayBeOut() bool { return p.Unsettled || p.SentAgain }

// AwaitsApproval reports whether the post does not go out before somebody has approved it.
func (p Post) AwaitsApproval() bool { return p.Held && !p.Status.Final() }

// JobName is the name of the post's job.
func (p Post) JobName() string { return fmt.Sprintf("post_%d", p.ID) }

// Posts is the table of posts.
type Posts struct{ Table[Post] }

func postTable() def[Post] {
	return def[Post]{
		name:  "posts",
		id:    func(p *Post) *uint64 { return &p.ID },
		valid: (*Post).validate,
		job: func(tx *Tx, p *Post) Job {
			if p.Status.Final() {
				return Job{}
			}
			return jobOnce(tx, p.JobName(), "post", p.ID, p.IdentityID, p.ScheduledTime, p.Held)
		},
		indexes: []Index[Post]{
			{Name: "status", Key: func(p *Post, k key) key { return k.str(string(p.Status)).time(p.ScheduledTime) }},
			{Name: "counts", Counted: true, Key: func(p *Post, k key) key { return k.str(p.Platform).str(string(p.Status)) }},
			{Name: "time", Key: func(p *Post, k key) key { return k.time(p.ScheduledTime) }},
			{Name: "pending", Key: func(p *Post, k key) key {
				if p.Status.Final() {
					return nil
				}
				return k.uint(p.IdentityID).time(p.ScheduledTime)
			}},
			{Name: "held", Key: func(p *Post, k key) key {
				if !p.AwaitsApproval() {
					return nil
				}
				return k.time(p.ScheduledTime)
			}},
			{Name: "rule", Key: func(p *Post, k key) key {
				if p.RuleID == 0 {
					return nil
				}
				return k.uint(p.RuleID).time(p.CreatedAt)
			}},
			{Name: "group", Key: func(p *Post, k key) key {
				if p.Group == 0 {
					return nil
				}
				return k.uint(p.Group)
			}},
			{Name: "trouble", Key: func(p *Post, k key) key {
				if !p.troubled() {
					return nil
				}
				return k.time(p.UpdatedAt)
			}},
			{Name: "media", Key: func(p *Post, k key) key {
				if p.Status.Final() {
					return nil
				}
				return mediaKey(p.Media, p.ScheduledTime)
			}},
		},
	}
}

func (p *Post) validate() error {
	for _, s := range PostStatuses() {
		if p.Status == s {
			return nil
		}
	}
	return fmt.Errorf("post %d: no status is called %q", p.ID, p.Status)
}

// Put writes a post. If it has failed, or nobody knows whether it is out, that raises an alert.
func (t Posts) Put(p *Post) error {
	if !p.troubled() {
		return t.Table.Put(p)
	}
	before, _ := t.Get(p.ID) // if it cannot be read, it cannot be written
	if err := t.Table.Put(p); err != nil || before.troubled() && before.UpdatedAt.Equal(p.UpdatedAt) {
		return err
	}
	kind := AlertPostFailed
	if p.Status == PostUnknown {
		kind = AlertPostUnknown
	}
	return t.in().Alerts.Raise(Alert{Kind: kind, About: p.JobName(), Subject: p.ID, Name: p.Target, Reason: p.Reason})
}

func (p *Post) troubled() bool { return p.Status == PostFailed || p.Status == PostUnknown }

// ByTime returns posts by the time that they are scheduled for, the latest first; with a status,
// those that have it.
func (t Posts) ByTime(status PostStatus, q Query) (Page[Post], error) {
	if status == "" {
		return t.page("time", nil, q, true)
	}
	return t.page("status", key(nil).str(string(status)), q, true)
}

// Coming returns the posts that have a status by the time that they are scheduled for, the earliest
// first.
func (t Posts) Coming(status PostStatus, q Query) (Page[Post], error) {
	return t.page("status", key(nil).str(string(status)), q, false)
}

// Between yields the posts that are scheduled for a time from from, included, to to, excluded, the
// earliest first.
func (t Posts) Between(from, to time.Time) iter.Seq[Post] {
	return t.scan("time", key(nil).time(from), key(nil).time(to))
}

// Held returns the posts that wait for somebody's approval, the earliest first. All of them are scheduled.
func (t Posts) Held(q Query) (Page[Post], error) { return t.page("held", nil, q, false) }

// AllHeld yields the posts that wait for somebody's approval, the earliest first.
func (t Posts) AllHeld() iter.Seq[Post] { return t.scan("held", nil, nil) }

// Pending yields the posts of an identity that have not ended, the earliest first.
func (t Posts) Pending(identityID uint64) iter.Seq[Post] {
	prefix := key(nil).uint(identityID)
	return t.scan("pending", prefix, prefix.next())
}

// OfRule returns the posts that a rule has made, the latest first.
func (t Posts) OfRule(id uint64, q Query) (Page[Post], error) {
	return t.page("rule", key(nil).uint(id), q, true)
}

// OfGroup returns posts that were made together, the first one first.
func (t Posts) OfGroup(group uint64, q Query) (Page[Post], error) {
	return t.page("group", key(nil).uint(group), q, false)
}

// CountGroup returns how many posts were made together, and counts no further than limit.
func (t Posts) CountGroup(group uint64, limit int) int {
	return t.count("group", key(nil).uint(group), limit)
}

// Taken reports whether an identity has a post for a channel at a time that has not ended, another one than but.
func (t Posts) Taken(identityID uint64, target string, at time.Time, but uint64) bool {
	prefix := key(nil).uint(identityID).time(at)
	for post := range t.scan("pending", prefix, prefix.next()) {
		if post.ID != but && strings.EqualFold(post.Target, target) {
			return true
		}
	}
	return false
}

// LookAgain makes the posts of an identity due that wait for its window, which is another one now.
func (t Posts) LookAgain(identityID uint64) error {
	for _, post := range slices.Collect(t.Pending(identityID)) { // they change meanwhile
		if post.Reason.Code != ReasonWindow {
			continue
		}
		job, err := t.in().Jobs.ByName(post.JobName())
		if errors.Is(err, ErrNotFound) || IsCorrupt(err) {
			continue
		}
		if err == nil && job.State == JobWaiting && job.Due.After(t.in().Now()) {
			job.Due = t.in().Now()
			err = t.in().Jobs.Put(&job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count returns how many posts have a status, and counts no further than limit.
func (t Posts) Count(status PostStatus, limit int) int {
	return t.count("status", key(nil).str(string(status)), limit)
}
