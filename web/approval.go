package web

import (
	"belfry/store"
	"belfry/worker/posts"
)

const (
	// heldPosts is what the page shows as the status of posts that need approval. In the store
	// they are scheduled: approval is about whether they go out, and not about how far they have come.
	heldPosts store.PostStatus = "held"
	// maxHeld is how far posts that need approval are counted.
	maxHeld = 100
)

// shownStatus is the status of a post as the page names it.
func shownStatus(p store.Post) store.PostStatus {
	if p.AwaitsApproval() {
		return heldPosts
	}
	return p.Status
}

// postChip is the status of a post in a word or two.
func (r reader) postChip(p store.Post) chip { return r.statusChip(shownStatus(p)) }

// postMeans says what the status of a post means.
func (r reader) postMeans(p store.Post) string {
	switch w := r.words.Approval; {
	case !p.AwaitsApproval() || p.ScheduledTime.After(r.now):
		return r.words.Status[shownStatus(p)].Means
	case posts.TooLate(p, r.now):
		return w.TooLate
	default:
		return w.Late
	}
}

// heldLate says what becomes of a post that needs approval and whose time has passed. It is empty
// for one whose time is still to come.
func (r reader) heldLate(p store.Post) string {
	if !p.AwaitsApproval() || p.ScheduledTime.After(r.now) {
		return ""
	}
	return r.postMeans(p)
}

// approvalMeans says what follows if a post is approved now.
func (r reader) approvalMeans(p store.Post) string {
	if !p.AwaitsApproval() {
		return r.postMeans(p)
	}
	if late := r.heldLate(p); late != "" {
		return late
	}
	return r.words.Approval.InTime(r.moment(p.ScheduledTime).Exact)
}
