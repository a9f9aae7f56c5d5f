package web

import (
	"slices"
	"strconv"

	"belfry/store"
)

const (
	// postsPerPage is how many posts a list shows.
	postsPerPage = 25
	// countLimit is how far the tabs count.
	countLimit = 1000
)

// postsPage is the list of posts.
type postsPage struct {
	frame
	Tabs         []tab
	Rows         []postRow
	First, Older string // of the list: its beginning, and what follows
	Back, Onward string // what these links are called
	Empty        string
}

type tab struct {
	Key, Name, Link, Count string
	Current                bool
}

type postRow struct {
	ID, Link, Title, Where, Reason string
	When                           *moment
	Status                         chip
}

func (s *Server) loadPosts(r reader) (page, error) {
	status := store.PostStatus(r.query.Get("status"))
	if _, known := r.words.Status[status]; !known {
		status = ""
	}
	var list store.Page[store.Post]
	counts := make(map[store.PostStatus]int)
	err := s.db.View(func(tx *store.Tx) (err error) {
		for _, each := range store.PostStatuses() {
			counts[each] = tx.Posts.Count(each, countLimit)
		}
		query := store.Query{Limit: postsPerPage, Cursor: r.query.Get("cursor")}
		switch status {
		case heldPosts:
			list, err = tx.Posts.Held(query)
		case store.PostScheduled: // what comes first is what matters; those that need approval have their own tab
			for more := true; more; query.Cursor = list.Next {
				list, err = tx.Posts.Coming(status, query)
				list.Items = slices.DeleteFunc(list.Items, store.Post.AwaitsApproval)
				more = err == nil && len(list.Items) == 0 && list.Next != ""
			}
		default:
			list, err = tx.Posts.ByTime(status, query)
		}
		if err != nil {
			return err
		}
		held, err := tx.Posts.Held(store.Query{Limit: maxHeld})
		counts[heldPosts] = len(held.Items)
		counts[store.PostScheduled] -= len(held.Items)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &postsPage{frame: s.frame(r, "posts", r.words.Posts.Title), Empty: r.words.Posts.Empty}
	p.tabs(r, status, counts)
	here := withQuery("/posts", "status", string(status))
	if r.query.Get("cursor") != "" {
		p.First = here
	}
	p.Back, p.Onward = r.words.Posts.Newest, r.words.Posts.Older
	if status == store.PostScheduled || status == heldPosts {
		p.Back, p.Onward = r.words.Posts.Soonest, r.words.Posts.Later
	}
	if list.Next != "" {
		p.Older = withQuery(here, "cursor", list.Next)
	}
	if status != "" {
		p.Empty = r.words.Posts.EmptyOf[status]
	}
	for _, post := range list.Items {
		row := postRow{
			ID: id(post.ID), Link: postPath(post.ID), Title: r.postTitle(post), Where: post.Target,
			When: r.moment(post.ScheduledTime), Status: r.postChip(post),
		}
		if post.AwaitsApproval() {
			row.Reason = r.heldLate(post)
		} else if post.Status != store.PostCancelled { // the status says it all
			row.Reason = shorten(r.Say(post.Reason), 160)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

func (p *postsPage) tabs(r reader, current store.PostStatus, counts map[store.PostStatus]int) {
	all := 0
	for _, n := range counts {
		all += n
	}
	p.Tabs = append(p.Tabs, tab{"all", r.words.Posts.All, "/posts", upTo(all, countLimit), current == ""})
	for _, status := range store.PostStatuses() {
		p.Tabs = append(p.Tabs, tab{string(status), r.words.Status[status].Name,
			withQuery("/posts", "status", string(status)), upTo(counts[status], countLimit), current == status})
		if status == store.PostScheduled && (counts[heldPosts] > 0 || current == heldPosts) {
			p.Tabs = append(p.Tabs, tab{string(heldPosts), r.words.Status[heldPosts].Name,
				withQuery("/posts", "status", string(heldPosts)), upTo(counts[heldPosts], maxHeld), current == heldPosts})
		}
	}
}

// upTo writes a count that was not counted further than limit.
func upTo(n, limit int) string {
	if n >= limit {
		return strconv.Itoa(limit-1) + "+"
	}
	return strconv.Itoa(n)
}
