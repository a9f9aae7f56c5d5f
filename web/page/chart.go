package page

import (
	"strconv"

	"belfry/store"
)

const (
	// chartChecks is how many checks the chart shows.
	chartChecks = 60
	// The picture's size, in its own units. It is drawn as wide as its place.
	chartWidth  = 600
	chartHeight = 130
	// leastBar keeps a single account visible beside ten thousand.
	leastBar = 3
	// chartSlot is the width that a check has, with the gap to the next one.
	chartSlot     = chartWidth / chartChecks
	chartBarWidth = 0.76 * chartSlot
)

// chartBar is a part of a check in the chart; its place is in the picture's units.
type chartBar struct{ class, x, y, height string }

// chartBars draws a check, the i-th from the right, as bars on each other. most is how many accounts the
// largest check has looked at.
func chartBars(i int, c store.AccountCheck, most int) (bars []chartBar) {
	bottom := float64(chartHeight)
	for _, part := range []struct {
		class string
		n     int
	}{{"bar-found", c.Found}, {"bar-not-found", c.NotFound}, {"bar-errors", c.Errors}} {
		if part.n > 0 {
			height := max(float64(part.n)/float64(most)*(chartHeight-3*leastBar), leastBar)
			bottom -= height
			bars = append(bars, chartBar{part.class, units(chartWidth - chartSlot*(float64(i)+0.88)), units(bottom), units(height)})
		}
	}
	return bars
}

func units(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
