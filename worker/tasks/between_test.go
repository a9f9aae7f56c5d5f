package tasks

import (
	"context"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// late is a network that takes its time to say which chat a name is.
type late struct {
	*network
	took time.Duration
}

func (l late) Resolve(ctx context.Context, id uint64, target string) (platform.Chat, bool, error) {
	time.Sleep(l.took)
	return l.network.Resolve(ctx, id, target)
}

func TestADryRunThatIsAskedForWhileOneIsUnderWayLooksAtAllChats(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.worker.network = late{b.net, time.Second}
		task := b.create(Request{Targets: names(5), DryRun: true})
		for running := false; !running; { // two were looked at, and the network is asked for the third
			b.Pass(100 * time.Millisecond)
			b.View(func(tx *store.Tx) error {
				job, err := tx.Jobs.ByName(task.CheckName())
				running = job.State == store.JobRunning && b.task(task.ID).Checked == task.First+1
				return err
			})
		}
		b.net.mu.Lock()
		before := b.net.asked
		b.net.mu.Unlock()
		b.act(task.ID, (*Worker).DryRun)
		if b.task(task.ID).Checked != 0 {
			t.Fatal(b.task(task.ID))
		}
		b.Pass(10 * time.Minute)
		if n := b.net.asked - before; b.task(task.ID).Check != store.CheckDone || n < 5 {
			t.Errorf("the dry run that was asked for is %q, and has asked for %d of 5 chats", b.task(task.ID).Check, n)
		}
		b.act(task.ID, (*Worker).Cancel)
	})
}

func TestABroadcastThatWasCancelledWhileItRanIsNotPausedWhenItGoesOn(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.took = 10 * time.Second
		task := b.create(Request{Targets: names(3)})
		b.Pass(5 * time.Second) // the first message is on its way
		b.act(task.ID, (*Worker).Pause)
		b.act(task.ID, (*Worker).Cancel)
		b.act(task.ID, (*Worker).Retry)
		b.Pass(time.Hour)
		if task = b.task(task.ID); task.Status != store.TaskDone {
			b.View(func(tx *store.Tx) error {
				job, err := tx.Jobs.ByName(task.JobName())
				t.Errorf("an hour after it was asked to go on it is %s with %d of %d sent; its job is %s", task.Status, task.Sent, task.Total, job.State)
				return err
			})
		}
	})
}

func TestAChatThatIsSwitchedOffAfterACallWithoutAnswerMayHaveThePost(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{hang: true, carried: true}) // it is out, and nobody knows
		task := b.create(Request{Targets: names(1)})
		b.Pass(31 * time.Second)
		d := b.deliveries(task)[0]
		if d.Status != store.DeliveryPending || len(b.net.sent()) != 1 {
			t.Fatalf("%+v", d)
		}
		b.Update(func(tx *store.Tx) error { _, err := SwitchChat(tx, d.ChatID, true); return err })
		b.Pass(time.Hour)
		if d = b.deliveries(task)[0]; d.Status == store.DeliverySkipped && d.Reason.Code != store.ReasonUnknown {
			t.Errorf("the chat has the post, and the record says %s: %s; the task: %s %s", d.Status, d.Reason.Code, b.task(task.ID).Status, b.task(task.ID).LastError.Code)
		}
	})
}
