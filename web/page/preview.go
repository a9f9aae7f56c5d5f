package page

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"belfry/platform"
	"belfry/store"
)

// styled is the text of a post as its network reads it, or as it is where the network cannot read it.
func (v view) styled(p store.Post) platform.Styled {
	text, _ := v.server.styled(p.Platform, p.Format, p.Text)
	return text
}

// firstLine is the first line of a post without its markup.
func (v view) firstLine(p store.Post) string {
	const enough = 4000 // bytes: no title is longer, and texts can be
	text, err := v.server.styled(p.Platform, p.Format, p.Text[:min(len(p.Text), enough)])
	if err != nil && len(p.Text) > enough { // cut inside a tag
		text = v.styled(p)
	}
	line, _, _ := strings.Cut(text.Text, "\n")
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

// styledHTML renders a text as its readers see it.
func styledHTML(text platform.Styled) string {
	w := styledWriter{Styled: text}
	w.write(len(text.Text))
	return w.out.String()
}

// styledWriter writes a text with its spans as HTML.
type styledWriter struct {
	platform.Styled // the spans are those that are still to be written
	at              int
	out             strings.Builder
}

// write writes the text up to end, with the spans that begin before it.
func (w *styledWriter) write(end int) {
	for len(w.Spans) > 0 && w.Spans[0].Start < end {
		span := w.Spans[0]
		w.Spans = w.Spans[1:]
		w.words(span.Start)
		opening, closing := spanTag(span)
		w.out.WriteString(opening)
		w.write(min(span.End, end))
		w.out.WriteString(closing)
	}
	w.words(end)
}

func (w *styledWriter) words(end int) {
	if end > w.at {
		w.out.WriteString(templ.EscapeString(w.Text[w.at:end]))
		w.at = end
	}
}

// spanTag returns what stands for a span on the page. Links lead to the web and to nothing else; other
// addresses only look like links.
func spanTag(span platform.Span) (opening, closing string) {
	switch span.Kind {
	case platform.Spoiler:
		return `<span class="spoiler">`, "</span>"
	case platform.Link:
		u, err := url.Parse(span.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return `<span class="link">`, "</span>"
		}
		return `<a href="` + templ.EscapeString(u.String()) + `" rel="noreferrer noopener nofollow" target="_blank">`, "</a>"
	}
	name := map[platform.SpanKind]string{
		platform.Bold: "b", platform.Italic: "i", platform.Underline: "u", platform.Strike: "s",
		platform.Code: "code", platform.Pre: "pre", platform.Quote: "blockquote",
	}[span.Kind]
	return "<" + name + ">", "</" + name + ">"
}
