package web

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// qrMargin is the width of the empty frame that a QR code needs around it, in modules.
const qrMargin = 4

// qrPicture draws a text as a QR code: one path of squares, dark on light whatever the page's
// colours are, because few cameras read the opposite. label is said to those who cannot see it.
func qrPicture(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("draw a QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+qrMargin, y+qrMargin, x-from, x-from)
			}
		}
	}
	side := code.Size + 2*qrMargin
	return template.HTML(fmt.Sprintf(
		`<svg class="qr" viewBox="0 0 %d %d" role="img" aria-label="%s" shape-rendering="crispEdges"><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="%s"/></svg>`,
		side, side, template.HTMLEscapeString(label), side, side, path.String())), nil
}
