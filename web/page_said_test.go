package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"belfry/scheduler"
	"belfry/store"
	"belfry/web/api"
)

func (h *harness) setPost(id uint64, status store.PostStatus) {
	h.update(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(id)
		if err != nil {
			return err
		}
		p.Status, p.UpdatedAt = status, tx.Now()
		if status.Final() {
			err = scheduler.Delete(tx, p.JobName())
		}
		if err != nil {
			return err
		}
		return tx.Posts.Put(&p)
	})
}

func TestWhatWasDoneIsNotSaidBesideAFailure(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	h.get("/posts/1?done=scheduled").has(t, "The post is scheduled.")
	for _, status := range []store.PostStatus{store.PostFailed, store.PostUnknown, store.PostSkipped} {
		h.setPost(1, status)
		if a := h.get("/posts/1?done=scheduled"); a.status != http.StatusOK || strings.Contains(a.body, "The post is scheduled.") {
			t.Errorf("%s: %d, it is said that the post is scheduled", status, a.status)
		}
	}
	if a := h.get("/posts/1?done=scheduled"); strings.Contains(a.body, `name="back" value="/posts/1?done=`) {
		t.Error("it is said again in another language")
	}
}

// A yes to the question about a failed post is none to that about one that may be out.
func TestAPostThatMayBeOutSinceIsAskedAboutAnew(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	h.setPost(1, store.PostFailed)
	seen := h.seen("/posts/1/retry")
	h.setPost(1, store.PostUnknown)
	if a := h.submit("/posts/1/retry", "seen", seen); a.status != http.StatusConflict {
		t.Errorf("it is sent again: %d", a.status)
	}
	seen = h.seen("/posts/1/mark-published")
	for range 2 { // the button was pressed twice
		if a := h.submit("/posts/1/mark-published", "seen", seen); a.status != http.StatusSeeOther {
			t.Errorf("it is not marked: %d %s", a.status, a.body)
		}
	}
}

func TestNothingGoesOutByTheFirstButtonOfACancelledPost(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	h.setPost(1, store.PostCancelled)
	a := h.get("/posts/1")
	change, publish := strings.Index(a.body, `id="do-change"`), strings.Index(a.body, `id="do-retry"`)
	if change < 0 || publish < change || strings.Contains(a.body, "Try again") {
		t.Errorf("change at %d, publish at %d", change, publish)
	}
	h.get("/posts/1/retry").has(t, "Publish now")
}

func TestABroadcastAsksToHowManyChatsAndHowLong(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.signIn()
	form := []string{"identity_id", "2", "text", "Hello", "format", "plain", "form", "one", "target_chat_ids", "@one_chat @two_chat @one_chat",
		"min_seconds_between_chats", "3600", "max_seconds_between_chats", "3600", "when", "now"}
	with := func(more ...string) []string { return append(append([]string(nil), form...), more...) }
	for _, more := range [][]string{with("do", "send"), with("do", "sure", "asked", "1")} { // the second was asked about other chats
		a := h.submit("/tasks/new", more...)
		a.has(t, "Send this to 2 chats?", "in 1 hour", `name="asked" value="2"`, `id="sure"`, "@one_chat @two_chat @one_chat")
		if h.get("/tasks/1").status != http.StatusNotFound {
			t.Fatal("it was made before the answer")
		}
	}
	if a := h.submit("/tasks/new", with("do", "sure", "asked", "2")...); a.header.Get("Location") != "/tasks/1?done=task-made" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.submit("/tasks/1/cancel")
	a := h.get("/tasks/1")
	a.has(t, "not sent")
	if strings.Contains(a.body, "waiting") {
		t.Error("chats of a cancelled broadcast wait")
	}
}

func TestTheCountsOfPostsAddUp(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Scheduled", time.Hour)
	h.holdPost("Held", time.Minute, store.Lateness{})
	h.schedulePost("Cancelled", time.Hour)
	h.setPost(3, store.PostCancelled)
	a := h.get("/posts?status=scheduled")
	a.has(t, `All <span class="count">3</span>`, `scheduled <span class="count">1</span>`, `needs approval <span class="count">1</span>`, `cancelled <span class="count">1</span>`)
	if strings.Contains(a.body, `>Held<`) || !strings.Contains(a.body, ">Scheduled<") {
		t.Error("a post that needs approval is among those scheduled")
	}
}

func TestTheJobPageKnowsTheRunThatTheListShows(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	h.update(func(tx *store.Tx) error {
		j, err := tx.Jobs.ByName("post_1")
		if err != nil {
			return err
		}
		j.LastRun, j.LastResult = tx.Now(), store.ResultAgain
		return tx.Jobs.Put(&j)
	})
	h.get("/jobs").has(t, `was-again`)
	if a := h.get("/jobs/post_1"); !strings.Contains(a.body, "was-again") || strings.Contains(a.body, "It has not run yet.") {
		t.Error("the job's page shows no run")
	}
}

func TestIdentitiesComeInPages(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.account("boris")
	var first, second api.List[api.Identity]
	h.api("GET", "/identities?limit=2", "").decode(t, &first)
	h.api("GET", "/identities?limit=2&cursor="+url.QueryEscape(first.Next), "").decode(t, &second)
	if len(first.Items) != 2 || len(second.Items) != 1 || second.Items[0].Name != "boris" || second.Next != "" {
		t.Errorf("%+v %+v", first, second)
	}
}

func TestASeenFailureIsNotCalledOver(t *testing.T) {
	h := start(t)
	h.signIn()
	h.look()
	h.failPost(0, "Hello", "@evening_news")
	h.look()
	if found := h.alertsOf(""); len(found.Items) == 0 {
		t.Fatal("no alert")
	}
	h.submit("/alerts/1/seen")
	a := h.get("/alerts")
	if a.has(t, "Earlier alerts", "is-alert-seen"); strings.Contains(a.body, ">Over<") || strings.Contains(a.body, "is-alert-over") {
		t.Error("a post that has failed is said to be over")
	}
}

// A person writes a post, presses Enter in a field, changes the language, and reads what was done once.
func TestTheComposerKeepsWhatWasTyped(t *testing.T) {
	h := start(t)
	b := browse(t, chromium(t), h)
	b.signIn()
	b.open("/posts/new")
	b.do(chromedp.SendKeys(chromedp.ID("text"), "Typed before"), chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
	b.until(`document.documentElement.lang === "ru" && document.getElementById("text").value === "Typed before"`)
	b.do(chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
	b.until(`document.documentElement.lang === "en" && document.getElementById("text").value === "Typed before"`)
	b.do(chromedp.SendKeys(chromedp.ID("target"), "@evening_news\n"))
	b.until(`location.pathname === "/posts/1" && location.search === "" && document.getElementById("done").innerText === "The post is scheduled."`)
	b.open("/posts/1")
	b.until(`!document.getElementById("done") && document.readyState === "complete"`)
	b.open("/posts/1?done=changed")
	b.until(`!!document.getElementById("done") && location.search === ""`)
	h.setPost(1, store.PostFailed)
	b.until(`document.body.innerText.includes("failed") && !document.getElementById("done")`)
	b.quiet()
}

// Who changes the language in the middle of a form goes on with what was typed, also after the form was refused.
func TestAFormKeepsWhatWasTypedWhenTheLanguageIsChanged(t *testing.T) {
	h := start(t)
	h.watching()
	h.signIn()
	for path, field := range map[string]string{
		"/bookings/new": "client", "/bookings/settings": "reminders", "/watches": "query", "/tags/new": "keywords", "/accounts/new": "list", "/accounts/5/change": "note",
	} {
		typed := []string{"lang", "ru", "back", path, "form", "1", field, "Typed"}
		if a := h.get(path); !strings.Contains(a.body, `formaction="/language"`) || !strings.Contains(a.body, `name="back" value="`+path+`"`) {
			t.Errorf("%s is not sent along: %s", path, a.body)
		}
		if a := h.submit("/language", typed...); a.status != http.StatusTemporaryRedirect || a.header.Get("Location") != path {
			t.Error(path, a.status, a.header)
		}
		if a := h.submit(path, typed...); a.status != http.StatusOK || !strings.Contains(a.body, "Typed") || strings.Contains(a.body, `class="wrong`) {
			t.Error(path, a.status, a.body)
		}
	}
}

// A run of many steps was asked for once, and that is over when the first of them has begun.
func TestARunThatWasAskedForIsNotShownAsAskedForOnceItHasBegun(t *testing.T) {
	h := start(t)
	h.schedulePost("Hello", time.Hour)
	job := func(reason store.ReasonCode) string {
		h.update(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName("post_1")
			if err != nil {
				return err
			}
			job.Requested, job.Reason = true, store.Reason{Code: reason}
			return tx.Jobs.Put(&job)
		})
		return h.api("GET", "/jobs/post_1", "").body
	}
	if got := job(store.ReasonRequested); !strings.Contains(got, `"requested":true`) {
		t.Errorf("asked for and not begun: %s", got)
	}
	if got := job(store.ReasonPacing); strings.Contains(got, `"requested"`) {
		t.Errorf("after its first step: %s", got)
	}
}
