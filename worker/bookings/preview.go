package bookings

import (
	"cmp"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/store"
)

// MessagePreview is a message as a client gets it.
type MessagePreview struct {
	Text    string     `json:"text"`
	Buttons [][]string `json:"buttons" nullable:"false" doc:"In rows"`
}

// Preview shows a message of a kind to the client of a booking that is not saved; without a template, by the one that
// holds. What the request does not say is an example.
func (w *Worker) Preview(tx *store.Tx, kind, template string, r Request) (p MessagePreview, err error) {
	if err := checkTemplate("template", template); err != nil {
		return p, err
	}
	s, err := w.Settings(tx)
	if err != nil {
		return p, err
	}
	zone, err := location(cmp.Or(r.Zone, s.Zone))
	if err != nil {
		return p, err
	}
	b := store.Booking{Client: cmp.Or(r.Client, "@anna"), Note: r.Note, Lang: cmp.Or(r.Lang, s.Lang), Zone: zone.String(), Status: store.BookingBooked}
	if !i18n.Known(b.Lang) {
		return p, store.Invalid("lang", "invalid.lang", b.Lang)
	}
	b.Service = cmp.Or(r.Service, w.printer(b).T("booking_settings.sample"))
	if b.Duration, err = checkLength("duration", cmp.Or(r.Duration, s.Duration), minDuration, maxDuration); err != nil {
		return p, err
	}
	local := tx.Now().In(zone)
	b.Start = time.Date(local.Year(), local.Month(), local.Day()+1, 15, 0, 0, 0, zone)
	if r.Start != "" {
		if b.Start, err = localTime("start", r.Start, zone); err != nil {
			return p, err
		}
	}
	say, buttons := w.printer(b), [][]platform.Button(nil)
	if kind == KindFeedback {
		buttons = feedbackButtons(b)
	} else {
		buttons = reminderButtons(say, b)
	}
	p = MessagePreview{Text: fill(say, cmp.Or(template, s.template(say, kind)), b), Buttons: [][]string{}}
	for _, row := range buttons {
		var names []string
		for _, button := range row {
			names = append(names, button.Text)
		}
		p.Buttons = append(p.Buttons, names)
	}
	return p, nil
}
