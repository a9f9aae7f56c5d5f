package taskstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"belfry/store"
	"belfry/worker/simulation"
	"belfry/worker/tasks"
)

func (p *Part) actions() []simulation.Action {
	cancel := func(tx *store.Tx, id uint64) (store.Task, error) { return p.Worker.Cancel(tx, id) }
	pause := func(tx *store.Tx, id uint64) (store.Task, error) { return p.Worker.Pause(tx, id) }
	resume := func(tx *store.Tx, id uint64) (store.Task, error) { return p.Worker.Resume(tx, id) }
	retry := func(tx *store.Tx, id uint64) (store.Task, error) { return p.Worker.Retry(tx, id) }
	check := func(tx *store.Tx, id uint64) (store.Task, error) { return p.Worker.DryRun(tx, id) }
	return []simulation.Action{
		{Name: "tasks: create", Rate: .8, Do: p.create},
		{Name: "tasks: cancel", Rate: .1, Do: p.one("cancel", cancel)},
		{Name: "tasks: pause", Rate: .3, Do: p.one("pause", pause)},
		{Name: "tasks: resume", Rate: .8, Do: p.one("resume", resume)},
		{Name: "tasks: pause for a while", Rate: .5, Do: func(w *simulation.World, r *rand.Rand) {
			wi := pick(r, p.unfinished(w))
			if wi == nil {
				return
			}
			p.act(w, wi, "pause", pause)
			w.After(time.Duration(r.Int64N(int64(time.Hour))), func() {
				p.mu.Lock()
				now := p.wishes[wi.tag] // another one since an older file was restored
				p.mu.Unlock()
				if now != nil {
					p.act(w, now, "resume", resume)
				}
			})
		}},
		{Name: "tasks: retry", Rate: .3, Do: p.one("retry", retry)},
		{Name: "tasks: dry run", Rate: .1, Do: p.one("dry run", check)},
		{Name: "tasks: switch a chat", Rate: 2, Do: p.switchChat},
		{Name: "tasks: list chats", Rate: .1, Do: func(w *simulation.World, r *rand.Rand) {
			if process := w.Process(); process != nil {
				_, err := process.Update(func(tx *store.Tx) error { return tasks.ListChats(tx, w.Logins["anna"]) })
				w.Note("list the chats of anna: %v", err)
			}
		}},
	}
}

func (p *Part) create(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	name := []string{"anna", "boris"}[r.IntN(2)]
	wi := &wish{tag: fmt.Sprintf("%08x", r.Uint32()), login: w.Logins[name], pause: time.Duration(20+r.IntN(20)) * time.Second, got: map[string]int{}}
	req := tasks.Request{Text: "broadcast " + wi.tag, IdentityID: wi.login, MinPause: &wi.pause, Hold: r.IntN(10) == 0, DryRun: r.IntN(10) == 0}
	for range 1 + int(300*math.Pow(r.Float64(), 4)) {
		n := 1 + r.IntN(chats)
		req.Targets = append(req.Targets, []string{fmt.Sprint("@chat_", n), fmt.Sprint("-100", n)}[r.IntN(2)])
	}
	if r.IntN(3) == 0 {
		req.QuietFrom, req.QuietTo = "22:00", "08:00"
		wi.quiet = store.QuietHours{From: req.QuietFrom, To: req.QuietTo}
	}
	if r.IntN(3) == 0 {
		req.StartAt = w.Now().Add(time.Duration(r.Int64N(int64(48 * time.Hour)))).Format(time.RFC3339)
	}
	if r.IntN(4) == 0 {
		req.DailyCap = 5 + r.IntN(50)
	}
	draft, err := p.Worker.Prepare(req)
	if err == nil {
		wi.doubt, err = process.Update(func(tx *store.Tx) error {
			task, err := p.Worker.Create(tx, draft)
			wi.id, wi.start = task.ID, task.StartAt
			return err
		})
	}
	w.Note("broadcast task %d %s by %s to %d chats, quiet %v, start %q, cap %d, held %v: %v", wi.id, wi.tag, name, len(req.Targets),
		!wi.quiet.IsZero(), req.StartAt, req.DailyCap, req.Hold || req.DryRun, err)
	if err != nil && !wi.doubt {
		return
	}
	if req.Hold || req.DryRun {
		wi.stopped = time.Now()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wishes[wi.tag] = wi
}

// switchChat switches a chat of an account off, or on again.
func (p *Part) switchChat(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	login, salt := w.Logins[[]string{"anna", "boris"}[r.IntN(2)]], r.Uint64()
	var chat store.Chat
	doubt, err := process.Update(func(tx *store.Tx) (err error) {
		known := slices.Collect(tx.Chats.Of(login))
		if len(known) == 0 {
			return store.ErrNotFound
		}
		chat = known[salt%uint64(len(known))]
		chat, err = tasks.SwitchChat(tx, chat.ID, !chat.Off)
		return err
	})
	w.Note("chat %d of login %d is switched off: %v, %v", chat.PeerID, login, chat.Off, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.off, chatKey(login, chat.PeerID))
	if err == nil && !doubt && chat.Off {
		p.off[chatKey(login, chat.PeerID)] = time.Now()
	}
}

// one is the action that does something with one task.
func (p *Part) one(what string, act func(*store.Tx, uint64) (store.Task, error)) func(*simulation.World, *rand.Rand) {
	return func(w *simulation.World, r *rand.Rand) {
		if wi := pick(r, p.certain()); wi != nil {
			p.act(w, wi, what, act)
		}
	}
}

// certain are the tasks of which it is known that they are there.
func (p *Part) certain() []*wish {
	return slices.DeleteFunc(p.all(), func(wi *wish) bool { return wi.doubt })
}

// unfinished are those of them that are not over.
func (p *Part) unfinished(w *simulation.World) []*wish {
	all, process := p.certain(), w.Process()
	if process == nil {
		return nil
	}
	err := process.DB.View(func(tx *store.Tx) error {
		all = slices.DeleteFunc(all, func(wi *wish) bool {
			task, err := tx.Tasks.Get(wi.id)
			return err != nil || task.Status.Final()
		})
		return nil
	})
	if err != nil {
		return nil
	}
	return all
}

// pick picks one of some tasks; nil if there are none.
func pick(r *rand.Rand, all []*wish) *wish {
	if len(all) == 0 {
		return nil
	}
	return simulation.Pick(r, all, func(wi *wish) string { return wi.tag })
}

// act does something with a task.
func (p *Part) act(w *simulation.World, wi *wish, what string, act func(*store.Tx, uint64) (store.Task, error)) {
	process := w.Process()
	if process == nil {
		return
	}
	var was, task store.Task
	doubt, err := process.Update(func(tx *store.Tx) (err error) {
		if was, err = tx.Tasks.Get(wi.id); err != nil {
			return err
		}
		if task, err = act(tx, wi.id); err == nil && w.Calm(lateBy, "clock") { // now, for its next run says it again
			explained(w, tx, wi, task)
		}
		return err
	})
	w.Note("%s task %d %s: %s, %v", what, wi.id, wi.tag, task.Status, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	wi.done(what, was, doubt, err)
}

// Acted says that people have paused or resumed a task through another door, which was so before.
func (p *Part) Acted(what string, was store.Task, doubt bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wi := p.wishes[tagOf(was.Text)]; wi != nil {
		wi.done(what, was, doubt, err)
	}
}

// done notes what people have done with a task, which was so before.
func (wi *wish) done(what string, was store.Task, doubt bool, err error) {
	wi.doubt = wi.doubt || doubt
	if err != nil {
		return
	}
	switch what {
	case "cancel", "pause":
		wi.stopped = time.Now()
	case "resume":
		wi.stopped, wi.finals = time.Time{}, 0
	case "retry":
		if was.Status.Final() { // one that is paused stays so
			wi.finals, wi.stopped = 0, time.Time{}
		}
	}
}
