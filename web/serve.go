package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"belfry/store"
	"belfry/web/session"
)

// The limits of a connection. A live page sets its own.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10

	// shutdownTimeout is how long requests under way may take once the end has been asked for.
	shutdownTimeout = 10 * time.Second
)

// Serve answers requests for the page and the API on l until ctx ends, then lets those under way
// end and returns. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ending, addr := make(chan struct{}), l.Addr()
	s.listens.Store(&addr)
	return s.serve(ctx, l, s.routes(ending), writeTimeout, ending)
}

// base is the address of the page for a browser on this machine, such as http://127.0.0.1:8080.
func (s *Server) base() string {
	addr := s.listens.Load()
	if addr == nil {
		return "http://127.0.0.1"
	}
	listens, err := netip.ParseAddrPort((*addr).String())
	if err == nil && listens.Addr().IsUnspecified() { // at every address of this machine
		return fmt.Sprintf("http://127.0.0.1:%d", listens.Port())
	}
	return "http://" + (*addr).String()
}

// ServeSocket is [Server.Serve] for the API on a unix socket. Whoever can open the socket is taken
// for the owner, so it asks for no token: its mode is set to 0600.
func (s *Server) ServeSocket(ctx context.Context, l net.Listener) error {
	if err := os.Chmod(l.Addr().String(), 0o600); err != nil {
		return errors.Join(fmt.Errorf("keep the socket to its owner: %w", err), l.Close())
	}
	// A backup or a check of a large file may take its time.
	return s.serve(ctx, l, s.socketRoutes(), 0, make(chan struct{}))
}

// serve closes ending when ctx ends, for handlers that do not end by themselves. longest is how
// long answering a request may take; 0 means without limit.
func (s *Server) serve(ctx context.Context, l net.Listener, handler http.Handler, longest time.Duration, ending chan struct{}) error {
	server := &http.Server{
		Handler:           headAsGet(handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      longest,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       session.WithPeer,
	}
	unused := unusedConns{open: make(map[net.Conn]bool)}
	server.ConnState = unused.note
	stopped := make(chan error, 1)
	finished := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
		case <-finished:
			return
		}
		close(ending)
		unused.closeAll()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(limit); err != nil {
			stopped <- errors.Join(fmt.Errorf("end the requests under way: %w", err), server.Close())
		}
	}()
	err := server.Serve(l)
	close(finished)
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return <-stopped
}

// headAsGet answers HEAD as GET; the server itself leaves the body out.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r // the server looks at its own request when it drops the body
			get.Method, r = http.MethodGet, &get
		}
		next.ServeHTTP(w, r)
	})
}

// unusedConns are the connections on which nothing was asked yet. Browsers open some in advance, and
// a server that ends would wait five seconds for each.
type unusedConns struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

func (u *unusedConns) note(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.open, conn)
	case u.closed:
		_ = conn.Close() // nobody has asked for anything
	default:
		u.open[conn] = true
	}
}

func (u *unusedConns) closeAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.open {
		_ = conn.Close() // nobody has asked for anything
	}
}

// MayListen reports why the page must not be served at addr, if it must not: beyond loopback it
// has to have a password.
func (s *Server) MayListen(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return store.Invalid("listen", "invalid.address", addr)
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || (err == nil && ip.Unmap().IsLoopback()) {
		return nil
	}
	chosen, err := s.sessions.HasPassword()
	if err != nil {
		return fmt.Errorf("look for the page's password: %w", err)
	}
	if !chosen {
		return store.Invalid("listen", "invalid.open_listen", addr)
	}
	return nil
}

// SignInLink returns a link that signs its reader in to the page once, within [session.LinkAge]. base is
// the page's address, such as http://127.0.0.1:8080; empty means where it listens.
func (s *Server) SignInLink(base string) (string, error) {
	key, err := s.sessions.IssueLink()
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(cmp.Or(base, s.base()), "/") + "/sign-in/link?key=" + key, nil
}
