package store

import "time"

// Reason says why something waits, was skipped, or failed. It is stored as a code with its
// particulars, so that each door can say it in its reader's language.
type Reason struct {
	Code   ReasonCode `json:"code"`
	About  string     `json:"about,omitempty"`  // what it is about where nothing else says so, such as a site
	Detail string     `json:"detail,omitempty"` // the words of whoever gave the reason, such as Telegram's
	Until  time.Time  `json:"until,omitzero"`   // when the wait ends
	N      int        `json:"n,omitempty"`      // which attempt, or how many
	Of     int        `json:"of,omitempty"`     // of how many attempts
}

// ReasonCode names a reason.
type ReasonCode string

// The reasons.
const (
	ReasonRetry         ReasonCode = "retry"          // a transient failure; tried again
	ReasonFlood         ReasonCode = "flood_wait"     // the network made the identity wait, for all or for looking chats up
	ReasonSlowmode      ReasonCode = "slow_mode"      // the network made the chat wait
	ReasonRefused       ReasonCode = "refused"        // the network will not take it
	ReasonGaveUp        ReasonCode = "gave_up"        // all attempts were used
	ReasonLate          ReasonCode = "late"           // its time had passed by more than the grace
	ReasonMerged        ReasonCode = "merged"         // several missed runs became one
	ReasonOverlap       ReasonCode = "overlap"        // the run before has not ended
	ReasonInterrupted   ReasonCode = "interrupted"    // the program ended during the run
	ReasonTimeout       ReasonCode = "timeout"        // the run took longer than allowed
	ReasonPanic         ReasonCode = "panic"          // the run met a mistake in the program
	ReasonError         ReasonCode = "error"          // the run failed
	ReasonStore         ReasonCode = "store"          // the file could not be read or written
	ReasonUnknownKind   ReasonCode = "unknown_kind"   // this version has no worker for it
	ReasonBadTrigger    ReasonCode = "bad_trigger"    // its schedule cannot be read
	ReasonLogin         ReasonCode = "login"          // the identity must be logged in again
	ReasonStopped       ReasonCode = "stopped"        // the network restricted the identity
	ReasonUnknown       ReasonCode = "unknown"        // nobody knows whether it went out
	ReasonCancelled     ReasonCode = "cancelled"      // a person cancelled it
	ReasonPaused        ReasonCode = "paused"         // a person paused it
	ReasonRequested     ReasonCode = "requested"      // a person asked for it now
	ReasonNotConnected  ReasonCode = "not_connected"  // there is no connection to the network
	ReasonIdentityGone  ReasonCode = "identity_gone"  // the login that it needs was removed
	ReasonShuttingDown  ReasonCode = "shutting_down"  // the program is ending
	ReasonIsCatchingUp  ReasonCode = "catching_up"    // a missed run that is made up for
	ReasonScheduleEnded ReasonCode = "schedule_ended" // the trigger names no later time
	ReasonPreparing     ReasonCode = "preparing"      // the list of chats of a task is being written
	ReasonPacing        ReasonCode = "pacing"         // the pause between two chats
	ReasonQuiet         ReasonCode = "quiet_hours"    // nothing is sent at this time of the day
	ReasonDailyCap      ReasonCode = "daily_cap"      // the identity has sent enough for this day
	ReasonChatOff       ReasonCode = "chat_off"       // the owner wants nothing sent to the chat
	ReasonSameChat      ReasonCode = "same_chat"      // the chat was named twice
	ReasonReadOnly      ReasonCode = "read_only"      // the identity may not send to the chat
	ReasonNobody        ReasonCode = "nobody"         // no chat of a task has it
	ReasonChecking      ReasonCode = "checking"       // the pause between two accounts
	ReasonSiteWait      ReasonCode = "site_wait"      // a site asked the check to wait
	ReasonNoAnswers     ReasonCode = "no_answers"     // a site refused to say whether accounts exist
	ReasonNoCanary      ReasonCode = "no_canary"      // a site does not find a profile that surely exists
	ReasonNoRule        ReasonCode = "no_rule"        // nothing says how a site is asked
	ReasonSitesGivenUp  ReasonCode = "sites_given_up" // a check gave up several sites, each for a reason of its own
	ReasonBackingOff    ReasonCode = "backing_off"    // a site that refused is left alone
	ReasonResting       ReasonCode = "resting"        // a site that is to be asked seldom is left in peace
	ReasonWindow        ReasonCode = "window"         // the identity has sent as many posts as it may
	ReasonTokenEnds     ReasonCode = "token_ends"     // what the identity logs in with could not be refreshed
	ReasonUploading     ReasonCode = "uploading"      // the media are being uploaded
	ReasonNothingNew    ReasonCode = "nothing_new"    // a feed has no item that was not posted
	ReasonListEnded     ReasonCode = "list_ended"     // each item of a rule's list was posted
	ReasonAIBudget      ReasonCode = "ai_budget"      // the AI was asked enough for this day
	ReasonOff           ReasonCode = "off"            // the stage is switched off
	ReasonWaits         ReasonCode = "waits"          // what a stage needs cannot be had before a time
	ReasonCollecting    ReasonCode = "collecting"     // the other members of an album are waited for
	ReasonNoPhoto       ReasonCode = "no_photo"       // the picture could not be fetched, or is gone
	ReasonLink          ReasonCode = "link"           // a link could not be read
	ReasonImportedLate  ReasonCode = "imported_late"  // its time had passed when it was imported
	ReasonGone          ReasonCode = "gone"           // what it is about was removed
	ReasonFailures      ReasonCode = "failures"       // a rule failed so often in a row that it paused itself
	ReasonNoChat        ReasonCode = "no_chat"        // the client of a booking has not written to the bot
	ReasonStarted       ReasonCode = "started"        // the booking has begun
	ReasonNoTime        ReasonCode = "no_time"        // the time of a reminder had passed when the booking was made
	ReasonLaterOne      ReasonCode = "later_one"      // a later reminder was due too
	ReasonLane          ReasonCode = "lane"           // others of its lane run
	ReasonApproval      ReasonCode = "approval"       // a person has to approve it
)

// Zero reports whether there is no reason.
func (r Reason) Zero() bool { return r.Code == "" }

// IsZero makes an empty reason disappear from JSON under omitzero.
func (r Reason) IsZero() bool { return r.Zero() }

// Message makes a reason one that can be said to people: what it is about, what is the matter, until when, and
// the words of whoever gave it.
func (r Reason) Message() (key string, args []any) {
	said := Say("reason."+string(r.Code), r.N, r.Of)
	if r.Zero() {
		return Detail(r.Detail).Message()
	}
	if r.About != "" {
		said = Say("reason.about", r.About, said)
	}
	if !r.Until.IsZero() {
		said = Say("reason.until", said, precise{r.Until})
	}
	if r.Detail != "" {
		said = Say("reason.detail", said, Detail(r.Detail))
	}
	return said.Message()
}

// Sentence is a message that is said where it is shown.
type Sentence struct {
	Key  string
	Args []any
}

// Say returns a [Sentence].
func Say(key string, args ...any) Sentence { return Sentence{key, args} }

// Message returns the key and what the message is filled in with.
func (s Sentence) Message() (key string, args []any) { return s.Key, s.Args }

// Detail is the words of a network or a site.
type Detail string

// Message has no key, so that the words are said.
func (d Detail) Message() (key string, args []any) { return "", []any{string(d)} }

// precise is a time that is shown with its seconds.
type precise struct{ time.Time }

// Precise returns the time.
func (p precise) Precise() time.Time { return p.Time }
