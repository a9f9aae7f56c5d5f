package page

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker/bookings"
)

const bookingSettingsPath = "/bookings/settings"

func (s bookingPages) mountSettings(g *echo.Group) {
	g.GET(bookingSettingsPath, func(c echo.Context) error {
		f, err := s.settingsForm()
		if err != nil {
			return err
		}
		return s.showSettings(c, http.StatusOK, f)
	})
	g.POST(bookingSettingsPath, s.sent(s.saveSettings))
}

// templateKinds are the kinds of messages that have templates.
var templateKinds = []string{bookings.KindReminder, bookings.KindFeedback}

func templateField(kind, lang string) string { return "template_" + kind + "_" + lang }

// settingsForm is a form with the settings as they are.
func (s bookingPages) settingsForm() (form, error) {
	f := newForm(nil)
	return f, s.DB.View(func(tx *store.Tx) error {
		now, err := s.worker.Settings(tx)
		f.fill(map[string]string{
			"duration": now.Duration, "reminders": joined(now.Reminders), "feedback_after": now.FeedbackAfter, "booking_lang": now.Lang, "zone": now.Zone,
			"quiet_from": now.QuietFrom, "quiet_to": now.QuietTo,
		})
		for _, kind := range templateKinds {
			for _, lang := range i18n.Languages {
				f.values.Set(templateField(kind, lang), now.Templates[kind][lang])
			}
		}
		return err
	})
}

func (f form) bookingSettings() bookings.Settings {
	out := bookings.Settings{
		Duration: f.get("duration"), Reminders: words(f.get("reminders")), FeedbackAfter: f.get("feedback_after"), Lang: f.get("booking_lang"),
		Zone: f.get("zone"), QuietFrom: f.get("quiet_from"), QuietTo: f.get("quiet_to"), Templates: map[string]map[string]string{},
	}
	for _, kind := range templateKinds {
		out.Templates[kind] = map[string]string{}
		for _, lang := range i18n.Languages {
			if text := strings.TrimSpace(f.plain(templateField(kind, lang))); text != "" {
				out.Templates[kind][lang] = text
			}
		}
	}
	return out
}

// saveSettings stores the settings, or shows what messages look like with them.
func (s bookingPages) saveSettings(c echo.Context, v view, f form) error {
	if f.get("do") == "preview" || f.onlyShow() {
		return s.showSettings(c, http.StatusOK, f)
	}
	err := s.DB.Update(func(tx *store.Tx) error { return s.worker.SetSettings(tx, f.bookingSettings()) })
	if err == nil {
		return did(c, bookingSettingsPath, "booking-settings")
	}
	fields := []string{"duration", "reminders", "feedback_after", "lang:booking_lang", "zone", "quiet_from", "quiet_to"}
	for _, kind := range templateKinds {
		for _, lang := range i18n.Languages {
			fields = append(fields, "templates."+kind+"."+lang+":"+templateField(kind, lang))
		}
	}
	if !f.refuse(v, err, fields...) {
		return err
	}
	return s.showSettings(c, http.StatusUnprocessableEntity, f)
}

// digestState is a digest, and whether it is switched on.
type digestState struct {
	name string
	on   bool
}

func (s bookingPages) showSettings(c echo.Context, status int, f form) error {
	v := s.view(c)
	f.prepare("")
	var digests []digestState
	previews := map[string]string{}
	err := s.DB.View(func(tx *store.Tx) error {
		for _, d := range bookings.Digests() {
			if job, err := tx.Jobs.ByName(d.Name); err == nil {
				digests = append(digests, digestState{d.Name, job.State != store.JobPaused && !job.Paused})
			}
		}
		for _, kind := range templateKinds {
			for _, lang := range i18n.Languages {
				field := templateField(kind, lang)
				shown, err := s.worker.Preview(tx, kind, f.get(field), bookings.Request{Lang: lang})
				if err != nil && f.refuse(v, err, "template:"+field) {
					continue
				}
				if err != nil {
					return err
				}
				for _, row := range shown.Buttons {
					shown.Text += "\n[ " + strings.Join(row, " ] [ ") + " ]"
				}
				previews[field] = shown.Text
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.show(c, status, v, screen{nav: "/bookings", title: v.T("booking_settings.title"), form: "booking-settings", body: v.bookingSettings(f, digests, previews)})
}

// joined and words are a list in a field of a form.
func joined(all []string) string { return strings.Join(all, ", ") }

func words(text string) []string {
	return append([]string{}, strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(", ;\t", c) })...)
}
