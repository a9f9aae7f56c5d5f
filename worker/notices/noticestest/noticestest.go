// Package noticestest brings the bot that tells the admins into the simulation, and a judge who compares what
// they got with what they were to be told.
package noticestest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/notices"
	"belfry/worker/simulation"
)

// Part is the notices of one world.
type Part struct {
	Worker *notices.Worker // of the process that runs
	login  uint64
	judged int64                     // the last message of the ledger
	got    map[string]map[int64]bool // keys of messages, by chat
	ended  uint64                    // notices up to this one had ended when they were judged
	silent time.Time                 // when a restored file that was not resumed was seen last

	mu   sync.Mutex
	gone time.Time // when one of the admins was taken off the list, in the bubble's time; zero: it was not, or perhaps
}

// New returns the part of a world.
func New() *Part {
	p := &Part{got: map[string]map[int64]bool{}}
	for _, admin := range admins {
		p.got[admin] = map[int64]bool{}
	}
	return p
}

// admins are the chats of those who are told.
var admins = []string{"1001", "1002"}

// Admins are the ids of those who are told.
func Admins() []int64 { return []int64{1001, 1002} }

// hook stands for the webhook in the ledger: it is no login.
const hook = 0

// Part is what the simulation plays. It comes before the parts that tell something.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "notices",
		Actions: []simulation.Action{
			{Name: "notices: remove an admin", Rate: .1, Do: p.remove}, {Name: "notices: add an admin", Rate: .3, Do: p.join},
		},
		Logins: []store.Identity{{Platform: "telegram", Name: "notify", Kind: store.IdentityBot, State: store.IdentityReady}},
		Start:  p.start,
		Hourly: p.hourly,
		Daily:  p.daily,
		Backup: func() func() {
			return func() {
				p.left(time.Time{})
				p.ended = 0
			}
		},
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	w := process.World
	if p.login == 0 {
		w.Network.OnMessage(func(m simulation.Message) { p.heard(w, m) })
	}
	p.login = w.Logins["notify"]
	p.Worker = notices.New(process.DB, notices.Config{
		Bot: bot{w.Network.Publisher(process, p.login), process, p.login}, Login: p.login, Webhook: w.Network.Publisher(process, hook),
		BotOf: func(id uint64) notices.Bot { return bot{w.Network.Publisher(process, id), process, id} },
	})
	err := process.DB.Update(func(tx *store.Tx) error {
		if value, err := tx.Settings.Value("notices.told"); err != nil || value != "" {
			return err
		}
		return worker.SetSetting(tx, "notices.told", notices.Told{Admins: []notices.Admin{{Chat: admins[0]}, {Chat: admins[1]}}})
	})
	if err != nil {
		w.Note("the admins may be unknown: %v", err)
	}
	return p.Worker.Module()
}

// left notes when an admin was taken off the list.
func (p *Part) left(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = at
}

// remove takes the second admin off the list.
func (p *Part) remove(w *simulation.World, _ *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error { return p.Worker.RemoveAdmin(tx, admins[1]) })
	if w.Note("admin %s is removed: %v", admins[1], err); err == nil && !doubt {
		p.left(time.Now())
	}
}

// join has the second admin open the bot with a code, unless they are on the list.
func (p *Part) join(w *simulation.World, _ *rand.Rand) {
	process := w.Process()
	if process == nil || p.Worker.ChooseBot(p.login) != nil || w.Process() != process {
		return
	}
	p.left(time.Time{})
	joined := false
	_, err := process.Update(func(tx *store.Tx) error {
		told, err := p.Worker.Told(tx)
		if is, e := p.Worker.IsAdmin(tx, Admins()[1]); is || err != nil || e != nil {
			return errors.Join(err, e)
		}
		joined, err = p.Worker.Join(tx, platform.Heard{From: Admins()[1], Text: "/start " + told.Code})
		return err
	})
	w.Note("admin %s joins: %v, %v", admins[1], joined, err)
}

// heard complains of what somebody is told who is no admin any more.
func (p *Part) heard(w *simulation.World, m simulation.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Login == p.login && m.Target == admins[1] && !p.gone.IsZero() && m.Asked.After(p.gone.Add(time.Second)) {
		w.Complain("notices: removed", "%q is told to %s %v after they were taken off the list", m.Post.Text, m.Target, m.Asked.Sub(p.gone))
	}
}

// bot is the bot of a process.
type bot struct {
	platform.Publisher
	process *simulation.Process
	login   uint64
}

func (b bot) Edit(ctx context.Context, id int64, post platform.Post) error {
	return b.process.World.Network.Call(ctx, b.process, b.login, fmt.Sprint("edit ", id, " ", post.Text), func() {})
}

func (b bot) Answer(ctx context.Context, query int64, _ string) error {
	return b.process.World.Network.Call(ctx, b.process, b.login, fmt.Sprint("answer ", query), func() {})
}

// waits is how long a notice may wait when all has been well for as long: the pause between two attempts has
// grown before that.
const waits = 15 * time.Minute

// hourly complains of notices that wait for nothing.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	login, err := tx.Identities.Get(p.login)
	_, told := w.Network.LongestWait(p.login)
	if restored, _ := tx.Settings.Value(store.Restored); restored != "" {
		p.silent = time.Now()
	}
	if err != nil || time.Since(p.silent) < 2*time.Hour || login.State != store.IdentityReady || time.Since(told) < 2*waits || !w.Calm(2*waits, "process", "disk", "clock", "network") {
		return
	}
	for _, lane := range []string{"notices", "notices:first"} {
		for _, chat := range admins {
			n, err := tx.Notices.Next(lane, chat)
			if err == nil && tx.Now().Sub(n.CreatedAt) > 2*waits && !n.Waits(tx.Now().Add(-time.Minute)) {
				job, err := tx.Jobs.ByName(n.JobName())
				hold, _ := tx.Holds.ByLane(n.Lane())
				w.Complain("notices: late", "notice %d to %s of %v is not sent: %+v; its job: %+v, %v; its lane is held: %+v", n.ID, chat, n.CreatedAt, n, job, err, hold)
			}
			w.Judged(1)
		}
	}
}

// daily compares what was told with the network's ledger.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	var told []simulation.Message
	for _, m := range w.Network.After(p.judged) {
		if got := p.got[m.Target]; got != nil {
			got[m.Post.Key] = true
			told = append(told, m)
		}
		p.judged = m.ID
	}
	known := map[int64]bool{}
	ended, forgotten := true, false // by a clock that was months ahead: old notices are not kept
	for n := range tx.Notices.From(p.ended + 1) {
		forgotten = forgotten || len(known) == 0 && n.ID > p.ended+1
		known[n.Key] = true
		if ended = ended && !n.Open(); ended {
			p.ended = n.ID
		}
		if !n.SentAt.IsZero() && n.IdentityID == 0 && n.Edit == 0 && n.Chat != store.WebhookChat && !p.got[n.Chat][n.Key] {
			w.Complain("notices: sent", "notice %d (%q) is sent to %s by its record, and is not there", n.ID, n.Text, n.Chat)
		}
	}
	for _, m := range told {
		if !known[m.Post.Key] && !m.Undone && !forgotten {
			w.Complain("notices: at most once", "message %d to %s (%q) is no notice's: it was sent with another key, or is told again with others", m.ID, m.Target, m.Post.Text)
		}
	}
	w.Judged(len(told))
}
