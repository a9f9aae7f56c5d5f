package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/rs/zerolog"

	"belfry/platform/telegram"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/identities"
	"belfry/worker/notices"
)

// mustHaveApplication refuses accounts in the settings if neither they nor the file have an application.
func (s *settings) mustHaveApplication(apps identities.Applications) error {
	if id, hash := apps.Telegram(); id != 0 && hash != "" {
		return nil
	}
	for _, account := range [][2]string{
		{"TELEGRAM_BOT_TOKEN", s.TelegramBotToken}, {"TELETHON_SESSION", s.TelethonSession}, {"ADMIN_NOTIFY_BOT_TOKEN", s.AdminBotToken},
	} {
		if account[1] != "" {
			return store.Invalid("TELEGRAM_API_ID and TELEGRAM_API_HASH", "invalid.api_missing", account[0])
		}
	}
	return nil
}

// configureBots makes the bots of the settings identities, and returns the one that is to tell the admins. Its ID is 0
// if they name none.
func (s *settings) configureBots(db *store.DB) (notify uint64, err error) {
	err = db.Update(func(tx *store.Tx) error {
		if s.TelegramBotToken != "" {
			if _, err := identities.Configure(tx, identities.Main, s.TelegramBotToken, s.TelegramChat); err != nil {
				return ofSetting("TELEGRAM_BOT_TOKEN", err)
			}
		}
		if s.AdminBotToken != "" && s.AdminBotToken != s.TelegramBotToken {
			i, err := identities.Configure(tx, identities.Notify, s.AdminBotToken, "")
			notify = i.ID
			return ofSetting("ADMIN_NOTIFY_BOT_TOKEN", err)
		}
		if s.AdminBotToken == "" {
			return nil
		}
		i, err := tx.Identities.ByName(telegram.Platform, identities.Main)
		notify = i.ID
		return err
	})
	return notify, err
}

// warnWithoutBot logs that the admins of the settings are told nothing.
func (s *settings) warnWithoutBot(db *store.DB, w *notices.Worker, log zerolog.Logger) error {
	return db.View(func(tx *store.Tx) error {
		told, err := w.Told(tx)
		if err == nil && len(s.Admins) > 0 && told.Login == 0 {
			log.Warn().Msg("ADMIN_ID is set, but there is no bot to notify the admins: choose one in Settings, or set ADMIN_NOTIFY_BOT_TOKEN")
		}
		return err
	})
}

// adopt takes over the user account of the setting TELETHON_SESSION: the text of a session, or the
// path of a file.
func (s *settings) adopt(db *store.DB, w *identities.Worker, log zerolog.Logger) error {
	setting := s.TelethonSession
	if setting == "" {
		return nil
	}
	data := []byte(setting)
	file, err := os.ReadFile(setting)
	if err == nil {
		data = file
	} else if strings.HasSuffix(setting, ".session") {
		adopted, e := worker.Read(db, identities.HasAdopted)
		if e != nil {
			return e
		}
		if adopted { // what it held is in the database
			log.Warn().Str("file", setting).Msg("TELETHON_SESSION names a file that cannot be read; what was taken over before is used")
			return nil
		}
		return store.Invalid("TELETHON_SESSION", "invalid.session_unreadable", err)
	}
	session, err := w.Session(data)
	if err != nil {
		return ofSetting("TELETHON_SESSION", err)
	}
	mark := fmt.Sprintf("%x", sha256.Sum256(session))
	if err := db.Update(func(tx *store.Tx) error { return identities.Adopt(tx, session, mark) }); err != nil {
		return fmt.Errorf("TELETHON_SESSION: %w", err)
	}
	return nil
}
