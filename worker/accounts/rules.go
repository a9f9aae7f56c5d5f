package accounts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"belfry/platform/profile"
	"belfry/store"
)

// settingRules is the setting with the owner's rules, as a file of them.
const settingRules = "accounts.rules"

// ownRules are the owner's rules, and the text that they were read from.
type ownRules struct {
	text  string
	rules profile.Rules
}

// Rules are all rules: those that come with the program, and the owner's, which come first.
func (w *Worker) Rules(tx *store.Tx) (profile.Rules, error) {
	text, err := tx.Settings.Value(settingRules)
	if err != nil || text == "" {
		return profile.Builtin(), err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owned.text != text {
		own, err := profile.ParseRules([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the setting %s cannot be read; import the rules again: %w", settingRules, err)
		}
		w.owned = ownRules{text: text, rules: profile.Builtin().With(own)}
	}
	return w.owned.rules, nil
}

// ImportRules adds the sites that a file describes, in the form of Sherlock's data.json, in the place
// of those with the same names. It returns the names. The error is a [*store.FieldError] that says
// all that is wrong with the file.
func (w *Worker) ImportRules(tx *store.Tx, file []byte) ([]string, error) {
	rules, err := profile.ParseRules(file)
	if err != nil {
		return nil, &store.FieldError{Field: "rules", Problem: "cannot be taken", Cure: err.Error()}
	}
	var fresh map[string]json.RawMessage
	if err := json.Unmarshal(file, &fresh); err != nil {
		return nil, fmt.Errorf("read the rules again: %w", err)
	}
	delete(fresh, "$schema")
	all, err := ownFile(tx)
	if err != nil {
		return nil, err
	}
	for site, rule := range fresh {
		all[strings.ToLower(strings.TrimSpace(site))] = rule
	}
	for _, site := range rules.Sites() { // one that could not be asked is asked again
		if err := w.well(tx, site); err != nil {
			return nil, err
		}
	}
	return rules.Sites(), putFile(tx, all)
}

// RemoveRules forgets the owner's rules for a site. One that comes with the program is used again.
func (w *Worker) RemoveRules(tx *store.Tx, site string) error {
	all, err := ownFile(tx)
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

// OwnSites are the sites whose rules the owner has imported.
func (w *Worker) OwnSites(tx *store.Tx) ([]string, error) {
	all, err := ownFile(tx)
	return slices.Sorted(maps.Keys(all)), err
}

func ownFile(tx *store.Tx) (map[string]json.RawMessage, error) {
	text, err := tx.Settings.Value(settingRules)
	all := make(map[string]json.RawMessage)
	if err != nil || text == "" {
		return all, err
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("the setting %s cannot be read: %w", settingRules, err)
	}
	return all, nil
}

func putFile(tx *store.Tx, all map[string]json.RawMessage) error {
	if len(all) == 0 {
		return tx.Settings.Set(settingRules, "")
	}
	file, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write the rules: %w", err)
	}
	if _, err := profile.ParseRules(file); err != nil { // each is good, and together they are too many
		return &store.FieldError{Field: "rules", Problem: "cannot be taken together with those that were imported before", Cure: err.Error()}
	}
	return tx.Settings.Set(settingRules, string(file))
}
