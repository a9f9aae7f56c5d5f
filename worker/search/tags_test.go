package search

import (
	"errors"
	"slices"
	"testing"
	"time"

	"belfry/store"
)

// A rule is tried on the messages of the last week, whatever is saved.
func TestARuleForATagIsTriedBeforeItIsSaved(t *testing.T) {
	db := newDB(t)
	w := &Worker{db: db}
	update(t, db, func(tx *store.Tx) error {
		c := store.Channel{PeerID: 1, Username: "news"}
		if err := tx.Channels.Put(&c); err != nil {
			return err
		}
		for i, text := range slices.Concat(slices.Repeat([]string{"Скидки в магазинах", "Погода"}, 300), []string{"Скидка прошлого месяца"}) {
			m := store.Message{ChannelID: c.ID, MessageID: i + 1, Date: tx.Now().Add(-time.Duration(i) * time.Minute), Text: text}
			if i == 600 {
				m.Date = tx.Now().AddDate(0, -1, 0)
			}
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
		}
		return nil
	})
	trial, err := w.TryTag(store.TagRule{Keywords: []string{"скидка"}})
	if err != nil || trial.Read != 600 || trial.Matched != 300 || len(trial.Examples) != trialShown || trial.Examples[0].Channel.Username != "news" {
		t.Errorf("%d of %d, %d examples, %v", trial.Matched, trial.Read, len(trial.Examples), err)
	}
	if _, err := w.TryTag(store.TagRule{Pattern: "("}); err == nil {
		t.Error("a pattern that cannot be read was tried")
	}
}

func TestARuleForATagIsChanged(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *store.Tx) error {
		sale, err1 := AddTag(tx, store.TagRule{Name: "sale", Keywords: []string{"скидка"}})
		_, err2 := AddTag(tx, store.TagRule{Name: "news", Pattern: "новост"})
		changed, err3 := ChangeTag(tx, sale.ID, func(r *store.TagRule) { r.Name, r.Keywords = " offers ", []string{"акция"} })
		if err := errors.Join(err1, err2, err3); err != nil || changed.Name != "offers" || changed.CreatedAt != sale.CreatedAt {
			t.Errorf("%+v, %v", changed, err)
		}
		for what, change := range map[string]func(*store.TagRule){
			"name": func(r *store.TagRule) { r.Name = "news" }, "keywords": func(r *store.TagRule) { r.Keywords = nil }, "pattern": func(r *store.TagRule) { r.Pattern = "[" },
		} {
			_, err := ChangeTag(tx, sale.ID, change)
			if refused, ok := errors.AsType[*store.FieldError](err); !ok || refused.Field != what {
				t.Errorf("%s: %v", what, err)
			}
		}
		return nil
	})
}
