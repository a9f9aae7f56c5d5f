package store

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// AccountCheck is one run of the automatic check over the accounts.
type AccountCheck struct {
	ID       uint64             `json:"id"`
	Status   AccountCheckStatus `json:"status"`
	Reason   Reason             `json:"reason,omitzero"` // why it was stopped
	Began    time.Time          `json:"began"`
	Ended    time.Time          `json:"ended,omitzero"`
	Total    int                `json:"total"`
	Checked  int                `json:"checked"`
	Found    int                `json:"found"`
	NotFound int                `json:"not_found"`
	Errors   int                `json:"errors"`
	Changes  int                `json:"changes"` // accounts of which something else is believed now

	// Where it is. Sites are those that are left, the first of them being the one that was asked last; Last
	// is the last account that the check is about.
	Sites     []string             `json:"sites,omitempty"`
	Last      uint64               `json:"last,omitempty"`
	SitePlace                      // on the first site
	Beside    map[string]SitePlace `json:"beside,omitempty"`    // on others
	NextCheck time.Time            `json:"next_check,omitzero"` // when another one may begin beside it
	Of        int                  `json:"of,omitempty"`        // sites that it began with; 0 in what was written before this was noted
	Stopped   []string             `json:"stopped,omitempty"`   // sites that it gave up
	GivenUp   []GivenUp            `json:"given_up,omitempty"`
}

// SitePlace is where a check is on a site.
type SitePlace struct {
	Cursor   uint64      `json:"cursor,omitempty"` // the last account that is done
	Canary   CanaryState `json:"canary,omitempty"`
	Canaries int         `json:"canaries,omitempty"` // canaries that were asked for in vain since one was found
	Refusals int         `json:"refusals,omitempty"` // in a row
	Suspect  Suspect     `json:"suspect,omitzero"`
	Next     time.Time   `json:"next,omitzero"` // when the site may be asked again
}

// Place is where the check is on one of its sites.
func (c *AccountCheck) Place(site string) SitePlace {
	if site == c.Sites[0] {
		return c.SitePlace
	}
	return c.Beside[site]
}

// Turn makes one of the sites the first.
func (c *AccountCheck) Turn(site string) {
	if site == c.Sites[0] {
		return
	}
	place, beside := c.Beside[site], maps.Clone(c.Beside)
	delete(beside, site)
	if beside == nil {
		beside = make(map[string]SitePlace)
	}
	beside[c.Sites[0]] = c.SitePlace
	sites := slices.Clone(c.Sites)
	i := slices.Index(sites, site)
	sites[0], sites[i] = sites[i], sites[0]
	c.Sites, c.SitePlace, c.Beside = sites, place, beside
}

// Leave ends the work on the first site.
func (c *AccountCheck) Leave() {
	c.Sites, c.SitePlace = slices.Clone(c.Sites[1:]), SitePlace{}
	if len(c.Sites) > 0 {
		c.SitePlace, c.Beside = c.Beside[c.Sites[0]], maps.Clone(c.Beside)
		delete(c.Beside, c.Sites[0])
	}
}

// GivenUp is a site that a check gave up, why, and until when it is left alone for that.
type GivenUp struct {
	Site   string `json:"site"`
	Reason Reason `json:"reason"`
}

// maxGivenUp is of how many sites a check keeps why it gave them up: it is written with each step.
const maxGivenUp = 20

// GiveUp notes that the check has given a site up. What is said of the check as a whole names the site.
func (c *AccountCheck) GiveUp(site string, why Reason) {
	c.Stopped = append(c.Stopped, site)
	if len(c.GivenUp) < maxGivenUp {
		c.GivenUp = append(c.GivenUp, GivenUp{site, why})
	}
	c.Reason = why
	c.Reason.About = site
	if n := len(c.Stopped); n > 1 {
		c.Reason = Reason{Code: ReasonSitesGivenUp, N: n, Of: max(c.Of, n), Detail: strings.Join(c.Stopped[:min(n, maxGivenUp)], ", ")}
		if n > maxGivenUp {
			c.Reason.Detail += ", …"
		}
	}
}

// AccountCheckStatus says how far a check has come.
type AccountCheckStatus string

// The statuses of a check.
const (
	AccountCheckRunning AccountCheckStatus = "running"
	AccountCheckDone    AccountCheckStatus = "done"
	AccountCheckStopped AccountCheckStatus = "stopped" // it gave up a site
)

// CanaryState says what is known of a site's word: whether a profile that surely exists was found.
type CanaryState string

// The states of the canary; empty means that it was not asked for.
const (
	CanaryMet     CanaryState = "met"     // found at the beginning
	CanaryTrusted CanaryState = "trusted" // found again, after the site had said of an account that it does not exist
)

// Suspect is an account that may have changed: it is believed when the site has said so twice.
type Suspect struct {
	AccountID uint64         `json:"account_id"`
	Outcome   AccountOutcome `json:"outcome"`
	Status    int            `json:"status,omitempty"`
	Detail    string         `json:"detail,omitempty"`
	// Canary says that the site's word is to be tried with a canary, before anything else.
	Canary bool `json:"canary,omitempty"`
}

// IsZero makes an absent suspect disappear from JSON under omitzero.
func (s Suspect) IsZero() bool { return s.AccountID == 0 }

// AccountChecks is the history of the checks.
type AccountChecks struct{ Table[AccountCheck] }

const (
	maxChecks   = 50_000
	maxCheckAge = 365 * 24 * time.Hour
)

func accountCheckTable() def[AccountCheck] {
	return def[AccountCheck]{
		name:  "account_checks",
		id:    func(c *AccountCheck) *uint64 { return &c.ID },
		valid: (*AccountCheck).validate,
		indexes: []Index[AccountCheck]{
			{Name: "running", Key: func(c *AccountCheck, k key) key {
				if c.Status != AccountCheckRunning {
					return nil
				}
				return k.uint(0)
			}},
			{Name: "began", Key: func(c *AccountCheck, k key) key { return k.time(c.Began) }},
		},
	}
}

func (c *AccountCheck) validate() error {
	known := []AccountCheckStatus{AccountCheckRunning, AccountCheckDone, AccountCheckStopped}
	switch {
	case !slices.Contains(known, c.Status):
		return fmt.Errorf("check %d: no status is called %q", c.ID, c.Status)
	case c.Found+c.NotFound+c.Errors != c.Checked:
		return fmt.Errorf("check %d: %d found, %d not found and %d errors are not %d checked", c.ID, c.Found, c.NotFound, c.Errors, c.Checked)
	}
	return nil
}

// Begin writes a new check and forgets those that are too old or too many.
func (t AccountChecks) Begin(c *AccountCheck) error {
	if err := t.Put(c); err != nil {
		return err
	}
	return trim(t.Table, c.ID, maxChecks, func(past *AccountCheck) bool { return t.in().Now().Sub(past.Began) >= maxCheckAge })
}

// Running yields the checks that are under way, the first to have begun first.
func (t AccountChecks) Running() iter.Seq[AccountCheck] {
	prefix := key(nil).uint(0)
	return t.scan("running", prefix, prefix.next())
}

// ByTime returns checks, the latest first.
func (t AccountChecks) ByTime(q Query) (Page[AccountCheck], error) {
	return t.page("began", nil, q, true)
}

// Between returns the checks that began from from, included, to to, excluded, the earliest first,
// and at most limit of them.
func (t AccountChecks) Between(from, to time.Time, limit int) []AccountCheck {
	return collect(t.scan("began", key(nil).time(from), key(nil).time(to)), limit)
}

// AccountSite is what checks have met at a site.
type AccountSite struct {
	ID     uint64    `json:"-"`
	Site   string    `json:"site"`
	Stops  int       `json:"stops,omitempty"` // checks in a row that gave the site up
	Since  time.Time `json:"since,omitzero"`  // it is left alone since then
	Until  time.Time `json:"until,omitzero"`  // it is left alone until then
	Reason Reason    `json:"reason,omitzero"`
	Well   time.Time `json:"well,omitzero"` // when a check last came through it
}

// LeftAlone reports whether the site is left alone at a time. If that is before it was given up, the
// clock has been set back, and nobody knows how much of the wait is left: it is asked.
func (s AccountSite) LeftAlone(now time.Time) bool {
	return !now.Before(s.Since) && now.Before(s.Until)
}

// RestsUntil returns when a site that wants a rest after each check may be asked again: a time that has
// come, if it may be now. If a check has come through it later than now, the clock has been set back.
func (s AccountSite) RestsUntil(now time.Time, rest time.Duration) time.Time {
	if now.Before(s.Well) {
		return now
	}
	return s.Well.Add(rest)
}

// AccountSites is the table of sites on which there are accounts.
type AccountSites struct{ Table[AccountSite] }

func accountSiteTable() def[AccountSite] {
	return def[AccountSite]{
		name: "account_sites",
		id:   func(s *AccountSite) *uint64 { return &s.ID },
		indexes: []Index[AccountSite]{
			{Name: "site", Unique: true, Key: func(s *AccountSite, k key) key { return k.str(strings.ToLower(s.Site)) }},
		},
	}
}

// BySite returns what is known of a site, or [ErrNotFound].
func (t AccountSites) BySite(site string) (AccountSite, error) {
	return t.first("site", key(nil).str(strings.ToLower(site)))
}

// Put writes what is known of a site: in the place of what is damaged, if that is so.
func (t AccountSites) Put(s *AccountSite) error {
	if s.ID == 0 {
		_, err := t.BySite(s.Site)
		if damaged, ok := errors.AsType[*CorruptError](err); ok {
			s.ID = damaged.ID
			t.keep(s.ID, s) // the index says what its keys are, and the row cannot
		}
	}
	return t.Table.Put(s)
}
