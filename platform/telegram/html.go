package telegram

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotd/td/telegram/message/entity"
	"github.com/gotd/td/tg"
	"golang.org/x/net/html"
)

// htmlReader reads the HTML of the Bot API (core.telegram.org/bots/api#html-style). It is as
// strict: an unknown tag, or one that is not closed, is an error, because readers would see a
// text other than the writer's. In addition it takes <br> for a line break.
type htmlReader struct {
	text  strings.Builder
	units int // length of text so far, UTF-16
	open  []element
	found []tg.MessageEntityClass
}

// element is a tag that is open.
type element struct {
	name     string
	start    int // UTF-16 units
	byte     int // the same in bytes
	format   entity.Formatter
	link     bool   // an <a> without href: its text is the address
	language string // of a <pre>
}

func parseHTML(source string) (styled, error) {
	var r htmlReader
	tokens := html.NewTokenizer(strings.NewReader(source))
	read := 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			if !errors.Is(tokens.Err(), io.EOF) {
				return styled{}, fmt.Errorf("read the HTML: %w", tokens.Err())
			}
			break
		}
		raw := tokens.Raw()
		at := read
		read += len(raw)
		if kind == html.CommentToken && strings.HasPrefix(string(raw), "</") {
			return styled{}, fmt.Errorf("%q at character %d closes nothing", raw, units(source[:at])+1)
		}
		if kind == html.TextToken { // before Token, which would change raw
			r.write(unescape(string(raw)))
			continue
		}
		token := tokens.Token()
		var err error
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			err = r.start(token, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			err = r.end(token.Data)
		}
		if err != nil {
			return styled{}, fmt.Errorf("%w (at character %d)", err, units(source[:at])+1)
		}
	}
	if read < len(source) {
		return styled{}, fmt.Errorf("the tag %q is not finished: write &lt; for a plain <", cut(source[read:], 20))
	}
	if len(r.open) > 0 {
		name := r.open[len(r.open)-1].name
		return styled{}, fmt.Errorf("<%s> is not closed: add </%s>", name, name)
	}
	slices.Reverse(r.found) // tags are found inside out, and read outside in
	return styled{text: r.text.String(), entities: r.found}, nil
}

var reference = regexp.MustCompile(`&#?[0-9A-Za-z]+;`)

// unescape reads the character references of a text. As for the Bot API, what lacks the semicolon is none: to HTML,
// https://example.com/?a=1&copy=2 has a ©.
func unescape(s string) string {
	return reference.ReplaceAllStringFunc(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), html.UnescapeString)
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func (r *htmlReader) write(s string) {
	r.text.WriteString(s)
	r.units += units(s)
}

func (r *htmlReader) start(token html.Token, closed bool) error {
	attr := map[string]string{}
	for _, a := range token.Attr {
		attr[a.Key] = a.Val
	}
	e := element{name: token.Data, start: r.units, byte: r.text.Len()}
	switch e.name {
	case "br":
		r.write("\n")
		return nil
	case "b", "strong":
		e.format = entity.Bold()
	case "i", "em":
		e.format = entity.Italic()
	case "u", "ins":
		e.format = entity.Underline()
	case "s", "strike", "del":
		e.format = entity.Strike()
	case "tg-spoiler":
		e.format = entity.Spoiler()
	case "span":
		if attr["class"] != "tg-spoiler" {
			return errors.New(`<span> is only known as <span class="tg-spoiler">`)
		}
		e.format = entity.Spoiler()
	case "blockquote":
		_, collapsed := attr["expandable"]
		e.format = entity.Blockquote(collapsed)
	case "a":
		e.link = attr["href"] == ""
		e.format = linkTo(attr["href"])
	case "pre":
		e.format = entity.Pre("")
	case "code":
		language, named := strings.CutPrefix(attr["class"], "language-")
		if parent := r.parent("pre"); parent != nil { // only names the language
			if named {
				parent.language = language
			}
			break
		}
		e.format = entity.Code()
	case "tg-emoji":
		id, err := strconv.ParseInt(attr["emoji-id"], 10, 64)
		if err != nil {
			return fmt.Errorf("<tg-emoji> needs the number of an emoji as emoji-id, not %q", attr["emoji-id"])
		}
		e.format = entity.CustomEmoji(id)
	default:
		return fmt.Errorf("<%s> is not known to Telegram: use b, i, u, s, a, code, pre, blockquote and tg-spoiler, and &lt; for a plain <", e.name)
	}
	if !closed {
		r.open = append(r.open, e)
	}
	return nil
}

// parent returns the innermost open element if it has that name.
func (r *htmlReader) parent(name string) *element {
	if n := len(r.open); n > 0 && r.open[n-1].name == name {
		return &r.open[n-1]
	}
	return nil
}

func (r *htmlReader) end(name string) error {
	if name == "br" {
		return nil
	}
	if len(r.open) == 0 {
		return fmt.Errorf("</%s> closes nothing", name)
	}
	e := r.open[len(r.open)-1]
	if e.name != name {
		return fmt.Errorf("</%s> closes <%s>: close what was opened last first", name, e.name)
	}
	r.open = r.open[:len(r.open)-1]
	if e.link {
		e.format = linkTo(r.text.String()[e.byte:])
	}
	if e.language != "" {
		e.format = entity.Pre(e.language)
	}
	if e.format != nil && r.units > e.start {
		r.found = append(r.found, e.format(e.start, r.units-e.start))
	}
	return nil
}

// linkTo is the format of a link, or of a mention for tg://user?id=1; nil if there is no address.
func linkTo(address string) entity.Formatter {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "tg" && u.Host == "user" {
		if id, err := strconv.ParseInt(u.Query().Get("id"), 10, 64); err == nil {
			return entity.MentionName(&tg.InputUser{UserID: id})
		}
	}
	if address == "" {
		return nil
	}
	return entity.TextURL(address)
}
