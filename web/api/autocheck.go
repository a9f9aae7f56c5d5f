package api

import (
	"context"
	"net/http"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
)

// AccountCheck is one check of the accounts as the API shows it.
type AccountCheck struct {
	ID       uint64    `json:"id"`
	Status   string    `json:"status" doc:"running, done, or stopped (it gave a site up)" enum:"running,done,stopped"`
	Reason   *Reason   `json:"reason,omitempty" doc:"Why it was stopped; with several sites, given_up has the reason of each"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Total    int       `json:"total" doc:"Accounts that it is about"`
	Checked  int       `json:"checked" doc:"Of these, those that are done"`
	Found    int       `json:"found"`
	NotFound int       `json:"not_found"`
	Errors   int       `json:"errors" doc:"Accounts of which the site would not say"`
	Changes  int       `json:"changes" doc:"Accounts of which something else is believed now"`
	Stopped  []string  `json:"stopped" doc:"Sites that did not answer" nullable:"false"`
	GivenUp  []GivenUp `json:"given_up,omitempty" doc:"Of these, the first 20, each with its reason" nullable:"false"`
}

// GivenUp is a site that a check gave up.
type GivenUp struct {
	Site   string  `json:"site"`
	Reason *Reason `json:"reason" doc:"Why; until says how long the site is left alone for that"`
}

func (s accountDoor) shownCheck(c store.AccountCheck) AccountCheck {
	out := AccountCheck{
		ID: c.ID, Status: string(c.Status), Reason: s.reasonOf(c.Reason), Started: c.Began, Ended: c.Ended, Total: c.Total, Checked: c.Checked,
		Found: c.Found, NotFound: c.NotFound, Errors: c.Errors, Changes: c.Changes, Stopped: append([]string{}, c.Stopped...),
	}
	for _, site := range c.GivenUp {
		out.GivenUp = append(out.GivenUp, GivenUp{site.Site, s.reasonOf(site.Reason)})
	}
	return out
}

// SiteAlone is a site that is left alone for a while.
type SiteAlone struct {
	Site   string    `json:"site"`
	Until  time.Time `json:"until"`
	Stops  int       `json:"stops" doc:"Checks in a row that gave it up"`
	Reason *Reason   `json:"reason,omitempty"`
}

// StateCounts are the numbers of accounts in each state.
type StateCounts struct {
	Pending  int `json:"pending"`
	Found    int `json:"found"`
	NotFound int `json:"not_found"`
}

// Autocheck is how the check of the accounts stands.
type Autocheck struct {
	Interval string        `json:"interval" doc:"The time between two checks" example:"5m0s"`
	Quiet    bool          `json:"quiet" doc:"The admins are told only what has changed"`
	Next     time.Time     `json:"next_check,omitzero" doc:"When the next check begins; while one is running, its next step"`
	Job      string        `json:"job" doc:"The job that checks" example:"autocheck"`
	State    string        `json:"state,omitempty" doc:"Of the job: waiting, running, paused or set_aside" enum:"waiting,running,paused,set_aside"`
	Waiting  *Reason       `json:"waiting,omitempty" doc:"Why it does not check now"`
	Running  *AccountCheck `json:"running,omitempty" doc:"The check under way"`
	Last     *AccountCheck `json:"last,omitempty" doc:"The last that has ended"`
	Counts   StateCounts   `json:"counts" doc:"Accounts by state"`
	Alone    []SiteAlone   `json:"left_alone" doc:"Sites that refused and are not asked for a while" nullable:"false"`
	Notices  int           `json:"notices_waiting" doc:"Messages to the admins that are still to be sent"`
}

// shownAutocheck reads how the check stands.
func (s accountDoor) shownAutocheck(tx *store.Tx) (Autocheck, error) {
	now, err := s.accounts.Status(tx)
	if err != nil {
		return Autocheck{}, err
	}
	out := Autocheck{
		Interval: now.Interval.String(), Quiet: now.Quiet, Next: now.Job.Due, Job: accounts.JobName, State: string(now.Job.State),
		Counts: StateCounts{now.Counts[store.AccountPending], now.Counts[store.AccountFound], now.Counts[store.AccountNotFound]},
		Alone:  make([]SiteAlone, 0, len(now.Alone)), Notices: now.Waiting,
	}
	if now.Job.ID != 0 {
		why, err := scheduler.Why(tx, now.Job)
		if err != nil {
			return out, err
		}
		out.Waiting = s.reasonOf(why)
	}
	for _, each := range []struct {
		to   **AccountCheck
		from *store.AccountCheck
	}{{&out.Running, now.Running}, {&out.Last, now.Last}} {
		if each.from != nil {
			shown := s.shownCheck(*each.from)
			*each.to = &shown
		}
	}
	for _, site := range now.Alone {
		out.Alone = append(out.Alone, SiteAlone{site.Site, site.Until, site.Stops, s.reasonOf(site.Reason)})
	}
	return out, nil
}

// autocheckAPI registers the operations on the check.
func (s accountDoor) autocheckAPI(a *api) {
	operation(a, http.MethodGet, "/autocheck", "Read how the check of the accounts stands: what it does now, and when it is next", s.readAutocheck)
	operation(a, http.MethodPatch, "/autocheck", "Change the time between two checks, or what the admins are told; it holds from now on", s.changeAutocheck)
	operation(a, http.MethodPost, "/autocheck/run", "Check the accounts now", s.runAutocheck)
	operation(a, http.MethodGet, "/autocheck/checks", "List the checks, the latest first", s.listChecks)
}

func (s accountDoor) readAutocheck(context.Context, *struct{}) (*reply[Autocheck], error) {
	return within(s.db.View, s.shownAutocheck)
}

type autocheckChange struct {
	Body struct {
		Interval *string `json:"interval,omitempty" doc:"The time between two checks, from 1m to 168h" example:"3m"`
		Quiet    *bool   `json:"quiet,omitempty" doc:"Tell the admins only what has changed"`
	}
}

func (s accountDoor) changeAutocheck(_ context.Context, in *autocheckChange) (*reply[Autocheck], error) {
	var every time.Duration
	if in.Body.Interval != nil {
		var err error
		if every, err = time.ParseDuration(*in.Body.Interval); err != nil {
			return nil, store.Invalid("interval", "invalid.duration", *in.Body.Interval)
		}
	}
	return s.autocheckAfter(func(tx *store.Tx) error {
		if in.Body.Interval != nil {
			if _, err := s.accounts.SetInterval(tx, every); err != nil {
				return err
			}
		}
		if in.Body.Quiet != nil {
			return s.accounts.SetQuiet(tx, *in.Body.Quiet)
		}
		return nil
	})
}

func (s accountDoor) runAutocheck(context.Context, *struct{}) (*reply[Autocheck], error) {
	return s.autocheckAfter(func(tx *store.Tx) error {
		_, err := s.accounts.CheckNow(tx)
		return err
	})
}

// autocheckAfter answers with how the check stands after an action.
func (s accountDoor) autocheckAfter(act func(*store.Tx) error) (*reply[Autocheck], error) {
	return within(s.db.Update, func(tx *store.Tx) (Autocheck, error) {
		if err := act(tx); err != nil {
			return Autocheck{}, err
		}
		return s.shownAutocheck(tx)
	})
}

func (s accountDoor) listChecks(_ context.Context, in *Paged) (*reply[List[AccountCheck]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.AccountCheck], error) { return tx.AccountChecks.ByTime(in.query()) }, plain(s.shownCheck))
}
