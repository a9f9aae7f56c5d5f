package platform

// Styled is a text whose markup has been read: the words, and the formatting beside them. The spans are
// sorted by their start, the outer before the inner; each lies within the text, and inside or beside any other.
type Styled struct {
	Text  string
	Spans []Span
}

// Span is one piece of formatting.
type Span struct {
	Kind       SpanKind
	Start, End int    // bytes of the text
	URL        string // of a [Link]; empty where it leads to no address, such as to a user
}

// SpanKind says how a piece of text is shown.
type SpanKind string

// The kinds of spans.
const (
	Bold      SpanKind = "bold"
	Italic    SpanKind = "italic"
	Underline SpanKind = "underline"
	Strike    SpanKind = "strike"
	Code      SpanKind = "code"
	Pre       SpanKind = "pre"
	Quote     SpanKind = "quote"
	Spoiler   SpanKind = "spoiler"
	Link      SpanKind = "link"
)
