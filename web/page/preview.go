package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// formatted renders a text as its readers see it. Of HTML it lets through only Telegram's own tags,
// without any attribute but a web address, so nothing that others wrote can do more than look.
func formatted(format, text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	switch format {
	case "html":
		return sanitised(text)
	case "markdown":
		return markdown(text)
	}
	return html.EscapeString(text)
}

// PlainText is the text without its markup.
func PlainText(format, text string) string {
	var out strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(string(formatted(format, text))))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			out.WriteString(tokens.Token().Data)
		}
	}
}

// firstLine is the first line of a text without its markup.
func firstLine(format, text string) string {
	const enough = 4000 // bytes: no title is longer, and texts can be
	if len(text) > enough {
		text = text[:enough]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(PlainText(format, text)), "\n")
	return strings.Join(strings.Fields(line), " ")
}

// shorten cuts a text to about n characters, at a space if there is one near.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	cut := string(r[:n])
	if i := strings.LastIndex(cut, " "); i > len(cut)*2/3 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " .,:;–—-") + "…"
}

// sanitiser writes Telegram's HTML anew.
type sanitiser struct {
	out  strings.Builder
	open []tag
}

// tag is an element that was opened, and what closes it in the output; empty if nothing was written.
type tag struct{ name, closing string }

func sanitised(source string) string {
	var s sanitiser
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := string(tokens.Raw())
		token := tokens.Token()
		switch kind {
		case html.TextToken:
			s.out.WriteString(html.EscapeString(token.Data))
		case html.StartTagToken, html.SelfClosingTagToken:
			s.start(token, raw)
		case html.EndTagToken:
			s.end(token.Data, raw)
		}
	}
	for len(s.open) > 0 {
		s.pop()
	}
	return s.out.String()
}

func (s *sanitiser) start(token html.Token, raw string) {
	if token.Data == "br" {
		s.out.WriteString("\n")
		return
	}
	opening, closing, known := telegramTag(token)
	if !known {
		s.out.WriteString(html.EscapeString(raw))
		return
	}
	s.out.WriteString(opening)
	s.open = append(s.open, tag{token.Data, closing})
	if token.Type == html.SelfClosingTagToken {
		s.pop()
	}
}

// end closes the innermost element of that name and what was opened inside it.
func (s *sanitiser) end(name, raw string) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].name == name {
			for len(s.open) > i {
				s.pop()
			}
			return
		}
	}
	if name != "br" {
		s.out.WriteString(html.EscapeString(raw))
	}
}

func (s *sanitiser) pop() {
	last := len(s.open) - 1
	s.out.WriteString(s.open[last].closing)
	s.open = s.open[:last]
}

// telegramTag returns what stands for one of Telegram's tags on the page.
func telegramTag(token html.Token) (opening, closing string, known bool) {
	attr := make(map[string]string, len(token.Attr))
	for _, a := range token.Attr {
		attr[a.Key] = a.Val
	}
	switch name := token.Data; name {
	case "b", "strong":
		return "<b>", "</b>", true
	case "i", "em":
		return "<i>", "</i>", true
	case "u", "ins":
		return "<u>", "</u>", true
	case "s", "strike", "del":
		return "<s>", "</s>", true
	case "code":
		return "<code>", "</code>", true
	case "pre":
		return "<pre>", "</pre>", true
	case "blockquote":
		return "<blockquote>", "</blockquote>", true
	case "tg-spoiler":
		return spoilerOpening, "</span>", true
	case "span":
		return spoilerOpening, "</span>", attr["class"] == "tg-spoiler"
	case "tg-emoji":
		return "", "", true
	case "a":
		opening, closing = linkTag(attr["href"])
		return opening, closing, true
	}
	return "", "", false
}

const spoilerOpening = `<span class="spoiler">`

// linkTag links to the web and to nothing else; other addresses only look like links.
func linkTag(address string) (opening, closing string) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return `<span class="link">`, "</span>"
	}
	return `<a href="` + html.EscapeString(u.String()) + `" rel="noreferrer noopener nofollow" target="_blank">`, "</a>"
}
