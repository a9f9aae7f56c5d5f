package profile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

//go:embed rules.json
var rulesJSON []byte

// Builtin are the rules that come with the program.
var Builtin = sync.OnceValue(func() Rules {
	rules, err := ParseRules(rulesJSON)
	if err != nil {
		panic("profile: rules.json: " + err.Error())
	}
	return rules
})

// RuleError says what is wrong with a file of rules.
type RuleError struct {
	Site    string // whose rule it is; empty if it is about the file
	Field   string // as it is called in the file
	Problem string // completes "<site>: <field> …"
	Cure    string // an instruction
}

func (e *RuleError) Error() string {
	var b strings.Builder
	if e.Site != "" {
		b.WriteString(e.Site + ": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + " ")
	}
	b.WriteString(e.Problem)
	if e.Cure != "" {
		b.WriteString(": " + e.Cure)
	}
	return b.String()
}

const (
	maxRules     = 2_000
	maxRulesSize = 2 << 20
	maxPattern   = 500
	maxRest      = 24 * time.Hour
)

// file is a rule as it stands in a file: the fields of Sherlock's data.json, and ours.
type file struct {
	URL       string            `json:"url"`
	URLMain   string            `json:"urlMain"`
	URLProbe  string            `json:"urlProbe"`
	Method    string            `json:"request_method"`
	Payload   json.RawMessage   `json:"request_payload"`
	Headers   map[string]string `json:"headers"`
	Pattern   string            `json:"regexCheck"`
	ErrorType oneOrMore[string] `json:"errorType"`
	ErrorMsg  oneOrMore[string] `json:"errorMsg"`
	ErrorCode oneOrMore[int]    `json:"errorCode"`
	ErrorURL  string            `json:"errorUrl"`
	Claimed   string            `json:"username_claimed"`
	Canaries  []string          `json:"canaries"`
	Reserved  []string          `json:"reserved"`
	Rest      string            `json:"rest"`
	Found     []Condition       `json:"found"`
	Absent    []Condition       `json:"absent"`
	Via       string            `json:"via"`

	// Known to Sherlock, of no use here.
	Unclaimed string          `json:"username_unclaimed"`
	NSFW      bool            `json:"isNSFW"`
	Tags      json.RawMessage `json:"tags"`
	Rank      json.RawMessage `json:"rank"`
	Comment   json.RawMessage `json:"__comment__"`
}

// oneOrMore is a value, or a list of them.
type oneOrMore[T any] []T

// UnmarshalJSON reads both forms.
func (l *oneOrMore[T]) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = []T{one}
	return nil
}

// ParseRules reads a file of rules and checks them. Its errors are of type [*RuleError], joined: a
// file is taken as a whole or not at all, and its author is told everything at once.
func ParseRules(data []byte) (Rules, error) {
	if len(data) > maxRulesSize {
		return nil, &RuleError{Problem: "the file is larger than 2 MB", Cure: "import the sites that you need"}
	}
	var sites map[string]json.RawMessage
	if err := json.Unmarshal(data, &sites); err != nil {
		return nil, noSites(data, err)
	}
	delete(sites, "$schema")
	if len(sites) == 0 || len(sites) > maxRules {
		return nil, &RuleError{Problem: fmt.Sprintf("the file describes %d sites", len(sites)), Cure: "describe at least one, and at most 2000"}
	}
	rules := make(Rules, len(sites))
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		rule, err := parseRule(name, sites[name])
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if _, twice := rules[rule.Site]; twice {
			wrong = append(wrong, &RuleError{Site: name, Problem: "is described twice", Cure: "upper and lower case are the same name"})
		}
		rules[rule.Site] = rule
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return rules, nil
}

func parseRule(name string, data []byte) (Rule, error) {
	wrong := func(field, problem, cure string) (Rule, error) {
		return Rule{}, &RuleError{Site: name, Field: field, Problem: problem, Cure: cure}
	}
	site := strings.ToLower(strings.TrimSpace(name))
	if site == "" || len(site) > maxName || strings.ContainsFunc(site, unicode.IsControl) {
		return Rule{}, &RuleError{Site: strconv.Quote(short(name)), Problem: "is not a name for a site", Cure: "use a word"}
	}
	var f file
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return Rule{}, unreadable(name, err)
	}
	rule := Rule{
		Site: site, URL: f.URL, Home: f.URLMain, ProbeURL: f.URLProbe,
		Headers: f.Headers, Pattern: f.Pattern, Canaries: f.Canaries, Found: f.Found, Absent: f.Absent, Via: f.Via,
	}
	for _, word := range f.Reserved {
		rule.Reserved = append(rule.Reserved, strings.ToLower(word))
	}
	if f.Claimed != "" && !slices.Contains(rule.Canaries, f.Claimed) {
		rule.Canaries = append(rule.Canaries, f.Claimed)
	}
	if f.Rest != "" {
		rest, err := time.ParseDuration(f.Rest)
		if err != nil || rest < 0 || rest > maxRest {
			return wrong("rest", fmt.Sprintf("%q is not a time up to a day", f.Rest), "write it as 15m")
		}
		rule.Rest = rest
	}
	if f.Pattern != "" {
		if len(f.Pattern) > maxPattern {
			return wrong("regexCheck", "is longer than 500 characters", "make it shorter")
		}
		pattern, err := regexp.Compile(f.Pattern)
		if err != nil {
			cure := "write it in the syntax of RE2"
			if strings.Contains(f.Pattern, "(?=") || strings.Contains(f.Pattern, "(?!") || strings.Contains(f.Pattern, "(?<") {
				cure = "look-ahead and look-behind are not known here; leave them out"
			}
			at := f.Pattern
			if where, ok := errors.AsType[*syntax.Error](err); ok && where.Expr != "" {
				at = where.Expr
			}
			return wrong("regexCheck", fmt.Sprintf("is not a regular expression at %q", at), cure)
		}
		rule.pattern = pattern
	}
	if len(rule.Canaries) == 0 {
		return wrong("username_claimed", "is missing", "name a profile that surely exists: without one, nobody can tell an absent profile from a site that refuses")
	}
	for _, canary := range rule.Canaries {
		if !rule.Fits(canary) {
			return wrong("username_claimed", fmt.Sprintf("%q is not a user name of the site", canary), "correct it, or regexCheck")
		}
	}
	switch f.Via {
	case "":
		return rule.overHTTP(name, f)
	case ViaIdentity:
		if f.URLProbe != "" || len(f.ErrorType) > 0 || len(f.Found) > 0 || len(f.Absent) > 0 {
			return wrong("via", "says that the site is asked through a login, and other fields say how it is asked over HTTP", "leave one of them out")
		}
		return rule, nil
	}
	return wrong("via", fmt.Sprintf("%q is not known", f.Via), "leave it out, or say identity")
}

// overHTTP checks what a rule needs to be asked over HTTP.
func (r Rule) overHTTP(name string, f file) (Rule, error) {
	wrong := func(field, problem, cure string) (Rule, error) {
		return Rule{}, &RuleError{Site: name, Field: field, Problem: problem, Cure: cure}
	}
	for _, at := range []struct{ field, value string }{{"url", r.URL}, {"urlProbe", r.ProbeURL}} {
		if at.field == "urlProbe" && at.value == "" {
			continue
		}
		if !strings.Contains(at.value, "{}") {
			return wrong(at.field, "has no {}", "write {} where the user name belongs, as in https://site.example/{}")
		}
		u, err := url.Parse(strings.ReplaceAll(at.value, "{}", "name"))
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return wrong(at.field, "is not an http or https address", "write it as https://site.example/{}")
		}
	}
	if f.Method != "" && f.Method != http.MethodGet && f.Method != http.MethodHead || len(f.Payload) > 0 && string(f.Payload) != "null" {
		return wrong("request_method", "is not GET", "sites that must be asked in another way cannot be described")
	}
	for key, value := range r.Headers {
		if !isToken(key) || strings.ContainsAny(value, "\r\n\x00") {
			return wrong("headers", fmt.Sprintf("%q is not a header", key), "write a name and a value of one line")
		}
		if strings.EqualFold(key, "cookie") || strings.EqualFold(key, "host") || strings.EqualFold(key, "authorization") {
			return wrong("headers", fmt.Sprintf("%q is not sent", key), "leave it out")
		}
	}
	var err error
	if r.Found, r.Absent, err = r.sherlock(name, f); err != nil {
		return Rule{}, err
	}
	if len(r.Found) == 0 {
		return wrong("found", "is missing", "say with found or errorType how a profile shows that exists")
	}
	if len(r.Absent) == 0 {
		return wrong("absent", "is missing", "say with absent or errorType how a profile shows that does not exist")
	}
	for field, conditions := range map[string][]Condition{"found": r.Found, "absent": r.Absent} {
		for i, c := range conditions {
			if err := c.check(name, fmt.Sprintf("%s[%d]", field, i)); err != nil {
				return Rule{}, err
			}
		}
	}
	return r, nil
}

// sherlock turns the three types of Sherlock's into conditions, and adds them to those that there are.
func (r Rule) sherlock(name string, f file) (found, absent []Condition, err error) {
	wrong := func(field, problem, cure string) ([]Condition, []Condition, error) {
		return nil, nil, &RuleError{Site: name, Field: field, Problem: problem, Cure: cure}
	}
	found, absent = slices.Clone(r.Found), slices.Clone(r.Absent)
	exists := Condition{Status: []int{200, 201, 202, 203, 206}}
	for _, kind := range f.ErrorType {
		switch kind {
		case "status_code":
			gone := []int{http.StatusNotFound, http.StatusGone}
			if len(f.ErrorCode) > 0 {
				gone = slices.Clone(f.ErrorCode)
			}
			for _, code := range gone {
				if refuses(code) {
					return wrong("errorCode", fmt.Sprintf("%d is what a site answers that refuses", code), "name the status for a profile that does not exist, such as 404")
				}
			}
			exists.Status = slices.DeleteFunc(exists.Status, func(code int) bool { return slices.Contains(gone, code) })
			absent = append(absent, Condition{Status: gone})
		case "message":
			if len(f.ErrorMsg) == 0 || slices.Contains(f.ErrorMsg, "") {
				return wrong("errorMsg", "is missing", "give the text that shows that a profile does not exist")
			}
			exists.NotText = f.ErrorMsg
			absent = append(absent, Condition{Status: []int{200, 404, 410}, Text: f.ErrorMsg})
		case "response_url":
			if f.ErrorURL == "" {
				return wrong("errorUrl", "is missing", "give the address to which the site leads from a profile that does not exist")
			}
			absent = append(absent, Condition{Redirect: f.ErrorURL})
		default:
			return wrong("errorType", fmt.Sprintf("%q is not known", kind), "use status_code, message or response_url, or found and absent")
		}
	}
	if len(f.ErrorType) > 0 && len(f.Found) == 0 {
		found = append(found, exists)
	}
	return found, absent, nil
}

// check finds what a condition cannot mean.
func (c Condition) check(site, field string) error {
	wrong := func(part, problem, cure string) error {
		return &RuleError{Site: site, Field: field + part, Problem: problem, Cure: cure}
	}
	if len(c.Status) == 0 && c.JSONEquals == "" && c.JSONNull == "" && len(c.Text) == 0 && c.Redirect == "" {
		return wrong("", "holds for any answer", "give a status, a json_equals, a json_null, a text or a redirect")
	}
	for _, code := range c.Status {
		switch {
		case code < 200 || code > 599:
			return wrong(".status", fmt.Sprintf("%d is not a status", code), "use one such as 200 or 404")
		case refuses(code):
			return wrong(".status", fmt.Sprintf("%d is what a site answers that refuses", code), "it says nothing about a profile; leave it out")
		}
	}
	if slices.Contains(c.Text, "") || slices.Contains(c.NotText, "") {
		return wrong(".text", "is empty", "write the text, or leave the field out")
	}
	if c.Redirect != "" {
		u, err := url.Parse(strings.ReplaceAll(c.Redirect, "{}", "name"))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return wrong(".redirect", "is not an http or https address", "write it as https://site.example/")
		}
	}
	return nil
}

// noSites says why a file is not an object of sites.
func noSites(data []byte, err error) error {
	const cure = `write {"site": {"url": "https://site.example/{}", …}}`
	broken, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return &RuleError{Problem: "the file is empty", Cure: cure}
	case ok && broken.Error() == "unexpected end of JSON input":
		return &RuleError{Problem: "the file is not JSON: something is missing at its end", Cure: "close each quote and bracket"}
	case ok:
		line := 1 + bytes.Count(data[:broken.Offset], []byte("\n"))
		return &RuleError{Problem: fmt.Sprintf("the file is not JSON from line %d on", line), Cure: "look for a comma, a quote or a bracket there"}
	}
	return &RuleError{Problem: "the file is not a JSON object of sites", Cure: cure}
}

// unreadable says what of a rule cannot be read.
func unreadable(site string, err error) error {
	wrong := func(field, problem, cure string) error {
		return &RuleError{Site: site, Field: field, Problem: problem, Cure: cure}
	}
	if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return wrong(short(strings.Trim(unknown, `"`)), "is not known", "correct its name, or leave it out")
	}
	of, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || of.Field == "" {
		return wrong("", "is not a rule", `write it as {"url": "https://site.example/{}", …}`)
	}
	field := short(strings.Join(strings.Fields(of.Field), " "))
	switch of.Type.Kind() {
	case reflect.String:
		return wrong(field, "is not a text", "write it in quotes")
	case reflect.Int:
		return wrong(field, "is not a whole number", "write it as 404")
	case reflect.Bool:
		return wrong(field, "is not yes or no", "write true or false")
	case reflect.Slice:
		return wrong(field, "is not a list", "write it in [ ]")
	}
	return wrong(field, "is not an object", "write it in { }")
}

// short keeps the words of a file short.
func short(text string) string {
	if runes := []rune(text); len(runes) > maxName {
		return string(runes[:maxName]) + "…"
	}
	return text
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	})
}
