package accounts

import (
	"fmt"
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
		n.Buttons = [][]store.Button{{{Text: fmt.Sprintf(w.language().onlyChanges, 2*int(24*time.Hour/every)), Data: PressQuiet}}}
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
func (w *Worker) clock(t time.Time) string { return t.In(w.cfg.Zone).Format(time.TimeOnly) }
