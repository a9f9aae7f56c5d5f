package accounts

import (
	"errors"

	"belfry/store"
)

// One row that is damaged must not end the checks of everything else: what it said is not known any
// more, and the check goes on without it.

// site is what is known of a site; of one whose row is damaged, nothing.
func (w *Worker) site(tx *store.Tx, site string) (store.AccountSite, error) {
	row, err := tx.AccountSites.BySite(site)
	if w.passOver(err) || errors.Is(err, store.ErrNotFound) {
		return store.AccountSite{Site: site}, nil
	}
	return row, err
}

// running are the checks that are under way. One whose row is damaged will never end, and another one is
// begun.
func (w *Worker) running(tx *store.Tx) (checks []store.AccountCheck, err error) {
	for check, err := range tx.AccountChecks.Running() {
		if w.passOver(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		checks = append(checks, check)
	}
	return checks, nil
}

// setting is the value of a setting; of one whose row is damaged, the value that it has as long as nobody
// has set it.
func (w *Worker) setting(tx *store.Tx, name string) (string, error) {
	text, err := tx.Settings.Value(name)
	if w.passOver(err) {
		return "", nil
	}
	return text, err
}

// passOver reports whether a row is damaged, and logs it, once.
func (w *Worker) passOver(err error) bool {
	if !store.IsCorrupt(err) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if what := err.Error(); !w.damaged[what] {
		w.damaged[what] = true
		w.cfg.Log.Error().Err(err).Msg("a damaged row is passed over: belfry check tells more")
	}
	return true
}
