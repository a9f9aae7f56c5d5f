package profile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/profile"
	"belfry/platform/profile/profiletest"
)

func newClient(t *testing.T, settings profile.Settings) *profile.Client {
	t.Helper()
	client, err := profile.NewClient(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// loopback is what the owner has to allow for sites on this machine.
func loopback(t *testing.T) (allowed fetch.Allowed) {
	t.Helper()
	if err := allowed.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	return allowed
}

// newSite starts a site and a client that takes it for Instagram.
func newSite(t *testing.T) (*profiletest.Server, *profile.Client) {
	t.Helper()
	site := profiletest.NewServer()
	t.Cleanup(func() {
		site.Close()
		for _, rude := range site.Rude() {
			t.Error("the client was rude: " + rude)
		}
	})
	return site, newClient(t, profile.Settings{Base: map[string]string{"instagram": site.URL}, Private: loopback(t), Timeout: time.Second})
}

func ask(t *testing.T, client *profile.Client, rule profile.Rule, name string) profile.Result {
	t.Helper()
	result, err := client.Probe(t.Context(), rule, name)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestInstagramIsUnderstood(t *testing.T) {
	site, client := newSite(t)
	instagram := profile.Builtin()["instagram"]
	for behaviour, want := range map[profiletest.Behaviour]struct {
		outcome profile.Outcome
		words   string
	}{
		profiletest.Exists:     {profile.Found, ""},
		profiletest.Gone:       {profile.Absent, "no such profile"},
		profiletest.NullUser:   {profile.Absent, "no such profile"},
		profiletest.Other:      {profile.Refused, "do not say"},
		profiletest.Wait:       {profile.Refused, "refuses to answer (status 401): please wait"},
		profiletest.Forbidden:  {profile.Refused, "refuses to answer (status 403)"},
		profiletest.TooMany:    {profile.Refused, "too many requests"},
		profiletest.LoginPage:  {profile.Refused, "perhaps that for logging in"},
		profiletest.LoginMove:  {profile.Refused, "page for logging in (status 302)"},
		profiletest.Checkpoint: {profile.Refused, "checkpoint_required"},
		profiletest.Broken:     {profile.Refused, "cannot be read"},
		profiletest.Empty:      {profile.Refused, "nothing in it"},
		profiletest.Huge:       {profile.Refused, "more than 1 MB"},
		profiletest.Fault:      {profile.Refused, "has a fault (status 500)"},
		profiletest.Slow:       {profile.Refused, "no answer within 1s"},
		profiletest.Hangup:     {profile.Refused, "no answer: "},
	} {
		t.Run(string(behaviour), func(t *testing.T) {
			site.Set(behaviour, "some.one")
			got := ask(t, client, instagram, "Some.One")
			if got.Outcome != want.outcome || !strings.Contains(got.Detail, want.words) {
				t.Errorf("got %+v", got)
			}
			if behaviour == profiletest.TooMany && got.RetryAfter != profiletest.RetryAfter {
				t.Errorf("asked to wait %v", got.RetryAfter)
			}
		})
	}
	if got := site.Asked("some.one"); got < 16 {
		t.Errorf("asked %d times", got)
	}
}

func TestTheTypesOfSherlockAreUnderstood(t *testing.T) {
	site, client := newSite(t)
	rules, err := profile.ParseRules(fmt.Appendf(nil, `{
		"$schema": "data.schema.json",
		"Page": {"url": "%[1]s/page/{}", "urlMain": "%[1]s", "errorType": "status_code", "username_claimed": "nasa", "rank": 3},
		"Message": {"url": "%[1]s/message/{}", "errorType": ["message"], "errorMsg": ["nobody has this name"], "username_claimed": "nasa", "isNSFW": true},
		"Leads": {"url": "%[1]s/leads/{}", "errorType": "response_url", "errorUrl": "%[1]s/", "username_claimed": "nasa"}
	}`, site.URL))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range rules.Sites() {
		t.Run(name, func(t *testing.T) {
			for behaviour, want := range map[profiletest.Behaviour]profile.Outcome{
				profiletest.Exists: profile.Found, profiletest.Gone: profile.Absent,
				profiletest.Wait: profile.Refused, profiletest.Forbidden: profile.Refused, profiletest.TooMany: profile.Refused,
				profiletest.LoginMove: profile.Refused, profiletest.Checkpoint: profile.Refused, profiletest.Fault: profile.Refused,
				profiletest.Slow: profile.Refused, profiletest.Hangup: profile.Refused,
			} {
				site.Set(behaviour, "someone")
				if got := ask(t, client, rules[name], "someone"); got.Outcome != want {
					t.Errorf("%s is taken for %+v", behaviour, got)
				}
			}
		})
	}
}

func TestARuleReachesNoAddressThatIsNotPublic(t *testing.T) {
	site, _ := newSite(t)
	client := newClient(t, profile.Settings{Base: map[string]string{"instagram": site.URL}})
	rules, err := profile.ParseRules(fmt.Appendf(nil, `{
		"direct": {"url": "%[1]s/page/{}", "errorType": "status_code", "username_claimed": "nasa"},
		"probed": {"url": "https://public.example/{}", "urlProbe": "%[1]s/page/{}", "errorType": "status_code", "username_claimed": "nasa"}
	}`, site.URL))
	if err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string]string{"direct": "url", "probed": "urlProbe"} {
		_, err := client.Probe(t.Context(), rules[name], "someone")
		if e := platform.AsError(err); e.Kind != platform.Refused || !strings.HasPrefix(e.Error(), field+": the address leads to 127.0.0.1, which is not public:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := site.Questions(); n > 0 {
		t.Errorf("%d questions arrived", n)
	}
	if got := ask(t, client, profile.Builtin()["instagram"], "someone"); site.Questions() != 1 {
		t.Errorf("the address that the owner has set was not asked: %+v", got)
	}
}

func TestAPageThatAsksForAPersonIsNoProfile(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<html><head><title>Just a moment...</title></head></html>")
	}))
	defer site.Close()
	rules, err := profile.ParseRules(fmt.Appendf(nil, `{"s": {"url": "%s/{}", "errorType": "status_code", "username_claimed": "a"}}`, site.URL))
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, newClient(t, profile.Settings{Private: loopback(t)}), rules["s"], "someone"); got.Outcome != profile.Refused {
		t.Errorf("got %+v", got)
	}
}

func TestNothingIsAskedThatTheSiteCannotHave(t *testing.T) {
	site, client := newSite(t)
	for _, name := range []string{"", "with space", "ümlaut", strings.Repeat("x", 31), "a/b", "a?b=c"} {
		_, err := client.Probe(t.Context(), profile.Builtin()["instagram"], name)
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Field != "username" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := client.Probe(t.Context(), profile.Builtin()["telegram"], "durov"); err == nil {
		t.Error("Telegram was asked over HTTP")
	}
	if n := site.Questions(); n != 0 {
		t.Errorf("%d questions", n)
	}
}

func TestAQuestionThatNobodyWaitsForIsNoAnswer(t *testing.T) {
	site, client := newSite(t)
	site.Set(profiletest.Slow, "someone")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if got, err := client.Probe(ctx, profile.Builtin()["instagram"], "someone"); err == nil {
		t.Errorf("got %+v", got)
	}
}

func TestQuestionsGoThroughTheProxy(t *testing.T) {
	site, _ := newSite(t)
	var through []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through = append(through, r.URL.String())
		w.WriteHeader(http.StatusNotFound)
	}))
	defer proxy.Close()
	client := newClient(t, profile.Settings{Proxy: proxy.URL, Base: map[string]string{"instagram": "http://instagram.example/below"}})
	if got := ask(t, client, profile.Builtin()["instagram"], "someone"); got.Outcome != profile.Absent {
		t.Errorf("got %+v", got)
	}
	if len(through) != 1 || through[0] != "http://instagram.example/below/api/v1/users/web_profile_info/?username=someone" || site.Questions() != 0 {
		t.Errorf("through the proxy went %v", through)
	}
	for _, wrong := range []string{"host:3128", "ftp://host", "socks4://host"} {
		if _, err := profile.NewClient(profile.Settings{Proxy: wrong}); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// A user name and a password in an address are sent to the site, and told to nobody.
func TestPasswordsInAddressesAreNotTold(t *testing.T) {
	const password = "hunter2"
	for what, answer := range map[string]http.HandlerFunc{
		"leads elsewhere": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere/")
			w.WriteHeader(http.StatusFound)
		},
		"leads to a password": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://me:"+password+"@"+r.Host+"/")
			w.WriteHeader(http.StatusFound)
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"fails":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	} {
		var sent string
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, sent, _ = r.BasicAuth()
			answer(w, r)
		}))
		base := strings.Replace(site.URL, "http://", "http://me:"+password+"@", 1)
		got := ask(t, newClient(t, profile.Settings{Base: map[string]string{"instagram": base}}), profile.Builtin()["instagram"], "someone")
		site.Close()
		if got.Outcome != profile.Refused || strings.Contains(got.Detail, password) || sent != password {
			t.Errorf("%s: sent %q, got %+v", what, sent, got)
		}
	}
	const aProxy = "is not an address of a proxy: write it as http://user:password@host:3128 or socks5://host:1080"
	const aBase = "is not an http or https address: write it as https://host"
	for _, wrong := range []struct {
		settings    profile.Settings
		field, said string
	}{
		{profile.Settings{Proxy: "ftp://me:" + password + "@host"}, "proxy", aProxy},
		{profile.Settings{Proxy: "http://me:" + password + "@host:port"}, "proxy", aProxy},
		{profile.Settings{Base: map[string]string{"instagram": "me:" + password + "@host"}}, "base", aBase},
		{profile.Settings{Base: map[string]string{"instagram": "http://me:" + password + "@host:port"}}, "base", aBase},
	} {
		_, err := profile.NewClient(wrong.settings)
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Kind != platform.Refused || e.Field != wrong.field || e.Error() != wrong.said {
			t.Errorf("%+v: %v", wrong.settings, err)
		}
	}
}

func TestAWaitHasAnEnd(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"90": 90 * time.Second, " 90": 90 * time.Second, "-90": 0, "soon": 0, "1000000": 24 * time.Hour,
		"9223372036854775807": 24 * time.Hour, "99999999999999999999": 24 * time.Hour, "Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", asked)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		got := ask(t, newClient(t, profile.Settings{Base: map[string]string{"instagram": site.URL}}), profile.Builtin()["instagram"], "someone")
		site.Close()
		if got.RetryAfter != want {
			t.Errorf("%q is %v", asked, got.RetryAfter)
		}
	}
}
