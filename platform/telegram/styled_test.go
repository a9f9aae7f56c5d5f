package telegram_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"belfry/platform"
	"belfry/platform/telegram"
)

func TestStyledIsWhatReadersSee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format   platform.Format
		in, text string
		spans    string // kind:text, and the address of a link
	}{
		{platform.Plain, " <b>a</b> & b", "<b>a</b> & b", ""},
		{platform.HTML, "<strong>a</strong> <em>b</em> <del>c</del> <ins>d</ins>", "a b c d", "bold:a italic:b strike:c underline:d"},
		{platform.HTML, `<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>`, "ab", "spoiler:a spoiler:b"},
		{platform.HTML, `<pre><code class="language-go">x&lt;y</code></pre>`, "x<y", "pre:x<y"},
		{platform.HTML, `<a href="https://example.com/?a=1&amp;b=2">x</a>`, "x", "link:x:https://example.com/?a=1&b=2"},
		{platform.HTML, "https://example.com/?a=1&copy=2&currency=RUB &copy;&#8212;&amp;lt;\r\n&nbsp;b&", "https://example.com/?a=1&copy=2&currency=RUB ©—&lt;\n\u00a0b&", ""},
		{platform.HTML, `<a href="tg://user?id=1">x</a>`, "x", "link:x"},
		{platform.HTML, "\n<blockquote expandable>дом 😀<br><b>a</b></blockquote>", "дом 😀\na", "quote:дом 😀\na bold:a"},
		{platform.HTML, `<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji><b><i>z</i></b>`, "👍z", "bold:z italic:z"},
		{platform.Markdown, "**a** *b* ~~c~~ ||d|| `e*f*`", "a b c d e*f*", "bold:a italic:b strike:c spoiler:d code:e*f*"},
		{platform.Markdown, "> quoted\n\n```go\nx<y\n```", "quoted\n\nx<y", "quote:quoted pre:x<y"},
		{platform.Markdown, "> ```\n> x\n> ```", "x", "quote:x pre:x"},
		{platform.Markdown, "[x](https://example.com) [y](javascript:alert(1))", "x y", "link:x:https://example.com link:y:javascript:alert(1)"},
		{platform.Markdown, "a\n\n    b *c*\n\nd\n\n\te", "a\n\nb c\n\nd\n\ne", "italic:c"},
		{platform.Markdown, "1. a\n\n    - b\n      - c\n\n2. d", "1. a\n\n- b\n- c\n\n2. d", ""},
		{platform.Markdown, "> a\n>\n>     b\n\nc", "a\n\nb\n\nc", "quote:a\n\nb"},
		{platform.Markdown, "z\n```\n    a\n\n\tb\n    ```\n```\n\n    c", "z\n\n    a\n\n\tb\n    ```\n\nc", "pre:    a\n\n\tb\n    ```"},
		{platform.Markdown, "1. a\n\n    ```go\n    if b {\n        c\n    }\n    ```\n\nd", "1. a\n\nif b {\n    c\n}\n\nd", "pre:if b {\n    c\n}"},
		{platform.Markdown, "> ```\n>     a\nb\n\n    c", "a\n\nb\n\nc", "quote:a pre:a"},
		{platform.Markdown, "# a <b>b</b>\ntwo", "# a <b>b</b>\ntwo", ""},
	} {
		got, err := new(telegram.Network).Styled(c.format, c.in)
		var spans []string
		for _, s := range got.Spans {
			spans = append(spans, strings.TrimSuffix(fmt.Sprintf("%s:%s:%s", s.Kind, got.Text[s.Start:s.End], s.URL), ":"))
		}
		if err != nil || got.Text != c.text || strings.Join(spans, " ") != c.spans {
			t.Errorf("%s %q: %q %q %v, want %q %q", c.format, c.in, got.Text, spans, err, c.text, c.spans)
		}
	}
	for _, refused := range []string{"<b>not closed", "closed</b> twice", "<table>a</table>"} {
		if _, err := new(telegram.Network).Styled(platform.HTML, refused); platform.AsError(err).Field != "text" {
			t.Errorf("%q: %v, want an error of the text", refused, err)
		}
	}
}

// FuzzStyled: whatever somebody writes, the spans are sorted, hold whole characters, and lie inside or beside each other.
func FuzzStyled(f *testing.F) {
	for _, seed := range []string{
		"<b>a <i>b</i></b>", " <b> дом 😀 </b> ", "<pre><code>x</code></pre>", "<a href='https://x'>y</a>", "**a *b* c**", "> `a`\n\n> ||b||",
		"\xff<b>\xf0\x9f</b>", "<b>\n</b><i> </i>z", "~~a **b~~ c**", "![👍](tg://emoji?id=5)", "[**a**](tg://user?id=7)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []platform.Format{platform.HTML, platform.Markdown, platform.Plain} {
			s, err := new(telegram.Network).Styled(format, text)
			if err != nil {
				continue
			}
			if !utf8.ValidString(s.Text) || s.Text != strings.TrimSpace(s.Text) {
				t.Errorf("%s %q: the text is %q", format, text, s.Text)
			}
			start, open := 0, []int{len(s.Text)} // the ends of the spans that hold the next one
			for _, span := range s.Spans {
				for len(open) > 1 && open[len(open)-1] <= span.Start {
					open = open[:len(open)-1]
				}
				if span.Start < start || span.Start >= span.End || span.End > open[len(open)-1] || !utf8.ValidString(s.Text[span.Start:span.End]) {
					t.Fatalf("%s %q: %v in %v", format, text, span, s)
				}
				start, open = span.Start, append(open, span.End)
			}
		}
	})
}
