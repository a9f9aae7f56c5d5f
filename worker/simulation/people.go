package simulation

import (
	"math/rand/v2"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// people is what people do that is no worker's.
func people() []Action {
	return []Action{
		{Name: "schedule: pause all", Rate: .2, Do: func(w *World, r *rand.Rand) {
			if !w.act("pause all", func(tx *store.Tx) error { return scheduler.PauseAll(tx, scheduler.ByHand) }) {
				return
			}
			w.After(lasting(r, time.Minute, 36*time.Hour), w.resumeAll)
		}},
		{Name: "backup", Rate: .4, Do: keepCopy},
		{Name: "restore", Rate: .04, Do: restore},
	}
}

// resumeAll is tried until it is done.
func (w *World) resumeAll() {
	w.Disturb("pause")
	if !w.act("resume all", scheduler.ResumeAll) {
		w.After(time.Minute, w.resumeAll)
	}
}

// act changes the file as a door would, and reports whether that is done for sure.
func (w *World) act(what string, fn func(*store.Tx) error) bool {
	p := w.Process()
	if p == nil {
		return false
	}
	_, err := p.Update(fn)
	w.Note("%s: %v", what, err)
	return err == nil
}
