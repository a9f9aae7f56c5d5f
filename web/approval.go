package web

import (
	"errors"
	"fmt"

	"belfry/store"
	"belfry/worker/posts"
)

const (
	// heldPosts is what the page shows as the status of posts that wait for approval. In the store
	// they are scheduled: approval is about whether they go out, and not about how far they have come.
	heldPosts store.PostStatus = "held"
	// maxHeld is how far posts that wait for approval are counted.
	maxHeld = 100
)

// isHeld reports whether a post waits for somebody's approval.
func isHeld(p store.Post) bool { return p.Held && !p.Status.Final() }

// shownStatus is the status of a post as the page names it.
func shownStatus(p store.Post) store.PostStatus {
	if isHeld(p) {
		return heldPosts
	}
	return p.Status
}

// postChip is the status of a post in a word or two.
func (r reader) postChip(p store.Post) chip { return r.statusChip(shownStatus(p)) }

// postMeans says what the status of a post means.
func (r reader) postMeans(p store.Post) string {
	switch w := r.words.Approval; {
	case !isHeld(p) || p.ScheduledTime.After(r.now):
		return r.words.Status[shownStatus(p)].Means
	case posts.TooLate(p, r.now):
		return w.TooLate
	default:
		return w.Late
	}
}

// heldLate says what becomes of a post that waits for approval and whose time has passed. It is empty
// for one whose time is still to come.
func (r reader) heldLate(p store.Post) string {
	if !isHeld(p) || p.ScheduledTime.After(r.now) {
		return ""
	}
	return r.postMeans(p)
}

// approvalMeans says what follows if a post is approved now.
func (r reader) approvalMeans(p store.Post) string {
	if !isHeld(p) {
		return r.postMeans(p)
	}
	if late := r.heldLate(p); late != "" {
		return late
	}
	return r.words.Approval.InTime(r.moment(p.ScheduledTime).Exact)
}

// notHeld refuses to let a job go on whose post waits for approval: whoever resumes a job may not have
// read the post.
func notHeld(tx *store.Tx, name string) error {
	j, err := tx.Jobs.ByName(name)
	if errors.Is(err, store.ErrNotFound) || (err == nil && j.Kind != posts.Kind) {
		return nil
	}
	if err != nil {
		return err
	}
	post, err := subject(tx.Posts.Table, j.Subject)
	if err == nil && post != nil && isHeld(*post) {
		err = &store.ConflictError{Problem: fmt.Sprintf("post %d waits for approval", post.ID), Cure: "approve it"}
	}
	return err
}

// approved wraps an action that lets a job run, and refuses it for a post that waits for approval.
func approved(act func(*store.Tx, string) (store.Job, error)) func(*store.Tx, string) (store.Job, error) {
	return func(tx *store.Tx, name string) (store.Job, error) {
		if err := notHeld(tx, name); err != nil {
			return store.Job{}, err
		}
		return act(tx, name)
	}
}
