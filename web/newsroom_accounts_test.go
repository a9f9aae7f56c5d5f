package web

import (
	"errors"
	"fmt"
	"time"

	"belfry/store"
	"belfry/worker/accounts"
)

// watching adds the accounts that the newsroom watches, in the middle of a check.
func (h *harness) watching() {
	names := []string{"evening.news.city", "harbour_live", "tramline_nine", "old.town.cafe", "anna_writes", "boris.photo", "the_market_hall", "night.bus.info", "river_readers", "mill_lane_books"}
	notes := []string{"Our own account before the move", "", "Asked for by the transport desk; tell them when it is back", "", "Columnist"}
	refused := "the site leads to its page for logging in (status 302)"
	h.update(func(tx *store.Tx) error {
		now := tx.Now()
		for i := range 64 {
			a := store.Account{Site: "instagram", Username: names[i%len(names)], State: store.AccountPending, Note: notes[i%len(notes)], Tag: []string{"press", "", "city"}[i%3],
				CreatedAt: now.Add(-time.Duration(70-i) * time.Hour), UpdatedAt: now, CheckedAt: now.Add(-time.Duration(i%40) * 9 * time.Second), Outcome: store.OutcomeNotFound}
			if i >= len(names) {
				a.Username += fmt.Sprintf("_%d", i)
			}
			switch {
			case i == 0:
				a.KeepWatching, a.OwnerChat = true, "@city_editor"
				fallthrough
			case i%6 == 1:
				a.State, a.Outcome, a.FoundAt, a.ChangedAt = store.AccountFound, store.OutcomeFound, now.Add(-time.Duration(i+2)*time.Hour), now.Add(-time.Duration(i+2)*time.Hour)
			case i == 4:
				a.State, a.KeepWatching, a.FoundAt, a.ChangedAt = store.AccountNotFound, true, now.Add(-50*time.Hour), now.Add(-80*time.Minute)
			case i == 6, i == 8:
				a.Outcome, a.Detail, a.Failures = store.OutcomeError, refused, 2
			case i == 63:
				a.Site, a.CheckedAt, a.Outcome = "github", time.Time{}, ""
			}
			if err := tx.Accounts.Put(&a); err != nil {
				return err
			}
			if i != 4 {
				continue
			}
			for _, r := range []store.AccountResult{
				{Outcome: store.OutcomeNotFound, State: store.AccountPending, Status: 404, From: now.Add(-60 * time.Hour), To: now.Add(-50 * time.Hour), Times: 118},
				{Outcome: store.OutcomeFound, State: store.AccountFound, Changed: true, Status: 200, From: now.Add(-50 * time.Hour), To: now.Add(-3 * time.Hour), Times: 561},
				{Outcome: store.OutcomeError, State: store.AccountFound, Status: 302, Detail: refused, From: now.Add(-3 * time.Hour), To: now.Add(-170 * time.Minute), Times: 2},
				{Outcome: store.OutcomeFound, State: store.AccountFound, Status: 200, From: now.Add(-165 * time.Minute), To: now.Add(-85 * time.Minute), Times: 17},
				{Outcome: store.OutcomeNotFound, State: store.AccountNotFound, Changed: true, Status: 404, From: now.Add(-80 * time.Minute), To: now.Add(-80 * time.Minute), Times: 1},
				{Outcome: store.OutcomeNotFound, State: store.AccountNotFound, Status: 404, From: now.Add(-75 * time.Minute), To: now.Add(-4 * time.Minute), Times: 15},
			} {
				r.AccountID = a.ID
				if err := tx.AccountResults.Put(&r); err != nil {
					return err
				}
			}
		}
		for i := range 48 {
			c := store.AccountCheck{Status: store.AccountCheckDone, Began: now.Add(-time.Duration(50-i) * 5 * time.Minute), Total: 40, Checked: 40, Found: i / 9, Changes: min(1, i%9/8)}
			c.Ended = c.Began.Add(3 * time.Minute)
			switch {
			case i == 20 || i == 21:
				c.Status, c.Checked, c.Errors, c.Found, c.Stopped = store.AccountCheckStopped, 14, 5, 1, []string{"instagram"}
			case i%13 == 5:
				c.Errors = 2
			}
			c.NotFound = c.Checked - c.Found - c.Errors
			if err := tx.AccountChecks.Begin(&c); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.AccountSites.Put(&store.AccountSite{Site: "tiktok", Stops: 2, Until: now.Add(35 * time.Minute), Reason: store.Reason{Code: store.ReasonNoAnswers, N: 5, Detail: "too many requests (status 429)"}}),
			tx.AccountSites.Put(&store.AccountSite{Site: "github", Stops: 1, Until: now.Add(20 * time.Minute), Reason: store.Reason{Code: store.ReasonNoCanary}}),
		)
	})
	h.update(func(tx *store.Tx) error {
		_, err := h.watch.SetInterval(tx, 5*time.Minute)
		return err
	})
	h.nextCheck(3 * time.Minute)
}

// nextCheck sets the next check, or the next step of the one under way, to a time to come.
func (h *harness) nextCheck(in time.Duration) {
	h.update(func(tx *store.Tx) error {
		job, err := tx.Jobs.ByName(accounts.JobName)
		if err != nil {
			return err
		}
		job.Due, job.State, job.Reason = tx.Now().Add(in), store.JobWaiting, store.Reason{}
		return tx.Jobs.Put(&job)
	})
}
