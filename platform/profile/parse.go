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

// RuleError says what is wrong with a file of rules, as a message for people.
type RuleError struct {
	Site  string // whose rule it is; empty if it is about the file
	Field string // as it is called in the file
	Key   string // of the message
	Args  []any  // what the message is filled in with
}

func (e *RuleError) Error() string {
	return strings.TrimSpace(e.where() + ": " + e.Key + " " + fmt.Sprintln(e.Args...))
}

// Refusal names the rule and the field, and the message.
func (e *RuleError) Refusal() (field, key string, args []any) { return e.where(), e.Key, e.Args }

func (e *RuleError) where() string {
	if e.Site == "" || e.Field == "" {
		return e.Site + e.Field
	}
	return e.Site + ": " + e.Field
}

// wrongFile returns an error about a whole file.
func wrongFile(key string, args ...any) *RuleError { return wrongRule("", "", key, args...) }

// wrongRule returns an error about a field of a rule, or about the whole rule.
func wrongRule(site, field, key string, args ...any) *RuleError {
	return &RuleError{site, field, key, args}
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
		return nil, wrongFile("rule.large")
	}
	var sites map[string]json.RawMessage
	if err := json.Unmarshal(data, &sites); err != nil {
		return nil, noSites(data, err)
	}
	delete(sites, "$schema")
	if len(sites) == 0 || len(sites) > maxRules {
		return nil, wrongFile("rule.count", len(sites))
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
			wrong = append(wrong, wrongRule(name, "", "rule.twice"))
		}
		rules[rule.Site] = rule
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return rules, nil
}

func parseRule(name string, data []byte) (Rule, error) {
	wrong := func(field, key string, args ...any) (Rule, error) {
		return Rule{}, wrongRule(name, field, key, args...)
	}
	site := strings.ToLower(strings.TrimSpace(name))
	if site == "" || len(site) > maxName || strings.ContainsFunc(site, unicode.IsControl) {
		return Rule{}, wrongRule(strconv.Quote(short(name)), "", "rule.name")
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
			return wrong("rest", "rule.rest", f.Rest)
		}
		rule.Rest = rest
	}
	if f.Pattern != "" {
		if len(f.Pattern) > maxPattern {
			return wrong("regexCheck", "rule.long")
		}
		pattern, err := regexp.Compile(f.Pattern)
		if err != nil {
			at := f.Pattern
			if where, ok := errors.AsType[*syntax.Error](err); ok && where.Expr != "" {
				at = where.Expr
			}
			if strings.Contains(f.Pattern, "(?=") || strings.Contains(f.Pattern, "(?!") || strings.Contains(f.Pattern, "(?<") {
				return wrong("regexCheck", "rule.look_around", at)
			}
			return wrong("regexCheck", "rule.pattern", at)
		}
		rule.pattern = pattern
	}
	if len(rule.Canaries) == 0 {
		return wrong("username_claimed", "rule.no_claimed")
	}
	for _, canary := range rule.Canaries {
		if !rule.Fits(canary) {
			return wrong("username_claimed", "rule.canary", canary)
		}
	}
	switch f.Via {
	case "":
		return rule.overHTTP(name, f)
	case ViaIdentity:
		if f.URLProbe != "" || len(f.ErrorType) > 0 || len(f.Found) > 0 || len(f.Absent) > 0 {
			return wrong("via", "rule.via_both")
		}
		return rule, nil
	}
	return wrong("via", "rule.via", f.Via)
}

// overHTTP checks what a rule needs to be asked over HTTP.
func (r Rule) overHTTP(name string, f file) (Rule, error) {
	wrong := func(field, key string, args ...any) (Rule, error) {
		return Rule{}, wrongRule(name, field, key, args...)
	}
	for _, at := range []struct{ field, value string }{{"url", r.URL}, {"urlProbe", r.ProbeURL}} {
		if at.field == "urlProbe" && at.value == "" {
			continue
		}
		if !strings.Contains(at.value, "{}") {
			return wrong(at.field, "rule.no_place")
		}
		u, err := url.Parse(strings.ReplaceAll(at.value, "{}", "name"))
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return wrong(at.field, "rule.address", "https://site.example/{}")
		}
	}
	if f.Method != "" && f.Method != http.MethodGet && f.Method != http.MethodHead || len(f.Payload) > 0 && string(f.Payload) != "null" {
		return wrong("request_method", "rule.method")
	}
	for key, value := range r.Headers {
		if !isToken(key) || strings.ContainsAny(value, "\r\n\x00") {
			return wrong("headers", "rule.header", key)
		}
		if strings.EqualFold(key, "cookie") || strings.EqualFold(key, "host") || strings.EqualFold(key, "authorization") {
			return wrong("headers", "rule.header_kept", key)
		}
	}
	var err error
	if r.Found, r.Absent, err = r.sherlock(name, f); err != nil {
		return Rule{}, err
	}
	if len(r.Found) == 0 {
		return wrong("found", "rule.no_found")
	}
	if len(r.Absent) == 0 {
		return wrong("absent", "rule.no_absent")
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
	wrong := func(field, key string, args ...any) ([]Condition, []Condition, error) {
		return nil, nil, wrongRule(name, field, key, args...)
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
					return wrong("errorCode", "rule.refusal", code)
				}
			}
			exists.Status = slices.DeleteFunc(exists.Status, func(code int) bool { return slices.Contains(gone, code) })
			absent = append(absent, Condition{Status: gone})
		case "message":
			if len(f.ErrorMsg) == 0 || slices.Contains(f.ErrorMsg, "") {
				return wrong("errorMsg", "rule.no_error_msg")
			}
			exists.NotText = f.ErrorMsg
			absent = append(absent, Condition{Status: []int{200, 404, 410}, Text: f.ErrorMsg})
		case "response_url":
			if f.ErrorURL == "" {
				return wrong("errorUrl", "rule.no_error_url")
			}
			absent = append(absent, Condition{Redirect: f.ErrorURL})
		default:
			return wrong("errorType", "rule.type", kind)
		}
	}
	if len(f.ErrorType) > 0 && len(f.Found) == 0 {
		found = append(found, exists)
	}
	return found, absent, nil
}

// check finds what a condition cannot mean.
func (c Condition) check(site, field string) error {
	wrong := func(part, key string, args ...any) error { return wrongRule(site, field+part, key, args...) }
	if len(c.Status) == 0 && c.JSONEquals == "" && c.JSONNull == "" && len(c.Text) == 0 && c.Redirect == "" {
		return wrong("", "rule.any_answer")
	}
	for _, code := range c.Status {
		switch {
		case code < 200 || code > 599:
			return wrong(".status", "rule.status", code)
		case refuses(code):
			return wrong(".status", "rule.silent", code)
		}
	}
	if slices.Contains(c.Text, "") || slices.Contains(c.NotText, "") {
		return wrong(".text", "rule.text_empty")
	}
	if c.Redirect != "" {
		u, err := url.Parse(strings.ReplaceAll(c.Redirect, "{}", "name"))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return wrong(".redirect", "rule.address", "https://site.example/")
		}
	}
	return nil
}

// noSites says why a file is not an object of sites.
func noSites(data []byte, err error) error {
	const example = `{"site": {"url": "https://site.example/{}", …}}`
	broken, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return wrongFile("rule.empty", example)
	case ok && broken.Error() == "unexpected end of JSON input":
		return wrongFile("rule.cut")
	case ok:
		return wrongFile("rule.broken", 1+bytes.Count(data[:broken.Offset], []byte("\n")))
	}
	return wrongFile("rule.not_sites", example)
}

// unreadable says what of a rule cannot be read.
func unreadable(site string, err error) error {
	wrong := func(field, key string, args ...any) error { return wrongRule(site, field, key, args...) }
	if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return wrong(short(strings.Trim(unknown, `"`)), "rule.unknown")
	}
	of, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || of.Field == "" {
		return wrong("", "rule.not_rule", `{"url": "https://site.example/{}", …}`)
	}
	field := short(strings.Join(strings.Fields(of.Field), " "))
	switch of.Type.Kind() {
	case reflect.String:
		return wrong(field, "rule.not_text")
	case reflect.Int:
		return wrong(field, "rule.not_number")
	case reflect.Bool:
		return wrong(field, "rule.not_bool")
	case reflect.Slice:
		return wrong(field, "rule.not_list")
	}
	return wrong(field, "rule.not_object")
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
