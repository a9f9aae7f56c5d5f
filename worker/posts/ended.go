package posts

import (
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// Ended is how a post has ended in another system.
type Ended struct {
	Status      store.PostStatus
	Reason      store.Reason
	PublishedAt time.Time
	CreatedAt   time.Time
	MessageIDs  []int64
	Link        string
}

// PrepareEnded checks the request of a post that has ended in another system. Its network is not asked.
func (w *Worker) PrepareEnded(r Request) (Draft, error) {
	d, _, err := w.draft(r)
	return d, err
}

// Record writes a post that has ended in another system. With an id, the post that was made of it ends so, unless it was
// begun here: then it refuses.
func (w *Worker) Record(tx *store.Tx, id uint64, d Draft, e Ended) (store.Post, error) {
	post := d.normal()
	post.Key, post.CreatedAt = platform.NewKey(), e.CreatedAt
	if id != 0 {
		old, err := tx.Posts.Get(id)
		if err != nil {
			return old, err
		}
		if old.Attempts > 0 || old.Status == store.PostPublishing {
			return old, changed(old)
		}
		if err := mayChange(tx, old); err != nil {
			return old, err
		}
		if err := scheduler.Delete(tx, old.JobName()); err != nil {
			return old, err
		}
		post.ID, post.Key, post.CreatedAt = id, old.Key, old.CreatedAt
	}
	if post.CreatedAt.IsZero() {
		post.CreatedAt = tx.Now()
	}
	post.Held, post.UpdatedAt = false, tx.Now()
	post.Status, post.Reason, post.PublishedAt, post.MessageIDs, post.Link = e.Status, e.Reason, e.PublishedAt, e.MessageIDs, e.Link
	if e.Status == store.PostUnknown {
		return post, tx.Posts.Put(&post)
	}
	return post, tx.Posts.Table.Put(&post) // what failed long ago raises no alert
}
