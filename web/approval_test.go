package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
	"belfry/worker/posts"
)

// holdPost makes a post through its worker that needs approval.
func (h *harness) holdPost(text string, in time.Duration, late store.Lateness) store.Post {
	draft, err := h.posts.Prepare(h.t.Context(), posts.Request{
		Platform: "telegram", Text: text, ScheduledTime: h.soon(in), AllowPast: true, Hold: true, Lateness: late,
	})
	if err != nil {
		h.fatal(err)
	}
	var made store.Post
	h.update(func(tx *store.Tx) (err error) {
		made, err = h.posts.Schedule(tx, draft)
		return err
	})
	return made
}

// becomes waits until a post has a status, and returns it.
func (h *harness) becomes(number uint64, status string) api.Post {
	changed, unwatch := h.db.Watch("posts")
	defer unwatch()
	for {
		var p api.Post
		h.api("GET", fmt.Sprintf("/scheduled-posts/%d", number), "").decode(h.t, &p)
		if p.Status == status {
			return p
		}
		select {
		case <-changed:
		case <-h.t.Context().Done():
			h.fatal("it never became ", status, ": ", p)
		}
	}
}

func TestAHeldPostIsListedAndApprovedOverTheAPI(t *testing.T) {
	h := start(t)
	make := func(text string, in time.Duration) (made api.Post) {
		t.Helper()
		a := h.api("POST", "/scheduled-posts", fmt.Sprintf(`{"platform":"telegram","text":%q,"scheduled_time":%q,"needs_approval":true,"allow_past":true}`, text, h.soon(in)))
		a.decode(t, &made)
		if a.status != http.StatusCreated || !made.NeedsApproval || made.Status != "scheduled" {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return made
	}
	later, first, late := make("Later", 2*time.Hour), make("First", time.Hour), make("Late", -time.Minute)
	again := make("Of the same time", 2*time.Hour)
	h.schedulePost("Nobody holds it", time.Hour)

	list := func(filter string) (ids []uint64) {
		t.Helper()
		for path := "/scheduled-posts?limit=1" + filter; ; {
			var page api.List[api.Post]
			h.api("GET", path, "").decode(t, &page)
			for _, p := range page.Items {
				ids = append(ids, p.ID)
			}
			if page.Next == "" {
				return ids
			}
			path = "/scheduled-posts?limit=1" + filter + "&cursor=" + page.Next
		}
	}
	for filter, want := range map[string][]uint64{
		"&needs_approval=true": {late.ID, first.ID, later.ID, again.ID}, "&needs_approval=true&status=scheduled": {late.ID, first.ID, later.ID, again.ID}, "&needs_approval=true&status=failed": nil,
	} {
		if got := list(filter); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	if a := h.api("GET", "/scheduled-posts?needs_approval=true&cursor=nonsense", ""); a.status != http.StatusUnprocessableEntity || a.problem(t).Errors[0].Field != "cursor" {
		t.Errorf("a cursor of nobody: %d %s", a.status, a.body)
	}

	approve := func(p api.Post) (answer answered) {
		return h.api("POST", fmt.Sprintf("/scheduled-posts/%d/approve", p.ID), "")
	}
	for range 2 { // the second finds nothing left to do
		var approved api.Post
		a := approve(first)
		a.decode(t, &approved)
		if a.status != http.StatusOK || approved.NeedsApproval || approved.Status != "scheduled" || !approved.ScheduledTime.Equal(first.ScheduledTime) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	var j api.Job
	if h.api("GET", "/jobs/"+first.Job, "").decode(t, &j); j.State != "waiting" || !j.NextRun.Equal(first.ScheduledTime) {
		t.Errorf("the job of an approved post: %+v", j)
	}
	approve(late)
	if p := h.becomes(late.ID, "published"); p.NeedsApproval {
		t.Errorf("approved after its time: %+v", p)
	}
	h.api("DELETE", fmt.Sprintf("/scheduled-posts/%d", again.ID), "")
	if a := approve(again); a.status != http.StatusConflict || !strings.Contains(a.problem(t).Detail, "is cancelled") {
		t.Errorf("approving a cancelled post: %d %s", a.status, a.body)
	}
	if a := approve(api.Post{ID: 99}); a.status != http.StatusNotFound {
		t.Errorf("approving nothing: %d", a.status)
	}
	if got := list("&needs_approval=true"); len(got) != 1 || got[0] != later.ID {
		t.Errorf("held at the end: %v", got)
	}
	if a := h.api("POST", fmt.Sprintf("/scheduled-posts/%d/publish-now", later.ID), ""); a.status != http.StatusOK {
		t.Errorf("publish now: %d %s", a.status, a.body)
	}
	if p := h.becomes(later.ID, "published"); p.NeedsApproval {
		t.Errorf("publishing approves, too: %+v", p)
	}
	h.signIn()
	if list := h.get("/posts?status=published").body; strings.Contains(list, "in 2 hours") {
		t.Error("a post that was published before its time is said to come yet")
	}
}

// Who lets a job go on has not read the post.
func TestNoJobLeadsPastApproval(t *testing.T) {
	h := start(t)
	h.signIn()
	held := h.holdPost("Not yet", -time.Minute, store.Lateness{})
	for _, do := range []string{"resume", "run"} {
		a := h.api("POST", "/jobs/"+held.JobName()+"/"+do, "")
		if a.status != http.StatusConflict || !strings.Contains(a.problem(t).Detail, "needs approval") {
			t.Errorf("%s: %d %s", do, a.status, a.body)
		}
		if a := h.submit("/jobs/"+held.JobName(), "do", do, "back", "/jobs"); a.status != http.StatusConflict || !strings.Contains(a.body, "Post 1 needs approval: approve it.") {
			t.Errorf("%s on the page: %d %s", do, a.status, a.body)
		}
	}
	var p api.Post
	if h.api("GET", "/scheduled-posts/1", "").decode(t, &p); !p.NeedsApproval || p.Status != "scheduled" || p.Attempts != 0 {
		t.Errorf("%+v", p)
	}
}

func TestAdminsAreToldOfWhatNeedsApproval(t *testing.T) {
	h := start(t)
	h.signIn()
	told := make(chan int, 10)
	h.posts.OnHeld(func(_ *store.Tx, held []store.Post) error { told <- len(held); return nil })
	post := fmt.Sprintf(`{"text":"A","scheduled_time":%q,"needs_approval":true,`, h.soon(time.Hour))
	for _, body := range []string{post + `"platform":"telegram"}`, post + `"targets":[{"platform":"telegram","target":"@a"},{"platform":"telegram","target":"@b"}]}`, strings.Replace(post, "true", "false", 1) + `"platform":"telegram"}`} {
		if a := h.api("POST", "/scheduled-posts", body); a.status != http.StatusCreated {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	h.submit("/posts/new", "identity_id", "1", "text", "B", "format", "plain", "when", "at", "time", h.now().UTC().Add(time.Hour).Format("2006-01-02T15:04"), "needs_approval", "on")
	close(told)
	var all []int
	for n := range told {
		all = append(all, n)
	}
	if !slices.Equal(all, []int{1, 2, 1}) {
		t.Errorf("told of %d posts", all)
	}
}

func TestAPostIsHeldAndApprovedOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	form := []string{"identity_id", "1", "text", "Read me first", "format", "plain", "when", "at", "time", h.now().UTC().Add(3 * time.Hour).Format("2006-01-02T15:04")}
	if a := h.submit("/posts/new", append(form, "needs_approval", "on", "text", "")...); a.header.Get("Location") != "/posts/1?done=held" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	says := func(path string, words ...string) {
		t.Helper()
		body := h.get(path).body
		for _, w := range words {
			without, unwanted := strings.CutPrefix(w, "not ")
			if strings.Contains(body, without) == unwanted {
				t.Errorf("%s: %s", path, w)
			}
		}
	}
	chip := `<span class="chip is-held">needs approval</span>`
	says("/posts/1?done=held", chip, "Will be published after approval, not before its time.", `id="do-approve"`, "The post is saved and needs approval.", "not >scheduled<")
	says("/posts", chip, `id="tab-held"`, "not has passed")
	says("/posts?status=held", chip, "Read me first")
	says("/", "1 post needs approval", `id="held-1"`, "All scheduled posts need approval", "not Nothing is waiting", `not id="run-post_1"`, `not id="hero-link"`)
	says("/jobs", chip, `href="/posts/1/approve"`, `not id="resume-post_1"`, "not >paused<")
	says("/jobs/post_1", chip, `href="/posts/1/approve"`, "not Resume", "Scheduled for", "not Next run")
	says("/posts/1/change", "it still needs approval", `not name="needs_approval"`)
	says("/posts/new?from=1", `name="needs_approval" type="checkbox" value="on" checked`)
	says("/posts/new", `name="needs_approval" type="checkbox" value="on">`)
	says("/posts/1/publish-now", "this also approves it")

	if a := h.submit("/posts/1/change", append(form, "text", "")...); a.status != http.StatusSeeOther {
		t.Errorf("change: %d %s", a.status, a.body)
	}
	says("/posts/1", chip) // a change is no approval
	says("/posts/1/approve", "Approve this post?", "It will be published at its time: ", "Read me first")
	if a := h.submit("/posts/1/approve"); a.header.Get("Location") != "/posts/1?done=approved" {
		t.Errorf("%d %s", a.status, a.body)
	}
	says("/posts/1?done=approved", "The post is approved.", ">scheduled<", "not needs approval", "not do-approve")
	says("/posts", `not id="tab-held"`)
	says("/", `id="hero-link"`, "not for approval")
	if a := h.get("/posts/1/approve"); a.header.Get("Location") != "/posts/1" {
		t.Errorf("asking about an approved post: %d %s", a.status, a.body)
	}
}

func TestAHeldPostWhoseTimeHasPassedSaysWhatFollows(t *testing.T) {
	h := start(t)
	h.signIn()
	skip := store.Lateness{Policy: store.LateSkip, Grace: 15 * time.Minute}
	h.holdPost("May be late", -time.Hour, store.Lateness{})
	h.holdPost("Just in time", -time.Minute, skip)
	h.holdPost("Out of date", -time.Hour, skip)
	const atOnce, skipped = "Its time has passed; it is published as soon as it is approved.", "if approved now, it is skipped"
	for path, want := range map[string]string{"/posts/1": atOnce, "/posts/1/approve": atOnce, "/posts/2": atOnce, "/posts/3": skipped, "/posts/3/approve": skipped} {
		if a := h.get(path); !strings.Contains(a.body, want) {
			t.Errorf("%s does not say %q", path, want)
		}
	}
	for _, path := range []string{"/", "/posts", "/posts?status=held", "/jobs"} {
		if a := h.get(path); strings.Count(a.body, atOnce) != 2 || strings.Count(a.body, skipped) != 1 {
			t.Errorf("%s says it %d and %d times", path, strings.Count(a.body, atOnce), strings.Count(a.body, skipped))
		}
	}
	if a := h.get("/posts/3"); strings.Contains(a.body, "do-approve") {
		t.Error("a step is offered that leads nowhere")
	}
	h.submit("/posts/2/approve")
	h.becomes(2, "published")
}

// Many posts that nobody has approved keep their places in the schedule; what follows them is seen.
func TestHeldPostsDoNotHideWhatIsComing(t *testing.T) {
	h := start(t)
	h.signIn()
	for i := range 101 {
		h.holdPost(fmt.Sprintf("Held %d", i), -time.Hour, store.Lateness{})
	}
	h.schedulePost("This one goes out", time.Hour)
	page := h.get("/").body
	for _, words := range []string{"More than 100 posts need approval", "This one goes out", `href="/posts?status=held"`, `id="hero-link"`} {
		if !strings.Contains(page, words) {
			t.Errorf("the first page lacks %q", words)
		}
	}
	if n := strings.Count(page, `id="held-`); n != 3+1 { // and the title
		t.Errorf("%d are shown", n)
	}
	if strings.Contains(page, `id="run-post_1"`) {
		t.Error("a held post is said to come")
	}
	if list := h.get("/posts?status=held").body; !strings.Contains(list, `rel="next"`) || !strings.Contains(list, "99+") {
		t.Error("the list has no second page")
	}
}

// What is approved, and what is changed, is what was shown.
func TestNobodyAgreesToWhatWasNotShown(t *testing.T) {
	h := start(t)
	h.signIn()
	h.holdPost("Harmless", 3*time.Hour, store.Lateness{})
	asked, opened := h.seen("/posts/1/approve"), h.seen("/posts/1/change")
	if a := h.api("PATCH", "/scheduled-posts/1", `{"text":"Something else"}`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, step := range []string{"approve", "publish-now"} {
		a := h.submit("/posts/1/"+step, "seen", asked)
		if a.status != http.StatusConflict || !strings.Contains(a.body, "Post 1 was changed meanwhile: look at it again.") || !strings.Contains(a.body, "Something else") {
			t.Errorf("%s: %d %s", step, a.status, a.body)
		}
	}
	form := []string{"identity_id", "1", "text", "Mine", "format", "plain", "when", "at", "time", h.now().UTC().Add(3 * time.Hour).Format("2006-01-02T15:04"), "seen"}
	a := h.submit("/posts/1/change", append(form, opened)...)
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "someone changed it after you opened this form") || !strings.Contains(a.body, ">Mine<") {
		t.Errorf("change: %d %s", a.status, a.body)
	}
	var p api.Post
	if h.api("GET", "/scheduled-posts/1", "").decode(t, &p); p.Text != "Something else" || !p.NeedsApproval || p.Status != "scheduled" {
		t.Errorf("%+v", p)
	}
	now := h.seen("/posts/1/approve")
	if !strings.Contains(a.body, `name="seen" value="`+now+`"`) {
		t.Error("the form does not go on from what there is now")
	}
	if a := h.submit("/posts/1/change", append(form, now)...); a.status != http.StatusSeeOther {
		t.Errorf("change again: %d %s", a.status, a.body)
	}
	if a := h.submit("/posts/1/approve", "seen", h.seen("/posts/1/approve")); a.header.Get("Location") != "/posts/1?done=approved" {
		t.Errorf("approve: %d %s", a.status, a.body)
	}
	if h.api("GET", "/scheduled-posts/1", "").decode(t, &p); p.Text != "Mine" || p.NeedsApproval {
		t.Errorf("%+v", p)
	}
}
