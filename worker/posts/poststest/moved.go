package poststest

import (
	"errors"
	"math/rand/v2"
	"time"

	"belfry/store"
	"belfry/worker/simulation"
)

// move imports a post of another system, or one that was imported before and says something else there now.
func (p *Part) move(w *simulation.World, r *rand.Rand) {
	at := w.Now().Add(ahead(r)).UTC()
	wi := &wish{tag: tag(r.Uint64()), login: w.Logins["main"], moved: true}
	if was := p.pick(r); was != nil && was.moved {
		wi = was
	}
	says, target := text(wi.tag, tag(r.Uint64())), targets[r.IntN(len(targets))]
	process := w.Process()
	taken, err := p.Import(process, map[string]string{
		"id": wi.tag, "platform": telegram, "account_id": target, "status": "scheduled", "text": says, "scheduled_time": at.Format(time.RFC3339Nano),
	})
	doubt := errors.Is(err, store.ErrUnavailable)
	w.Note("import post %s for %s in %s: %t, %v", wi.tag, at.Format(time.DateTime), target, taken, err)
	if !taken && !doubt {
		return
	}
	var post store.Post
	if !doubt {
		err := process.DB.View(func(tx *store.Tx) (err error) {
			moved, err := tx.Moved.Of("scheduled_posts", wi.tag)
			if err == nil {
				post, err = tx.Posts.Get(moved.OurID)
			}
			return err
		})
		doubt = err != nil
	}
	if p.keep(wi, wi.doubt || doubt, err); doubt || post.Text != says { // one that is out, or was cancelled here, stays so
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	wi.id, wi.text, wi.target, wi.at = post.ID, says, target, at
	wi.asked, wi.cancelled, wi.queued, wi.finals = time.Time{}, time.Time{}, false, 0
}
