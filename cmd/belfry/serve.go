package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"belfry/scheduler"
	"belfry/store"
	"belfry/web"
	"belfry/worker"
)

// clockFloor is a time that any right clock has passed: this version was made after it. Until the
// clock has, nothing is started.
func clockFloor() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

// newServe returns the command that runs the service.
func newServe() *cobra.Command {
	var s settings
	c := newCommand("serve", "Run the service: the schedule, the page and the API.", func(c *cobra.Command, _ []string) error {
		s.fileSetting = s.absolute()
		return s.serve(c.Context(), s.logger(c.ErrOrStderr()), func(*service) error { return nil })
	})
	bind(c.Flags(), &s.fileSetting)
	bind(c.Flags(), &s)
	return c
}

// service is the running program.
type service struct {
	log       zerolog.Logger
	db        *store.DB
	workers   workers
	module    worker.Module // all that the workers bring
	scheduler *scheduler.Scheduler
	web       *web.Server
	page      net.Listener
	socket    net.Listener
	url       string // the page's address
}

// serve opens everything, calls ready, and runs until ctx ends. What it starts it ends, in the
// order that the parts need: first no more runs, then the networks that runs use, then the file.
func (s *settings) serve(ctx context.Context, log zerolog.Logger, ready func(*service) error) (err error) {
	key, err := s.key(true)
	if err != nil {
		return err
	}
	opened := askForTime(log)
	svc, err := s.open(log, key)
	opened()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.db.Close()) }()
	if err := svc.listen(s); err != nil {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	beside, endBeside := context.WithCancel(context.WithoutCancel(ctx)) // of what the workers do beside their runs
	defer endBeside()
	var serving, besides sync.WaitGroup
	begin := func(group *sync.WaitGroup, ctx context.Context, what string, run func(context.Context) error) {
		group.Go(func() {
			if err := run(ctx); err != nil {
				cancel(fmt.Errorf("%s: %w", what, err))
			}
		})
	}
	if err := svc.module.Start(); err != nil {
		return err
	}
	begin(&serving, ctx, "page", func(ctx context.Context) error { return svc.web.Serve(ctx, svc.page) })
	begin(&serving, ctx, "socket", func(ctx context.Context) error { return svc.web.ServeSocket(ctx, svc.socket) })
	if s.DisableWorkers {
		log.Warn().Msg("DISABLE_WORKERS is set: nothing is run")
	} else {
		begin(&besides, beside, "workers", svc.module.Run)
		begin(&serving, ctx, "schedule", svc.scheduler.Run)
		select { // before that nobody is told that the service is there: its health would be bad
		case <-svc.scheduler.Begun():
		case <-ctx.Done():
		}
	}
	begin(&serving, ctx, "service manager", svc.tellManager)
	begin(&serving, ctx, "file check", svc.verifyFile)
	log.Info().Str("version", version()).Str("page", svc.url).Str("file", svc.db.Path()).Msg("belfry serves")
	if err := ready(svc); err != nil {
		cancel(err)
	}

	<-ctx.Done()
	log.Info().Msg("belfry is ending: no new runs, those under way have 10 s")
	serving.Wait()
	endBeside()
	besides.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	log.Info().Msg("belfry has ended")
	return nil
}

// verifyEvery is the time between two verifications of the file in use.
const verifyEvery = 24 * time.Hour

// verifyFile logs whether a plain copy of the file is good here, and verifies what the file holds while the
// service runs, slowly, again and again.
func (svc *service) verifyFile(ctx context.Context) error {
	if ok, why := svc.db.Copyable(); !ok {
		svc.log.Warn().Str("why", why).Msg("a plain copy of the file may be bad here: use belfry backup")
	}
	for {
		problems, err := svc.db.VerifyInUse(ctx)
		for _, p := range problems {
			svc.log.Error().Stringer("problem", p).Msg("the file is damaged: stop belfry and run belfry check --repair, or restore a backup")
		}
		if ctx.Err() == nil {
			svc.log.Info().Err(err).Int("problems", len(problems)).Msg("the file was verified")
		}
		debug.FreeOSMemory() // what this and the start have needed is garbage now
		if !wait(ctx, verifyEvery) {
			return nil
		}
	}
}

// wait waits, and reports false if ctx ends meanwhile.
func wait(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// listen opens the page's address and the socket for the other commands.
func (svc *service) listen(s *settings) (err error) {
	if err := svc.web.MayListen(s.Listen); err != nil {
		return err
	}
	svc.page, err = net.Listen("tcp", s.Listen)
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return store.Invalid("BELFRY_LISTEN", "invalid.address", s.Listen)
	}
	if err != nil {
		return fmt.Errorf("listen at BELFRY_LISTEN %s: %w", s.Listen, err)
	}
	svc.url = "http://" + svc.page.Addr().String()
	if svc.socket, err = listenLocal(s.socket()); err != nil {
		return errors.Join(err, svc.page.Close())
	}
	return svc.firstSignIn()
}

// maxSocket is how long the path of a unix socket may be, by unix(7).
const maxSocket = 107

// listenLocal opens a unix socket. One that is there was left by a process that is gone: whoever
// holds the file owns the socket beside it.
func listenLocal(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EINVAL) && len(path) > maxSocket {
		return nil, store.Invalid("BELFRY_DB", "invalid.long_path", path, maxSocket)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for other commands: %w", err)
	}
	return l, nil
}

// firstSignIn logs a link to the page if it has no password yet.
func (svc *service) firstSignIn() error {
	chosen, err := svc.web.HasPassword()
	if err != nil || chosen {
		return err
	}
	link, err := svc.web.SignInLink(svc.url)
	if err != nil {
		return err
	}
	svc.log.Info().Str("link", link).Msg("the page has no password yet: open this link within 15 minutes and choose one")
	return nil
}
