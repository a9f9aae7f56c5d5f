package web

import (
	"net/http"
	"strings"
	"testing"

	"belfry/web/api"
)

func TestAWatchShowsItsSecretOnceAndIsChangedAndDeleted(t *testing.T) {
	h := start(t)
	const hook = `{"name":"Metro","query":"метро","action":"webhook","url":"https://hook.example/in"}`
	var made api.Watch
	first := h.api("POST", "/watches", hook, "Idempotency-Key", "one")
	first.decode(t, &made)
	if first.status != http.StatusCreated || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Fatal(first.status, first.body)
	}
	if again := h.api("POST", "/watches", hook, "Idempotency-Key", "one"); again.status != http.StatusCreated || strings.Contains(again.body, "whsec_") ||
		!strings.Contains(again.body, `"id":1`) {
		t.Error("repeated:", again.status, again.body)
	}
	if a := h.api("GET", "/watches", ""); strings.Contains(a.body, "whsec_") || !strings.Contains(a.body, "Metro") {
		t.Error("listed:", a.body)
	}
	if a := h.api("PATCH", "/watches/1", `{"name":"Underground"}`); a.status != http.StatusOK || strings.Contains(a.body, "whsec_") || !strings.Contains(a.body, "Underground") {
		t.Error("changed:", a.status, a.body)
	}
	if a := h.api("DELETE", "/watches/1", ""); a.status != http.StatusNoContent {
		t.Error("deleted:", a.status, a.body)
	}
}

// The page with the secret is the answer to the form: loaded again, it sends the form again.
func TestAWatchFormThatIsSentAgainAddsNoSecondWatch(t *testing.T) {
	h := start(t)
	h.signIn()
	form := []string{"form", hidden(h.get("/watches").body, "form"), "name", "Metro", "query", "metro", "action", "webhook", "url", "https://hook.example/in"}
	if form[1] == "" {
		t.Fatal("the form has no key")
	}
	if a := h.submit("/watches", append(form[:9:9], "hook")...); !strings.Contains(a.body, "The webhook address &#34;hook&#34; is not") {
		t.Error("another address:", a.status, a.body)
	}
	if a := h.submit("/watches", form...); a.status != http.StatusOK || !strings.Contains(a.body, "whsec_") || hidden(a.body, "form") == form[1] {
		t.Fatal(a.status, a.body)
	}
	if a := h.submit("/watches", form...); a.status != http.StatusSeeOther {
		t.Error("sent again:", a.status, a.body)
	}
	if a := h.get("/watches/2/remove"); a.status != http.StatusNotFound {
		t.Error("a second watch:", a.status)
	}
}
