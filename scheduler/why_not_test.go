package scheduler

import (
	"testing"
	"time"

	"belfry/store"
)

// Each job that did not run has its reason, and those that wait for their time, or go on later, are not listed.
func TestWhyNotNamesTheReasonOfEachJob(t *testing.T) {
	db, err := store.Open(t.TempDir()+"/belfry.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]string{
		"paused_1": "paused", "lane_1": "lane", "window_1": "window", "flood_1": "flood", "aside_1": "set_aside", "late_1": "late", "post_1": "approval",
	}
	err = db.Update(func(tx *store.Tx) error {
		past, later := tx.Now().Add(-time.Hour), tx.Now().Add(time.Hour)
		post := store.Post{Status: store.PostScheduled, Held: true, Platform: "telegram", Target: "@x", ScheduledTime: past}
		if err := tx.Posts.Put(&post); err != nil {
			return err
		}
		for name, change := range map[string]func(*store.Job){
			"paused_1": func(j *store.Job) { j.State, j.Reason = store.JobPaused, store.Reason{Code: store.ReasonPaused} },
			"lane_1":   func(*store.Job) {},
			"window_1": func(j *store.Job) { j.Due, j.Reason = later, store.Reason{Code: store.ReasonWindow, Until: later} },
			"flood_1":  func(j *store.Job) { j.Lane = "held" },
			"aside_1":  func(j *store.Job) { j.State, j.Reason = store.JobSetAside, store.Reason{Code: store.ReasonUnknownKind} },
			"post_1": func(j *store.Job) {
				j.Kind, j.Subject, j.State, j.Reason = "post", post.ID, store.JobPaused, store.Reason{Code: store.ReasonPaused}
			},
			"again_1": func(j *store.Job) { j.Due = later },
			"step_1":  func(j *store.Job) { j.Due, j.Reason = later, store.Reason{Code: store.ReasonPacing, Until: later} },
			"later_1": func(j *store.Job) { j.Occurrence, j.Due = later, later },
			"rest_1": func(j *store.Job) {
				j.Occurrence, j.Due, j.State, j.Reason = later, later, store.JobPaused, store.Reason{Code: store.ReasonPaused}
			},
		} {
			j := store.Job{Name: name, Kind: "k", Lane: "free", State: store.JobWaiting, Trigger: store.Trigger{Every: time.Hour}, Occurrence: past, Due: past}
			if change(&j); name != "lane_1" && j.Lane == "free" {
				j.Lane = name
			}
			if err := tx.Jobs.Put(&j); err != nil {
				return err
			}
		}
		late := store.Run{Job: "late_1", Kind: "k", Occurrence: past, Ended: tx.Now(), Result: store.ResultSkipped, Reason: store.Reason{Code: store.ReasonLate}}
		if err := tx.Runs.Add(&late); err != nil {
			return err
		}
		return tx.Holds.Extend("held", later, store.Reason{Code: store.ReasonFlood})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *store.Tx) error {
		all, err := WhyNot(tx)
		for _, n := range all {
			if want[n.Job.Name] != n.Code || n.Since.IsZero() || n.Reason.Zero() {
				t.Errorf("%s: %q since %v: %+v", n.Job.Name, n.Code, n.Since, n.Reason)
			}
			if n.Code == "flood" && n.Until.IsZero() {
				t.Errorf("%+v has no end", n)
			}
			delete(want, n.Job.Name)
		}
		return err
	})
	if err != nil || len(want) > 0 {
		t.Errorf("not listed: %v, %v", want, err)
	}
}
