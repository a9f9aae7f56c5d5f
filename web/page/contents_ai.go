package page

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/rules"
)

// aiSpent says what the AI was asked today and may be asked in a day; empty without an AI.
func (s *Server) aiSpent(tx *store.Tx, v view) (string, error) {
	if !s.ai.HasAI() {
		return "", nil
	}
	today, err := s.ai.Spent(tx)
	requests, tokens := s.ai.Limits()
	return v.T("rules.spent", today.Requests, requests, today.Tokens, tokens), err
}

func (s *Server) aiToday(v view) (string, error) {
	return fetch(s, func(tx *store.Tx) (string, error) { return s.aiSpent(tx, v) })
}

// askAI has the AI write the text of the form, or make a picture for it. The form is shown again and not saved.
func (s postPages) askAI(c echo.Context, f form, content *store.Content) error {
	allowTime(c)
	v, status := s.view(c), http.StatusOK
	var drawn []store.Media
	var err error
	brief := rules.Brief{Title: f.get("title"), Description: f.get("description"), Format: f.get("format"), Language: f.get("language")}
	switch media := f.content().Media; {
	case f.get("do") == "write":
		var text string
		if text, err = s.ai.Write(c.Request().Context(), brief); err == nil { // after what is there, which may be a person's
			f.values.Set("text", strings.TrimLeft(f.values.Get("text")+"\n\n"+text, "\r\n"))
		}
	case len(media) == maxFiles:
		f.wrong["ai"] = v.T("media.too_many", maxFiles)
	default:
		var file store.MediaFile
		if file, err = s.ai.Draw(c.Request().Context(), brief); err == nil {
			drawn = []store.Media{{ID: file.ID, Kind: file.Kind}}
			f.setMedia(append(media, drawn...))
		}
	}
	if said := v.refusal(err); said != "" {
		f.wrong["ai"], status = said, http.StatusUnprocessableEntity
	} else if err != nil {
		return err
	}
	if c.Request().Header.Get("HX-Request") == "" {
		return s.showContent(c, status, f, content)
	}
	spent, err := s.aiToday(v)
	if err != nil {
		return err
	}
	// A preview that was asked for while the AI wrote is without the text, and may come after this answer.
	c.Response().Header().Set("HX-Trigger-After-Settle", "change")
	return s.render(c, http.StatusOK, v.writtenNow(f, spent, drawn, s.checkContent(v, f)))
}
