package notices

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"belfry/store"
)

func units(text string) int { return len(utf16.Encode([]rune(text))) }

func TestATextThatIsTooLongIsCutWhereItHurtsLeast(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fits":                      {strings.Repeat("я", 32), strings.Repeat("я", 32)},
		"fits by surrogates":        {strings.Repeat("🔔", 16), strings.Repeat("🔔", 16)},
		"one line":                  {strings.Repeat("я", 33), strings.Repeat("я", 30) + "…"},
		"surrogates are not parted": {"a" + strings.Repeat("🔔", 16), "a" + strings.Repeat("🔔", 14) + "…"},
		"a line ends near":          {strings.Repeat("a", 29) + "\n" + strings.Repeat("b", 9), strings.Repeat("a", 29) + "\n…"},
		"a line ends at the end":    {strings.Repeat("a", 30) + "\n" + strings.Repeat("b", 9), strings.Repeat("a", 30) + "\n…"},
		"a line ends too late":      {strings.Repeat("a", 31) + "\n" + strings.Repeat("b", 9), strings.Repeat("a", 30) + "…"},
		"a line ends too early":     {"title\n" + strings.Repeat("b", 40), "title\n" + strings.Repeat("b", 24) + "…"},
	} {
		if got := shorten(c.text, 32); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(r, "limit")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aя🔔\n ")), 0, 60, -1).Draw(r, "text")
		got := shorten(text, limit)
		if units(text) <= limit && got != text || units(got) > limit || !utf8.ValidString(got) {
			r.Errorf("%q was cut to %q, which has %d units", text, got, units(got))
		}
		if kept, cut := strings.CutSuffix(got, "…"); cut && !strings.HasPrefix(text, kept) {
			r.Errorf("%q was cut to %q", text, got)
		}
	})
}

func TestNobodyIsToldMoreThanTelegramTakes(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		long := strings.Repeat("🔔 all bells ring\n", 1000)
		b.tell(long, "@owner")
		b.Update(func(tx *store.Tx) error {
			if _, err := b.worker.Send(tx, store.Notice{Kind: "backup", Chat: "100", Text: long, File: "b.age"}); err != nil {
				return err
			}
			return b.worker.TellHook(tx, "test", []byte(long))
		})
		b.Pass(1)
		if len(b.bot.messages) != 4 {
			t.Errorf("%d messages", len(b.bot.messages))
		}
		for _, m := range b.bot.messages {
			limit := 4096
			if m.file != "" {
				limit = 1024
			}
			if n := units(m.text); n > limit || n < limit-20 || !strings.HasSuffix(m.text, "ring\n…") {
				t.Errorf("%s was told %d units, %q at the end", m.chat, n, m.text[len(m.text)-20:])
			}
		}
		if m := b.hook.messages; len(m) != 1 || m[0].text != long {
			t.Errorf("the webhook was told %d messages", len(m))
		}
	})
}
