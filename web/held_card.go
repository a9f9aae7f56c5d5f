package web

import "belfry/store"

// heldCard says on the first page which posts wait for somebody's approval.
type heldCard struct {
	Title string // how many there are
	Posts []heldPost
	All   string // where the others are listed; empty if there is none
}

// heldPost is one of them.
type heldPost struct {
	ID, Link, Title, Where, Reason string
	When                           *moment
}

// heldCard shows the first of the posts that need approval, or is nil if none does: it is
// something to do, and nothing that has gone wrong.
func (r reader) heldCard(held store.Page[store.Post]) *heldCard {
	if len(held.Items) == 0 {
		return nil
	}
	card := &heldCard{Title: r.words.Approval.Waiting(len(held.Items), held.Next != "")}
	for _, p := range held.Items[:min(len(held.Items), maxTrouble)] {
		card.Posts = append(card.Posts, heldPost{
			ID: id(p.ID), Link: postPath(p.ID), Title: r.postTitle(p), Where: p.Target,
			When: r.moment(p.ScheduledTime), Reason: r.heldLate(p),
		})
	}
	if len(held.Items) > len(card.Posts) {
		card.All = withQuery("/posts", "status", string(heldPosts))
	}
	return card
}
