package api

import "github.com/danielgtaylor/huma/v2"

// Texts of requests whose values the document names. It is the worker that refuses others: it says more.
type (
	when      string // a time
	format    string // of a text
	mediaKind string
	policy    string // of lateness
)

// Schema describes a time.
func (when) Schema(huma.Registry) *huma.Schema { return described("format", "date-time") }

// Schema names the formats.
func (format) Schema(huma.Registry) *huma.Schema {
	return described("enum", []string{"html", "markdown", "plain"})
}

// Schema names the kinds.
func (mediaKind) Schema(huma.Registry) *huma.Schema {
	return described("enum", []string{"photo", "video", "document"})
}

// Schema names the policies.
func (policy) Schema(huma.Registry) *huma.Schema {
	return described("enum", []string{"run_once", "skip", "run_each"})
}

// described is a text with a keyword that huma writes and does not check.
func described(keyword string, value any) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{keyword: value}}
}
