package profile

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Rule says how a site is asked and what its answers mean. {} stands for the user name in URL,
// ProbeURL, ErrorURL, the headers and the texts of conditions.
type Rule struct {
	Site     string            // what the site is called: the key in the file, in lower case
	URL      string            // of the profile, for people
	Home     string            // of the site
	ProbeURL string            // what is asked; empty means URL
	Headers  map[string]string // of the request
	Pattern  string            // what a user name looks like, as a regular expression
	Reserved []string          // what stands in addresses where a user name would, and is none, in lower case
	Canaries []string          // user names that surely exist, at least one
	Found    []Condition       // any of them means that the profile exists
	Absent   []Condition       // any of them means that it does not, if the canary was found
	// Rest is how long the site wants to be left in peace after a check, for each account that is looked
	// for there: it bounds how many questions there are in a day, however many the accounts.
	Rest time.Duration
	// Via is ViaIdentity for a site that is asked through a login of Belfry's, not over HTTP.
	Via string

	pattern *regexp.Regexp
}

// ViaIdentity marks a site that is asked through a login.
const ViaIdentity = "identity"

// Condition is what an answer must be like. All parts that are given must hold.
type Condition struct {
	Status     []int    `json:"status,omitempty"`      // one of these
	JSONEquals string   `json:"json_equals,omitempty"` // path of a JSON string that is the user name, in any case
	JSONNull   string   `json:"json_null,omitempty"`   // path of a JSON value that is there and null
	Text       []string `json:"text,omitempty"`        // one of these is in the body
	NotText    []string `json:"not_text,omitempty"`    // none of these is in the body
	Redirect   string   `json:"redirect,omitempty"`    // the address that the answer leads to begins with this
}

// Rules are rules by site.
type Rules map[string]Rule

// Sites are the names of the sites in their order.
func (r Rules) Sites() []string { return slices.Sorted(maps.Keys(r)) }

// With returns the rules with others added; where both know a site, it is as the others say.
func (r Rules) With(others Rules) Rules {
	all := maps.Clone(r)
	maps.Copy(all, others)
	return all
}

// Profile is the address of a profile, for people.
func (r Rule) Profile(username string) string { return fill(r.URL, username, url.PathEscape) }

// Fits reports whether the site could have a user of this name.
func (r Rule) Fits(username string) bool {
	if username == "" || len(username) > maxName || !utf8.ValidString(username) || strings.ContainsFunc(username, notInNames) {
		return false
	}
	if slices.Contains(r.Reserved, strings.ToLower(username)) {
		return false
	}
	return r.pattern == nil || r.pattern.MatchString(username)
}

const maxName = 100

// notInNames reports whether no site has the character in its user names: because it ends a name in an
// address, or is not seen.
func notInNames(c rune) bool {
	return strings.ContainsRune(`/?#\`, c) || unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\ufeff' || c == '\u200b'
}

// Name returns the user name out of what people paste: the name, with or without @, or the address
// of the profile or of something that is below it, such as a post of the user's. It may not fit: that of
// a page which is nobody's profile has a reserved word where the name would be.
func (r Rule) Name(pasted string) string {
	name := strings.TrimSpace(pasted)
	before, after, _ := strings.Cut(r.URL, "{}")
	before = withoutScheme(before)
	if bare := withoutScheme(name); before == "" { // the name is a part of the host's
		host, _, _ := strings.Cut(after, "/")
		if i := len(part(bare)) - len(host); host != "" && i > 0 && strings.EqualFold(part(bare)[i:], host) {
			name = bare[:i]
		}
	} else if len(bare) >= len(before) && strings.EqualFold(bare[:len(before)], before) {
		name = part(bare[len(before):])
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
	}
	return strings.TrimPrefix(name, "@")
}

// part is the beginning of an address up to where its next part begins.
func part(address string) string {
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		return address[:i]
	}
	return address
}

func withoutScheme(address string) string {
	for _, prefix := range []string{"https://", "http://"} {
		if len(address) >= len(prefix) && strings.EqualFold(address[:len(prefix)], prefix) {
			address = address[len(prefix):]
			break
		}
	}
	if len(address) >= 4 && strings.EqualFold(address[:4], "www.") {
		address = address[4:]
	}
	return address
}

// fill puts the user name into a pattern: escaped as escape does before a question mark, and as
// part of a query after it.
func fill(pattern, username string, escape func(string) string) string {
	path, query, has := strings.Cut(pattern, "?")
	path = strings.ReplaceAll(path, "{}", escape(username))
	if !has {
		return path
	}
	return path + "?" + strings.ReplaceAll(query, "{}", url.QueryEscape(username))
}

// asIs is the escape of texts.
func asIs(pattern, username string) string { return strings.ReplaceAll(pattern, "{}", username) }
