package i18n

import (
	"sync/atomic"
	"time"
)

// Live is the language and the zone of those who run Belfry, who may choose others while the program runs. It is
// ready for use after the first call of SetLocale.
type Live struct{ now atomic.Pointer[Printer] }

// SetLocale makes a language and a zone the present ones, as [For] reads them.
func (l *Live) SetLocale(lang string, zone *time.Location) {
	p := For(lang, zone)
	l.now.Store(&p)
}

// Printer returns a printer in the present language and zone.
func (l *Live) Printer() Printer { return *l.now.Load() }

// Zone is the present zone.
func (l *Live) Zone() *time.Location { return l.now.Load().Zone }
