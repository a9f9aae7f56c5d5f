package adminbottest

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/simulation"
)

// heardUntil is the setting that says how many texts were heard. The adapter keeps the network's state so.
const heardUntil = "simulation.heard"

// poll has the process hear what waits, and comes again as long as something does.
func (p *Part) poll(w *simulation.World) {
	if p.polling {
		return
	}
	if process := w.Process(); process != nil && w.Spell(simulation.NetworkGone) == nil && p.hear(w, process) {
		return
	}
	p.polling = true
	w.After(time.Minute, func() {
		p.polling = false
		p.poll(w)
	})
}

// hear hears the texts that the file says were not heard, in one transaction with that, and each press in one of
// its own. It reports whether all is heard. A press whose commit is in doubt is heard again.
func (p *Part) hear(w *simulation.World, process *simulation.Process) bool {
	var done []effect
	doubt, err := process.Update(func(tx *store.Tx) error {
		done = nil // it may be called twice
		value, err := tx.Settings.Value(heardUntil)
		if err != nil {
			return err
		}
		from, _ := strconv.Atoi(value)
		for _, u := range p.texts[from:] {
			e, err := p.one(w, tx, u)
			if err != nil {
				return err
			}
			done = append(done, e)
		}
		return tx.Settings.Set(heardUntil, strconv.Itoa(len(p.texts)))
	})
	p.settle(w, done, doubt, err)
	for err == nil && len(p.presses) > 0 {
		doubt, err = process.Update(func(tx *store.Tx) error {
			e, err := p.one(w, tx, p.presses[0])
			done = []effect{e}
			return err
		})
		if p.settle(w, done, doubt, err); err == nil {
			p.presses = p.presses[1:]
		}
	}
	return err == nil
}

// effect is what the bot did with an update.
type effect struct {
	update
	answer        store.Notice
	subject       *store.Post // that the answer is about
	what          string      // was done with the post or task; empty: nothing
	wasPost, post store.Post
	wasTask       store.Task
	hadAccount    bool
}

// one has the bot hear one update, and judges what it did.
func (p *Part) one(w *simulation.World, tx *store.Tx, u update) (e effect, err error) {
	e.update = u
	path := strings.Split(u.Data, "/")
	id, about := uint64(0), len(path) > 1
	if about {
		id, _ = strconv.ParseUint(path[1], 10, 64)
	}
	if about && path[0] == "posts" {
		e.wasPost, _ = tx.Posts.Get(id)
	}
	if about && path[0] == "tasks" {
		e.wasTask, _ = tx.Tasks.Get(id)
	}
	before, hinted := newest(tx), p.hinted(tx, u)
	admin, err := p.Notices.Worker.IsAdmin(tx, u.From)
	if err != nil {
		return e, err
	}
	jobName := e.wasTask.JobName()
	if e.wasPost.ID != 0 {
		jobName = e.wasPost.JobName()
	}
	wasJob, _ := tx.Jobs.ByName(jobName)
	if err := p.bot.Hear(tx, u.Heard); err != nil {
		if !errors.Is(err, store.ErrUnavailable) {
			w.Complain("admin bot: hears", "%+v: %v", u.Heard, err)
		}
		return e, err
	}
	e.answer = newest(tx)
	w.Judged(1)
	switch answered := e.answer.ID != before.ID; {
	case answered && !admin:
		w.Complain("admin bot: strangers", "%+v was answered with %q", u.Heard, e.answer.Text)
	case admin && !answered && hinted: // what is not understood gets one hint at a time
	case admin && (!answered || e.answer.Chat != fmt.Sprint(u.From) || e.answer.Query != u.QueryID):
		w.Complain("admin bot: answers", "%+v was not answered; the newest notice is %+v", u.Heard, e.answer)
	}
	if e.wasPost.ID != 0 {
		e.post, _ = tx.Posts.Get(id)
		e.subject = &e.post
	}
	job, _ := tx.Jobs.ByName(jobName)
	if (!reflect.DeepEqual(e.post, e.wasPost) && e.wasPost.ID != 0 || !reflect.DeepEqual(job, wasJob)) && len(path) > 2 {
		e.what = path[2]
	}
	if e.what != "" && !admin {
		w.Complain("admin bot: strangers", "%+v has had an effect: %s", u.Heard, e.what)
	}
	if shown := u.pressed; e.what != "" && shown != nil && shown.post != nil && e.wasPost.ID != 0 && !same(*shown.post, e.wasPost) {
		w.Complain("admin bot: stale", "%+v: %s was done with post %d, which is %q in %s, and was shown as %q in %s",
			u.Heard, e.what, e.wasPost.ID, e.wasPost.Text, e.wasPost.Target, shown.post.Text, shown.post.Target)
	}
	if u.name != "" {
		_, err := tx.Accounts.ByName(accounts.DefaultSite, u.name)
		e.hadAccount = err == nil
	}
	return e, nil
}

// hinted reports whether a hint waits for who has written something that the bot does not understand.
func (p *Part) hinted(tx *store.Tx, u update) bool {
	hint := p.bot.Printer().T("bot.not_understood")
	for n := range tx.Notices.Queue("notices:first", fmt.Sprint(u.From)) {
		if n.Text == hint && u.QueryID == 0 {
			return true
		}
	}
	return false
}

// same reports whether two states of a post are the same to an admin who has agreed to something.
func same(a, b store.Post) bool {
	return a.Text == b.Text && a.Target == b.Target && a.ScheduledTime.Equal(b.ScheduledTime)
}

func newest(tx *store.Tx) (n store.Notice) {
	for n := range tx.Notices.Newest(0) {
		return n
	}
	return n
}

// settle tells the other parts what admins have done through the bot, as far as it was committed or may be.
func (p *Part) settle(w *simulation.World, done []effect, doubt bool, err error) {
	if err != nil && !doubt {
		w.Note("the bot hears nothing: %v", err)
		return
	}
	for _, e := range done {
		if e.what != "" {
			w.Note("by the bot: %s post %d task %d: %v", e.what, e.wasPost.ID, e.wasTask.ID, err)
		}
		switch name := map[string]string{"now": "publish now"}[e.what]; {
		case e.what == "":
		case e.wasPost.ID != 0 && name != "":
			p.Posts.Acted(name, e.post, doubt, err)
		case e.wasPost.ID != 0:
			p.Posts.Acted(e.what, e.post, doubt, err)
		case e.wasTask.ID != 0:
			p.Tasks.Acted(e.what, e.wasTask, doubt, err)
		}
		if e.hadAccount {
			p.Accounts.Watched(e.name)
		}
		if chat, bad := strconv.ParseInt(e.answer.Chat, 10, 64); err == nil && bad == nil && chat == e.From {
			p.show(chat, fmt.Sprint("answer ", e.answer.ID), e.answer.Buttons, e.subject)
		}
	}
}
