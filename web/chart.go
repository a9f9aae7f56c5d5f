package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"belfry/store"
)

// The picture's size, in its own units. It is drawn as wide as its place.
const (
	chartWidth  = 600
	chartHeight = 130
	// leastBar keeps a single account visible beside ten thousand.
	leastBar = 3
)

// chart is the last checks as a picture.
type chart struct {
	Picture  template.HTML
	From, To *moment
	Keys     []countOf // the name of each colour, and its class
}

// chart draws the checks, given the latest first, as bars from the earliest to the latest. It is nil
// if there are none. Colours are the style sheet's.
func (r reader) chart(checks []store.AccountCheck) *chart {
	if len(checks) == 0 {
		return nil
	}
	w := r.words.Accounts
	checks = slices.Clone(checks)
	slices.Reverse(checks)
	most := 1
	for _, c := range checks {
		most = max(most, c.Checked)
	}
	var b strings.Builder
	last := checks[len(checks)-1]
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s" preserveAspectRatio="none">`, chartWidth, chartHeight,
		template.HTMLEscapeString(w.ChartLabel(len(checks), last.Found, last.NotFound, last.Errors)))
	slot := float64(chartWidth) / chartChecks
	from := chartWidth - slot*float64(len(checks)) // the latest stands at the right
	for i, c := range checks {
		fmt.Fprintf(&b, `<g><title>%s</title>`, template.HTMLEscapeString(w.Bar(r.moment(c.Began).Exact, c.Found, c.NotFound, c.Errors)))
		bottom := float64(chartHeight)
		for _, part := range []struct {
			class string
			n     int
		}{{"bar-found", c.Found}, {"bar-not-found", c.NotFound}, {"bar-errors", c.Errors}} {
			if part.n == 0 {
				continue
			}
			height := max(float64(part.n)/float64(most)*(chartHeight-3*leastBar), leastBar)
			bottom -= height
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, part.class, from+slot*float64(i)+slot*0.12, bottom, slot*0.76, height)
		}
		b.WriteString(`</g>`)
	}
	b.WriteString(`</svg>`)
	return &chart{
		Picture: template.HTML(b.String()), From: r.moment(checks[0].Began), To: r.moment(last.Began),
		Keys: []countOf{{w.Found, "found"}, {w.NotFound, "not-found"}, {w.Errors, "errors"}},
	}
}
