package bookings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// What the buttons under messages to clients say.
const (
	pressConfirm = "yes"
	pressCancel  = "no"
	ratings      = 5
)

// prefix begins what the buttons of bookings tell the bot.
const prefix = "booking/"

// data is what a button tells the bot: which booking, proof that its bot has written it, which of its starts, and what to do.
func data(b store.Booking, what string) string {
	return fmt.Sprintf("%s%d/%s/%d/%s", prefix, b.ID, b.Code, b.Moves, what)
}

func reminderButtons(say i18n.Printer, b store.Booking) [][]platform.Button {
	cancel := platform.Button{Text: say.T("bookings.client.cancel"), Data: data(b, pressCancel)}
	if b.Status == store.BookingConfirmed {
		return [][]platform.Button{{cancel}}
	}
	return [][]platform.Button{{{Text: say.T("bookings.client.confirm"), Data: data(b, pressConfirm)}, cancel}}
}

func feedbackButtons(b store.Booking) [][]platform.Button {
	row := make([]platform.Button, ratings)
	for i := range row {
		n := strconv.Itoa(i + 1)
		row[i] = platform.Button{Text: n, Data: data(b, n)}
	}
	return [][]platform.Button{row}
}

// HandleUpdate takes in what a person has told a bot, if it is about a booking: the code of a client's link, or the press
// of a button. Nothing counts but what the booking's own client says to the booking's bot; others get no answer.
func (w *Worker) HandleUpdate(tx *store.Tx, h platform.Heard) (handled bool, err error) {
	press, pressed := strings.CutPrefix(h.Data, prefix)
	code, started := strings.CutPrefix(strings.TrimSpace(h.Text), "/start b")
	var id, proof string
	var rest []string
	switch {
	case h.QueryID != 0 && pressed:
		rest = strings.Split(press, "/")
		if len(rest) != 4 {
			return true, nil
		}
		id, proof, rest = rest[0], rest[1], rest[2:]
	case h.QueryID == 0 && started:
		id, proof, _ = strings.Cut(code, "_")
	default:
		return false, nil
	}
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return pressed, nil //nolint:nilerr // no client of a booking says that
	}
	b, err := tx.Bookings.Get(number)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isClient(tx, b, h, proof) {
		return pressed, nil
	}
	if err != nil {
		return true, err
	}
	b.ClientID = h.From
	if rest == nil {
		return true, w.greet(tx, b)
	}
	return true, w.press(tx, b, h, rest[0] == strconv.Itoa(b.Moves), rest[1])
}

// isClient reports whether the booking's own client has told its bot something.
func isClient(tx *store.Tx, b store.Booking, h platform.Heard, proof string) bool {
	if h.IdentityID != b.IdentityID || proof != b.Code {
		return false
	}
	if b.ClientID != 0 {
		return b.ClientID == h.From
	}
	known, err := tx.Peers.ByUsername(b.IdentityID, b.Client[1:])
	return err == nil && known.Type == store.PeerUser && known.PeerID == h.From
}

// greet answers a client who has opened the bot: from now on it may write to the client.
func (w *Worker) greet(tx *store.Tx, b store.Booking) error {
	if err := tx.Bookings.Put(&b); err != nil {
		return err
	}
	return w.reply(tx, b, platform.Heard{}, w.state(b), w.buttons(tx, b))
}

// press carries out what a button says. One under a message about another start changes nothing: the answer shows the
// present one.
func (w *Worker) press(tx *store.Tx, b store.Booking, h platform.Heard, current bool, what string) error {
	if n, err := strconv.Atoi(what); err == nil {
		return w.rate(tx, b, h, current, n)
	}
	before := b.Status
	may := current && !before.Final() && b.Start.After(tx.Now())
	switch {
	case may && what == pressConfirm:
		b.Status = store.BookingConfirmed
	case may && what == pressCancel:
		if err := errors.Join(scheduler.MayChange(tx, b.ReminderName()), scheduler.MayChange(tx, b.FeedbackName())); err != nil {
			return w.reply(tx, b, platform.Heard{QueryID: h.QueryID}, w.printer(b).T("bookings.client.busy"), nil)
		}
		b.Status, b.ByClient = store.BookingCancelled, true
	}
	if b.Status != before {
		b.Sequence++
		b.UpdatedAt = tx.Now()
	}
	text := w.state(b)
	if current && !b.Status.Final() && !b.Start.After(tx.Now()) {
		text = fill(w.printer(b), w.printer(b).T("bookings.client.begun"), b)
	}
	err := tx.Bookings.Put(&b)
	if b.Status != before && b.Status == store.BookingCancelled {
		err = errors.Join(end(tx, &b, store.Reason{Code: store.ReasonCancelled}),
			w.tell(tx, w.Printer().T("bookings.tell.cancelled", b.ID, b.Client, b.Service, b.Start)))
	}
	if err != nil {
		return err
	}
	return w.reply(tx, b, h, text, w.buttons(tx, b))
}

// rate stores the answer to the question. Another answer takes the place of the first.
func (w *Worker) rate(tx *store.Tx, b store.Booking, h platform.Heard, current bool, n int) error {
	if n < 1 || n > ratings || !current || b.Status == store.BookingCancelled {
		return nil
	}
	if b.Feedback.Rating != n {
		b.Feedback.Rating, b.Feedback.AnsweredAt, b.UpdatedAt = n, tx.Now(), tx.Now()
	}
	if err := tx.Bookings.Put(&b); err != nil {
		return err
	}
	return w.reply(tx, b, h, w.printer(b).T("bookings.client.thanks", n), nil)
}

// state says to a client how a booking stands.
func (w *Worker) state(b store.Booking) string {
	say := w.printer(b)
	return fill(say, say.T("bookings.client.of."+string(b.Status)), b)
}

// buttons are those that are left under a message to a client.
func (w *Worker) buttons(tx *store.Tx, b store.Booking) [][]platform.Button {
	if b.Status.Final() || !b.Start.After(tx.Now()) {
		return nil
	}
	return reminderButtons(w.printer(b), b)
}

// reply answers a client. A press is answered in the place of the message.
func (w *Worker) reply(tx *store.Tx, b store.Booking, h platform.Heard, text string, buttons [][]platform.Button) error {
	n := store.Notice{
		Kind: "booking_reply", IdentityID: b.IdentityID, Chat: strconv.FormatInt(b.ClientID, 10), Text: text, Query: h.QueryID, Edit: h.MessageID, First: true,
	}
	for _, row := range buttons {
		var stored []store.Button
		for _, button := range row {
			stored = append(stored, store.Button(button))
		}
		n.Buttons = append(n.Buttons, stored)
	}
	return w.teller.Reply(tx, n)
}
