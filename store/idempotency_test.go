package store

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestAnAnswerIsKeptForAWeekWhateverTheClockShows(t *testing.T) {
	now := time.Date(2027, 5, 3, 9, 0, 0, 0, time.UTC)
	db := newDB(t, Options{Now: func() time.Time { return now }})
	add := func(n, count int) {
		mustUpdate(t, db, func(tx *Tx) error {
			for i := range count {
				if err := tx.Idempotency.Add(&Answer{Key: fmt.Append(nil, "key ", n+i), Status: 201, Body: []byte("1")}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	has := func(n int) bool {
		err := db.View(func(tx *Tx) error {
			_, err := tx.Idempotency.ByKey(fmt.Append(nil, "key ", n))
			return err
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	add(0, 10)
	now = now.AddDate(10, 0, 0)
	add(10, 10)
	now = now.AddDate(-10, 0, 0)
	if !has(0) {
		t.Error("an answer was forgotten because the clock was wrong for a moment")
	}
	add(20, answersKept)
	if !has(0) {
		t.Error("an answer was forgotten in its week, behind many others")
	}
	now = now.Add(answerAge + time.Hour)
	add(20+answersKept, 10)
	if has(0) || !has(20+answersKept) {
		t.Errorf("after a week and many others: the first is kept %v, the last %v", has(0), has(20+answersKept))
	}
}
