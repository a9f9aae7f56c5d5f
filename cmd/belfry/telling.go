package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/alerts"
)

// bot is the bot that notifies the admins.
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

// hearFirst returns what hands what people tell bots to the first of the modules that it is meant for.
func hearFirst(modules ...worker.Module) func(*store.Tx, platform.Heard) error {
	handle := worker.Join(modules...).HandleUpdate
	return func(tx *store.Tx, h platform.Heard) error {
		_, err := handle(tx, h)
		return err
	}
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
