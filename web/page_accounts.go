package web

import (
	"fmt"
	"slices"
	"strings"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
)

const (
	accountsPerPage = 25
	// chartChecks is how many checks the chart shows.
	chartChecks = 60
)

// accountsPage is what the check of the accounts does, and the list of them.
type accountsPage struct {
	frame
	Now             checkNow
	GivenUp         []aloneSite // by the last check
	MoreGivenUp     string
	Interval, Quiet input
	Wrong           string
	Chart           *chart
	Tabs            []tab
	State           string
	Site, Tag, Name input
	Narrowed        bool
	Rows            []accountRow
	First, More     string
	Empty           string
	Nobody          bool // no account is watched at all
}

// accountRow is one account of the list.
type accountRow struct {
	ID, Link, Username, Site, Note, Tag, TagLink, Wrong string
	State                                               chip
	Checked, Found                                      *moment // nil if it never was
}

func accountPath(n uint64) string { return fmt.Sprintf("/accounts/%d", n) }

// accountsView is what the page needs of the store.
type accountsView struct {
	status accounts.Status
	why    store.Reason // for which the check does not run now
	checks []store.AccountCheck
	sites  []string
	list   store.Page[store.Account]
}

func (s *Server) loadAccounts(r reader) (page, error) { return s.accountsPage(r, newForm(nil)) }

// accountsPage shows the page; f is the form of the interval, if it was refused.
func (s *Server) accountsPage(r reader, f form) (*accountsPage, error) {
	of := store.AccountFilter{
		State: store.AccountState(r.query.Get("state")), Site: r.query.Get("site"),
		Tag: strings.TrimSpace(r.query.Get("tag")), Name: strings.TrimSpace(r.query.Get("name")),
	}
	if _, known := r.words.AccountStates[of.State]; !known {
		of.State = ""
	}
	v, err := s.readCheck()
	if err != nil {
		return nil, err
	}
	if v.list, _, err = s.findAccounts(of, store.Query{Limit: accountsPerPage, Cursor: r.query.Get("cursor")}); err != nil {
		return nil, err
	}
	w := r.words.Accounts
	p := &accountsPage{
		frame: s.frame(r, "accounts", w.Title), Now: r.checkNow(v), Wrong: f.wrong[""], Chart: r.chart(v.checks), State: string(of.State),
		Narrowed: of.Site != "" || of.Tag != "" || of.Name != "",
	}
	p.givenUp(r, v.status)
	p.settings(r, f, v)
	filter := newForm(nil)
	filter.values.Set("site", of.Site)
	filter.values.Set("tag", of.Tag)
	filter.values.Set("name", of.Name)
	p.Site = filter.choice("site", w.Site, "", siteOptions(v.sites, w.AllSites))
	p.Tag, p.Name = filter.text("tag", w.Tag, ""), filter.text("name", w.Name, "")
	p.tabs(r, of, v.status.Counts)
	here := withQuery("/accounts", "state", string(of.State), "site", of.Site, "tag", of.Tag, "name", of.Name)
	if r.query.Get("cursor") != "" {
		p.First = here
	}
	if v.list.Next != "" {
		p.More = withQuery(here, "cursor", v.list.Next)
	}
	for _, a := range v.list.Items {
		p.Rows = append(p.Rows, r.accountRow(a))
	}
	return p, nil
}

// givenUp fills in which sites the last check gave up. Those that are left alone for that still are not said
// twice.
func (p *accountsPage) givenUp(r reader, status accounts.Status) {
	if p.Now.Last == nil || len(status.Last.GivenUp) == 0 {
		return
	}
	p.Now.Last.Reason = ""
	said := make(map[string]bool)
	for _, site := range status.Last.GivenUp {
		why := aloneSite{siteName(site.Site), r.Say(site.Reason)}
		p.GivenUp = append(p.GivenUp, why)
		said[why.Site+" "+why.Why] = true
	}
	if more := len(status.Last.Stopped) - len(p.GivenUp); more > 0 {
		p.MoreGivenUp = r.words.Accounts.MoreSites(more)
	}
	if p.Now.Chip == nil { // while a check is under way, the last one is not shown
		p.Now.Alone = slices.DeleteFunc(p.Now.Alone, func(site aloneSite) bool { return said[site.Site+" "+site.Why] })
	}
}

// settings fills in the form of the interval.
func (p *accountsPage) settings(r reader, f form, v accountsView) {
	if f.values.Get("interval") == "" && len(f.wrong) == 0 {
		f.values.Set("interval", minutes(v.status.Interval))
		if v.status.Quiet {
			f.values.Set("quiet", "on")
		}
	}
	p.Interval, p.Quiet = f.text("interval", r.words.Accounts.Every, ""), f.checkbox("quiet", r.words.Accounts.Quiet)
}

// siteOptions offers the sites that are described. all, if it is not empty, stands for any.
func siteOptions(sites []string, all string) (options []option) {
	if all != "" {
		options = append(options, option{Name: all})
	}
	for _, site := range sites {
		options = append(options, option{Value: site, Name: siteName(site)})
	}
	return options
}

// siteName is what a site calls itself; one of an imported rule is called as in the rule.
func siteName(site string) string {
	names := map[string]string{"instagram": "Instagram", "x": "X", "tiktok": "TikTok", "youtube": "YouTube", "github": "GitHub", "telegram": "Telegram"}
	if name := names[site]; name != "" {
		return name
	}
	return site
}

// readCheck reads how the check stands.
func (s *Server) readCheck() (v accountsView, err error) {
	err = s.db.View(func(tx *store.Tx) (err error) {
		if v.status, err = s.accounts.Status(tx); err != nil {
			return err
		}
		if v.status.Job.ID != 0 {
			if v.why, err = scheduler.Why(tx, v.status.Job); err != nil {
				return err
			}
		}
		checks, err := tx.AccountChecks.ByTime(store.Query{Limit: chartChecks})
		if err != nil {
			return err
		}
		v.checks = checks.Items
		rules, err := s.accounts.Rules(tx)
		v.sites = rules.Sites()
		return err
	})
	return v, err
}

func (p *accountsPage) tabs(r reader, of store.AccountFilter, counts map[store.AccountState]int) {
	w, all := r.words.Accounts, 0
	here := withQuery("/accounts", "site", of.Site, "tag", of.Tag, "name", of.Name)
	for _, n := range counts {
		all += n
	}
	p.Tabs = append(p.Tabs, tab{"all", r.words.Posts.All, here, group(all, r.thousands()), of.State == ""})
	for _, state := range store.AccountStates() {
		p.Tabs = append(p.Tabs, tab{string(state), w.Tabs[state], withQuery(here, "state", string(state)),
			group(counts[state], r.thousands()), of.State == state})
	}
	p.Nobody = all == 0
	switch {
	case p.Narrowed:
		p.Empty = w.NoMatch
	case of.State != "":
		p.Empty = w.EmptyOf[of.State]
	default:
		p.Empty = w.Empty
	}
}

func (r reader) accountRow(a store.Account) accountRow {
	row := accountRow{
		ID: id(a.ID), Link: accountPath(a.ID), Username: a.Username, Site: siteName(a.Site), Note: a.Note, Tag: a.Tag, State: r.accountChip(a),
		Checked: r.momentIf(a.CheckedAt), Found: r.momentIf(a.FoundAt),
	}
	if a.Tag != "" {
		row.TagLink = withQuery("/accounts", "tag", a.Tag)
	}
	if a.Outcome == store.OutcomeError {
		row.Wrong = r.accountOutcome(a.Outcome, a.Detail)
	}
	return row
}

func (r reader) accountChip(a store.Account) chip {
	return chip{"is-account-" + string(a.State), r.words.AccountStates[a.State].Name}
}

// accountOutcome says what a check came to, in words.
func (r reader) accountOutcome(outcome store.AccountOutcome, detail string) string {
	said := i18n.UpperFirst(r.words.AccountOutcomes[outcome])
	if detail != "" && outcome == store.OutcomeError {
		said += ": " + shorten(r.Heard(detail), 160)
	}
	return said
}
