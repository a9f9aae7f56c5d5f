package profile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/platform/profile"
)

func TestTheRulesThatComeWithTheProgramAreGood(t *testing.T) {
	rules := profile.Builtin()
	if got := strings.Join(rules.Sites(), " "); got != "github instagram telegram tiktok x youtube" {
		t.Errorf("the sites are %s", got)
	}
	if rules["telegram"].Via != profile.ViaIdentity {
		t.Error("Telegram is not asked through a login")
	}
	if got := rules["instagram"].Profile("some.one"); got != "https://www.instagram.com/some.one/" {
		t.Error(got)
	}
}

func TestNamesAreTakenOutOfWhatPeoplePaste(t *testing.T) {
	instagram, tiktok := profile.Builtin()["instagram"], profile.Builtin()["tiktok"]
	for pasted, want := range map[string]string{
		"some.one": "some.one", " @some.one ": "some.one", "https://www.instagram.com/some.one/?hl=en": "some.one",
		"http://instagram.com/some.one": "some.one", "instagram.com/some.one#x": "some.one", "Instagram.com/some.one/reels/": "some.one",
	} {
		if got := instagram.Name(pasted); got != want {
			t.Errorf("%q is %q", pasted, got)
		}
	}
	if got := tiktok.Name("https://tiktok.com/@someone?lang=de"); got != "someone" {
		t.Error(got)
	}
}

func TestTheAddressOfSomethingElseIsNobodysName(t *testing.T) {
	for site, addresses := range map[string][]string{
		"instagram": {"https://www.instagram.com/p/Cxyz123/", "instagram.com/stories/alice/123/", "https://www.instagram.com/Reel/Cabc/", "https://www.instagram.com/explore/", "explore"},
		"telegram":  {"https://t.me/s/durov", "https://t.me/c/1234/5", "https://t.me/joinchat/AAAA", "t.me/addstickers/Animals", "https://t.me/share/url?url=x", "https://t.me/+AAAA"},
		"github":    {"https://github.com/orgs/golang/people", "https://github.com/search?q=x"},
		"x":         {"https://x.com/i/lists/1", "https://x.com/home"},
		"tiktok":    {"https://www.tiktok.com/tag/cats"},
	} {
		rule := profile.Builtin()[site]
		for _, pasted := range addresses {
			if name := rule.Name(pasted); rule.Fits(name) {
				t.Errorf("%s is taken for the user %q", pasted, name)
			}
		}
	}
	for pasted, site := range map[string]string{
		"https://www.instagram.com/alice/p/Cxyz/": "instagram", "https://t.me/alice/12": "telegram", "https://x.com/alice/status/1": "x",
		"https://www.tiktok.com/@alice/video/1": "tiktok", "https://github.com/alice/repository": "github",
	} {
		rule := profile.Builtin()[site]
		if name := rule.Name(pasted); name != "alice" || !rule.Fits(name) {
			t.Errorf("%s is taken for %q", pasted, name)
		}
	}
}

func TestANameCanBeAPartOfTheHosts(t *testing.T) {
	rules, err := profile.ParseRules([]byte(`{"blog": {"url": "https://{}.blog.example/", "errorType": "status_code", "username_claimed": "admin", "reserved": ["WWW"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	blog := rules["blog"]
	for pasted, want := range map[string]string{
		"alice": "alice", "@alice": "alice", "https://alice.blog.example/post/1": "alice", "Alice.Blog.Example": "Alice", "alice.blog.example?x": "alice",
	} {
		if got := blog.Name(pasted); got != want {
			t.Errorf("%q is %q", pasted, got)
		}
	}
	for _, pasted := range []string{"https://elsewhere.example/", "www", "bad\xff", "alice\u202e", "alice\u200b", "al\u2028ice", "al\u0085ice", "blog.example/%ff"} {
		if name := blog.Name(pasted); blog.Fits(name) {
			t.Errorf("%q is taken for %q", pasted, name)
		}
	}
}

func TestAFileOfRulesIsRefusedWithSiteAndField(t *testing.T) {
	const good = `"url": "https://s.example/{}", "errorType": "status_code", "username_claimed": "blue"`
	for what, of := range map[string]struct{ rule, field string }{
		"no user name in the address": {`"url": "https://s.example/", "errorType": "status_code", "username_claimed": "blue"`, "url"},
		"no address":                  {`"url": "s.example/{}", "errorType": "status_code", "username_claimed": "blue"`, "url"},
		"a rest that is no time":      {good + `, "rest": "an hour"`, "rest"},
		"a reserved canary":           {good + `, "reserved": ["Blue"]`, "username_claimed"},
		"no canary":                   {`"url": "https://s.example/{}", "errorType": "status_code"`, "username_claimed"},
		"a canary that does not fit":  {good + `, "regexCheck": "^[0-9]+$"`, "username_claimed"},
		"look-ahead":                  {good + `, "regexCheck": "^(?=x)y"`, "regexCheck"},
		"a type that is not known":    {`"url": "https://s.example/{}", "errorType": "guess", "username_claimed": "blue"`, "errorType"},
		"no text":                     {`"url": "https://s.example/{}", "errorType": "message", "username_claimed": "blue"`, "errorMsg"},
		"no address to lead to":       {`"url": "https://s.example/{}", "errorType": "response_url", "username_claimed": "blue"`, "errorUrl"},
		"refusal taken for absence":   {good + `, "errorCode": [404, 429]`, "errorCode"},
		"refusal in a condition":      {`"url": "https://s.example/{}", "username_claimed": "blue", "found": [{"status": [200]}], "absent": [{"status": [403]}]`, "absent[0].status"},
		"redirect taken for absence":  {`"url": "https://s.example/{}", "username_claimed": "blue", "found": [{"status": [200]}], "absent": [{"status": [302]}]`, "absent[0].status"},
		"a condition of nothing":      {`"url": "https://s.example/{}", "username_claimed": "blue", "found": [{}], "absent": [{"status": [404]}]`, "found[0]"},
		"no absence":                  {`"url": "https://s.example/{}", "username_claimed": "blue", "found": [{"status": [200]}]`, "absent"},
		"another method":              {good + `, "request_method": "POST"`, "request_method"},
		"a cookie":                    {good + `, "headers": {"Cookie": "x=y"}`, "headers"},
		"a broken header":             {good + `, "headers": {"a": "x\r\ny: z"}`, "headers"},
		"a word that is not known":    {good + `, "errorMessage": "x"`, "errorMessage"},
		"a number for a text":         {good + `, "urlMain": 3`, "urlMain"},
		"both ways":                   {good + `, "via": "identity"`, "via"},
	} {
		_, err := profile.ParseRules([]byte(`{"Mine": {` + of.rule + `}}`))
		e, ok := errors.AsType[*profile.RuleError](err)
		if !ok || e.Site != "Mine" || e.Field != of.field {
			t.Errorf("%s: %v", what, err)
		}
	}
	for file, said := range map[string]string{
		" ": "The file is empty: write {", "[]": "The file is not a JSON object of sites: write {", "{}": "The file describes 0 sites: ",
		`{"a":`: "The file is not JSON: something is missing at its end: ", "{\"a\": {},\n}": "The file is not JSON from line 2 on: ",
		`{"a": 3}`: "a is not a rule: ", `{"a": {"url": 3}}`: "a: url is not a text: ", `{"a": {"errorCode": [404, "x"]}}`: "a: errorCode is not a whole number: ",
		`{"a": {"headers": 3}}`: "a: headers is not an object: ", `{"a": {"canaries": "x"}}`: "a: canaries is not a list: ", `{"a": {"isNSFW": 3}}`: "a: isNSFW is not yes or no: ",
		`{"a": {"found": [{"status": ["x"]}]}}`: "a: found.status is not a whole number: ", `{"a": {"regexCheck": "x[a-", "username_claimed": "x"}}`: `a: regexCheck is not a regular expression at "[a-": `,
		`{"": {}}`: `"" is not a name for a site: `, `{"a\nb": {}}`: `"a\nb" is not a name for a site: `,
	} {
		if _, err := profile.ParseRules([]byte(file)); err == nil || !strings.HasPrefix(i18n.For("en", time.UTC).Error(err), said) {
			t.Errorf("%q: %v", file, err)
		}
	}
	_, err := profile.ParseRules([]byte(`{"A": {}, "B": {"url": 3}}`))
	if err == nil || !strings.Contains(err.Error(), "A: ") || !strings.Contains(err.Error(), "B: url") {
		t.Errorf("not everything is told: %v", err)
	}
	if rules, err := profile.ParseRules([]byte(`{"A": {` + good + `}}`)); err != nil || rules["a"].URL == "" {
		t.Errorf("a good one: %v, %v", rules, err)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte(`{"a": {"url": "https://s.example/{}", "errorType": "status_code", "errorCode": 404, "username_claimed": "blue"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := profile.ParseRules(data)
		if err != nil {
			return
		}
		for site, rule := range rules {
			if rule.Site != site || len(rule.Canaries) == 0 || rule.Via == "" && (len(rule.Found) == 0 || len(rule.Absent) == 0) {
				t.Errorf("%s: %+v", site, rule)
			}
		}
	})
}
