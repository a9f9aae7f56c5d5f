package i18n

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Heard says what others have said, such as a network, in English words that are stored as they were: in the
// reader's language if they are one of the messages of "heard", and else as they are. A network's own name for
// an error comes last, wherever it was.
func (p Printer) Heard(words string) string {
	if code, rest, ok := strings.Cut(words, ": "); ok && isCode(code) {
		return p.known(rest) + " (" + code + ")"
	}
	if i := strings.LastIndex(words, " ("); i > 0 && strings.HasSuffix(words, ")") && isCode(words[i+2:len(words)-1]) {
		return p.known(words[:i]) + words[i:]
	}
	return p.known(words)
}

// isCode reports whether a word is a network's name for an error, such as SESSION_REVOKED.
func isCode(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// known says words that are a message of "heard".
func (p Printer) known(words string) string {
	for _, s := range sentences() {
		if !strings.HasPrefix(words, s.begin) {
			continue
		}
		if found := s.pattern.FindStringSubmatch(words); found != nil {
			args := make([]any, len(found)-1)
			for i, part := range found[1:] {
				args[i] = p.Heard(part)
			}
			return p.T("heard."+s.name, args...)
		}
	}
	return words
}

// sentence finds the message of "heard" of that name in English words.
type sentence struct {
	name, begin, text string
	pattern           *regexp.Regexp
}

// sentences are those of "heard", the longer before the shorter: they say more.
var sentences = sync.OnceValue(func() (all []sentence) {
	for key, forms := range catalogues()[Languages[0]].messages {
		if name, ok := strings.CutPrefix(key, "heard."); ok {
			text := forms[""]
			begin, _, _ := strings.Cut(text, "%s")
			pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), "%s", "(.+?)") + "$")
			all = append(all, sentence{name, begin, text, pattern})
		}
	}
	slices.SortFunc(all, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	return all
})
