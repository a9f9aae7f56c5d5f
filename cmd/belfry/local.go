package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"belfry/store"
)

// local is the API as the owner of the machine has it: of the running service over its socket, or,
// if none runs, of this process on the file.
type local struct {
	http     *http.Client
	close    func() error
	standsIn bool // no service runs
	file     fileSetting
	out      io.Writer
	json     bool // ask prints the answer as JSON
}

// connect finds the service of the file, or does its part.
func connect(ctx context.Context, f fileSetting) (*local, error) {
	running, err := serves(f.socket())
	if err != nil || running {
		return &local{http: client(f.socket()), close: func() error { return nil }, file: f}, err
	}
	if _, err := os.Stat(f.DB); err != nil {
		return nil, store.Invalid("BELFRY_DB", "invalid.db_unreadable", f.DB, err)
	}
	return standIn(ctx, f)
}

// serves reports whether a service listens at the socket.
func serves(socket string) (bool, error) {
	conn, err := net.Dial("unix", socket)
	switch {
	case err == nil:
		return true, conn.Close()
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return false, nil
	}
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w (run this as the user that owns the file, such as sudo -u belfry)", err)
	}
	return false, fmt.Errorf("reach the service: %w", err)
}

func client(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

// standIn serves the API on a private socket until the local API is closed, so that a command works
// the same way whether the service runs or not. It has the settings of the environment, as the service; the logins among
// them are the service's to take over.
func standIn(ctx context.Context, f fileSetting) (*local, error) {
	var s settings
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	bind(flags, &s)
	if err := readEnvironment(flags); err != nil {
		return nil, err
	}
	s.fileSetting = f
	s.TelegramBotToken, s.AdminBotToken, s.TelethonSession, s.AdminPassword = "", "", "", ""
	key, err := f.key(false)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "belfry")
	if err != nil {
		return nil, err
	}
	s.Media = dir
	svc, err := s.open(s.logger(os.Stderr).Level(zerolog.ErrorLevel), key) // what an answer refers to
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	path := filepath.Join(dir, "s")
	socket, err := listenLocal(path)
	if err != nil {
		return nil, errors.Join(err, svc.db.Close(), os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- svc.web.ServeSocket(ctx, socket) }()
	return &local{http: client(path), standsIn: true, file: f, close: func() error {
		cancel()
		return errors.Join(<-done, svc.db.Close(), os.RemoveAll(dir))
	}}, nil
}

// call sends a request and decodes the answer into out, if out is not nil.
func (l *local) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://belfry/api/v1"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.http.Do(req)
	if err != nil {
		return fmt.Errorf("reach the service: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	if resp.StatusCode >= 400 {
		var problem struct{ Title, Detail string }
		if json.Unmarshal(data, &problem) != nil || problem.Title+problem.Detail == "" {
			return fmt.Errorf("the service answered %s", resp.Status)
		}
		if problem.Detail == "" {
			problem.Detail = problem.Title
		}
		if resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity {
			return usageError(problem.Detail)
		}
		return errors.New(problem.Detail)
	}
	if out == nil || len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, out)
}

// ask sends a request, decodes the answer into out and calls show, or prints the answer as JSON.
func (l *local) ask(ctx context.Context, method, path string, in, out any, show func() error) error {
	var answer json.RawMessage
	if err := l.call(ctx, method, path, in, &answer); err != nil {
		return err
	}
	if l.json {
		_, err := fmt.Fprintf(l.out, "%s\n", answer)
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return err
	}
	return show()
}
