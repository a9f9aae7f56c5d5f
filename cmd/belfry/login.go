package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"rsc.io/qr"

	"belfry/store"
	"belfry/worker/identities"
)

type loginCommand struct {
	fileSetting
	Name    string `arg:"" optional:"" default:"user" help:"What the account is called here."`
	Phone   string `help:"Its phone number; asked for if it is not given."`
	QR      bool   `name:"qr" help:"Log in with a QR code that is scanned with Telegram on a phone."`
	Session string `help:"Take over a Telethon session instead: a .session file, or - to read a StringSession from standard input."`
}

// qrPause is how often the service is asked what came of a QR code.
const qrPause = 2 * time.Second

// Run logs a user account in.
func (c *loginCommand) Run(ctx context.Context, o output) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if l.standsIn && c.Session == "" {
		return store.Invalid("BELFRY_DB", "invalid.no_service")
	}
	dialog := dialog{local: l, out: o.out, in: bufio.NewReader(os.Stdin)}
	session := ""
	if c.Session != "" {
		if session, err = dialog.readSession(c.Session); err != nil {
			return err
		}
	}
	made := false
	if dialog.id, made, err = l.account(ctx, c.Name, session); err != nil {
		return err
	}
	switch {
	case session != "":
		return dialog.takeOver(ctx, session, made)
	case c.QR:
		return dialog.scan(ctx)
	}
	return dialog.enter(ctx, c.Phone)
}

// account returns the id of the user account with that name. If there is none it is made, with the
// session unless that is empty.
func (l *local) account(ctx context.Context, name, session string) (id uint64, made bool, err error) {
	var all struct{ Items []identityShown }
	if err := l.call(ctx, http.MethodGet, "/identities", nil, &all); err != nil {
		return 0, false, err
	}
	for _, i := range all.Items {
		if i.Name == name && i.Kind != string(store.IdentityUser) {
			return 0, false, store.Invalid("NAME", "invalid.bot_name", name)
		}
		if i.Name == name {
			return i.ID, false, nil
		}
	}
	var added identityShown
	err = l.call(ctx, http.MethodPost, "/identities",
		map[string]string{"platform": "telegram", "kind": string(store.IdentityUser), "name": name, "session": session}, &added)
	return added.ID, true, err
}

// identityShown is a login as the API shows it.
type identityShown struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// dialog is a login under way.
type dialog struct {
	local *local
	id    uint64
	in    *bufio.Reader
	out   io.Writer
}

// stepShown is where the login stands.
type stepShown struct {
	State string `json:"state"`
	Via   string `json:"via"`
	Hint  string `json:"hint"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

func (d *dialog) step(ctx context.Context, in map[string]any) (s stepShown, err error) {
	err = d.local.call(ctx, http.MethodPost, fmt.Sprintf("/identities/%d/login", d.id), in, &s)
	return s, err
}

// enter logs in with phone, code and password. What was mistyped is asked for again.
func (d *dialog) enter(ctx context.Context, phone string) error {
	var err error
	if phone == "" {
		if phone, err = d.ask("Phone number, as +79991234567: "); err != nil {
			return err
		}
	}
	s, err := d.step(ctx, map[string]any{"phone": phone})
	if err != nil {
		return err
	}
	for s.State == string(identities.StepCode) {
		code, err := d.ask(fmt.Sprintf("The code that Telegram sent (%s): ", s.Via))
		if err != nil {
			return err
		}
		next, err := d.step(ctx, map[string]any{"code": code})
		if err != nil {
			fmt.Fprintln(d.out, err)
			continue
		}
		s = next
	}
	return d.finish(ctx, s)
}

// finish asks for the password, if the account has one.
func (d *dialog) finish(ctx context.Context, s stepShown) error {
	for s.State == string(identities.StepPassword) {
		hint := ""
		if s.Hint != "" {
			hint = " (hint: " + s.Hint + ")"
		}
		password, err := d.askSecret("The account's two-step password" + hint + ": ")
		if err != nil {
			return err
		}
		next, err := d.step(ctx, map[string]any{"password": password})
		if err != nil {
			fmt.Fprintln(d.out, err)
			continue
		}
		s = next
	}
	if s.State != string(identities.StepDone) {
		return errors.New("the login has not come to its end: begin again")
	}
	_, err := fmt.Fprintf(d.out, "Logged in as %s.\n", s.Title)
	return err
}

// scan shows QR codes until one has been scanned.
func (d *dialog) scan(ctx context.Context) error {
	shown := ""
	for {
		s, err := d.step(ctx, map[string]any{"qr": true})
		if err != nil {
			return err
		}
		if s.State != string(identities.StepQR) {
			return d.finish(ctx, s)
		}
		if s.URL != shown {
			picture, err := terminalQR(s.URL)
			if err != nil {
				return err
			}
			fmt.Fprintf(d.out, "%s\nTelegram on your phone: Settings, Devices, Link Desktop Device. The code is replaced every half minute.\n", picture)
			shown = s.URL
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(qrPause):
		}
	}
}

// terminalQR draws a QR code with two modules in each character.
func terminalQR(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("draw the QR code: %w", err)
	}
	const border = 2
	var b strings.Builder
	for y := -border; y < code.Size+border; y += 2 {
		for x := -border; x < code.Size+border; x++ {
			// Light modules are drawn, because terminals are mostly dark.
			switch upper, lower := !code.Black(x, y), !code.Black(x, y+1); {
			case upper && lower:
				b.WriteRune('█')
			case upper:
				b.WriteRune('▀')
			case lower:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// readSession reads a session from a file or standard input, as the API takes it. What was entered is not
// printed: it may be the session.
func (d *dialog) readSession(from string) (string, error) {
	var data []byte
	var err error
	if from == "-" {
		data, err = io.ReadAll(io.LimitReader(d.in, 1<<20))
	} else {
		data, err = os.ReadFile(from)
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		err = e.Err
	}
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", store.Invalid("--session", "invalid.login_session_unreadable", err)
	}
	if bytes.HasPrefix(data, []byte("SQLite")) {
		return base64.StdEncoding.EncodeToString(data), nil
	}
	return string(bytes.TrimSpace(data)), nil
}

// takeOver gives the account the session of another program, unless it was made with it.
func (d *dialog) takeOver(ctx context.Context, session string, made bool) (err error) {
	if !made {
		if _, err := d.step(ctx, map[string]any{"session": session}); err != nil {
			return err
		}
	}
	says := "The session was taken over; belfry connects with it now.\n"
	if d.local.standsIn {
		says = "The session was taken over; belfry connects with it when it is started.\n"
	}
	_, err = fmt.Fprint(d.out, says, "Do not use it anywhere else from now on: Telegram ends a session that two programs use.\n")
	return err
}

func (d *dialog) ask(question string) (string, error) {
	fmt.Fprint(d.out, question)
	line, err := d.in.ReadString('\n')
	if line = strings.TrimSpace(line); line != "" {
		return line, nil
	}
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return d.ask(question)
}

// askSecret asks without showing what is typed, where that can be.
func (d *dialog) askSecret(question string) (string, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return d.ask(question)
	}
	fmt.Fprint(d.out, question)
	secret, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(d.out)
	return string(secret), err
}
