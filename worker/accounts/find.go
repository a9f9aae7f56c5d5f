package accounts

import (
	"slices"
	"strings"

	"belfry/store"
)

// Find reads a page of accounts. A name may be a part of one, or a profile's address.
func (w *Worker) Find(tx *store.Tx, of store.AccountFilter, q store.Query) (store.Page[store.Account], error) {
	rules := w.Rules(tx)
	of.Name = strings.TrimPrefix(of.Name, "@")
	for _, rule := range rules {
		if name := rule.Name(of.Name); name != "" && len(name) < len(of.Name) { // an address was pasted
			of.Name = name
			break
		}
	}
	return tx.Accounts.List(of, q)
}

// ProfileLinks returns what tells the address of an account's profile; empty if nothing describes its site,
// or if it does not lead to the web.
func (w *Worker) ProfileLinks(tx *store.Tx) func(store.Account) string {
	rules := w.Rules(tx)
	return func(a store.Account) string {
		rule, known := rules[a.Site]
		if !known {
			return ""
		}
		link := rule.Profile(a.Username)
		if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
			return link
		}
		return ""
	}
}

// Site is a site on which accounts can be watched.
type Site struct {
	Site    string // what an account's site is called
	Profile string // the address of a profile; {} is the user name
	Own     bool   // its rule was imported
	Via     string // identity for a site that is asked through a login
}

// Sites returns the sites by their names.
func (w *Worker) Sites(tx *store.Tx) ([]Site, error) {
	rules := w.Rules(tx)
	own, err := w.ownSites(tx)
	if err != nil {
		return nil, err
	}
	sites := make([]Site, 0, len(rules))
	for _, site := range rules.Sites() {
		sites = append(sites, Site{Site: site, Profile: rules[site].URL, Own: slices.Contains(own, site), Via: rules[site].Via})
	}
	return sites, nil
}
