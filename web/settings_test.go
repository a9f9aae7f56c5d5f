package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/web/api"
)

func TestSettingsAreChangedByTheAPIAndHoldAtOnce(t *testing.T) {
	h := start(t)
	h.signIn()
	var now api.Settings
	h.api("GET", "/settings", "").decode(t, &now)
	if now.Timezone != "UTC" || now.Lang != "en" || now.TelegramAPIID != 0 || len(now.Admins)+len(now.Environment) != 0 {
		t.Errorf("at first: %+v", now)
	}
	h.api("PUT", "/settings", `{"timezone": "Europe/Moscow", "lang": "ru", "admin_bot": 1}`).decode(t, &now)
	if now.Timezone != "Europe/Moscow" || now.Lang != "ru" || now.AdminBot != 1 {
		t.Errorf("after the change: %+v", now)
	}
	h.get("/").has(t, `lang="ru"`, "Europe/Moscow")
	for body, field := range map[string]string{
		`{"timezone": "Europe/Nowhere"}`: "timezone", `{"lang": "fr"}`: "lang", `{"admin_bot": 99}`: "admin_bot", `{"telegram_api_hash": "x"}`: "telegram_api_id",
	} {
		if a := h.api("PUT", "/settings", body); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, field) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	h.api("GET", "/settings", "").decode(t, &now)
	if now.Timezone != "Europe/Moscow" || now.Lang != "ru" {
		t.Errorf("what was refused changed something: %+v", now)
	}
}

func TestWhatTheEnvironmentSetsIsShownAndNotChanged(t *testing.T) {
	h := start(t, func(c *Config) { c.Lang = "ru" })
	h.signIn()
	var now api.Settings
	h.api("GET", "/settings", "").decode(t, &now)
	if !slices.Equal(now.Environment, []string{"lang"}) {
		t.Errorf("set by the environment: %v", now.Environment)
	}
	if a := h.api("PUT", "/settings", `{"lang": "en"}`); a.status != http.StatusConflict || !strings.Contains(a.body, "BELFRY_LANG") {
		t.Errorf("the language: %d %s", a.status, a.body)
	}
	h.get("/settings").has(t, "BELFRY_LANG")
}

func TestTheListOfTheSetupGoesAwayWhenEachStepIsDoneOrSkipped(t *testing.T) {
	h := start(t)
	h.signIn()
	h.get("/").has(t, `id="setup-go"`)
	for _, step := range []string{"application", "login", "channel", "post", "locale", "admin"} {
		if a := h.submit("/setup/skip", "back", "/setup/"+step); a.status != http.StatusSeeOther {
			t.Fatalf("skip %s: %d", step, a.status)
		}
	}
	h.get("/").lacks(t, `id="setup-go"`)
	if a := h.get("/setup"); a.header.Get("Location") != "/setup/finished" {
		t.Errorf("after the last step: %s", a.header.Get("Location"))
	}
	if a := h.submit("/setup/skip", "back", "/setup/nothing"); a.status != http.StatusBadRequest {
		t.Errorf("a step that does not exist was skipped: %d", a.status)
	}
	if a := h.get("/setup/nothing"); a.status != http.StatusNotFound {
		t.Errorf("a step that does not exist: %d", a.status)
	}
}

// A Belfry that works without the list is not asked to be set up.
func TestAFileWithPostsShowsTheListOnlyOnceItWasBegun(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("News", time.Hour)
	h.get("/").lacks(t, `id="setup-go"`)
	h.submit("/setup/skip", "back", "/setup/admin")
	h.get("/").has(t, `id="setup-go"`)
}
