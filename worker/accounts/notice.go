package accounts

import (
	"strings"
	"time"

	"belfry/store"
)

// The kinds of notices.
const (
	noticeStarted  = "check_started"
	noticeFinished = "check_finished"
	noticeStopped  = "check_stopped"
	noticeFound    = "account_found"
	noticeVanished = "account_vanished"
	noticeReturned = "account_returned"
)

// PressQuiet is what the button under the message about the start of a check says when it is pressed: its admin wants
// to be told only what has changed.
const PressQuiet = "check/quiet/on"

// tellCheck tells the admins about a check. In quiet mode, they are told of one that has changed
// something, and of a site that begins to refuse.
func (w *Worker) tellCheck(tx *store.Tx, kind string, c store.AccountCheck) error {
	if w.Quiet(tx) && c.Changes == 0 && !newlyStopped(tx, c) {
		return nil
	}
	n := store.Notice{Kind: kind, Text: w.aboutCheck(kind, c, tx.Now())}
	if kind == noticeStarted {
		every, err := w.Interval(tx)
		if err != nil {
			return err
		}
		n.Buttons = [][]store.Button{{{Text: w.Printer().T("notice.check.only_changes", 2*int(24*time.Hour/every)), Data: PressQuiet}}}
	}
	return w.teller.Tell(tx, n)
}

// newlyStopped reports whether a check has given up a site that the check before had not.
func newlyStopped(tx *store.Tx, c store.AccountCheck) bool {
	for _, site := range c.Stopped {
		if siteRow(tx, site).Stops == 1 {
			return true
		}
	}
	return false
}

// tellAccount tells the admins, and the account's own chat, what became of an account.
func (w *Worker) tellAccount(tx *store.Tx, kind string, a store.Account, link string) error {
	return w.teller.Tell(tx, store.Notice{Kind: kind, Text: w.aboutAccount(kind, a, link, tx.Now())}, a.OwnerChat)
}

// clock is a time as messages show it.
func (w *Worker) clock(t time.Time) string { return t.In(w.Zone()).Format(time.TimeOnly) }

// aboutCheck is what the admins are told about a check.
func (w *Worker) aboutCheck(kind string, c store.AccountCheck, now time.Time) string {
	switch {
	case kind == noticeStarted:
		return w.Printer().T("notice.check.started", c.Total, w.clock(now))
	case kind == noticeFinished:
		return w.Printer().T("notice.check.finished", c.Checked, c.Found, c.NotFound, c.Errors, w.clock(now))
	case len(c.Stopped) < c.Of:
		return w.Printer().T("notice.check.partly", w.givenUp(c), c.Checked, c.Total, c.Found, c.NotFound, c.Errors, w.clock(now))
	}
	return w.Printer().T("notice.check.stopped", w.givenUp(c), c.Checked, c.Total, c.Found, c.NotFound, c.Errors, w.clock(now))
}

const (
	// toldGivenUp is of how many sites a message says why they were given up.
	toldGivenUp    = 8
	maxGivenUpLine = 350 // characters
)

// givenUp says of each site that a check gave up why, and until when it is left alone.
func (w *Worker) givenUp(c store.AccountCheck) string {
	if len(c.GivenUp) == 0 { // it was begun before this was noted
		return w.Printer().Say(c.Reason)
	}
	var lines []string
	for _, site := range c.GivenUp[:min(len(c.GivenUp), toldGivenUp)] {
		lines = append(lines, store.Shorten("• "+site.Site+": "+w.Printer().Say(site.Reason), maxGivenUpLine))
	}
	if more := len(c.Stopped) - len(lines); more > 0 {
		lines = append(lines, w.Printer().T("notice.check.further", more))
	}
	return strings.Join(lines, "\n")
}

// aboutAccount is what is told about an account.
func (w *Worker) aboutAccount(kind string, a store.Account, link string, now time.Time) string {
	said := w.Printer().T("notice."+kind, a.Username) + "\n"
	if link != "" {
		said += "\n🔗 " + link
	}
	if a.Note != "" {
		said += "\n📝 " + a.Note
	}
	return said + "\n" + w.Printer().T("notice.time", w.clock(now))
}
