package worker

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"belfry/store"
)

// Gauge returns a collector of numbers that the file knows. read calls set for each combination of the values of
// labels. It must not walk rows that may be many: it is called at each scrape. While the file cannot be read there
// are no numbers.
func Gauge(db *store.DB, name, help string, labels []string, read func(tx *store.Tx, set func(n float64, values ...string)) error) prometheus.Collector {
	return gauge{db, prometheus.NewDesc(name, help, labels, nil), read}
}

// Counts is a [Gauge] of how many rows there are of each sort. Those in all are shown also where there is none, so that
// the first row is an increase.
func Counts(db *store.DB, name, help string, labels []string, all [][]string, count func(tx *store.Tx) []store.Count) prometheus.Collector {
	return Gauge(db, name, help, labels, func(tx *store.Tx, set func(float64, ...string)) error {
		counts := count(tx)
		for _, c := range counts {
			if len(c.Of) == len(labels) { // else the index is damaged
				set(float64(c.N), c.Of...)
			}
		}
		for _, of := range all {
			if !slices.ContainsFunc(counts, func(c store.Count) bool { return slices.Equal(c.Of, of) }) {
				set(0, of...)
			}
		}
		return nil
	})
}

// Each returns a sort of its own for each value.
func Each[T ~string](values []T) (all [][]string) {
	for _, value := range values {
		all = append(all, []string{string(value)})
	}
	return all
}

type gauge struct {
	db   *store.DB
	desc *prometheus.Desc
	read func(*store.Tx, func(float64, ...string)) error
}

// Describe is of [prometheus.Collector].
func (g gauge) Describe(to chan<- *prometheus.Desc) { to <- g.desc }

// Collect is of [prometheus.Collector].
func (g gauge) Collect(to chan<- prometheus.Metric) {
	var all []prometheus.Metric // sent when the transaction has ended
	err := g.db.View(func(tx *store.Tx) error {
		return g.read(tx, func(n float64, values ...string) {
			all = append(all, prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, n, values...))
		})
	})
	if err != nil {
		all = []prometheus.Metric{prometheus.NewInvalidMetric(g.desc, err)}
	}
	for _, m := range all {
		to <- m
	}
}
