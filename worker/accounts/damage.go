package accounts

import "belfry/store"

// One row that is damaged must not end the checks of everything else: what it said is not known any
// more, and the check goes on without it.

// siteRow is what is known of a site; of one whose row is damaged, nothing.
func siteRow(tx *store.Tx, site string) store.AccountSite {
	row, err := tx.AccountSites.BySite(site)
	if err != nil {
		return store.AccountSite{Site: site}
	}
	return row
}

// setting is the value of a setting; of one whose row is damaged, the value that it has as long as nobody
// has set it.
func setting(tx *store.Tx, name string) string {
	text, err := tx.Settings.Value(name)
	if err != nil {
		return ""
	}
	return text
}
