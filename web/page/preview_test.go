package page

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/posts"
)

func TestSpansAreRendered(t *testing.T) {
	span := func(kind platform.SpanKind, start, end int) platform.Span {
		return platform.Span{Kind: kind, Start: start, End: end}
	}
	link := func(address string) []platform.Span {
		return []platform.Span{{Kind: platform.Link, End: 1, URL: address}}
	}
	for _, c := range []struct {
		text  string
		spans []platform.Span
		want  string
	}{
		{"<b>a</b> & b", nil, "&lt;b&gt;a&lt;/b&gt; &amp; b"},
		{"a b c d", []platform.Span{span(platform.Bold, 0, 1), span(platform.Italic, 2, 3), span(platform.Strike, 4, 5), span(platform.Underline, 6, 7)},
			"<b>a</b> <i>b</i> <s>c</s> <u>d</u>"},
		{"ab", []platform.Span{span(platform.Spoiler, 0, 1), span(platform.Spoiler, 1, 2)}, `<span class="spoiler">a</span><span class="spoiler">b</span>`},
		{"x < y\nz", []platform.Span{span(platform.Quote, 0, 5), span(platform.Pre, 0, 5), span(platform.Code, 6, 7)},
			"<blockquote><pre>x &lt; y</pre></blockquote>\n<code>z</code>"},
		{"one two three", []platform.Span{span(platform.Bold, 0, 13), span(platform.Italic, 4, 7), span(platform.Code, 8, 13)},
			"<b>one <i>two</i> <code>three</code></b>"},
		{"дом 😀!", []platform.Span{span(platform.Bold, 7, 11)}, "дом <b>😀</b>!"},
		{"x", link("https://example.com/?a=1&b=2"), `<a href="https://example.com/?a=1&amp;b=2" rel="noreferrer noopener nofollow" target="_blank">x</a>`},
		{"x", link("javascript:alert(1)"), `<span class="link">x</span>`},
		{"x", link("https:"), `<span class="link">x</span>`},
		{"x", link(""), `<span class="link">x</span>`},
	} {
		if got := styledHTML(platform.Styled{Text: c.text, Spans: c.spans}); got != c.want {
			t.Errorf("%q %v:\n got %s\nwant %s", c.text, c.spans, got, c.want)
		}
	}
}

// FuzzStyledHTML: whatever the spans are, the preview has the text, no other tags than the few that it needs, each
// closed in its place, and no other attributes than a link's.
func FuzzStyledHTML(f *testing.F) {
	kinds := []platform.SpanKind{platform.Bold, platform.Italic, platform.Underline, platform.Strike, platform.Code, platform.Pre,
		platform.Quote, platform.Spoiler, platform.Link}
	f.Add(`<img src=x onerror=alert(1)>`, `javascript:alert(1)`, []byte{8, 0, 5})
	f.Add(`</textarea><title>`, `https://x/"onmouseover=y`, []byte{8, 0, 9, 0, 3, 12})
	f.Add("one two", `https://example.com/" hx-get="/x`, []byte{8, 0, 7, 0, 5, 3, 1, 2, 6, 7, 3, 3})
	f.Add(`<div hx-swap-oob="true" id="live">`, `https://x'><img src=x>`, []byte{5, 200, 201, 6, 9, 250, 8, 1, 2})
	f.Add("дом 😀", `//x`, []byte{4, 1, 3, 8, 0, 255, 0, 5, 2})
	f.Fuzz(func(t *testing.T, text, address string, marks []byte) {
		styled := platform.Styled{Text: strings.ReplaceAll(text, "\r", "")}
		for mark := range slices.Chunk(marks, 3) {
			if len(mark) == 3 {
				styled.Spans = append(styled.Spans, platform.Span{Kind: kinds[int(mark[0])%len(kinds)], Start: int(mark[1]) - 5, End: int(mark[2]) - 5, URL: address})
			}
		}
		out := styledHTML(styled)
		var words strings.Builder
		var open []string
		for tokens := html.NewTokenizer(strings.NewReader(out)); tokens.Next() != html.ErrorToken; {
			token := tokens.Token()
			switch token.Type {
			case html.TextToken:
				words.WriteString(token.Data)
			case html.StartTagToken:
				open = append(open, token.Data)
				for _, a := range token.Attr {
					switch {
					case token.Data == "span" && a.Key == "class":
					case token.Data == "a" && (a.Key == "rel" || a.Key == "target" || (a.Key == "href" && webAddress(a.Val) != "")):
					default:
						t.Errorf("%s=%q in %s", a.Key, a.Val, out)
					}
				}
			case html.EndTagToken:
				if len(open) == 0 || open[len(open)-1] != token.Data {
					t.Fatalf("</%s> closes %v in %s", token.Data, open, out)
				}
				open = open[:len(open)-1]
			default:
				t.Errorf("%v in %s", token, out)
			}
			if allowed := []string{"b", "i", "u", "s", "code", "pre", "blockquote", "span", "a"}; token.Type != html.TextToken && !slices.Contains(allowed, token.Data) {
				t.Errorf("<%s> in %s", token.Data, out)
			}
		}
		if len(open) > 0 || words.String() != styled.Text {
			t.Errorf("%v is open and the text is %q, want %q: %s", open, words.String(), styled.Text, out)
		}
	})
}

// boldNetwork reads one <b> at the start of a text, and refuses text in which it is not closed.
type boldNetwork struct {
	posts.Network
	read int // bytes that it has read
}

func (n *boldNetwork) Styled(_ platform.Format, text string) (platform.Styled, error) {
	n.read += len(text)
	bold, rest, closed := strings.Cut(strings.TrimPrefix(text, "<b>"), "</b>")
	if !closed {
		return platform.Styled{}, errors.New("<b> is not closed")
	}
	return platform.Styled{Text: bold + rest, Spans: []platform.Span{{Kind: platform.Bold, End: len(bold)}}}, nil
}

func TestATitleHasNoMarkup(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	for _, c := range []struct {
		name, text, want string
		reads            int // bytes at most
	}{
		{"first line", "<b>The  bridge</b> opens\nand more", "The bridge opens", 100},
		{"long text is not read to its end", "<b>The bridge</b>\n" + long, "The bridge", 4000},
		{"markup that ends far away", "<b>The bridge\n" + long + "</b>", "The bridge", 4000 + len(long) + 100},
		{"text that is refused", "<b>The bridge", "<b>The bridge", 100},
	} {
		network := &boldNetwork{}
		v := view{server: &Server{styled: posts.New(nil, map[string]posts.Network{"telegram": network}, posts.Config{}).Styled}}
		if got := v.firstLine(store.Post{Platform: "telegram", Format: "html", Text: c.text}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if network.read > c.reads {
			t.Errorf("%s: %d bytes were read, want at most %d", c.name, network.read, c.reads)
		}
	}
}
