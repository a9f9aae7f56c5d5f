package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// talk runs a command and answers its questions, each with what the function for its first word
// returns.
func (m *machine) talk(args []string, answers map[string]func() string) (said string, err error) {
	m.t.Helper()
	cmd := m.command(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	var text, asked strings.Builder
	for reader := bufio.NewReader(out); ; {
		r, _, err := reader.ReadRune()
		if err != nil {
			break
		}
		text.WriteRune(r)
		asked.WriteRune(r)
		if r == '\n' {
			asked.Reset()
		}
		if !strings.HasSuffix(asked.String(), ": ") {
			continue
		}
		for begins, answer := range answers {
			if strings.HasPrefix(asked.String(), begins) {
				if _, err := io.WriteString(in, answer()+"\n"); err != nil {
					m.t.Fatal(err)
				}
				asked.Reset()
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		return text.String(), fmt.Errorf("%w: %s", err, problems.String())
	}
	return text.String(), nil
}

func TestAnAccountIsLoggedInOnTheCommandLine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const phone = "+79990001122"
	user := m.tg.AddUser(telegramtest.User{Phone: phone, Username: "ringer", FirstName: "Ring", LastName: "Er",
		Password: "one two", PasswordHint: "counting"})
	group := m.tg.AddGroup(telegramtest.Group{Title: "Friends", Username: "ringers_friends", Members: []string{"ringer"}})
	if _, err := m.output("login"); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "/belfry.db") {
		t.Errorf("without a file: %v", err)
	}
	p, url := m.start()
	tries := 0
	answers := map[string]func() string{
		"Phone number": func() string { return phone },
		"The code": func() string {
			if tries++; tries == 1 {
				return "00000x"
			}
			return m.tg.LoginCode(phone)
		},
		"The account's two-step password (hint: counting)": func() string { return "one two" },
	}
	if said, err := m.talk([]string{"login", "mistaken"}, map[string]func() string{"Phone number": func() string { return "123" }}); exitCode(err) == exitDone {
		t.Errorf("a number that is none: %s", said)
	}
	interrupted := m.command("login", "interrupted", "--phone", phone)
	if _, err := interrupted.StdinPipe(); err != nil { // which stays open
		t.Fatal(err)
	}
	asks, err := interrupted.StdoutPipe()
	if err == nil {
		err = interrupted.Start()
	}
	if err == nil {
		_, err = asks.Read(make([]byte, 100))
	}
	if err == nil {
		err = interrupted.Process.Signal(os.Interrupt)
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = interrupted.Process.Kill() })
	if err := interrupted.Wait(); interrupted.ProcessState.ExitCode() != exitFailed {
		t.Errorf("interrupted: %v", err)
	}
	late.Stop()
	m.tg.Fail("auth.signIn", 1, 420, "FLOOD_WAIT_3600")
	if _, err := m.talk([]string{"login"}, answers); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "3600 s") || tries != 1 {
		t.Errorf("a login that has to wait: %v, after %d codes", err, tries)
	}
	tries = 0
	said, err := m.talk([]string{"login"}, answers)
	if err != nil || !strings.Contains(said, "Logged in as Ring Er") || tries != 2 {
		t.Fatalf("login: %v\n%s", err, said)
	}
	m.waitForLogin(url)
	chats := filepath.Join(m.dir, "chats.txt") // as Excel and Notepad write UTF-8
	if err := os.WriteFile(chats, []byte("\ufeff@ringers_friends\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("tasks", "create", "--text", "Hello", "--targets", chats); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	waitForTasks(t, url, time.Now().Add(time.Minute))
	if list, err := m.output("tasks"); err != nil || !strings.Contains(list, "done") {
		t.Errorf("tasks: %s, %v", list, err)
	}
	if list, err := m.output("tasks", "deliveries", "1"); err != nil || !strings.Contains(list, "https://t.me/ringers_friends/") {
		t.Errorf("deliveries: %s, %v", list, err)
	}
	p.stop()
	messages := m.tg.Messages(group.ID)
	if len(messages) != 1 || messages[0].FromID != user.ID {
		t.Errorf("the group has %+v", messages)
	}
	for _, secret := range []string{"one two", phone} {
		if strings.Contains(p.log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

func TestASessionThatIsRefusedIsNotPrintedAndLeavesNoLoginBehind(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	session := "1An8" + strings.Repeat("secret", 50)
	damaged := filepath.Join(m.dir, "damaged.session")
	if err := os.WriteFile(damaged, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{session, damaged, filepath.Join(m.dir, "gone.session")} {
		out, err := m.output("login", "second", "--session", from)
		if err == nil {
			t.Errorf("%.30s was taken over", from)
			continue
		}
		said := out + strings.ReplaceAll(err.Error(), "belfry login second --session "+from, "") // the harness repeats the command
		if strings.Contains(said, "secret") {
			t.Errorf("%.30s: it says %s", from, said)
		}
	}
	m.inStore(func(tx *store.Tx) error {
		if all := tx.Identities.Of("telegram"); len(all) != 0 {
			t.Errorf("there are %+v", all)
		}
		return nil
	})
}

func TestTheServiceStartsWithoutTheSessionFileThatItTookOver(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	user := m.tg.AddUser(telegramtest.User{Phone: "+79990001123", Username: "taken"})
	file := filepath.Join(m.dir, "taken.session")
	m.env = append(m.env, "TELETHON_SESSION="+file)
	p := m.launch()
	if err := <-p.done; exitCode(err) != exitUsage || !strings.Contains(p.log.String(), "TELETHON_SESSION") {
		t.Errorf("a file that was never there: %v\n%s", err, p.log)
	}
	if err := os.WriteFile(file, m.tg.Session(user.ID), 0o600); err != nil {
		t.Fatal(err)
	}
	p, url := m.start()
	m.waitForLogin(url)
	p.stop()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p, url = m.start()
	m.waitForLogin(url)
	p.stop()
}

func TestAQRCodeIsDrawnSoThatItCanBeScanned(t *testing.T) {
	t.Parallel()
	picture, err := terminalQR("tg://login?token=AQLkW5tn0000000000000000000000000000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(picture, "\n"), "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n != len([]rune(lines[0])) || n > 80 || n < 25 {
			t.Fatalf("a line is %d wide:\n%s", n, picture)
		}
	}
	if first := []rune(lines[0]); strings.Trim(string(first), "█") != "" { // the quiet zone
		t.Errorf("no border:\n%s", picture)
	}
}
