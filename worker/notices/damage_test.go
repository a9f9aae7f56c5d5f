package notices

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"belfry/scheduler/schedulertest"
	"belfry/store"
)

func TestADamagedNoticeKeepsNoOtherFromBeingSent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	open := func() *store.DB {
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	var log strings.Builder
	bot, db := &network{}, open()
	cfg := Config{Admins: []string{"100"}, Bot: bot, Log: zerolog.New(&log)}
	tell := func(text string) {
		t.Helper()
		if err := db.Update(func(tx *store.Tx) error { return New(db, cfg).Tell(tx, store.Notice{Kind: "test", Text: text}) }); err != nil {
			t.Fatal(err)
		}
	}
	tell("the text to damage")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	schedulertest.Damage(t, path, "notices", 1)
	db = open()
	defer db.Close()
	tell("one")
	tell("two")
	for id, want := range []string{"[]", "[one]", "[one two]"} {
		job := store.Job{Name: fmt.Sprint("notice_", id+1), Kind: Kind, Subject: uint64(id) + 1}
		out, err := New(db, cfg).Run(t.Context(), job)
		if err != nil || out.Failed != (id == 0) || !out.Again.IsZero() {
			t.Errorf("notice %d: %+v, %v", id+1, out, err)
		}
		if out.Write != nil {
			err = db.Update(out.Write)
		}
		if got := fmt.Sprint(bot.told("100")); got != want || err != nil {
			t.Errorf("after notice %d the admin was told %s, %v", id+1, got, err)
		}
	}
	if !strings.Contains(log.String(), "notices 1 is damaged") {
		t.Errorf("the log says %q", log.String())
	}
	err := db.Update(func(tx *store.Tx) error {
		why := store.Reason{Code: store.ReasonGaveUp}
		return errors.Join(New(db, cfg).End(tx, store.Job{Subject: 1}, why), New(db, cfg).End(tx, store.Job{Subject: 9}, why))
	})
	if err != nil {
		t.Errorf("the end of jobs whose notices cannot be read: %v", err)
	}
}
