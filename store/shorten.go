package store

import (
	"strings"
	"unicode/utf8"
)

// Shorten returns a text as it is shown beside others: with at most most characters, the last of which is an
// ellipsis if some are left out.
func Shorten(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n == most && utf8.RuneCountInString(text[i:]) > 1 {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}
