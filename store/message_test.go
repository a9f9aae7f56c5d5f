package store

import (
	"fmt"
	"testing"
	"time"
)

func TestMessagesAreListedByTimeAndFoundById(t *testing.T) {
	db := newDB(t, Options{})
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 30 {
			m := Message{ChannelID: uint64(1 + i%2), MessageID: 10 + i, Date: at.Add(time.Duration(i) * time.Hour), GroupedID: int64(i / 15)}
			if i%10 == 0 {
				m.Tags = []string{"news"}
			}
			if i == 7 { // known to be deleted only
				m.Date, m.DeletedAt = time.Time{}, at
			}
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
		}
		return nil
	})
	list := func(f MessageFilter, q Query) (ids []int) {
		t.Helper()
		for more := true; more; more = q.Cursor != "" {
			err := db.View(func(tx *Tx) error {
				page, err := tx.Messages.List(f, q)
				for _, m := range page.Items {
					ids = append(ids, m.MessageID)
				}
				q.Cursor = page.Next
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return ids
	}
	for _, c := range []struct {
		filter MessageFilter
		want   string
	}{
		{MessageFilter{ChannelID: 1, Since: at.Add(24 * time.Hour)}, "[38 36 34]"},
		{MessageFilter{ChannelID: 2, Until: at.Add(10 * time.Hour)}, "[19 15 13 11]"},
		{MessageFilter{Since: at.Add(3 * time.Hour), Until: at.Add(5 * time.Hour)}, "[14 13]"},
		{MessageFilter{Tag: "news"}, "[30 20 10]"},
		{MessageFilter{Tag: "none"}, "[]"},
	} {
		for _, limit := range []int{2, 100} {
			if got := fmt.Sprint(list(c.filter, Query{Limit: limit})); got != c.want {
				t.Errorf("%+v by %d: %s", c.filter, limit, got)
			}
		}
	}
	if n := len(list(MessageFilter{}, Query{Limit: 7})); n != 29 {
		t.Errorf("%d messages", n)
	}
	err := db.View(func(tx *Tx) error {
		var below, of, album []int
		for _, m := range tx.Messages.Below(2, 20, at.Add(2*time.Hour), 10) {
			below = append(below, m.MessageID)
		}
		for m := range tx.Messages.Of(1, 12, 18) {
			of = append(of, m.MessageID)
		}
		for m := range tx.Messages.Album(1, 1) {
			album = append(album, m.MessageID)
		}
		if got := fmt.Sprint(below, of, album); got != "[19 17 15 13] [12 14 16] [26 28 30 32 34 36 38]" {
			t.Error(got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	mustVerify(t, db)
}
