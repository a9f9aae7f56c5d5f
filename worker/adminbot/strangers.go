package adminbot

import (
	"encoding/json"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// strangers is how often somebody who is no admin has tried to talk to the bot.
type strangers struct {
	Count int       `json:"count"`
	Last  int64     `json:"last"` // the id of the last one
	At    time.Time `json:"at"`
}

const settingStrangers = "adminbot.strangers"

func (b *Bot) countStranger(tx *store.Tx, h platform.Heard) error {
	s, err := readStrangers(tx)
	if err != nil {
		return err
	}
	first := tx.Now().Sub(s.At).Abs() >= time.Minute
	s.Count++
	s.Last, s.At = h.From, tx.Now()
	b.cfg.Log.Warn().Int64("from", h.From).Int("so_far", s.Count).Msg("somebody who is no admin talks to the admin bot; no answer")
	err = worker.SetSetting(tx, settingStrangers, s)
	if err == nil && first { // once for many, so that nobody can fill the audit
		err = tx.Audit.Add(store.AuditEntry{Door: store.DoorBot, Actor: strconv.FormatInt(h.From, 10), Action: "bot.talk", Result: store.AuditRefused})
	}
	return err
}

func readStrangers(tx *store.Tx) (s strangers, err error) {
	text, err := tx.Settings.Value(settingStrangers)
	if err != nil && !store.IsCorrupt(err) {
		return s, err
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return strangers{}, nil //nolint:nilerr // a count that cannot be read begins anew
	}
	return s, nil
}
