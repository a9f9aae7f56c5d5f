package adminbot

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker/posts"
)

const (
	shownPosts   = 12  // that have a button
	countedPosts = 200 // further than that they are not counted: nothing else is written meanwhile
)

// posts is the page of the posts of this day and of those that need approval, or of one, and what
// its buttons do.
func (r request) posts(path []string) (screen, error) {
	if len(path) == 0 {
		return r.postsPage()
	}
	id, err := strconv.ParseUint(path[0], 10, 64)
	if err != nil {
		return r.hint(r.T("bot.not_understood")), nil
	}
	post, err := r.tx.Posts.Get(id)
	if err != nil {
		return screen{}, err
	}
	if len(path) == 1 {
		return r.postPage(post, ""), nil
	}
	act := r.postAction(path[1], post)
	if act.do == nil {
		return r.hint(r.T("bot.not_understood")), nil
	}
	// The button that confirms names what was shown beside it: nobody agrees to anything else.
	seen := posts.Seen(post)
	confirm := r.confirm(act.question+"\n\n"+r.postText(post), act.yes, pagePosts, id, path[1])
	confirm.buttons[0][0].Data += "/" + seen
	switch {
	case len(path) == 2:
		return confirm, nil
	case len(path) == 3: // a button of an earlier version
		return confirm, nil
	case path[3] != seen:
		confirm.text = r.T("bot.post_changed") + "\n\n" + confirm.text
		return confirm, nil
	}
	r.does(act.audit, post.JobName())
	if post, err = act.do(r.tx, id); err != nil {
		return screen{}, err
	}
	if post.Status == store.PostUnknown {
		return r.postPage(post, r.T("bot.maybe_out")), nil
	}
	return r.postPage(post, act.done), nil
}

// postAction is what can be done with a post.
type postAction struct {
	do                  func(*store.Tx, uint64) (store.Post, error)
	question, yes, done string
	audit               string
}

func (r request) postAction(name string, post store.Post) postAction {
	w := r.bot.workers.Posts
	switch name {
	case "approve":
		switch {
		case r.tx.Now().Before(post.ScheduledTime):
			return postAction{w.Approve, r.T("bot.approve_ask"), r.T("bot.approve"), r.T("bot.approved"), "posts.approve"}
		case posts.TooLate(post, r.tx.Now()):
			return postAction{w.Approve, r.T("bot.too_late_ask"), r.T("bot.approve"), r.T("bot.too_late"), "posts.approve"}
		default:
			return postAction{w.Approve, r.T("bot.late_ask"), r.T("bot.approve"), r.T("bot.goes_out"), "posts.approve"}
		}
	case "now":
		return postAction{w.PublishNow, r.T("bot.now_ask"), r.T("bot.now"), r.T("bot.goes_out"), "posts.publish-now"}
	case "retry":
		if post.Status == store.PostUnknown && post.Platform != "telegram" { // no other network recognises the repetition
			return postAction{w.Retry, r.T("networks.send_again_ask") + " " + r.T("networks.send_again_means"), r.T("networks.send_again"), r.T("bot.goes_out"), "posts.retry"}
		}
		return postAction{w.Retry, r.T("bot.retry_ask"), r.T("bot.retry"), r.T("bot.goes_out"), "posts.retry"}
	case "cancel":
		return postAction{w.Cancel, r.T("bot.cancel_ask"), r.T("bot.cancel"), r.T("bot.cancelled"), "posts.delete"}
	}
	return postAction{}
}

func (r request) postsPage() (screen, error) {
	now := r.Now.In(r.Zone)
	day := func(n int) time.Time { return i18n.StartOfDay(now.Year(), now.Month(), now.Day()+n, r.Zone) }
	lines := []string{"📝 " + r.T("bot.title.posts"), ""}
	var rows [][]store.Button
	seen := map[uint64]bool{}
	more := 0
	take := func(p store.Post) {
		if seen[p.ID] {
			return
		}
		if seen[p.ID] = true; len(rows) == shownPosts {
			more++
			return
		}
		rows = append(rows, []store.Button{button(r.postLine(p), pagePosts, p.ID)})
	}
	held := collect(r.tx.Posts.AllHeld(), take)
	today := collect(r.tx.Posts.Between(day(0), day(1)), take)
	switch {
	case today == 0:
		lines = append(lines, r.T("bot.no_posts"))
	default:
		lines = append(lines, r.T("bot.posts_today", counted(today)))
	}
	if held > 0 {
		lines = append(lines, r.T("bot.posts_held", counted(held)))
	}
	if more > 0 {
		lines = append(lines, r.T("bot.more_posts", more))
	}
	return r.page(strings.Join(lines, "\n"), rows, button(r.T("bot.refresh"), pagePosts)), nil
}

// counted is a number that collect has found.
func counted(n int) string {
	if n == countedPosts {
		return fmt.Sprint(n, "+")
	}
	return fmt.Sprint(n)
}

// collect hands the posts to take, and counts them.
func collect(all iter.Seq[store.Post], take func(store.Post)) (n int) {
	for p := range all {
		take(p)
		if n++; n == countedPosts {
			break
		}
	}
	return n
}

// postLine is a post as its button shows it.
func (r request) postLine(p store.Post) string {
	return strings.Join([]string{r.postMark(p), r.Exact(p.ScheduledTime), short(r.plain(p.Platform, p.Format, p.Text))}, " ")
}

func (r request) postMark(p store.Post) string { return r.T("bot.post_mark." + status(p)) }

// status is what a post's status is called in the catalogues.
func status(p store.Post) string {
	if p.AwaitsApproval() {
		return "held"
	}
	return string(p.Status)
}

// postTitle is a post in a list of other things.
func (r request) postTitle(p store.Post) string {
	return r.T("bot.post_title", p.ID, p.Target, short(r.plain(p.Platform, p.Format, p.Text)))
}

// postText says all about a post.
func (r request) postText(p store.Post) string {
	lines := []string{r.postMark(p) + " " + r.T("bot.post_head", p.ID, p.Target),
		r.Exact(p.ScheduledTime) + ", " + r.T("post.status."+status(p)+".name")}
	if !p.Reason.Zero() && p.Status != store.PostPublished {
		lines = append(lines, r.Say(p.Reason))
	}
	if p.Link != "" {
		lines = append(lines, p.Link)
	}
	if len(p.Media) > 0 {
		lines = append(lines, r.T("bot.media", len(p.Media)))
	}
	return strings.Join(append(lines, "", r.plain(p.Platform, p.Format, p.Text)), "\n")
}

func (r request) postPage(p store.Post, first string) screen {
	text := r.postText(p)
	if first != "" {
		text = first + "\n\n" + text
	}
	step := func(text, name string) []store.Button { return []store.Button{button(text, pagePosts, p.ID, name)} }
	var rows [][]store.Button
	switch {
	case p.AwaitsApproval():
		if !posts.TooLate(p, r.tx.Now()) { // approving would only skip it
			rows = append(rows, step(r.T("bot.approve"), "approve"))
		}
		rows = append(rows, step(r.T("bot.now"), "now"), step(r.T("bot.cancel"), "cancel"))
	case !p.Status.Final():
		rows = append(rows, step(r.T("bot.now"), "now"), step(r.T("bot.cancel"), "cancel"))
	case slices.Contains([]store.PostStatus{store.PostFailed, store.PostUnknown, store.PostSkipped, store.PostCancelled}, p.Status):
		rows = append(rows, step(r.T("bot.retry"), "retry"))
		if p.Status == store.PostFailed || p.Status == store.PostSkipped {
			rows = append(rows, step(r.T("bot.cancel"), "cancel"))
		}
	}
	return r.page(text, rows, button(r.T("bot.back"), pagePosts))
}

// plain is a text without its markup.
func (r request) plain(platform, format, text string) string {
	styled, _ := r.bot.workers.Posts.Styled(platform, format, text) // beside an error it is the text as it was written
	return styled.Text
}
