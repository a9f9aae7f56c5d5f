package store

import (
	"strconv"
	"strings"
	"time"
)

// AuditEntry is one thing that somebody has done through a door, or was refused. It holds no secrets, and nothing
// of what people have written.
type AuditEntry struct {
	ID uint64    `json:"id"`
	At time.Time `json:"at"`
	// Actor is who: a token's name, the page, the Telegram id of an admin, or a user of the machine.
	Actor  string      `json:"actor"`
	Door   Door        `json:"door"`
	Action string      `json:"action"`          // such as posts.create
	About  string      `json:"about,omitempty"` // such as post_17, or the address of who is not known
	Result AuditResult `json:"result"`
}

// Door is where people and programs come in.
type Door string

// The doors.
const (
	DoorPage Door = "page"
	DoorAPI  Door = "api"
	DoorBot  Door = "bot"
	DoorCLI  Door = "cli"
)

// AuditResult says what came of it.
type AuditResult string

// The results of an action.
const (
	AuditDone    AuditResult = "done"
	AuditRefused AuditResult = "refused"
	AuditFailed  AuditResult = "failed" // an error of ours, or of a network: it may have been done in part
)

// Audit is the record of who did what.
type Audit struct{ Table[AuditEntry] }

// The audit keeps this much, and is trimmed as the history of the jobs is.
const (
	maxAudit    = 100_000 - trimEvery
	maxAuditAge = 365 * 24 * time.Hour
	// maxAuditText is what is kept of a name, in characters.
	maxAuditText = 100
	// maxAuditRead is how many entries one page looks at.
	maxAuditRead = 20_000
)

func auditTable() def[AuditEntry] {
	return def[AuditEntry]{name: "audit", id: func(e *AuditEntry) *uint64 { return &e.ID }}
}

// Add writes an entry with the time of the transaction, and forgets those that are too old or too many.
func (t Audit) Add(e AuditEntry) error {
	e.ID, e.At = 0, t.in().Now()
	e.Actor, e.Action, e.About = Shorten(e.Actor, maxAuditText), Shorten(e.Action, maxAuditText), Shorten(e.About, maxAuditText)
	if err := t.Put(&e); err != nil {
		return err
	}
	return trim(t.Table, e.ID, maxAudit, func(past *AuditEntry) bool { return t.in().Now().Sub(past.At) >= maxAuditAge })
}

// AuditFilter chooses entries. What is empty chooses all.
type AuditFilter struct {
	Actor, Door string
	Action      string    // an action, or what comes before its dot
	Since       time.Time // included
	Until       time.Time // excluded
}

func (f AuditFilter) match(e AuditEntry) bool {
	return (f.Actor == "" || f.Actor == e.Actor) && (f.Door == "" || f.Door == string(e.Door)) &&
		(f.Action == "" || f.Action == e.Action || strings.HasPrefix(e.Action, f.Action+".")) &&
		(f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until))
}

// Find returns the entries of a filter, the latest first. It reads those that the filter leaves out, too, so a page may
// have few entries and yet be followed by another. Its error is a [*FieldError] about the cursor.
func (t Audit) Find(f AuditFilter, q Query) (page Page[AuditEntry], err error) {
	var below uint64
	if q.Cursor != "" {
		if below, err = strconv.ParseUint(q.Cursor, 10, 64); err != nil || below == 0 {
			return page, errCursor()
		}
	}
	read, last := 0, uint64(0)
	for e := range t.Newest(below) {
		if len(page.Items) == q.limit() || read == maxAuditRead {
			page.Next = strconv.FormatUint(last, 10)
			break
		}
		if read, last = read+1, e.ID; f.match(e) {
			page.Items = append(page.Items, e)
		}
	}
	return page, nil
}
