package main

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"belfry/store"
)

// tellManager tells systemd that the service is ready, that it is alive as long as the file can be
// read, and that it is ending. Without systemd it does nothing.
func (svc *service) tellManager(ctx context.Context) error {
	notify := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			svc.log.Warn().Err(err).Msg("systemd could not be told " + state)
		}
	}
	notify(daemon.SdNotifyReady)
	defer notify(daemon.SdNotifyStopping)
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		<-ctx.Done()
		return err
	}
	alive := time.NewTicker(interval / 3)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-alive.C:
			if err := svc.db.View(func(*store.Tx) error { return nil }); err == nil {
				notify(daemon.SdNotifyWatchdog)
			}
		}
	}
}
