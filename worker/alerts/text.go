package alerts

import (
	"fmt"
	"time"

	"belfry/i18n"
	"belfry/store"
)

// Words say an alert to an owner.
type Words struct {
	What string // is wrong, or was
	Why  string // as far as is known
	Cure string // what to do about it; empty if it is over
}

// Text says an alert.
func Text(p i18n.Printer, a store.Alert) Words {
	t := Words{What: sentence(p, a, "what")}
	if !a.Reason.Zero() {
		t.Why = p.Say(a.Reason)
	}
	if a.State() != store.AlertOver && t.What != a.About {
		t.Cure = sentence(p, a, "cure")
		if a.Flaps {
			t.Cure = p.T("alert.flaps", t.Cure)
		}
	}
	return t
}

// sentence says what an alert's kind has to say: what, over or cure. An alert of a kind of a later version is
// said by what it is about.
func sentence(p i18n.Printer, a store.Alert, part string) string {
	key := "alert." + string(a.Kind) + "." + part
	if !p.Has(key) {
		return a.About
	}
	switch a.Kind {
	case store.AlertOverdue:
		return p.T(key, time.Duration(a.Count)*time.Minute, a.Name)
	case store.AlertDisk:
		return p.T(key, fmt.Sprint(a.Count>>20), a.Name, a.Subject, fmt.Sprint(a.Limit>>20)) // MiB
	}
	return p.T(key, a.Count, a.Name, a.Subject, a.Limit)
}
