package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scheduled puts an identity, posts and tasks that wait, each with its job, and what has ended without one.
func scheduled(t *testing.T, db *DB) {
	t.Helper()
	mustUpdate(t, db, func(tx *Tx) error {
		at := tx.Now().Add(time.Hour)
		identity := Identity{Platform: "telegram", Name: "main", State: IdentityReady}
		posts := []Post{{Status: PostScheduled}, {Status: PostPublishing, Held: true}, {Status: PostPublished}}
		tasks := []Task{{Status: TaskPending}, {Status: TaskProcessing}, {Status: TaskDone}}
		err := tx.Identities.Put(&identity)
		for i := range posts {
			posts[i].IdentityID, posts[i].ScheduledTime = identity.ID, at
			err = errors.Join(err, tx.Posts.Put(&posts[i]))
		}
		for i := range tasks {
			tasks[i].IdentityID, tasks[i].StartAt = identity.ID, at
			err = errors.Join(err, tx.Tasks.Put(&tasks[i]))
		}
		_, missing := tx.putMissingJobs(db.schema.all)
		return errors.Join(err, missing)
	})
}

func TestAPostOrTaskWithoutItsJobIsFoundAndGivenOne(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, db *DB, id uint64){
		"damaged": func(t *testing.T, db *DB, id uint64) { spoil(t, db, "jobs", id) },
		"gone": func(t *testing.T, db *DB, id uint64) {
			mustUpdate(t, db, func(tx *Tx) error { return tx.Jobs.Delete(id) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := closedFile(t, 1)
			db, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			scheduled(t, db)
			for id := range uint64(4) {
				lose(t, db, id+1)
			}
			problems, err := db.VerifyInUse(t.Context())
			if err != nil || len(problems) < 4 {
				t.Errorf("while it is in use: %v, %v", problems, err)
			}
			if told := db.Damaged(); len(told) < 4 {
				t.Errorf("told is %v", told)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			said := whatIsWrong(t, path)
			for _, row := range []string{"posts 1", "posts 2", "tasks 1", "tasks 2"} {
				if name == "gone" && !strings.Contains(said, row+": has no job") {
					t.Errorf("nothing is said of %s: %s", row, said)
				}
			}
			done, err := Repair(t.Context(), path, Options{Verifier: verifier()})
			if err != nil || len(done.Made) != 4 {
				t.Fatal(done, err)
			}
			if said := whatIsWrong(t, path); said != "[] <nil>" {
				t.Errorf("after the repair: %s", said)
			}
			if db, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			err = db.View(func(tx *Tx) error {
				for _, want := range []Job{
					{Name: "post_1", Kind: "post", Subject: 1, State: JobWaiting}, {Name: "post_2", Kind: "post", Subject: 2, State: JobPaused},
					{Name: "task_1", Kind: "task", Subject: 1, State: JobPaused}, {Name: "task_2", Kind: "task", Subject: 2, State: JobPaused},
				} {
					job, err := tx.Jobs.ByName(want.Name)
					post, err2 := tx.Posts.Get(1)
					if err := errors.Join(err, err2); err != nil {
						return err
					}
					if job.Kind != want.Kind || job.Subject != want.Subject || job.State != want.State || job.Lane != "telegram:main" ||
						!job.Due.Equal(post.ScheduledTime) || !job.Trigger.At.Equal(post.ScheduledTime) || !job.Occurrence.Equal(job.Due) {
						t.Errorf("%s is %+v", want.Name, job)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerifyInUseFindsWhatIsDamagedWhileTheFileIsInUse(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 3*inUseStep + 7 {
			if err := tx.Settings.Put(setting(fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if problems, err := db.VerifyInUse(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("a good file: %v, %v", problems, err)
	}
	last := uint64(3*inUseStep + 7)
	spoil(t, db, "settings", inUseStep+1)
	spoil(t, db, "settings", last)
	problems, err := db.VerifyInUse(t.Context())
	if err != nil || len(problems) != 2 || problems[0].ID != inUseStep+1 || problems[1].ID != last {
		t.Errorf("found %v, %v", problems, err)
	}
	if told := db.Damaged(); len(told) != 2 {
		t.Errorf("told is %v", told)
	}
	spoil(t, db, "settings", inUseStep+1)
	spoil(t, db, "settings", last)
}
