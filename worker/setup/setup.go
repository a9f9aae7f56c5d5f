// Package setup keeps what owners choose on the page about Belfry itself: its time zone and language, and which steps
// of the first setup they skip. What the settings of the program name holds, and is not changed here.
package setup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker"
)

// Locale is the zone and the language of those who run Belfry.
type Locale struct {
	Timezone string // such as Europe/Moscow
	Lang     string // en or ru
}

// Worker keeps the choices.
type Worker struct {
	db      *store.DB
	fixed   Locale
	changed func(lang string, zone *time.Location)
}

// New returns a worker for the choices in db. fixed is what the program's settings name; what is empty there is
// chosen on the page.
func New(db *store.DB, fixed Locale) *Worker {
	return &Worker{db: db, fixed: fixed, changed: func(string, *time.Location) {}}
}

// OnChange has changed told of another zone or language once it is stored. It is called before anything is served.
func (w *Worker) OnChange(changed func(lang string, zone *time.Location)) { w.changed = changed }

// The settings in which the choices are kept.
const (
	settingTimezone = "setup.timezone"
	settingLang     = "setup.lang"
	settingSkipped  = "setup.skipped"
)

// value is a choice; a damaged one is made anew.
func value(tx *store.Tx, setting string) (string, error) {
	text, err := tx.Settings.Value(setting)
	if store.IsCorrupt(err) {
		return "", nil
	}
	return text, err
}

// Fixed is what the program's settings name.
func (w *Worker) Fixed() Locale { return w.fixed }

// Locale returns the zone and the language; what nobody has chosen is empty.
func (w *Worker) Locale(tx *store.Tx) (Locale, error) {
	zone, err := value(tx, settingTimezone)
	if err != nil {
		return Locale{}, err
	}
	lang, err := value(tx, settingLang)
	return Locale{cmp.Or(w.fixed.Timezone, zone), cmp.Or(w.fixed.Lang, lang)}, err
}

// Now returns the language and the zone as they are used now: UTC and the first language where nobody has chosen, or
// the file cannot be read.
func (w *Worker) Now() (lang string, zone *time.Location) {
	l, _ := worker.Read(w.db, w.Locale)
	zone, err := time.LoadLocation(l.Timezone) // "" is UTC
	if err != nil {                            // this machine's list of zones is older than the one that knew it
		zone = time.UTC
	}
	return cmp.Or(l.Lang, i18n.Languages[0]), zone
}

// SetLocale stores another zone or language; what is empty stays. The errors are about the fields timezone and lang,
// or a [*store.ConflictError] where the program's settings name another one.
func (w *Worker) SetLocale(l Locale) error {
	l.Timezone = strings.TrimSpace(l.Timezone)
	if _, err := time.LoadLocation(l.Timezone); err != nil || l.Timezone == "Local" {
		return store.Invalid("timezone", "invalid.zone", l.Timezone)
	}
	if l.Lang != "" && !i18n.Known(l.Lang) {
		return store.Invalid("lang", "invalid.lang", l.Lang)
	}
	err := w.db.Update(func(tx *store.Tx) error {
		for _, each := range []struct{ setting, variable, fixed, now string }{
			{settingTimezone, "BELFRY_TIMEZONE", w.fixed.Timezone, l.Timezone},
			{settingLang, "BELFRY_LANG", w.fixed.Lang, l.Lang},
		} {
			if each.now == "" || each.now == each.fixed {
				continue
			}
			if each.fixed != "" {
				return store.Conflict("conflict.fixed", each.variable)
			}
			if err := tx.Settings.Set(each.setting, each.now); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		w.Refresh()
	}
	return err
}

// Refresh has what runs take the zone and the language as they are stored now.
func (w *Worker) Refresh() { w.changed(w.Now()) }

// Skipped returns the steps that were skipped, and whether the setup was ever begun on the page.
func Skipped(tx *store.Tx) (steps []string, begun bool, err error) {
	text, err := value(tx, settingSkipped)
	return strings.Fields(text), text != "", err
}

// Begin notes that the setup goes on until its last step, also once there are posts.
func Begin(tx *store.Tx) error { return Skip(tx, "-") }

// Skip notes that a step is skipped.
func Skip(tx *store.Tx, step string) error {
	steps, _, err := Skipped(tx)
	if err != nil || slices.Contains(steps, step) {
		return err
	}
	return tx.Settings.Set(settingSkipped, strings.Join(append(steps, step), " "))
}
