package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"rsc.io/qr"

	"belfry/store"
	"belfry/worker/identities"
)

// qrPause is the time between two questions whether a QR code was scanned.
const qrPause = 2 * time.Second

// newLogin returns the command that logs a user account in.
func newLogin() *cobra.Command {
	var phone, from string
	var byQR bool
	c := newAPICommand("login [NAME]", "Log a Telegram user account in, for broadcasts. NAME is its name in Belfry.", func(ctx context.Context, l *local, args []string) (err error) {
		if l.standsIn && from == "" {
			return store.Invalid("BELFRY_DB", "invalid.no_service")
		}
		dialog := dialog{local: l, in: bufio.NewReader(os.Stdin)}
		session, made := "", false
		if from != "" {
			if session, err = readSession(from); err != nil {
				return err
			}
		}
		if dialog.id, made, err = l.identity(ctx, append(args, "user")[0], session); err != nil {
			return err
		}
		switch {
		case session != "":
			return dialog.takeOver(ctx, session, made)
		case byQR:
			err = dialog.scan(ctx)
		default:
			err = dialog.enter(ctx, phone)
		}
		if err != nil && made { // else it would be one of the accounts to choose from
			err = errors.Join(err, dialog.forget(context.WithoutCancel(ctx)))
		}
		return err
	})
	c.Flags().StringVar(&phone, "phone", "", "Its phone number. Without one it is asked for.")
	c.Flags().BoolVar(&byQR, "qr", false, "Log in with a QR code that Telegram on a phone scans.")
	c.Flags().StringVar(&from, "session", "", "Import a Telethon session: a .session file, or - to read\na StringSession from standard input.")
	return c
}

// identity returns the id of the user account with that name. If there is none it is made, with the
// session unless that is empty.
func (l *local) identity(ctx context.Context, name, session string) (id uint64, made bool, err error) {
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
	ID                uint64
	Name, Kind, State string
}

// dialog is a login under way, of the identity with the id.
type dialog struct {
	*local
	id uint64
	in *bufio.Reader
}

// forget removes the account again, unless it is logged in after all.
func (d *dialog) forget(ctx context.Context) error {
	var all struct{ Items []identityShown }
	err := d.call(ctx, http.MethodGet, "/identities", nil, &all)
	for _, i := range all.Items {
		if i.ID == d.id && i.State == string(store.IdentityLogin) {
			return d.call(ctx, http.MethodDelete, fmt.Sprint("/identities/", d.id), nil, nil)
		}
	}
	return err
}

// stepShown is the state of the login, and what the next question needs.
type stepShown struct{ State, Via, Hint, URL, Title string }

func (d *dialog) step(ctx context.Context, in map[string]any) (s stepShown, err error) {
	err = d.call(ctx, http.MethodPost, fmt.Sprintf("/identities/%d/login", d.id), in, &s)
	return s, err
}

// enter logs in with phone, code and password.
func (d *dialog) enter(ctx context.Context, phone string) (err error) {
	if phone == "" {
		if phone, err = d.question(ctx, "Phone number, as +79991234567: "); err != nil {
			return err
		}
	}
	s, err := d.step(ctx, map[string]any{"phone": phone})
	if err != nil {
		return err
	}
	return d.finish(ctx, s)
}

// finish asks for the code and the password, if they are needed, and again after one that is refused.
func (d *dialog) finish(ctx context.Context, s stepShown) error {
	for s.State == string(identities.StepCode) || s.State == string(identities.StepPassword) {
		field, question, ask := "code", fmt.Sprintf("The code that Telegram sent (%s)", s.Via), d.question
		if s.State == string(identities.StepPassword) {
			field, question, ask = "password", "The account's two-step password", d.secret
			if s.Hint != "" {
				question += " (hint: " + s.Hint + ")"
			}
		}
		answer, err := ask(ctx, question+": ")
		if err != nil {
			return err
		}
		next, err := d.step(ctx, map[string]any{field: answer})
		_, entered := errors.AsType[usageError](err)
		switch {
		case err == nil:
			s = next
		case !entered: // another answer does not help
			return err
		default:
			fmt.Fprintln(d.out, err)
		}
	}
	if s.State != string(identities.StepDone) {
		return errors.New("the login did not finish: start again")
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
		if !wait(ctx, qrPause) {
			return ctx.Err()
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
func readSession(from string) (string, error) {
	data, err := readInput(from)
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
	if d.standsIn {
		says = "The session was taken over; belfry connects with it when it is started.\n"
	}
	_, err = fmt.Fprint(d.out, says, "Do not use it anywhere else from now on: Telegram ends a session that two programs use.\n")
	return err
}

// question asks until there is an answer, or ctx ends.
func (d *dialog) question(ctx context.Context, text string) (string, error) {
	fmt.Fprint(d.out, text)
	line, err := entered(ctx, func() (string, error) { return d.in.ReadString('\n') })
	if line = strings.TrimSpace(line); line != "" {
		return line, nil
	}
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return d.question(ctx, text)
}

// secret asks without showing what is typed, where that can be.
func (d *dialog) secret(ctx context.Context, text string) (string, error) {
	terminal := int(os.Stdin.Fd())
	shows, err := term.GetState(terminal)
	if err != nil {
		return d.question(ctx, text)
	}
	fmt.Fprint(d.out, text)
	secret, err := entered(ctx, func() (string, error) {
		secret, err := term.ReadPassword(terminal)
		return string(secret), err
	})
	fmt.Fprintln(d.out)
	return secret, errors.Join(err, term.Restore(terminal, shows))
}

// entered returns what is read from a person, who may end the program instead.
func entered(ctx context.Context, read func() (string, error)) (text string, err error) {
	done := make(chan struct{})
	var line string
	var wrong error
	go func() {
		line, wrong = read()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-done:
		return line, wrong
	}
}
