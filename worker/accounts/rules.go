package accounts

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"belfry/platform/profile"
	"belfry/store"
)

// settingRules is the setting with the owner's rules, as a file of them, and settingRulesMark is another
// word with each change of it: the rules may be megabytes, and are not read again for each account.
const (
	settingRules     = "accounts.rules"
	settingRulesMark = "accounts.rules_mark"
)

// ownRules are all rules as they were last read, and the mark and the text that they had.
type ownRules struct {
	mark, text string
	rules      profile.Rules
}

// Rules are all rules: those that come with the program, and the owner's, which come first.
func (w *Worker) Rules(tx *store.Tx) profile.Rules {
	mark := setting(tx, settingRulesMark)
	w.mu.Lock()
	owned := w.owned
	w.mu.Unlock()
	if mark != "" && mark == owned.mark {
		return owned.rules
	}
	text := setting(tx, settingRules)
	if text == "" {
		return profile.Builtin()
	}
	if text != owned.text {
		own, err := profile.ParseRules([]byte(text))
		if err != nil {
			w.cfg.Log.Error().Err(err).Msg("the imported rules cannot be read, and their sites are not asked: import them again")
		}
		owned.rules = profile.Builtin().With(own)
	}
	owned.mark, owned.text = mark, text
	w.mu.Lock()
	w.owned = owned
	w.mu.Unlock()
	return owned.rules
}

// ImportRules adds the sites that a file describes, in the form of Sherlock's data.json, in the place
// of those with the same names. It returns the names. The error is a [*store.FieldError] that says
// all that is wrong with the file.
func (w *Worker) ImportRules(tx *store.Tx, file []byte) ([]string, error) {
	rules, err := profile.ParseRules(file)
	if err != nil {
		return nil, store.Invalid("rules", "invalid.rules", err)
	}
	var fresh map[string]json.RawMessage
	if err := json.Unmarshal(file, &fresh); err != nil {
		return nil, fmt.Errorf("read the rules again: %w", err)
	}
	delete(fresh, "$schema")
	all, err := w.ownFile(tx)
	if err != nil {
		return nil, err
	}
	for site, rule := range fresh {
		all[strings.ToLower(strings.TrimSpace(site))] = rule
	}
	file, err = json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("write the rules: %w", err)
	}
	if _, err := profile.ParseRules(file); err != nil { // each is good, and together they are too many
		return nil, store.Invalid("rules", "invalid.rules_together", err)
	}
	return rules.Sites(), errors.Join(w.askAgain(tx, rules.Sites()), putFile(tx, all))
}

// askAgain has sites asked again that could not be asked.
func (w *Worker) askAgain(tx *store.Tx, sites []string) error {
	for _, site := range sites {
		row := siteRow(tx, site)
		if row.ID == 0 {
			continue
		}
		row = store.AccountSite{ID: row.ID, Site: row.Site}
		if err := tx.AccountSites.Put(&row); err != nil {
			return err
		}
	}
	return nil
}

// RemoveRules forgets the owner's rules for a site. One that comes with the program is used again.
func (w *Worker) RemoveRules(tx *store.Tx, site string) error {
	all, err := w.ownFile(tx)
	if err != nil {
		return err
	}
	site = strings.ToLower(strings.TrimSpace(site))
	if _, there := all[site]; !there {
		return fmt.Errorf("an imported rule for %s: %w", site, store.ErrNotFound)
	}
	delete(all, site)
	return putFile(tx, all)
}

// ownSites are the sites whose rules the owner has imported.
func (w *Worker) ownSites(tx *store.Tx) ([]string, error) {
	all, err := w.ownFile(tx)
	return slices.Sorted(maps.Keys(all)), err
}

func (w *Worker) ownFile(tx *store.Tx) (map[string]json.RawMessage, error) {
	text := setting(tx, settingRules)
	all := make(map[string]json.RawMessage)
	if text == "" {
		return all, nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("the setting %s cannot be read: %w", settingRules, err)
	}
	return all, nil
}

func putFile(tx *store.Tx, all map[string]json.RawMessage) error {
	if err := tx.Settings.Set(settingRulesMark, rand.Text()); err != nil {
		return err
	}
	if len(all) == 0 {
		return tx.Settings.Set(settingRules, "")
	}
	file, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write the rules: %w", err)
	}
	return tx.Settings.Set(settingRules, string(file))
}
