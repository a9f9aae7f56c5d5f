package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestAPreviewShowsTelegramsMarkup(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"plain", "<b>a</b> & b", "&lt;b&gt;a&lt;/b&gt; &amp; b"},
		{"html", "<strong>a</strong> <em>b</em> <del>c</del> <ins>d</ins>", "<b>a</b> <i>b</i> <s>c</s> <u>d</u>"},
		{"html", `<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>`, `<span class="spoiler">a</span><span class="spoiler">b</span>`},
		{"html", `<pre><code class="language-go">x &lt; y</code></pre>`, "<pre><code>x &lt; y</code></pre>"},
		{"html", `<a href="https://example.com/?a=1&amp;b=2">x</a>`, `<a href="https://example.com/?a=1&amp;b=2" rel="noreferrer noopener nofollow" target="_blank">x</a>`},
		{"html", `<a href="tg://user?id=1">x</a>`, `<span class="link">x</span>`},
		{"html", "<b>not closed", "<b>not closed</b>"},
		{"html", "closed</b> twice", "closed&lt;/b&gt; twice"},
		{"html", "a<br>b", "a\nb"},
		{"html", "<table>a</table>", "&lt;table&gt;a&lt;/table&gt;"},
		{"html", `<blockquote expandable>a</blockquote>`, "<blockquote>a</blockquote>"},
		{"html", `<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`, "👍"},
		{"markdown", "**a** *b* ~~c~~ ||d|| `e*f*`", `<b>a</b> <i>b</i> <s>c</s> <span class="spoiler">d</span> <code>e*f*</code>`},
		{"markdown", "> quoted\n\n```go\nx < y\n```", "<blockquote>quoted</blockquote>\n\n<pre>x &lt; y</pre>"},
		{"markdown", "[x](https://example.com) [y](javascript:alert(1))", `<a href="https://example.com" rel="noreferrer noopener nofollow" target="_blank">x</a> <span class="link">y</span>`},
		{"markdown", "# a <b>b</b>", "# a &lt;b&gt;b&lt;/b&gt;"},
		{"markdown", "one\ntwo", "one\ntwo"},
	} {
		if got := string(formatted(c.format, c.text)); got != c.want {
			t.Errorf("%s %q:\n got %s\nwant %s", c.format, c.text, got, c.want)
		}
	}
}

// FuzzPreview: whatever somebody writes, the preview has no other tags than the few that it needs,
// and no other attributes than a link's.
func FuzzPreview(f *testing.F) {
	for _, seed := range []string{
		`<img src=x onerror=alert(1)>`, `<script>alert(1)</script>`, `<a href="javascript:alert(1)" onclick="x">y</a>`, `<b hx-get="/logins">a</b>`,
		`<a href='https://x/"><img src=x>'>y</a>`, `<style>*{}</style>`, `<!-- --><svg/onload=alert(1)>`, `<<b>>`, "[a](<https://x/\"onmouseover=y>)",
		`<div hx-swap-oob="true" id="live" sse-connect="//attacker.example">`, `</textarea><title>`, "`<b>`", `<a href="https://x" <b>`, "\x00<b\x00>", `<plaintext>`,
		`<a href="https://example.com/&quot; hx-get=&quot;/x">z</a>`, "||<i>||", `<xmp><b>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	} {
		f.Add(seed)
	}
	allowed := map[string]bool{"b": true, "i": true, "u": true, "s": true, "code": true, "pre": true, "blockquote": true, "span": true, "a": true}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []string{"html", "markdown", "plain"} {
			out := string(formatted(format, text))
			document, err := html.Parse(strings.NewReader("<body><div id=outside>" + out + "</div></body>"))
			if err != nil {
				t.Fatal(err)
			}
			var walk func(*html.Node)
			walk = func(n *html.Node) {
				if n.Type == html.ElementNode && !allowed[n.Data] && n.Data != "html" && n.Data != "head" && n.Data != "body" && n.Data != "div" {
					t.Errorf("%s %q has <%s>: %s", format, text, n.Data, out)
				}
				for _, a := range n.Attr {
					switch {
					case a.Key == "id" && a.Val == "outside", n.Data == "span" && a.Key == "class":
					case n.Data == "a" && (a.Key == "rel" || a.Key == "target" || (a.Key == "href" && webAddress(a.Val) != "")):
					default:
						t.Errorf("%s %q has %s=%q: %s", format, text, a.Key, a.Val, out)
					}
				}
				for child := n.FirstChild; child != nil; child = child.NextSibling {
					walk(child)
				}
			}
			walk(document)
			if shorten(firstLine(format, text), 90) == "" && strings.TrimSpace(PlainText(format, text)) != "" && strings.Trim(PlainText(format, text), " \t\r\n\v\f.,:;–—-\u0085\u00a0") != "" {
				t.Errorf("%s %q has no title", format, text)
			}
		}
	})
}
