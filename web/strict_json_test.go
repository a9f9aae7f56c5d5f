package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhatWouldBeChangedInSilenceIsRefusedWithItsField(t *testing.T) {
	h := start(t)
	post := func(more string) string {
		return fmt.Sprintf(`{"platform":"telegram","scheduled_time":%q,%s}`, h.soon(time.Hour), more)
	}
	for name, c := range map[string]struct{ body, field string }{
		"invalid UTF-8":       {post("\"text\":\"a\xff\""), "text"},
		"half a pair":         {post(`"text":"a \ud800 b"`), "text"},
		"the other half":      {post(`"text":"\udc00"`), "text"},
		"NUL":                 {post(`"text":"a\u0000"`), "text"},
		"NUL, deep down":      {post(`"text":"a","media":[{"kind":"photo","url":"https://example.com/\u0000"}]`), "media[0].url"},
		"two values":          {post(`"text":"a","text":"b"`), "text"},
		"two values, deep":    {post(`"text":"a","lateness":{"policy":"skip","policy":"run_once"}`), "lateness.policy"},
		"a name of no text":   {post("\"text\":\"a\",\"te\xffxt\":1"), "body"},
		"an offset of a day":  {`{"platform":"telegram","text":"a","scheduled_time":"2031-01-01T12:00:00+24:00"}`, "scheduled_time"},
		"another policy":      {post(`"text":"a","lateness":{"policy":"Skip","grace":"5m"}`), "lateness.policy"},
		"too large an id":     {post(`"text":"a","identity_id":18446744073709551616`), "identity_id"},
		"too large, deep":     {post(`"text":"a","targets":[{"platform":"telegram","identity_id":18446744073709551616}]`), "targets.identity_id"},
		"grace alone":         {post(`"text":"a","lateness":{"grace":"5m"}`), "lateness.policy"},
		"skip without grace":  {post(`"text":"a","lateness":{"policy":"skip"}`), "lateness.grace"},
		"skip after no time":  {post(`"text":"a","lateness":{"policy":"skip","grace":"0s"}`), "lateness.grace"},
		"skip before its end": {post(`"text":"a","lateness":{"policy":"skip","grace":"-5m"}`), "lateness.grace"},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.api("POST", "/scheduled-posts", c.body)
			if a.status != http.StatusBadRequest && a.status != http.StatusUnprocessableEntity {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Field != c.field || p.Errors[0].Cure == "" || strings.Contains(p.Detail, "\x00") {
				t.Errorf("%+v", p.Errors)
			}
		})
	}
	for name, text := range map[string]string{"a pair": `"\ud83d\ude00"`, "a replacement character": `"\ufffd"`, "Cyrillic": `"Привет"`, "an id that is null": `"a","identity_id":null,"content_id":null,"media":[{"url":"https://example.com/a.jpg","kind":"photo","id":null}]`} {
		if a := h.api("POST", "/scheduled-posts", post(`"text":`+text)+"\n "); a.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := h.api("POST", "/scheduled-posts", post(`"text":"a"`)+"{}"); a.status != http.StatusBadRequest {
		t.Errorf("two documents: %d %s", a.status, a.body)
	}
	h.account("anna")
	a := h.api("POST", "/tasks", `{"text":"a","target_chat_ids":["@evening_news"],"start_at":"2027-01-01T12:00:00+24:00"}`)
	if p := a.problem(t); a.status != http.StatusUnprocessableEntity || p.Errors[0].Field != "start_at" {
		t.Errorf("a broadcast: %d %s", a.status, a.body)
	}
	h.signIn()
	for _, text := range []string{"a\xff", "a\x00"} {
		if a := h.submit("/posts/new", "text", text, "when", "now", "identity_id", "1"); a.status != http.StatusUnprocessableEntity {
			t.Errorf("a form with %q: %d", text, a.status)
		}
	}
}
