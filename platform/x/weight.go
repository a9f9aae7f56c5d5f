package x

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/unicode/norm"
)

const (
	maxWeight  = 280
	linkWeight = 23 // however long the link is
)

var (
	link      = regexp.MustCompile(`(?i)https?://[^\s<>"]+`)
	bare      = regexp.MustCompile(`(?i)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}(?:/[^\s<>"]*)?`)
	afterLink = ".,:;!?'\"»)]…"
)

// Weight is the length of a text as X counts it: most letters are 1, those of Chinese, Japanese and Korean and each
// emoji 2, each link 23. The ranges are those of twitter-text's configuration 3.
func Weight(text string) int {
	text = norm.NFC.String(text)
	weight := 0
	text = link.ReplaceAllStringFunc(text, func(found string) string {
		weight += linkWeight
		return found[len(strings.TrimRight(found, afterLink)):]
	})
	for at := 0; at < len(text); {
		where := bare.FindStringIndex(text[at:])
		if where == nil {
			return weight + plainWeight(text[at:])
		}
		from, to := at+where[0], at+where[1]
		weight += plainWeight(text[at:from])
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		to = from + len(strings.TrimRight(text[from:to], afterLink))
		if host, _, _ := strings.Cut(text[from:to], "/"); before == '@' || !public(host) {
			weight += plainWeight(text[from:to])
		} else {
			weight += linkWeight
		}
		at = to
	}
	return weight
}

// public reports whether a host has an ending that is given to sites, so that X makes a link of it.
func public(host string) bool {
	host, err := idna.ToASCII(strings.ToLower(host))
	suffix, known := publicsuffix.PublicSuffix(host)
	return err == nil && (known || strings.Contains(suffix, ".")) && suffix != host
}

func plainWeight(text string) (weight int) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		if n := emoji(runes[i:]); n > 0 {
			weight += 2
			i += n
			continue
		}
		if r := runes[i]; r <= 4351 || r >= 8192 && r <= 8205 || r >= 8208 && r <= 8223 || r >= 8242 && r <= 8247 {
			weight++
		} else {
			weight += 2
		}
		i++
	}
	return weight
}

const (
	joiner    = '\u200d'
	textStyle = '\ufe0f' // shows what is before it as a picture
	keycap    = '\u20e3'
)

// emoji returns how many characters the emoji has that a text begins with; 0 if it begins with none.
func emoji(text []rune) int {
	next := func(i int) rune {
		if i < len(text) {
			return text[i]
		}
		return 0
	}
	switch r := text[0]; {
	case strings.ContainsRune("0123456789#*", r):
		if next(1) == keycap {
			return 2
		}
		if next(1) == textStyle && next(2) == keycap {
			return 3
		}
		return 0
	case flag(r):
		if flag(next(1)) {
			return 2
		}
		return 1
	case next(1) == textStyle || r >= 0x1f000 && r < 0x20000 || r >= 0x2190 && r < 0x3300 && unicode.Is(unicode.So, r):
	default:
		return 0
	}
	n := 1
	for {
		switch r := next(n); {
		case r == textStyle, r == keycap, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0020 && r <= 0xe007f:
			n++
		case r == joiner && n+1 < len(text):
			n += 2
		default:
			return n
		}
	}
}

func flag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
