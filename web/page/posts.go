package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/posts"
)

const (
	// perPage is how many rows a list shows.
	perPage = 25
	// shownRuns is how much of a job's history a page shows.
	shownRuns = 20
	// countLimit is how far the tabs count.
	countLimit = 1000
	// maxHeld is how far posts that need approval are counted.
	maxHeld = 100
	// heldPosts is what the page shows as the status of posts that need approval. In the store they are
	// scheduled: approval is about whether they go out, and not about how far they have come.
	heldPosts store.PostStatus = "held"
)

// Posts is the door to posts.
func Posts(w *posts.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := postPages{server, w}
		server.styled = w.Styled
		s.entry(publish, "posts", "/posts")
		s.canMake("post", "/posts/new")
		s.live(g, "/posts", s.posts)
		s.live(g, "/posts/:id", s.post)
		for _, st := range append(s.postSteps(), s.cancelAll()) {
			s.step(g, st)
		}
		s.mountContents(g)
		s.mountCompose(g)
	}
}

type postPages struct {
	*Server
	worker *posts.Worker
}

func getPost(tx *store.Tx, id uint64) (store.Post, error) { return tx.Posts.Get(id) }

func postPath(n uint64) string { return fmt.Sprintf("/posts/%d", n) }

// posts is the list of posts.
func (s postPages) posts(v view) (screen, error) {
	status := store.PostStatus(v.query.Get("status"))
	if status != heldPosts && !slices.Contains(store.PostStatuses(), status) {
		status = ""
	}
	var list store.Page[store.Post]
	counts, together := make(map[store.PostStatus]int), make(map[uint64]int)
	err := s.DB.View(func(tx *store.Tx) (err error) {
		for _, each := range store.PostStatuses() {
			counts[each] = tx.Posts.Count(each, countLimit)
		}
		query := store.Query{Limit: perPage, Cursor: v.query.Get("cursor")}
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
		for _, p := range list.Items {
			if p.Group != 0 {
				together[p.Group] = tx.Posts.CountGroup(p.Group, perPage)
			}
		}
		held, err := tx.Posts.Held(store.Query{Limit: maxHeld})
		counts[heldPosts] = len(held.Items)
		counts[store.PostScheduled] -= len(held.Items)
		return err
	})
	return screen{
		nav: "/posts", title: v.T("posts.title"), body: v.postsBody(),
		parts: []part{{"tabs", v.tabs(v.postTabs(status, counts))}, {"list", v.postList(list, status, together)}},
	}, err
}

func (v view) postTabs(current store.PostStatus, counts map[store.PostStatus]int) []tab {
	all := 0
	for _, n := range counts {
		all += n
	}
	tabs := []tab{{"all", v.T("posts.all"), "/posts", upTo(all, countLimit), current == ""}}
	add := func(status store.PostStatus, limit int) {
		tabs = append(tabs, tab{string(status), v.T("post.status." + string(status) + ".name"),
			withQuery("/posts", "status", string(status)), upTo(counts[status], limit), current == status})
	}
	for _, status := range store.PostStatuses() {
		add(status, countLimit)
		if status == store.PostScheduled && (counts[heldPosts] > 0 || current == heldPosts) {
			add(heldPosts, maxHeld)
		}
	}
	return tabs
}

// reasonInList is why a post is as it is, for a list; empty where its status says it all.
func (v view) reasonInList(p store.Post) string {
	if p.AwaitsApproval() {
		return v.heldLate(p)
	}
	if p.Status == store.PostCancelled {
		return ""
	}
	return shorten(v.why(p.Reason), 160)
}

// post is one post: as readers see it, how it stands, what can be done, what happened.
func (s postPages) post(v view) (screen, error) {
	var p store.Post
	var job store.Job
	var login store.Identity
	var runs store.Page[store.Run]
	var group []store.Post
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if p, err = tx.Posts.Get(v.number()); err != nil {
			return err
		}
		if job, err = tx.Jobs.ByName(p.JobName()); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if login, err = tx.Identities.Get(p.IdentityID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if p.Group != 0 {
			if group, err = posts.Group(tx, p.Group); err != nil {
				return err
			}
		}
		runs, err = tx.Runs.Of(p.JobName(), store.Query{Limit: shownRuns})
		return err
	})
	return screen{
		nav: "/posts", title: v.T("post.title") + " " + v.id, body: v.postBody(),
		stale: p.Status == store.PostFailed || p.Status == store.PostUnknown || p.Status == store.PostSkipped,
		parts: []part{{"read", v.message(p)}, {"facts", v.postFacts(p, job, login, group)}, {"history", v.runs(runs.Items)}},
	}, err
}

func (v view) loginName(i store.Identity) string {
	switch {
	case i.ID == 0:
		return v.T("post.removed")
	case i.Title != "":
		return i.Title + " (" + i.Name + ")"
	}
	return i.Name
}

func (v view) latenessText(l store.Lateness) string {
	if l.Policy == store.LateSkip {
		return v.T("post.late_skip") + " " + v.ExactLength(l.Grace)
	}
	return v.T("post.late_send")
}

// sendOptions are the options of a post or a broadcast; empty if it has none.
func (v view) sendOptions(silent, noLinkPreview bool) string {
	var options []string
	if silent {
		options = append(options, v.T("post.silent"))
	}
	if noLinkPreview {
		options = append(options, v.T("post.no_preview"))
	}
	return strings.Join(options, ", ")
}

func (v view) postActions(p store.Post, job store.Job) []action {
	path := postPath(p.ID)
	change := action{"change", v.T("post.change"), path + "/change", ""}
	again := action{"again", v.T("post.again"), "/posts/new?from=" + id(p.ID), "quiet-button"}
	cancel := action{"cancel", v.T("post.cancel"), path + "/cancel", "quiet-button danger"}
	now := action{"publish-now", v.T("post.publish_now"), path + "/publish-now", "quiet-button"}
	retry := action{"retry", v.T("post.retry"), path + "/retry", ""}
	approve := action{"approve", v.T("approval.approve"), path + "/approve", ""}
	if p.Status != store.PostScheduled || p.AwaitsApproval() {
		change.class = "quiet-button"
	}
	switch shownStatus(p) {
	case heldPosts:
		if posts.TooLate(p, v.Now) { // approving would only skip it
			now.class = ""
			return []action{now, change, cancel}
		}
		return []action{approve, change, now, cancel}
	case store.PostScheduled:
		return []action{change, now, cancel}
	case store.PostPublishing:
		if job.State == store.JobRunning {
			return nil
		}
		return []action{now, cancel}
	case store.PostFailed:
		return []action{retry, change, cancel}
	case store.PostSkipped, store.PostCancelled: // nothing was tried, and nothing goes out by the first button
		change.class, retry.class, retry.name = "", "quiet-button", v.T("post.publish_now")
		return []action{change, again, retry}
	case store.PostUnknown:
		if p.Platform == "telegram" { // it recognises the repetition
			return []action{retry, again}
		}
		retry.class, retry.name = "quiet-button danger", v.T("networks.send_again")
		return []action{{"mark-published", v.T("networks.mark_published"), path + "/mark-published", ""}, retry, again}
	}
	return []action{again}
}

// postTitle is the first words of a post, or what it shows.
func (v view) postTitle(p store.Post) string {
	if text := shorten(v.firstLine(p), 90); text != "" {
		return text
	}
	switch len(p.Media) {
	case 0:
		return v.T("posts.no_text")
	case 1:
		return v.T("media.kind."+p.Media[0].Kind) + " " + v.T("posts.no_text")
	}
	return v.T("posts.album", len(p.Media))
}

// shownStatus is the status of a post as the page names it.
func shownStatus(p store.Post) store.PostStatus {
	if p.AwaitsApproval() {
		return heldPosts
	}
	return p.Status
}

// postMeans says what the status of a post means.
func (v view) postMeans(p store.Post) string {
	switch {
	case p.Status == store.PostUnknown && p.Platform != "telegram":
		return v.T("networks.unknown_means")
	case !p.AwaitsApproval() || p.ScheduledTime.After(v.Now):
		return v.T("post.status." + string(shownStatus(p)) + ".means")
	case posts.TooLate(p, v.Now):
		return v.T("approval.too_late")
	default:
		return v.T("approval.late")
	}
}

// heldLate says what becomes of a post that needs approval and whose time has passed. It is empty
// for one whose time is still to come.
func (v view) heldLate(p store.Post) string {
	if !p.AwaitsApproval() || p.ScheduledTime.After(v.Now) {
		return ""
	}
	return v.postMeans(p)
}

// postSteps are the actions on a post that are asked about first.
func (s postPages) postSteps() (all []step) {
	add := func(name, done string, do func(*store.Tx, uint64) (store.Post, error), fill func(view, store.Post, *question)) {
		st := step{
			path: "/posts/:id/" + name, done: done,
			ask: about(getPost, func(v view, p store.Post) question {
				q := question{nav: "/posts", subject: v.message(p), seen: posts.Seen(p), back: postPath(p.ID)}
				fill(v, p, &q)
				return q
			}),
			act: func(tx *store.Tx, id uint64) error { return failure(do(tx, id)) },
		}
		if name != "cancel" && name != "mark-published" { // these may be said twice
			st.unchanged = posts.Unchanged
		}
		all = append(all, st)
	}
	add("approve", "approved", s.worker.Approve, func(v view, p store.Post, q *question) {
		q.ask, q.button, q.needless = "approval.ask", "approval.approve", !p.AwaitsApproval() // somebody else was quicker
		if q.means = v.postMeans(p); p.AwaitsApproval() && p.ScheduledTime.After(v.Now) {
			q.means = v.T("approval.in_time", p.ScheduledTime)
		}
	})
	add("cancel", "cancelled", s.worker.Cancel, func(v view, _ store.Post, q *question) {
		q.ask, q.means, q.button, q.danger = "post.cancel_ask", v.T("post.cancel_means"), "post.cancel", true
	})
	add("retry", "retried", s.worker.Retry, func(v view, p store.Post, q *question) {
		q.ask, q.means, q.button = "post.retry_ask", v.T("post.retry_means"), "post.retry"
		switch p.Status {
		case store.PostUnknown:
			q.means = v.T("post.retry_unknown")
			if p.Platform != "telegram" {
				q.ask, q.means, q.button, q.danger = "networks.send_again_ask", v.T("networks.send_again_means"), "networks.send_again", true
			}
		case store.PostSkipped, store.PostCancelled:
			q.ask, q.button = "post.publish_ask", "post.publish_now"
		}
	})
	add("mark-published", "marked", s.worker.MarkPublished, func(v view, p store.Post, q *question) {
		q.ask, q.means, q.button = "networks.mark_ask", v.T("networks.mark_means"), "networks.mark_published"
		q.needless = p.Status == store.PostPublished
	})
	add("publish-now", "published", s.worker.PublishNow, func(v view, p store.Post, q *question) {
		q.ask, q.means, q.button = "post.publish_ask", v.T("post.publish_means"), "post.publish_now"
		if p.AwaitsApproval() {
			q.means = v.T("approval.also_by_now")
		}
	})
	return all
}

// cancelAll is the step that cancels the posts that were made together; its path has the group.
func (s postPages) cancelAll() step {
	return step{
		path: "/posts/:id/cancel-all", done: "cancelled-all",
		ask: about(posts.Group, func(v view, group []store.Post) question {
			return question{
				nav: "/posts", ask: "targets.cancel_ask", means: v.T("targets.cancel_means"), button: "targets.cancel", danger: true,
				subject: v.siblings(group, 0), back: "/posts/" + v.id,
			}
		}),
		act: func(tx *store.Tx, id uint64) error {
			_, _, err := s.worker.CancelGroup(tx, id)
			return err
		},
	}
}

// open reports whether one of several posts has not ended.
func open(group []store.Post) bool {
	return slices.ContainsFunc(group, func(p store.Post) bool { return !p.Status.Final() })
}
