package api

import (
	"context"
	"net/http"
	"strconv"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/notices"
	"belfry/worker/setup"
)

// Settings are what was chosen about Belfry itself, as the API shows it.
type Settings struct {
	TelegramAPIID int      `json:"telegram_api_id,omitempty" doc:"The application's id from my.telegram.org; its hash is not shown"`
	Timezone      string   `json:"timezone" doc:"The zone in which times are shown, and that of rules which name none" example:"Europe/Moscow"`
	Lang          string   `json:"lang" enum:"en,ru" doc:"The language of the page and the bot"`
	AdminBot      uint64   `json:"admin_bot,omitempty" doc:"The identity that tells the admins"`
	Admins        []string `json:"admins" nullable:"false" doc:"The Telegram ids of those who are told"`
	Environment   []string `json:"environment" nullable:"false" doc:"The fields that the environment sets: they cannot be changed here"`
}

type newSettings struct {
	TelegramAPIID   int    `json:"telegram_api_id,omitempty" doc:"The application's id from my.telegram.org; tried out before it is stored"`
	TelegramAPIHash string `json:"telegram_api_hash,omitempty" doc:"Its hash; never shown again"`
	Timezone        string `json:"timezone,omitempty" example:"Europe/Moscow"`
	Lang            string `json:"lang,omitempty" doc:"en or ru"`
	AdminBot        uint64 `json:"admin_bot,omitempty" doc:"The identity of a bot that is to tell the admins"`
}

type settingsDoor struct {
	*Server
	setup  *setup.Worker
	logins *identities.Worker
	told   *notices.Worker
}

// SettingsOf is the door to what was chosen about Belfry itself.
func SettingsOf(w *setup.Worker, logins *identities.Worker, told *notices.Worker) Door {
	return func(server *Server, a *api) {
		s := settingsDoor{server, w, logins, told}
		operation(a, http.MethodGet, "/settings", "Show the settings", func(context.Context, *struct{}) (*reply[Settings], error) {
			return within(s.db.View, s.shown)
		})
		operation(a, http.MethodPut, "/settings", "Change settings: what is left out stays", s.change, patient)
	}
}

func (s settingsDoor) shown(tx *store.Tx) (out Settings, err error) {
	lang, zone := s.setup.Now()
	out = Settings{Timezone: zone.String(), Lang: lang, Admins: []string{}, Environment: []string{}}
	app, fixedApp, err := s.logins.Application(tx)
	if err != nil {
		return out, err
	}
	told, err := s.told.Told(tx)
	if err != nil {
		return out, err
	}
	out.TelegramAPIID, out.AdminBot = app.ID, told.Login
	for _, a := range told.Admins {
		out.Admins = append(out.Admins, a.Chat)
	}
	fixed := s.setup.Fixed()
	for _, each := range []struct {
		field string
		fixed bool
	}{
		{"telegram_api_id", fixedApp}, {"timezone", fixed.Timezone != ""}, {"lang", fixed.Lang != ""},
		{"admin_bot", told.FixedLogin}, {"admins", told.FixedAdmins},
	} {
		if each.fixed {
			out.Environment = append(out.Environment, each.field)
		}
	}
	return out, nil
}

func (s settingsDoor) change(ctx context.Context, in *struct{ Body newSettings }) (*reply[Settings], error) {
	if in.Body.TelegramAPIID != 0 || in.Body.TelegramAPIHash != "" {
		if err := s.logins.SetApplication(ctx, strconv.Itoa(in.Body.TelegramAPIID), in.Body.TelegramAPIHash); err != nil {
			return nil, err
		}
	}
	if err := s.setup.SetLocale(setup.Locale{Timezone: in.Body.Timezone, Lang: in.Body.Lang}); err != nil {
		return nil, err
	}
	if in.Body.AdminBot != 0 {
		if err := s.told.ChooseBot(in.Body.AdminBot); err != nil {
			return nil, err
		}
	}
	return within(s.db.View, s.shown)
}
