package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/webhook"
	"belfry/store"
	"belfry/worker/adminbot"
	"belfry/worker/alerts"
	"belfry/worker/notices"
)

// tellAdmins sets up the worker that tells those who run Belfry what the others have to say. notify is
// the bot that does it.
func (svc *service) tellAdmins(s *settings, zone *time.Location, notify store.Identity) error {
	cfg := notices.Config{Zone: zone, Log: svc.log.With().Str("part", "notices").Logger()}
	if s.AlertWebhook != "" {
		hook, err := webhook.New(s.AlertWebhook)
		if err != nil {
			return wrong("BELFRY_ALERT_WEBHOOK", err)
		}
		cfg.Webhook = hook
	}
	switch {
	case len(s.Admins) == 0:
	case notify.ID == 0:
		svc.log.Warn().Msg("ADMIN_ID is set, and nobody is told anything: there is no bot; set ADMIN_NOTIFY_BOT_TOKEN, or add one and start again")
	default:
		cfg.Bot = bot{svc.telegram.Publisher(notify.ID), svc.telegram, notify.ID}
		for _, id := range s.Admins {
			cfg.Admins = append(cfg.Admins, strconv.FormatInt(id, 10))
		}
	}
	svc.notices = notices.New(svc.db, cfg)
	return nil
}

// bot is the bot that tells the admins.
type bot struct {
	platform.Publisher
	network  *telegram.Network
	identity uint64
}

// Edit changes one of the bot's messages.
func (b bot) Edit(ctx context.Context, messageID int64, p platform.Post) error {
	return b.network.Edit(ctx, b.identity, messageID, p)
}

// Answer ends the wait of whoever has pressed a button.
func (b bot) Answer(ctx context.Context, queryID int64, text string) error {
	return b.network.Answer(ctx, b.identity, queryID, text)
}

// watchTrouble sets up the worker that finds out what is wrong.
func (svc *service) watchTrouble(s *settings, zone *time.Location) error {
	cfg := alerts.Config{
		Disk:       func() (alerts.Disk, error) { return disk(s.DB) },
		Connection: svc.disconnected, Lang: s.Lang, Zone: zone, Log: svc.log.With().Str("part", "alerts").Logger(),
	}
	if s.Heartbeat != "" {
		hook, err := webhook.New(s.Heartbeat)
		if err != nil {
			return wrong("BELFRY_HEARTBEAT_URL", err)
		}
		cfg.Heartbeat = hook.Call
	}
	svc.alerts = alerts.New(svc.db, svc.notices, cfg)
	return nil
}

// disconnected returns since when a login that is to be connected to Telegram is not, and why.
func (svc *service) disconnected(identityID uint64) (since time.Time, why string) {
	status := svc.telegram.Status(identityID)
	if status.State == telegram.StateOff || status.State == telegram.StateConnected {
		return time.Time{}, ""
	}
	return status.Since, status.Err
}

// evenPaused reports whether a lane is that of alerts, of what tells them, or of the admin bot: these are no
// part of a pause.
func evenPaused(lane string) bool {
	return slices.Contains([]string{alerts.Kind, alerts.HeartbeatKind, adminbot.BackupKind}, lane) || strings.HasPrefix(lane, "notices")
}

// disk measures the disk that the file is on. A backup or a migration needs the file's size once more.
func disk(file string) (alerts.Disk, error) {
	var fs unix.Statfs_t
	info, err := os.Stat(file)
	if err != nil {
		return alerts.Disk{}, err
	}
	if err := unix.Statfs(filepath.Dir(file), &fs); err != nil {
		return alerts.Disk{}, fmt.Errorf("measure the disk: %w", err)
	}
	return alerts.Disk{Free: int64(fs.Bavail) * fs.Bsize, Need: 2*info.Size() + 256<<20}, nil
}

// hearAdmins has the admins heard by the bot that tells them. It is called before Telegram is
// connected.
func (svc *service) hearAdmins(s *settings, zone *time.Location, notify store.Identity) {
	svc.adminBot = adminbot.New(svc.db, adminbot.Workers{
		Posts: svc.posts, Tasks: svc.tasks, Accounts: svc.accounts, Alerts: svc.alerts, Notices: svc.notices,
	}, adminbot.Config{
		Admins: s.Admins, Lang: s.Lang, Zone: zone, Passphrase: s.BackupPassphrase, Folder: s.Media,
		Log: svc.log.With().Str("part", "admin bot").Logger(),
	})
	if len(s.Admins) > 0 && notify.ID != 0 {
		svc.telegram.Listen(notify.ID, telegram.Listener{Hear: svc.adminBot.Hear, Commands: svc.adminBot.Commands()})
	}
}
