package web

import (
	"belfry/store"
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
	for _, i := range o.identities {
		if i.State == store.IdentityLogin || i.State == store.IdentityStopped {
			all = append(all, trouble{"grave", w.LoginOut + ": " + i.Name, r.Say(i.Reason), w.LoginOutCure, "/logins", w.LoginsLink})
		} else if c, known := s.connectionOf(i); known && i.State == store.IdentityReady && !c.Connected && c.Problem != "" {
			all = append(all, trouble{"mild", w.NotConnected + ": " + i.Name, c.Problem, w.NotConnectedCure, "/logins", w.LoginsLink})
		}
	}
	if o.overdue != "" && !s.cfg.Idle {
		all = append(all, trouble{"grave", w.Overdue + ": " + o.overdue, "", w.OverdueCure, "/jobs/" + o.overdue, w.SetAsideLink})
	}
	for _, p := range o.unknown {
		all = append(all, trouble{"grave", w.UnknownPost + ": " + r.postTitle(p), r.Say(p.Reason), w.UnknownCure, postPath(p.ID), w.Look})
	}
	for i, p := range o.failed {
		t := trouble{"grave", w.FailedPost + ": " + r.postTitle(p), r.Say(p.Reason), w.FailedCure, postPath(p.ID), w.Look}
		if i == len(o.failed)-1 && o.failedMore > 0 {
			t.What += " (" + w.MoreFailed(o.failedMore) + ")"
		}
		all = append(all, t)
	}
	for _, t := range o.failedTask {
		all = append(all, trouble{"grave", w.FailedTask + ": " + r.taskTitle(t), r.Say(t.LastError), w.FailedTaskCure, taskPath(t.ID), w.Look})
	}
	for _, site := range o.alone {
		if !r.watch {
			break
		}
		why := site.Reason
		why.Until = site.Until
		all = append(all, trouble{"mild", w.SiteAlone + ": " + siteName(site.Site), r.Say(why), w.SiteAloneCure, "/accounts", w.AccountsLink})
	}
	for _, j := range o.setAside {
		all = append(all, trouble{"mild", w.SetAside + ": " + j.Name, r.Say(j.Reason), w.SetAsideCure, "/jobs/" + j.Name, w.SetAsideLink})
	}
	all = append(all, r.alertTroubles(o.alerts)...)
	if o.noPassword {
		all = append(all, trouble{"mild", w.NoPassword, "", w.NoPasswordCure, "/password", w.NoPasswordLink})
	}
	return all
}

// readAlerts reads the alerts that nobody has looked at.
func (o *overview) readAlerts(tx *store.Tx) error {
	open, err := tx.Alerts.ByState(store.AlertOpen, store.Query{Limit: maxUnseen})
	if err != nil {
		return err
	}
	o.moreAlerts = open.Next != ""
	o.alerts, err = tellAll(tx, open.Items)
	return err
}

// alertTroubles are the alerts about what the other troubles do not say.
func (r reader) alertTroubles(open []told) (all []trouble) {
	for _, t := range open {
		switch {
		case len(all) == maxTrouble:
			return all
		case t.alert.Kind == store.AlertDisk, t.alert.Kind == store.AlertQueue, t.alert.Kind == store.AlertUnreached,
			t.alert.Kind == store.AlertDamage, t.alert.Kind == store.AlertCopy:
		case t.alert.Kind == store.AlertJobFailing && t.about.job.State != store.JobSetAside:
		default:
			continue
		}
		row := r.alertRow(t)
		all = append(all, trouble{"grave", row.What, row.Why, row.Cure, row.Link, row.LinkText})
	}
	return all
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
