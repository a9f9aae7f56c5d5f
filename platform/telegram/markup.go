package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/gotd/td/telegram/message/entity"
	"github.com/gotd/td/telegram/message/markdown"
	"github.com/gotd/td/tg"

	"belfry/platform"
)

// styled is a text as Telegram takes it: words, and formatting beside them.
type styled struct {
	text     string
	entities []tg.MessageEntityClass
}

// parse reads the markup of a text. White space at both ends is cut off, as Telegram does itself.
func parse(format platform.Format, text string) (styled, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var s styled
	var err error
	switch format {
	case platform.HTML:
		s, err = parseHTML(text)
	case platform.Markdown:
		var b entity.Builder
		err = markdown.Markdown(strings.NewReader(unindent(text)), &b, markdown.Options{})
		s.text, s.entities = b.Raw()
	case platform.Plain, "":
		s.text = text
	default:
		err = fmt.Errorf("format %q is not one of html, markdown and plain", format)
	}
	if err != nil {
		return styled{}, err
	}
	return s.trim(), nil
}

var fence = regexp.MustCompile("^(`{3,}|~{3,})[^`]*$")

// unindent moves the lines of a Markdown text that begin with four spaces or a tab to the left, unless they are in a block
// of code. To CommonMark they are code by that alone, which gotd does not read: it would drop them and what follows.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	open, mark, pad := "", "", "" // of the block of code that is open: its fence, the signs of its quotation, what was before it
	for i, line := range lines {
		words := strings.TrimLeft(line, " \t>")
		before := line[:len(line)-len(words)]
		wide := strings.ContainsRune(before, '\t') || strings.Contains(before, "    ")
		quote := strings.Repeat("> ", strings.Count(before, ">"))
		switch {
		case open == "" || len(quote) < len(mark):
			if open, mark, pad = "", quote, ""; fence.MatchString(words) {
				open = fence.FindStringSubmatch(words)[1]
			}
			if wide {
				pad = before
			}
		case quote == mark && strings.HasPrefix(words, open) && strings.Trim(words, open[:1]+" \t\r") == "" && (pad != "" || !wide):
			open = ""
		default:
			if code, ok := strings.CutPrefix(line, pad); ok && pad != "" {
				lines[i] = mark + code
			}
			continue
		}
		if wide {
			lines[i] = quote + words
		}
	}
	return strings.Join(lines, "\n")
}

// length is the length of the text in UTF-16 units, as Telegram counts.
func (s styled) length() int { return units(s.text) }

func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// trim cuts white space off both ends and brings the entities in line: sorted, none empty, none
// beyond the text. Telegram refuses a message with an entity out of bounds.
func (s styled) trim() styled {
	start := units(s.text) - units(strings.TrimLeftFunc(s.text, unicode.IsSpace))
	s.text = strings.TrimSpace(s.text)
	end := start + units(s.text)
	kept := s.entities[:0]
	for _, e := range s.entities {
		from, to := max(e.GetOffset(), start), min(e.GetOffset()+e.GetLength(), end)
		if from < to {
			move(e, from-start, to-from)
			kept = append(kept, e)
		}
	}
	slices.SortStableFunc(kept, func(a, b tg.MessageEntityClass) int {
		return cmp.Or(cmp.Compare(a.GetOffset(), b.GetOffset()), cmp.Compare(b.GetLength(), a.GetLength()))
	})
	s.entities = kept
	return s
}

// move sets where an entity is. All its types have these fields, and no method that sets them.
func move(e tg.MessageEntityClass, offset, length int) {
	fields := reflect.ValueOf(e).Elem()
	fields.FieldByName("Offset").SetInt(int64(offset))
	fields.FieldByName("Length").SetInt(int64(length))
}

// Styled reads the markup of a text as Publish does. The error is a [*platform.Error].
func (n *Network) Styled(format platform.Format, text string) (platform.Styled, error) {
	s, err := parse(format, text)
	if err != nil {
		return platform.Styled{}, refusedContent("text", err)
	}
	return platform.Styled{Text: s.text, Spans: s.spans()}, nil
}

// spans are the entities that a reader can see, in bytes.
func (s styled) spans() (spans []platform.Span) {
	at := make([]int, 0, len(s.text)+1) // the byte at which each UTF-16 unit begins
	for i, r := range s.text {
		for range utf16.RuneLen(r) {
			at = append(at, i)
		}
	}
	at = append(at, len(s.text))
	for _, e := range s.entities {
		span := platform.Span{Start: at[e.GetOffset()], End: at[e.GetOffset()+e.GetLength()]}
		switch e := e.(type) {
		case *tg.MessageEntityBold:
			span.Kind = platform.Bold
		case *tg.MessageEntityItalic:
			span.Kind = platform.Italic
		case *tg.MessageEntityUnderline:
			span.Kind = platform.Underline
		case *tg.MessageEntityStrike:
			span.Kind = platform.Strike
		case *tg.MessageEntityCode:
			span.Kind = platform.Code
		case *tg.MessageEntityPre:
			span.Kind = platform.Pre
		case *tg.MessageEntityBlockquote:
			span.Kind = platform.Quote
		case *tg.MessageEntitySpoiler:
			span.Kind = platform.Spoiler
		case *tg.MessageEntityTextURL:
			span.Kind, span.URL = platform.Link, e.URL
		case *tg.InputMessageEntityMentionName:
			span.Kind = platform.Link
		default: // custom emoji, dates
			continue
		}
		spans = append(spans, span)
	}
	return spans
}

// draft is a post that has been read and found in order, as far as that can be seen from here.
type draft struct {
	platform.Post
	target target
	styled
}

// draft reads a post. The measure is good also beside an error about the text's length.
func (n *Network) draft(p platform.Post) (draft, platform.Measure, error) {
	measure := platform.Measure{Limit: textLimit}
	if len(p.Media) > 0 {
		measure.Limit = captionLimit
	}
	text, err := parse(p.Format, p.Text)
	if err != nil {
		return draft{}, measure, refusedContent("text", err)
	}
	measure.Length = text.length()
	switch {
	case measure.Length == 0 && len(p.Media) == 0:
		return draft{}, measure, refusedContent("text", errors.New("the text is empty: write something or add media"))
	case measure.Length > measure.Limit && len(p.Media) > 0:
		return draft{}, measure, refusedContent("text", fmt.Errorf(
			"the text is %d characters long and under media %d are allowed: shorten it, or post it without the media",
			measure.Length, measure.Limit))
	case measure.Length > measure.Limit:
		return draft{}, measure, refusedContent("text", fmt.Errorf(
			"the text is %d characters long and %d are allowed: shorten it or split it into several posts",
			measure.Length, measure.Limit))
	case len(text.entities) > entityLimit:
		return draft{}, measure, refusedContent("text", fmt.Errorf(
			"the text has %d pieces of formatting and %d are allowed: use less", len(text.entities), entityLimit))
	}
	if err := n.checkMedia(p.Media); err != nil {
		return draft{}, measure, err
	}
	if err := checkButtons(p); err != nil {
		return draft{}, measure, err
	}
	var to target
	if p.Target != "" {
		if to, err = parseTarget(p.Target); err != nil {
			return draft{}, measure, refusedChat(err)
		}
	}
	return draft{Post: p, target: to, styled: text}, measure, nil
}

func refusedContent(field string, err error) *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: field, Err: err}
}

// Check says, without asking Telegram, what Telegram would refuse of a post: markup, length,
// media, buttons (but not whether the login is a bot, which alone may have them), the notation of the
// chat if one is named. The error is a [*platform.Error] whose words name the cure. The measure is
// good also if the text is too long.
func (n *Network) Check(p platform.Post) (platform.Measure, error) {
	d, measure, err := n.draft(p)
	if err != nil {
		return measure, err
	}
	for i, m := range d.Media {
		if m.URL != "" {
			continue
		}
		if err := n.checkFile(m); err != nil {
			return measure, refusedContent(fieldOf(i, m), err)
		}
	}
	return measure, nil
}
