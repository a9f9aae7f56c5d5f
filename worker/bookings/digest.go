package bookings

import (
	"context"
	"errors"
	"strings"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Digest is a job that tells the owner which bookings begin soon.
type Digest struct {
	Name   string
	Within time.Duration // from its run on
}

// Digests are the jobs that tell the owner of bookings. They are paused until somebody switches them on.
func Digests() []Digest {
	return []Digest{{"reminder_24h", 24 * time.Hour}, {"reminder_2h", 2 * time.Hour}, {"reminder_1h", time.Hour}}
}

// start puts the digests into the schedule.
func (w *Worker) start() error {
	return w.db.Update(func(tx *store.Tx) error {
		for _, d := range Digests() {
			job := store.Job{Name: d.Name, Kind: store.ReminderKind, Lane: "bookings", Trigger: store.Trigger{Every: d.Within}}
			if d.Within == 24*time.Hour {
				job.Trigger = store.Trigger{Times: []string{"10:00"}, Zone: w.Zone().String()}
			}
			// One that was paused for long does not begin with what it has missed.
			job.Lateness = store.Lateness{Policy: store.LateSkip, Grace: d.Within / 2}
			_, err := tx.Jobs.ByName(d.Name)
			if put := scheduler.Put(tx, job); put != nil {
				return put
			}
			if errors.Is(err, store.ErrNotFound) {
				_, err = scheduler.Pause(tx, d.Name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// maxDigest is how many bookings a digest names.
const maxDigest = 50

// digest is a run that tells the owner of bookings.
type digest struct{ *Worker }

// Run tells the owner which bookings begin within the digest's time or before the next one; of none it says nothing.
func (w digest) Run(_ context.Context, job store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{Write: func(tx *store.Tx) error {
		next, err := scheduler.Next(job.Trigger, job.Name, tx.Now())
		if err != nil {
			return err
		}
		within := time.Duration(0)
		for _, d := range Digests() {
			if d.Name == job.Name {
				within = d.Within
			}
		}
		// A day may have 25 hours, and the next digest may begin late.
		until := worker.Later(tx.Now().Add(within), next.Add(time.Minute))
		say, n := w.Printer(), 0
		var lines []string
		for b := range tx.Bookings.Between(tx.Now(), until) {
			if b.Status.Final() {
				continue
			}
			if n++; n <= maxDigest {
				lines = append(lines, say.T("bookings.tell.line", b.Start, b.Service, b.Client, say.T("bookings.status."+string(b.Status))))
			}
		}
		if n == 0 {
			return nil
		}
		return w.tell(tx, say.T("bookings.tell.soon", n, within)+"\n\n"+strings.Join(lines, "\n"))
	}}, nil
}
