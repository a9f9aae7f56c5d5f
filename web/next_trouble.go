package web

import (
	"cmp"
	"slices"

	"belfry/store"
	"belfry/worker/identities"
)

// trouble is something that a person has to look at.
type trouble struct {
	Class                           string
	What, Why, Cure, Link, LinkText string
}

// troubles are what a person has to look at, the gravest first.
func (s *Server) troubles(r reader, o overview) []trouble {
	w, all := r.words.Next, s.systemTroubles(r)
	if o.paused != "" {
		all = append(all, trouble{"grave", w.Paused, o.paused, w.PausedCure, "/jobs", w.SetAsideLink})
	}
	for _, t := range o.alerts {
		if row := r.alertRow(t); t.alert.Kind != store.AlertOverdue || !s.cfg.Idle {
			all = append(all, trouble{"grave", row.What, row.Why, row.Cure, row.Link, row.LinkText})
		}
	}
	for _, i := range o.identities {
		alerted := slices.ContainsFunc(o.alerts, func(t told) bool { return t.alert.Kind == store.AlertLogin && t.alert.Subject == i.ID })
		if c, known := identities.ConnectionOf(s.connections(), i); known && !alerted && i.State == store.IdentityReady && !c.Connected && c.Problem != "" {
			all = append(all, trouble{"mild", w.NotConnected + ": " + i.Name, c.Problem, w.NotConnectedCure, "/logins", w.LoginsLink})
		}
	}
	for _, site := range o.alone {
		if !r.watch {
			break
		}
		why := site.Reason
		why.Until = site.Until
		all = append(all, trouble{"mild", w.SiteAlone + ": " + siteName(site.Site), r.why(why), w.SiteAloneCure, "/accounts", w.AccountsLink})
	}
	if o.noPassword {
		all = append(all, trouble{"mild", w.NoPassword, "", w.NoPasswordCure, "/password", w.NoPasswordLink})
	}
	return all
}

// readAlerts reads what the alerts are about that nobody has looked at.
func (o *overview) readAlerts(tx *store.Tx, wrong []store.Alert) (err error) {
	slices.SortFunc(wrong, func(a, b store.Alert) int { return cmp.Or(b.RaisedAt.Compare(a.RaisedAt), cmp.Compare(b.ID, a.ID)) })
	var open []store.Alert
	of := make(map[store.AlertKind]int)
	for _, a := range wrong {
		if a.State() != store.AlertOpen {
			continue
		}
		o.open++
		if a.GoneAt.IsZero() && of[a.Kind] < maxTrouble {
			of[a.Kind]++
			open = append(open, a)
		}
	}
	o.alerts, err = tellAll(tx, open)
	return err
}

// systemTroubles are those of Belfry itself.
func (s *Server) systemTroubles(r reader) []trouble {
	w, status := r.words.Next, s.scheduler.Status()
	switch {
	case s.cfg.Idle:
		return []trouble{{Class: "mild", What: w.Idle, Cure: w.IdleCure}}
	case status.Started.IsZero():
		return []trouble{{Class: "grave", What: w.Stopped, Cure: w.StoppedCure}}
	case status.Problem != "":
		return []trouble{{Class: "grave", What: w.StoreTrouble, Why: status.Problem, Cure: w.StoreCure}}
	case status.Settling > 0:
		return []trouble{{Class: "grave", What: w.Clock, Cure: w.ClockCure}}
	}
	return nil
}

// siteName is what a site calls itself; one of an imported rule is called as in the rule.
func siteName(site string) string {
	names := map[string]string{"instagram": "Instagram", "x": "X", "tiktok": "TikTok", "youtube": "YouTube", "github": "GitHub", "telegram": "Telegram"}
	if name := names[site]; name != "" {
		return name
	}
	return site
}
