package x

import (
	"strings"
	"testing"
)

func TestWeightIsXsOwn(t *testing.T) {
	for text, want := range map[string]int{
		"":                0,
		"hello":           5,
		"Привет, мир":     11,
		"日本語":             6,
		"한국어":             6,
		"🙂":               2,
		"👨‍👩‍👧‍👦":         2,
		"👍🏽":              2,
		"🇩🇪🇫🇷":            4,
		"1️⃣2":            3,
		"☀️!":             3,
		"“quotes” – and…": 16,
		"e\u0301":         1, // é
		"https://example.com/a/very/long/path?x=": 23,
		"see https://example.com.":                28,
		"see example.com/path, please":            4 + 23 + 8,
		"a.b and v1.2.3":                          14,
		"mail me@example.com":                     19,
		"пример.рф":                               23,
		strings.Repeat("a", 281):                  281,
	} {
		if got := Weight(text); got != want {
			t.Errorf("%q weighs %d, not %d", text, got, want)
		}
	}
}
