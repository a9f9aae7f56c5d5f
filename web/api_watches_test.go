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
