package setup

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"belfry/store"
)

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestZoneAndLanguageAreThoseThatWereChosen(t *testing.T) {
	db := open(t)
	w := New(db, Locale{})
	told := ""
	w.OnChange(func(lang string, zone *time.Location) { told = lang + " " + zone.String() })
	if lang, zone := w.Now(); lang != "en" || zone != time.UTC {
		t.Errorf("before a choice: %s %s", lang, zone)
	}
	for _, wrong := range []Locale{{Timezone: "Europe/Nowhere"}, {Timezone: "Local"}, {Lang: "fr"}, {Timezone: "Europe/Moscow", Lang: "fr"}} {
		if err := w.SetLocale(wrong); err == nil || told != "" {
			t.Errorf("%+v was accepted, %s", wrong, told)
		}
	}
	if err := w.SetLocale(Locale{Timezone: " Europe/Moscow "}); err != nil || told != "en Europe/Moscow" {
		t.Errorf("told was %q: %v", told, err)
	}
	if err := w.SetLocale(Locale{Lang: "ru"}); err != nil || told != "ru Europe/Moscow" {
		t.Errorf("told was %q: %v", told, err)
	}
	if lang, zone := New(db, Locale{}).Now(); lang != "ru" || zone.String() != "Europe/Moscow" {
		t.Errorf("after a restart: %s %s", lang, zone)
	}
}

func TestWhatTheEnvironmentSaysOfZoneAndLanguageHolds(t *testing.T) {
	db := open(t)
	if err := New(db, Locale{}).SetLocale(Locale{"Europe/Moscow", "ru"}); err != nil {
		t.Fatal(err)
	}
	w := New(db, Locale{Timezone: "Asia/Tokyo"})
	if err := w.SetLocale(Locale{Timezone: "Europe/Moscow"}); err == nil {
		t.Error("the zone of the environment was changed")
	}
	if err := w.SetLocale(Locale{"Asia/Tokyo", "en"}); err != nil {
		t.Error(err)
	}
	if lang, zone := w.Now(); lang != "en" || zone.String() != "Asia/Tokyo" {
		t.Errorf("now %s %s", lang, zone)
	}
}

func TestSkippedStepsStaySkipped(t *testing.T) {
	db := open(t)
	err := db.Update(func(tx *store.Tx) error {
		if _, begun, err := Skipped(tx); begun || err != nil {
			t.Errorf("begun before it began: %v", err)
		}
		for range 2 {
			if err := Begin(tx); err != nil {
				return err
			}
			if err := Skip(tx, "admin"); err != nil {
				return err
			}
		}
		steps, begun, err := Skipped(tx)
		if !begun || !slices.Contains(steps, "admin") || slices.Contains(steps, "post") {
			t.Errorf("skipped are %v, begun %v", steps, begun)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
