package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"

	"belfry/store"
)

// startTime is what systemd is asked to wait on for a start, again and again.
const startTime = 2 * time.Minute

// askForTime has systemd wait, until the returned function is called: after a crash the whole file is read before
// anything begins, which may take longer than the unit allows for a start. The store bounds it.
func askForTime(log zerolog.Logger) (ready func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := daemon.SdNotify(false, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", startTime.Microseconds())); err != nil {
				log.Warn().Err(err).Msg("systemd could not be asked for more time to start")
			}
			if !wait(ctx, startTime/4) {
				return
			}
		}
	}()
	return cancel
}

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
