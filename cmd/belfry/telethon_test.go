package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
)

// telethon has the real Telethon write a session around the key of an account that is logged in.
func (m *machine) telethon(user int64, script string) string {
	m.t.Helper()
	dc, addr, key := m.tg.AuthKey(user)
	host, port, _ := strings.Cut(addr, ":")
	cmd := exec.Command("/usr/bin/python3", "-c", script, fmt.Sprint(dc), host, port, hex.EncodeToString(key), filepath.Join(m.dir, "telethon"))
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("telethon: %v", err)
	}
	return strings.TrimSpace(string(out))
}

const (
	stringSession = `
import sys
from telethon.crypto import AuthKey
from telethon.sessions import StringSession
s = StringSession()
s.set_dc(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
s.auth_key = AuthKey(bytes.fromhex(sys.argv[4]))
print(s.save())
`
	fileSession = `
import sys
from telethon.crypto import AuthKey
from telethon.sessions import SQLiteSession
s = SQLiteSession(sys.argv[5])
s.set_dc(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
s.auth_key = AuthKey(bytes.fromhex(sys.argv[4]))
s.save()
s.close()
print(sys.argv[5] + ".session")
`
)

func TestSessionsOfTelethonAreTakenOverAndSend(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import telethon").CombinedOutput(); err != nil {
		if os.Getenv("BELFRY_NO_SKIP") != "" {
			t.Fatalf("this needs Telethon (Debian: python3-telethon): %s", out)
		}
		t.Skip("this needs Telethon (Debian: python3-telethon)")
	}
	m := newMachine(t)
	group := telegramtest.Group{Title: "Friends", Username: "friends_of_both"}
	var users []telegramtest.User
	for i, name := range []string{"by_string", "by_file"} {
		users = append(users, m.tg.AddUser(telegramtest.User{Phone: fmt.Sprintf("+7999111000%d", i), Username: name, FirstName: name}))
		group.Members = append(group.Members, name)
	}
	group = m.tg.AddGroup(group)

	text := m.telethon(users[0].ID, stringSession)
	m.env = append(m.env, "TELETHON_SESSION="+text)
	p, url := m.start()
	file := m.telethon(users[1].ID, fileSession)
	if out, err := m.output("login", "second", "--session", file); err != nil || !strings.Contains(out, "taken over") {
		t.Fatalf("login --session: %q, %v", out, err)
	}
	m.waitForLogin(url)
	var logins struct {
		Items []struct {
			ID             uint64
			Name, Username string
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := callAPI(ctx, "GET", url+"/api/v1/identities", nil, &logins); err != nil {
		t.Fatal(err)
	}
	for _, i := range logins.Items {
		out, err := m.output("tasks", "create", "--text", "from "+i.Username, "--identity", fmt.Sprint(i.ID), "--target", "@friends_of_both")
		if err != nil || !strings.Contains(out, "pending") {
			t.Fatalf("tasks create: %q, %v", out, err)
		}
	}
	waitForTasks(t, url, time.Now().Add(time.Minute))
	p.stop()
	var got []string
	for _, message := range m.tg.Messages(group.ID) {
		got = append(got, message.From+": "+message.Text)
	}
	if strings.Join(got, "; ") != "by_string: from by_string; by_file: from by_file" && strings.Join(got, "; ") != "by_file: from by_file; by_string: from by_string" {
		t.Errorf("the group has %q", got)
	}
	for _, method := range []string{"auth.sendCode", "auth.signIn", "auth.exportLoginToken", "auth.importBotAuthorization"} {
		if n := m.tg.Calls(method); n != 0 {
			t.Errorf("%s was called %d times: the sessions did not do", method, n)
		}
	}
	if strings.Contains(p.log.String(), text[:40]) {
		t.Error("the session is in the log")
	}
}
