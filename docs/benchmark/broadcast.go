package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/tasks"
)

// silent is Telegram to a broadcast that is only made and held.
type silent struct{}

func (silent) Check(platform.Post) (platform.Measure, error)          { return platform.Measure{}, nil }
func (silent) Fetchable(context.Context, platform.Post) error         { return nil }
func (silent) Chats(context.Context, uint64) ([]platform.Chat, error) { return nil, nil }
func (silent) Publisher(uint64) platform.Publisher                    { return nil }
func (silent) Resolve(context.Context, uint64, string) (platform.Chat, bool, error) {
	return platform.Chat{}, false, nil
}

// broadcast measures what is due while a broadcast to as many chats as there may be is made and prepared.
func (b bench) broadcast(ctx context.Context) ([]figure, error) {
	const perSecond, seconds, chats = 100, 30, 200_000
	const preparing = "preparing" // not store.TaskPreparing, so that this builds with older versions, too
	db, err := b.open("broadcast.db", false)
	if err != nil {
		return nil, err
	}
	account := store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityUser, State: store.IdentityReady}
	if err := db.Update(func(tx *store.Tx) error { return tx.Identities.Put(&account) }); err != nil {
		return nil, err
	}
	worker := tasks.New(db, silent{}, tasks.Config{})
	late := newLateness(perSecond * seconds)
	s := run(ctx, db, 1024, late.note, worker.Module().Kinds)
	targets := make([]string, chats)
	for i := range targets {
		targets[i] = fmt.Sprintf("-100%d", 1_000_000_000+i)
	}
	draft, err := worker.Prepare(tasks.Request{Text: "hello", IdentityID: account.ID, Targets: targets, Hold: true})
	if err != nil {
		return nil, err
	}
	begin := time.Now().Add(2 * time.Second)
	err = put(db, perSecond*seconds, "post", "beside", func(i int) time.Time {
		return begin.Add(time.Duration(i) * time.Second / perSecond)
	})
	if err != nil {
		return nil, err
	}
	<-time.After(time.Until(begin.Add(time.Second)))
	began := time.Now()
	task, err := b.create(db, worker, draft)
	took := time.Since(began)
	for err == nil && task.Status == preparing {
		<-time.After(10 * time.Millisecond)
		err = db.View(func(tx *store.Tx) (err error) {
			task, err = tx.Tasks.Get(task.ID)
			return err
		})
	}
	prepared := time.Since(began)
	<-late.done
	return []figure{
		{"broadcast p99 lateness", late.percentile(0.99), "ms"},
		{"broadcast worst lateness", late.percentile(1), "ms"},
		{"broadcast made", took.Seconds() * 1000, "ms"},
		{"broadcast prepared", prepared.Seconds(), "s"},
	}, errors.Join(err, waitUntilGone(db, s, "beside"), s.stop(), db.Close())
}

func (b bench) create(db *store.DB, worker *tasks.Worker, draft tasks.Draft) (task store.Task, err error) {
	err = db.Update(func(tx *store.Tx) error {
		task, err = worker.Create(tx, draft)
		return err
	})
	return task, err
}
