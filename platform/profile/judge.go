package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is what came back from a site.
type answer struct {
	asked    *url.URL
	username string
	status   int
	header   http.Header
	body     []byte
	cut      bool // there was more of the body
	data     any  // the body as JSON
	isJSON   bool
}

// refuses reports whether a status says nothing about a profile, whatever comes with it.
func refuses(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests,
		http.StatusRequestTimeout, http.StatusUnavailableForLegalReasons:
		return true
	}
	return status >= 500 || status >= 300 && status < 400
}

// judge says what an answer means by a rule.
func (r Rule) judge(a answer) Result {
	a.isJSON = json.Unmarshal(a.body, &a.data) == nil
	result := Result{Outcome: Refused, Status: a.status, RetryAfter: retryAfter(a.header, time.Now())}
	switch {
	case slices.ContainsFunc(r.Absent, func(c Condition) bool { return c.Redirect != "" && c.holds(a) }):
		result.Outcome, result.Detail = Absent, "the site leads away from the profile"
	case refuses(a.status):
		result.Detail = a.refusal()
	case slices.ContainsFunc(r.Found, func(c Condition) bool { return c.holds(a) }):
		result.Outcome = Found
		if wall := a.wall(); wall != "" && !slices.ContainsFunc(r.Found, func(c Condition) bool { return c.proves() && c.holds(a) }) {
			result.Outcome, result.Detail = Refused, "the site wants to be shown that a person asks: "+wall
		}
	case slices.ContainsFunc(r.Absent, func(c Condition) bool { return c.holds(a) }):
		result.Outcome, result.Detail = Absent, "the site says that there is no such profile"
		if wall := a.wall(); wall != "" {
			result.Outcome, result.Detail = Refused, "the site wants to be shown that a person asks: "+wall
		}
	default:
		result.Detail = a.refusal()
	}
	return result
}

// proves reports whether a condition shows the profile itself, so that nothing else in the answer
// can make it doubtful.
func (c Condition) proves() bool { return c.JSONEquals != "" }

func (c Condition) holds(a answer) bool {
	if len(c.Status) > 0 && !slices.Contains(c.Status, a.status) {
		return false
	}
	if c.Redirect != "" && !a.leadsTo(asIs(c.Redirect, a.username)) {
		return false
	}
	if c.JSONEquals != "" {
		value, there := a.at(c.JSONEquals)
		text, isText := value.(string)
		if !there || !isText || !strings.EqualFold(text, a.username) {
			return false
		}
	}
	if c.JSONNull != "" {
		if value, there := a.at(c.JSONNull); !there || value != nil {
			return false
		}
	}
	if len(c.Text) > 0 && !slices.ContainsFunc(c.Text, a.says) {
		return false
	}
	return len(c.NotText) == 0 || !a.cut && !slices.ContainsFunc(c.NotText, a.says)
}

// says reports whether the body has a text, in any case.
func (a answer) says(text string) bool {
	return bytes.Contains(bytes.ToLower(a.body), []byte(strings.ToLower(asIs(text, a.username))))
}

// at returns the value at a path such as data.user.username, and whether there is one.
func (a answer) at(path string) (any, bool) {
	if !a.isJSON {
		return nil, false
	}
	value := a.data
	for name := range strings.SplitSeq(path, ".") {
		object, is := value.(map[string]any)
		if !is {
			return nil, false
		}
		if value, is = object[name]; !is {
			return nil, false
		}
	}
	return value, true
}

// location is where the answer leads to; empty if nowhere. One that is relative leads to the address that
// was asked, whose password is nobody's business.
func (a answer) location() string {
	if a.status < 300 || a.status >= 400 {
		return ""
	}
	to, err := a.asked.Parse(a.header.Get("Location"))
	if err != nil || a.header.Get("Location") == "" {
		return ""
	}
	to.User = nil
	return to.String()
}

// leadsTo reports whether the answer leads to an address or below it. That of a whole site must be
// met exactly: a page for logging in is below it, too.
func (a answer) leadsTo(address string) bool {
	to := a.location()
	if to == "" || isLogin(to) && !isLogin(address) {
		return false
	}
	if u, err := url.Parse(address); err == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		return strings.TrimSuffix(to, "/") == strings.TrimSuffix(address, "/")
	}
	return strings.HasPrefix(to, address)
}

func isLogin(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	path := strings.ToLower(u.Path)
	return slices.ContainsFunc([]string{"login", "signin", "sign_in", "challenge", "checkpoint", "consent", "captcha", "suspended"},
		func(word string) bool { return strings.Contains(path, word) || strings.HasPrefix(u.Host, word+".") })
}

// walls are texts of pages that stand between a site and callers whom it takes for programs, and
// codes are what sites answer to them where they answer data.
var (
	walls = []string{
		"please wait a few minutes", "<title>just a moment", "attention required! | cloudflare", "challenge-error-text",
		"challenges.cloudflare.com/cdn-cgi", "awswafintegration", "_incapsula_resource", "px-captcha",
		"perimeterxidentifiers", "verify you are human", "unusual traffic from your",
	}
	codes = []string{"checkpoint_required", "challenge_required", "feedback_required", "login_required", "rate_limit_exceeded"}
)

// wall returns what in the body shows that the site does not answer callers like this one.
func (a answer) wall() string {
	body, texts := bytes.ToLower(a.body), walls
	if a.isJSON { // a page may have the words in its scripts
		texts = slices.Concat(codes, walls)
	}
	for _, text := range texts {
		if bytes.Contains(body, []byte(text)) {
			return strings.TrimPrefix(text, "<title>")
		}
	}
	return ""
}

// refusal says in words why an answer is none.
func (a answer) refusal() string {
	words := fmt.Sprintf("status %d", a.status)
	switch {
	case a.status == http.StatusTooManyRequests:
		words = "too many requests (status 429)"
	case a.location() != "" && isLogin(a.location()):
		words = fmt.Sprintf("the site leads to its page for logging in (status %d)", a.status)
	case a.status >= 300 && a.status < 400:
		words = fmt.Sprintf("the site leads elsewhere (status %d to %s)", a.status, brief(a.location()))
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		words = fmt.Sprintf("the site refuses to answer (status %d)", a.status)
	case a.status >= 500:
		words = fmt.Sprintf("the site has a fault (status %d)", a.status)
	}
	if wall := a.wall(); wall != "" {
		return words + ": " + wall
	}
	if message, ok := a.at("message"); ok {
		if text, is := message.(string); is && text != "" {
			return words + ": " + brief(text)
		}
	}
	if a.status < 300 {
		switch start := bytes.ToLower(bytes.TrimSpace(a.body)); {
		case a.cut:
			return words + ", and more than 1 MB of it"
		case bytes.HasPrefix(start, []byte("<")):
			return words + " with a page that is not the profile's, perhaps that for logging in"
		case len(start) == 0:
			return words + " with nothing in it"
		case !a.isJSON:
			return words + " with data that cannot be read"
		}
		return words + " with data that do not say whether there is such a profile"
	}
	return words
}

// brief keeps foreign words short and on one line.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// maxRetryAfter bounds what a site may ask for.
const maxRetryAfter = 24 * time.Hour

func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(0, seconds), int64(maxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	return 0
}
