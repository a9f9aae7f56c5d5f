package store

import (
	"cmp"
	"fmt"
	"time"
)

// Rule is a recipe that makes contents and posts at the times of its job.
type Rule struct {
	ID          uint64 `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// ScheduleType says in which words its owner gave the trigger: daily, weekly, interval, cron or custom.
	ScheduleType string      `json:"schedule_type"`
	Trigger      Trigger     `json:"trigger"` // of its job
	Content      RuleContent `json:"content"`
	Platforms    []string    `json:"platforms,omitempty"` // one post on each
	// Accounts are identities, with one post as each. Without any, each platform's default identity posts.
	Accounts []uint64 `json:"accounts,omitempty"`
	// Active says that it has a job. It is not once its owner has switched it off, or nothing is left to do.
	Active bool `json:"active"`

	Position    int       `json:"position,omitempty"` // items of the list that were posted, all rounds together
	Tries       int       `json:"tries,omitempty"`    // failed attempts at the present occurrence
	Executions  int       `json:"executions,omitempty"`
	Succeeded   int       `json:"succeeded,omitempty"`
	Failed      int       `json:"failed,omitempty"`
	FailedInRow int       `json:"failed_in_row,omitempty"`
	Stopped     bool      `json:"stopped,omitempty"` // it has paused itself, because of failures in a row
	PostsMade   int       `json:"posts_made,omitempty"`
	Texts       int       `json:"texts,omitempty"`  // of these posts; zero before they were counted
	LastAt      time.Time `json:"last_at,omitzero"` // when it was carried out last
	Reason      Reason    `json:"reason,omitzero"`  // why it failed or made no post then, or is not active
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"` // by its owner
}

// RuleContent says what a rule posts.
type RuleContent struct {
	// Source is ai, template, list or feed. Empty means ai where one is set up, and else the title and the description.
	Source      string   `json:"source,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Language    string   `json:"language,omitempty"` // of what the AI writes, such as ru
	Template    string   `json:"template,omitempty"` // of source template, and of a feed's items
	Items       []string `json:"items,omitempty"`    // of source list
	Order       string   `json:"order,omitempty"`    // of the list: once, circle or shuffle
	FeedURL     string   `json:"feed_url,omitempty"` // of source feed
	PerRun      int      `json:"per_run,omitempty"`  // items of the feed that one run posts at most
	Format      string   `json:"format,omitempty"`   // html, markdown or plain
	Media       []Media  `json:"media,omitempty"`    // with each post
	Approval    bool     `json:"approval,omitempty"` // posts wait for a person's approval
	PauseAfter  int      `json:"pause_after"`        // failures in a row
}

// RuleKind is the kind of the jobs that carry out rules.
const RuleKind = "rule"

// JobName is the name of the rule's job.
func (r Rule) JobName() string { return fmt.Sprintf("rule_%d", r.ID) }

// Job is the rule's job. Its lane is its own: what keeps one rule waiting keeps no other.
func (r Rule) Job() Job {
	return Job{Name: r.JobName(), Kind: RuleKind, Subject: r.ID, Lane: r.JobName(), Trigger: r.Trigger}
}

// TextsMade is how many texts a rule has posted. Each may have several posts.
func (r Rule) TextsMade() int { return cmp.Or(r.Texts, r.PostsMade) }

// Rules is the table of rules.
type Rules struct{ Table[Rule] }

func ruleTable() def[Rule] {
	return def[Rule]{
		name: "rules",
		id:   func(r *Rule) *uint64 { return &r.ID },
		job: func(tx *Tx, r *Rule) Job {
			if !r.Active {
				return Job{}
			}
			job := r.Job() // perhaps its owner had paused it
			job.State, job.Reason, job.Occurrence, job.Due = JobPaused, Reason{Code: ReasonPaused}, tx.Now(), tx.Now()
			return job
		},
		indexes: []Index[Rule]{
			{Name: "created", Key: func(r *Rule, k key) key { return k.time(r.CreatedAt) }},
		},
	}
}

// ByTime returns the rules, the latest first.
func (t Rules) ByTime(q Query) (Page[Rule], error) { return t.page("created", nil, q, true) }

// FeedMemory is which items of its feed a rule has posted.
type FeedMemory struct {
	ID     uint64 `json:"id"`
	RuleID uint64 `json:"rule_id"`
	Marks  []byte `json:"marks"` // 8 bytes of each item's hash, the one that was posted first comes first
}

// FeedMemories is the table of what rules remember of their feeds.
type FeedMemories struct{ Table[FeedMemory] }

func feedMemoryTable() def[FeedMemory] {
	return def[FeedMemory]{
		name: "feed_memories",
		id:   func(m *FeedMemory) *uint64 { return &m.ID },
		indexes: []Index[FeedMemory]{
			{Name: "rule", Unique: true, Key: func(m *FeedMemory, k key) key { return k.uint(m.RuleID) }},
		},
	}
}

// Of returns what a rule remembers, or [ErrNotFound].
func (t FeedMemories) Of(ruleID uint64) (FeedMemory, error) {
	return t.first("rule", key(nil).uint(ruleID))
}
