package web

import (
	"slices"

	"belfry/i18n"
	"belfry/store"
)

const (
	// chatsPerPage is how many chats of a broadcast a page shows.
	chatsPerPage = 25
	// checkLimit is how many chats the page looks at to count and to find those that the dry run
	// could not reach: there is no index of them.
	checkLimit = 1000
	// shownTries is how many attempts at a chat the page shows.
	shownTries = 4
)

// checkFound is what the dry run has found.
type checkFound struct {
	State, Looked string
	Counts        []countOf
	OfFirst       string
}

// deliveryRow is one chat.
type deliveryRow struct {
	Target, Title, Reason, Network, Unreachable, Earlier string
	Status                                               chip
	Sent                                                 *moment
	Tries                                                []tryLine
}

// tryLine is one attempt.
type tryLine struct {
	Class, Outcome, Reason, Wait string
	When                         *moment
}

// deliveriesOf is what a view of a broadcast's chats needs to know.
type deliveriesOf struct {
	show   string // a status, "unreachable", or empty
	cursor string
	page   store.Page[store.Delivery]
	found  map[string]int // by what the dry run said
	looked int
}

// showUnreachable is the filter for the chats that the dry run could not reach.
const showUnreachable = "unreachable"

// readDeliveries reads a page of a broadcast's chats in views that are short however many it has.
func (s *Server) readDeliveries(t store.Task, d *deliveriesOf) error {
	if t.Check != "" {
		if err := s.countFound(t, d); err != nil {
			return err
		}
	}
	if d.show == showUnreachable {
		return s.findUnreachable(t, d)
	}
	status := store.DeliveryStatus(d.show)
	if !slices.Contains(store.DeliveryStatuses(), status) {
		status, d.show = "", ""
	}
	return s.db.View(func(tx *store.Tx) (err error) {
		d.page, err = tx.Deliveries.Of(t, status, store.Query{Limit: chatsPerPage, Cursor: d.cursor})
		return err
	})
}

// countFound counts what the dry run has found among the first chats.
func (s *Server) countFound(t store.Task, d *deliveriesOf) error {
	d.found = make(map[string]int)
	return s.firstDeliveries(t, "", func(row store.Delivery) {
		d.found[row.Reach]++
		d.looked++
	}, nil)
}

// findUnreachable reads those of the next chats that cannot be reached.
func (s *Server) findUnreachable(t store.Task, d *deliveriesOf) error {
	return s.firstDeliveries(t, d.cursor, func(row store.Delivery) {
		if row.Reach == "no" {
			d.page.Items = append(d.page.Items, row)
		}
	}, func(next string) { d.page.Next = next })
}

// firstDeliveries passes on up to [checkLimit] chats from a cursor on, and then where it ended.
func (s *Server) firstDeliveries(t store.Task, cursor string, each func(store.Delivery), end func(next string)) error {
	for seen := 0; seen < checkLimit; {
		var page store.Page[store.Delivery]
		err := s.db.View(func(tx *store.Tx) (err error) {
			page, err = tx.Deliveries.Of(t, "", store.Query{Limit: checkLimit / 2, Cursor: cursor})
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range page.Items {
			each(row)
		}
		seen += len(page.Items)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if end != nil {
		end(cursor)
	}
	return nil
}

func (r reader) checkFound(t store.Task, d deliveriesOf) *checkFound {
	if t.Check == "" {
		return nil
	}
	w := r.words.Task
	found := &checkFound{State: w.CheckDone, Counts: []countOf{
		{w.Reachable, group(d.found["yes"], r.thousands())}, {w.Unreachable, group(d.found["no"], r.thousands())}, {w.Unseen, group(d.found[""], r.thousands())},
	}}
	if t.Check == store.CheckRunning {
		found.State = w.CheckRunning
		looked := 0
		if t.Checked >= t.First {
			looked = min(int(t.Checked-t.First)+1, t.Total)
		}
		found.Looked = w.Looked(looked, t.Total)
	}
	if d.looked < t.Total {
		found.OfFirst = w.OfFirst(d.looked)
	}
	return found
}

// chats fills in the list of chats.
func (p *taskPage) chats(r reader, t store.Task, d deliveriesOf) {
	w, path := r.words.Task, taskPath(t.ID)
	of := func(show string) string { return withQuery(path, "show", show) }
	p.Tabs = []tab{{"all", w.All, path, group(t.Total, r.thousands()), d.show == ""}}
	counts := map[store.DeliveryStatus]int{
		store.DeliveryPending: t.Left(), store.DeliverySent: t.Sent, store.DeliveryFailed: t.Failed, store.DeliverySkipped: t.Skipped,
	}
	for _, status := range store.DeliveryStatuses() {
		p.Tabs = append(p.Tabs, tab{string(status), r.deliveryName(t, status), of(string(status)), group(counts[status], r.thousands()), d.show == string(status)})
	}
	if t.Check != "" {
		p.Tabs = append(p.Tabs, tab{showUnreachable, w.Unreachable, of(showUnreachable), "", d.show == showUnreachable})
	}
	if p.Empty = w.NoRows; d.show == showUnreachable {
		p.Empty = w.NoUnreachable
	}
	if d.cursor != "" {
		p.First = of(d.show)
	}
	if d.page.Next != "" {
		p.More = withQuery(of(d.show), "cursor", d.page.Next)
	}
	for _, row := range d.page.Items {
		p.Rows = append(p.Rows, r.deliveryRow(t, row))
	}
}

// deliveryName is what the page calls the status of a chat. In a broadcast that has ended none waits.
func (r reader) deliveryName(t store.Task, status store.DeliveryStatus) string {
	if status == store.DeliveryPending && t.Status.Final() {
		return r.words.Task.NotSent
	}
	return r.words.Deliveries[status]
}

func (r reader) deliveryRow(t store.Task, d store.Delivery) deliveryRow {
	row := deliveryRow{
		Target: d.Target, Title: d.Title, Reason: r.Say(d.Reason), Network: webAddress(d.Link), Sent: r.momentIf(d.SentAt),
		Status: chip{"is-chat-" + string(d.Status), r.deliveryName(t, d.Status)},
	}
	if d.Status == store.DeliveryPending && d.Reach == "no" {
		row.Unreachable = i18n.UpperFirst(r.words.Task.CannotReach) + ": " + r.plainWhy(d.Unreachable) + "."
	}
	tries := d.Tries[max(0, len(d.Tries)-shownTries):]
	if earlier := d.Tried - len(tries); earlier > 0 {
		row.Earlier = r.words.Task.Earlier(earlier)
	}
	for i, t := range tries {
		line := tryLine{Class: "try-" + string(t.Outcome), Outcome: r.words.Outcomes[t.Outcome], When: r.moment(t.At), Reason: r.plainWhy(t.Reason)}
		if t.Wait > 0 {
			line.Wait = r.words.Task.Waited(t.Wait)
		}
		if i == len(tries)-1 && d.Reason.Code != "" && t.Reason.Detail == d.Reason.Detail {
			line.Reason = "" // the chat's own reason says it
		}
		row.Tries = append(row.Tries, line)
	}
	return row
}

// plainWhy says a reason where what the network has said says it all.
func (r reader) plainWhy(because store.Reason) string {
	if because.Detail != "" && (because.Code == store.ReasonRefused || because.Code == store.ReasonError) {
		return r.Heard(because.Detail)
	}
	return r.Say(because)
}
