package moving

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/tasks"
)

const (
	taskRow = "id,created_at,run_at,status,target_chat_ids,text\n9,2026-11-01 06:00:00,2026-12-01 07:00:00,pending,{-1001234567890},Good evening\n"
	postRow = "id,platform,scheduled_time,status,text\n9,telegram,2026-12-01 07:00:00,scheduled,Good evening\n"
	ruleRow = `id,name,schedule_type,schedule_config,content_config,platforms,is_active,is_paused
9,Morning,daily,"{""times"":[""09:00""]}","{""source"":""template"",""template"":""Good morning""}",{telegram},t,f
`
)

// states are those of the jobs of a kind.
func (b *bench) states(kind string) (states string) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		for job := range tx.Jobs.ByNames() {
			if job.Kind == kind && !job.Removed {
				states += string(job.State)
			}
		}
		return nil
	})
	return states
}

// again imports a row once more, with something in it replaced, and reports whether it was said that something stays.
func (b *bench) again(table, row, was, is string) (kept bool) {
	b.Helper()
	r := b.give(table, []byte(strings.Replace(row, was, is, 1)), false)
	if len(r.Problems) > 0 {
		b.Errorf("it is refused: %s", r)
	}
	return slices.ContainsFunc(r.Notes, func(s store.Sentence) bool { return s.Key == "import.kept" })
}

// A row is imported again with another time, as with the right --zone, after what was made of it was stopped here.
func TestAPostOrBroadcastThatWasStoppedHereStaysSo(t *testing.T) {
	for _, c := range []struct {
		name, table, kind, row string
		stop                   func(*bench, *store.Tx) (any, error)
		want                   string
	}{
		{"a broadcast that was paused", "userbot_tasks", tasks.Kind, taskRow, func(b *bench, tx *store.Tx) (any, error) { return b.Tasks.Pause(tx, 1) }, "paused"},
		{"a broadcast that was cancelled", "userbot_tasks", tasks.Kind, taskRow, func(b *bench, tx *store.Tx) (any, error) { return b.Tasks.Cancel(tx, 1) }, ""},
		{"a post that was paused", "scheduled_posts", posts.Kind, postRow, func(_ *bench, tx *store.Tx) (any, error) { return scheduler.Pause(tx, "post_1") }, "paused"},
		{"a post that was cancelled", "scheduled_posts", posts.Kind, postRow, func(b *bench, tx *store.Tx) (any, error) { return b.Posts.Cancel(tx, 1) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t)
			b.identities()
			b.give(c.table, []byte(c.row), false)
			b.update(func(tx *store.Tx) error {
				_, err := c.stop(b, tx)
				return err
			})
			for _, at := range []string{"07:05:00", "07:10:00"} {
				kept := b.again(c.table, c.row, "07:00:00", at)
				if got := b.states(c.kind); got != c.want || kept != (c.want == "") {
					t.Errorf("its job is %q, and that it stays so is said: %v", got, kept)
				}
			}
		})
	}
}

func TestWhatWasCancelledThereGoesOnWhenItDoesSoThere(t *testing.T) {
	b := start(t)
	b.identities()
	for table, row := range map[string]string{"userbot_tasks": taskRow, "scheduled_posts": postRow} {
		kind, waits := posts.Kind, ",scheduled,"
		if table == "userbot_tasks" {
			kind, waits = tasks.Kind, ",pending,"
		}
		b.again(table, row, waits, ",cancelled,")
		if kept := b.again(table, row, "", ""); kept || b.states(kind) != "waiting" {
			t.Errorf("%s: its job is %q", table, b.states(kind))
		}
	}
}

// A rule goes by what was done here since, until its row says otherwise than before.
func TestARuleIsStoppedByItsRowOnlyWhenThatChanges(t *testing.T) {
	const active, paused, off = ",t,f", ",t,t", ",f,f"
	pause := func(b *bench) {
		b.update(func(tx *store.Tx) error { _, err := b.Rules.Pause(tx, 1); return err })
	}
	resume := func(b *bench) {
		b.update(func(tx *store.Tx) error { _, err := b.Rules.Resume(tx, 1); return err })
	}
	switchOff := func(b *bench) {
		draft, err := b.Rules.PrepareChange(b.Context(), 1, func(r *rules.Request) { r.Active = false })
		b.update(func(tx *store.Tx) error { _, e := b.Rules.Change(tx, draft); return errors.Join(err, e) })
	}
	for _, c := range []struct {
		name       string
		was        string
		here       func(*bench)
		is, states string
		kept       bool
	}{
		{"paused there since", active, nil, paused, "paused", false},
		{"switched off there since", active, nil, off, "", false},
		{"switched on there since", off, nil, active, "waiting", false},
		{"paused there and resumed here", paused, resume, paused, "waiting", false},
		{"off there and resumed here", off, resume, off, "waiting", true},
		{"paused here", active, pause, active, "paused", false},
		{"switched off here", active, switchOff, active, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t)
			b.identities()
			b.again("auto_posting_rules", ruleRow, active, c.was)
			if c.here != nil {
				c.here(b)
			}
			for _, name := range []string{"Noon", "Evening"} {
				kept := b.again("auto_posting_rules", strings.Replace(ruleRow, "Morning", name, 1), active, c.is)
				if got := b.states(rules.Kind); got != c.states || kept != c.kept {
					t.Errorf("its job is %q, and that it stays so is said: %v", got, kept)
				}
			}
		})
	}
}
