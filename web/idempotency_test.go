package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/session"
)

func TestEqualRequestsAtOnceMakeOnePost(t *testing.T) {
	h := start(t)
	body := fmt.Sprintf(`{"platform":"telegram","text":"Hello","scheduled_time":%q}`, h.soon(time.Hour))
	answers := make([]answered, 20)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() { answers[i] = h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "first") })
	}
	group.Wait()
	replayed := 0
	for _, a := range answers {
		if a.status != http.StatusCreated || a.body != answers[0].body {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a.header.Get("Idempotency-Replayed") == "true" {
			replayed++
		}
	}
	if replayed != len(answers)-1 {
		t.Errorf("%d answers were replayed", replayed)
	}
	h.view(func(tx *store.Tx) error {
		if n := tx.Posts.Count(store.PostScheduled, 100); n != 1 {
			t.Errorf("%d posts", n)
		}
		return nil
	})
}

func TestAKeyBelongsToItsRequestAndItsToken(t *testing.T) {
	h := start(t)
	body := fmt.Sprintf(`{"platform":"telegram","text":"Hello","scheduled_time":%q}`, h.soon(time.Hour))
	h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one")
	a := h.api("POST", "/scheduled-posts", strings.Replace(body, "Hello", "Other", 1), "Idempotency-Key", "one")
	if p := a.problem(t); a.status != http.StatusUnprocessableEntity || p.Errors[0].Field != "Idempotency-Key" {
		t.Errorf("another body: %d %s", a.status, a.body)
	}
	h.update(func(tx *store.Tx) error {
		return tx.Tokens.Put(&store.Token{Name: "second", Hash: session.Digest([]byte("second-token")), CreatedAt: tx.Now()})
	})
	for _, other := range []answered{
		h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one", "Authorization", "Bearer second-token"),
		h.api("POST", "/content/create", `{"text":"Hello"}`, "Idempotency-Key", "one"),
		h.api("POST", "/scheduled-posts", body),
	} {
		if other.status != http.StatusCreated || other.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%d %s", other.status, other.body)
		}
	}
}

// The answer is given again although the post has changed meanwhile, and although its time has
// passed: the caller asks what became of the request, not of the post.
func TestAnAnswerIsGivenAgainLater(t *testing.T) {
	h := start(t)
	body := fmt.Sprintf(`{"platform":"telegram","text":"Hello","scheduled_time":%q}`, h.soon(time.Hour))
	first := h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one")
	h.api("DELETE", "/scheduled-posts/1", "")
	h.advance(3 * time.Hour)
	if again := h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one"); again.body != first.body || again.status != first.status {
		t.Errorf("%d %s", again.status, again.body)
	}
}

func TestARefusalUsesNoKeyUp(t *testing.T) {
	h := start(t)
	if a := h.api("POST", "/scheduled-posts", `{"platform":"telegram"}`, "Idempotency-Key", "one"); a.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d %s", a.status, a.body)
	}
	body := fmt.Sprintf(`{"platform":"telegram","text":"Hello","scheduled_time":%q}`, h.soon(time.Hour))
	if a := h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one"); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.body)
	}
}
