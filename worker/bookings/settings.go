package bookings

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker"
)

// Settings are what holds for bookings that say nothing else. Lengths of time are written as 1h30m.
type Settings struct {
	Duration      string                       `json:"duration" example:"1h"`
	Reminders     []string                     `json:"reminders" nullable:"false" doc:"Before the start" example:"[\"24h\",\"2h\",\"1h\"]"`
	FeedbackAfter string                       `json:"feedback_after" doc:"The end, or off" example:"1h"`
	Lang          string                       `json:"lang" doc:"en or ru" example:"en"`
	Zone          string                       `json:"zone" example:"Europe/Moscow"`
	QuietFrom     string                       `json:"quiet_from,omitempty" doc:"Nothing is sent from then, in the zone of the booking" example:"22:00"`
	QuietTo       string                       `json:"quiet_to,omitempty" example:"08:00"`
	Templates     map[string]map[string]string `json:"templates,omitempty" doc:"Texts by kind (reminder, feedback) and language, with {client}, {service}, {date}, {time}, {weekday}, {duration}, {note}; one that is not there is the program's own"`
}

const (
	settingsName = "bookings.settings"
	feedbackOff  = "off"

	minDuration  = time.Minute
	maxDuration  = 24 * time.Hour
	maxBefore    = 60 * 24 * time.Hour
	maxReminders = 10
	maxTemplate  = 1500 // characters
)

// Settings returns the defaults of bookings.
func (w *Worker) Settings(tx *store.Tx) (s Settings, err error) {
	now := w.Printer()
	s = Settings{Duration: "1h", Reminders: []string{"24h", "2h", "1h"}, FeedbackAfter: "1h", Lang: now.Lang, Zone: now.Zone.String()}
	err = worker.Setting(tx, settingsName, &s)
	return s, err
}

// SetSettings stores the defaults of bookings. Those that are there keep what they have, but new quiet hours hold for them
// too.
func (w *Worker) SetSettings(tx *store.Tx, s Settings) error {
	if _, err := checkLength("duration", s.Duration, minDuration, maxDuration); err != nil {
		return err
	}
	if _, err := checkReminders(s.Reminders); err != nil {
		return err
	}
	if _, err := checkFeedback(s.FeedbackAfter); err != nil {
		return err
	}
	if !i18n.Known(s.Lang) {
		return store.Invalid("lang", "invalid.lang", s.Lang)
	}
	if _, err := location(s.Zone); err != nil {
		return err
	}
	for _, of := range []struct{ field, value string }{{"quiet_from", s.QuietFrom}, {"quiet_to", s.QuietTo}} {
		if _, err := time.Parse("15:04", of.value); err != nil && s.QuietFrom+s.QuietTo != "" {
			return store.Invalid(of.field, "invalid.time_of_day", of.value)
		}
	}
	if s.QuietFrom != "" && s.QuietFrom == s.QuietTo {
		return store.Invalid("quiet_to", "invalid.quiet_same")
	}
	for kind, texts := range s.Templates {
		for lang, text := range texts {
			field := "templates." + kind + "." + lang
			if kind != KindReminder && kind != KindFeedback || !i18n.Known(lang) {
				return store.Invalid(field, "invalid.not_one_of", kind+"."+lang, "reminder.en, reminder.ru, feedback.en, feedback.ru")
			}
			if err := checkTemplate(field, text); err != nil {
				return err
			}
		}
	}
	was, err := w.Settings(tx)
	if err != nil {
		return err
	}
	if err := worker.SetSetting(tx, settingsName, s); err != nil || s.QuietFrom == was.QuietFrom && s.QuietTo == was.QuietTo {
		return err
	}
	return s.planAnew(tx)
}

// planAnew gives the messages that are still to come their times by other quiet hours.
func (s Settings) planAnew(tx *store.Tx) error {
	for _, bot := range tx.Identities.Of("telegram") {
		for _, b := range slices.Collect(tx.Bookings.Open(bot.ID)) {
			zone, err := location(b.Zone)
			if err != nil {
				return err
			}
			var running *store.ConflictError
			if _, err := open(tx, b.ID); errors.As(err, &running) {
				continue // what comes after the message that is under way heeds quiet hours when it is due
			} else if err != nil {
				return err
			}
			before := make([]time.Duration, len(b.Reminders))
			for i, r := range b.Reminders {
				before[i] = r.Before
			}
			s.plan(&b, before, false, tx.Now(), zone)
			if err := errors.Join(tx.Bookings.Put(&b), putJobs(tx, b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The kinds of templates.
const (
	KindReminder = "reminder"
	KindFeedback = "feedback"
)

// placeholders are what a template may contain.
var placeholders = []string{"{client}", "{service}", "{date}", "{time}", "{weekday}", "{duration}", "{note}"}

func checkTemplate(field, text string) error {
	if len([]rune(text)) > maxTemplate {
		return store.Invalid(field, "invalid.too_long", maxTemplate)
	}
	for _, found := range regexp.MustCompile(`\{[^{}\s]*\}`).FindAllString(text, -1) {
		if !slices.Contains(placeholders, found) {
			return store.Invalid(field, "invalid.not_one_of", found, strings.Join(placeholders, ", "))
		}
	}
	return nil
}

// template returns the text of a kind in a language.
func (s Settings) template(say i18n.Printer, kind string) string {
	return cmp.Or(strings.TrimSpace(s.Templates[kind][say.Lang]), say.T("bookings.template."+kind))
}

// maxText is how long a message may be, in characters, so that Telegram takes it.
const maxText = 2000

// fill fills a template in for a client.
func fill(say i18n.Printer, template string, b store.Booking) string {
	text := strings.NewReplacer("{client}", b.Client, "{service}", b.Service, "{note}", b.Note,
		"{date}", say.Day(b.Start), "{time}", say.Clock(b.Start), "{duration}", say.ExactLength(b.Duration),
		"{weekday}", say.T("time.weekday."+strconv.Itoa(int(b.Start.In(say.Zone).Weekday())))).Replace(template)
	return store.Shorten(strings.TrimSpace(text), maxText)
}

func checkLength(field, text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, store.Invalid(field, "invalid.duration", text)
	}
	if d < least || d > most {
		return 0, store.Invalid(field, "invalid.booking_length", Length(least), Length(most))
	}
	return d, nil
}

func checkReminders(texts []string) (all []time.Duration, err error) {
	if len(texts) > maxReminders {
		return nil, store.Invalid("reminders", "invalid.booking_reminders", maxReminders)
	}
	for i, text := range texts {
		d, err := checkLength(fmt.Sprintf("reminders[%d]", i), text, time.Minute, maxBefore)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all, nil
}

// checkFeedback reads how long after the end a client is asked; less than 0 means never.
func checkFeedback(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == feedbackOff {
		return -1, nil
	}
	return checkLength("feedback_after", text, 0, maxBefore)
}

func location(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, store.Invalid("zone", "invalid.zone", name)
	}
	return zone, nil
}

// Length writes a length of time as people write it: 24h, 1h30m; less than 0 is off.
func Length(d time.Duration) string {
	if d < 0 {
		return feedbackOff
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
