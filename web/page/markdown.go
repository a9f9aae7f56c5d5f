package page

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// markdown renders the Markdown that Telegram posts may use: CommonMark's emphasis, code, quotes and
// links, with ~~struck~~ and ||spoiler||. Everything else is text.
func markdown(source string) string {
	m := markdownWriter{source: []byte(source)}
	m.blocks(markdownParser().Parse(text.NewReader(m.source)))
	return string(m.out.String())
}

func markdownParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(spoilerParser{}, 500),
		),
	)
}

// markdownWriter writes what was parsed as HTML.
type markdownWriter struct {
	source []byte
	out    strings.Builder
}

func (m *markdownWriter) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			m.out.WriteString("\n\n")
		}
		switch n := n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			m.inlines(n)
		case *ast.Blockquote:
			m.out.WriteString("<blockquote>")
			m.blocks(n)
			m.out.WriteString("</blockquote>")
		case *ast.FencedCodeBlock:
			m.out.WriteString("<pre>")
			m.write(bytes.TrimRight(n.Lines().Value(m.source), "\n"))
			m.out.WriteString("</pre>")
		default:
			m.blocks(n)
		}
	}
}

func (m *markdownWriter) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			m.write(util.UnescapePunctuations(n.Segment.Value(m.source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				m.out.WriteByte('\n')
			}
		case *ast.String:
			m.write(n.Value)
		case *ast.CodeSpan:
			m.out.WriteString("<code>")
			m.raw(n)
			m.out.WriteString("</code>")
		case *ast.Emphasis:
			if n.Level >= 2 {
				m.wrap(n, "<b>", "</b>")
			} else {
				m.wrap(n, "<i>", "</i>")
			}
		case *east.Strikethrough:
			m.wrap(n, "<s>", "</s>")
		case *spoiler:
			m.wrap(n, spoilerOpening, "</span>")
		case *ast.Link:
			opening, closing := linkTag(string(n.Destination))
			m.wrap(n, opening, closing)
		default:
			m.inlines(n)
		}
	}
}

func (m *markdownWriter) wrap(n ast.Node, opening, closing string) {
	m.out.WriteString(opening)
	m.inlines(n)
	m.out.WriteString(closing)
}

// raw writes text in which nothing has a meaning.
func (m *markdownWriter) raw(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			m.write(n.Segment.Value(m.source))
		case *ast.String:
			m.write(n.Value)
		default:
			m.raw(n)
		}
	}
}

func (m *markdownWriter) write(data []byte) { m.out.WriteString(html.EscapeString(string(data))) }

// spoiler is ||text||, which CommonMark does not know.
type spoiler struct{ ast.BaseInline }

func (*spoiler) Kind() ast.NodeKind { return ast.KindEmphasis }

func (s *spoiler) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// spoilerParser finds spoilers as CommonMark finds emphasis: by pairs of delimiters.
type spoilerParser struct{}

func (spoilerParser) Trigger() []byte { return []byte{'|'} }

func (p spoilerParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, p)
	if node == nil || node.OriginalLength != 2 || before == '|' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

func (spoilerParser) IsDelimiter(b byte) bool { return b == '|' }

func (spoilerParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (spoilerParser) OnMatch(int) ast.Node { return &spoiler{} }
