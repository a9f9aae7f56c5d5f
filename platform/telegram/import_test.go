package telegram_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
)

// stringSession writes a session in the way of Telethon's StringSession.save().
func stringSession(t *testing.T, dc int, addr string, key []byte) string {
	t.Helper()
	where, err := netip.ParseAddrPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	raw := append([]byte{byte(dc)}, where.Addr().AsSlice()...)
	raw = binary.BigEndian.AppendUint16(raw, where.Port())
	return "1" + base64.URLEncoding.EncodeToString(append(raw, key...))
}

// sqlite makes an SQLite file by the statements, which may name the key as X'…' with %s.
func sqlite(t *testing.T, statements string, key []byte) []byte {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 writes the session file, and it is not here")
	}
	path := filepath.Join(t.TempDir(), "person.session")
	script := strings.ReplaceAll(statements, "%s", fmt.Sprintf("X'%x'", key))
	cmd := exec.CommandContext(t.Context(), python, "-c",
		"import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()", path, script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// telethonTables are what Telethon 1.25 makes.
const telethonTables = `
create table version (version integer primary key);
insert into version values (7);
create table sessions (dc_id integer primary key, server_address text, port integer, auth_key blob, takeout_id integer);
create table entities (id integer primary key, hash integer not null, username text, phone integer, name text, date integer);
`

func (r *room) parse(data []byte) []byte {
	r.Helper()
	session, err := r.network.ParseSession(data)
	if err != nil {
		r.Fatal(err)
	}
	return session
}

func TestStringSessionConnects(t *testing.T) {
	t.Parallel()
	r, u := newUser(t, telegramtest.User{})
	dc, addr, key := r.srv.AuthKey(u.ID)
	text := stringSession(t, dc, addr, key)
	r.secrets = append(r.secrets, text)
	r.give(r.parse([]byte(" " + text + "\n")))
	r.mustPublish(platform.Post{Key: 1, Text: "as a person"})
}

// Where the settings name a server, it is connected to whatever a session says.
func TestSessionOfAnotherDataCentreConnectsToTheConfiguredServer(t *testing.T) {
	t.Parallel()
	r, u := newUser(t, telegramtest.User{})
	_, _, key := r.srv.AuthKey(u.ID)
	r.give(r.parse([]byte(stringSession(t, 4, "149.154.167.91:443", key))))
	r.mustPublish(platform.Post{Key: 1, Text: "as a person"})
	r.restart()
	r.mustPublish(platform.Post{Key: 2, Text: "again"})
}

func TestSessionFileConnects(t *testing.T) {
	t.Parallel()
	r, u := newUser(t, telegramtest.User{})
	_, _, key := r.srv.AuthKey(u.ID)
	data := sqlite(t, telethonTables+`
		insert into entities values (1, 2, 'somebody', null, 'Some Body', 3);
		insert into sessions values (2, '127.0.0.1', 443, %s, null);`, key)
	r.give(r.parse(data))
	r.mustPublish(platform.Post{Key: 1, Text: "as a person"})
}

func TestOwnSessionIsReadAgain(t *testing.T) {
	t.Parallel()
	r, u := newUser(t, telegramtest.User{})
	session := r.srv.Session(u.ID)
	if got := r.parse(session); !bytes.Equal(r.parse(got), got) {
		t.Errorf("%d bytes became %d", len(session), len(got))
	}
	r.give(r.parse(session))
}

func TestWhatIsNoSessionIsRefusedInWords(t *testing.T) {
	t.Parallel()
	n, err := telegram.New(nil, telegram.Config{})
	if err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte{7}, 256)
	whole := stringSession(t, 2, "149.154.167.51:443", key)
	if _, err := n.ParseSession([]byte(whole)); err != nil {
		t.Error(err)
	}
	if _, err := n.ParseSession([]byte(stringSession(t, 2, "[2001:67c:4e8:f002::a]:443", key))); err != nil {
		t.Error(err)
	}
	refused := func(name string, data []byte, words string) {
		_, err := n.ParseSession(data)
		e := platform.AsError(err)
		if err == nil || e.Kind != platform.Refused || e.Field != "session" || !strings.Contains(e.Error(), words) {
			t.Errorf("%s: got %v, want %q", name, err, words)
		}
		if err != nil && len(data) > 40 && strings.Contains(err.Error(), string(data[20:40])) {
			t.Errorf("%s: the words have a part of the session: %v", name, err)
		}
	}
	refused("nothing", []byte(" \n"), "empty")
	refused("prose", []byte("this is not a session"), "neither")
	refused("half", []byte(whole[:101]), "copy the whole of it")
	refused("torn", []byte(whole[:len(whole)-1]), "not a whole StringSession")
	refused("far away", []byte(stringSession(t, 9, "149.154.167.51:443", key)), "data centre 9")
	refused("no key", []byte(stringSession(t, 2, "149.154.167.51:443", make([]byte, 256))), "not logged in")
	refused("json", []byte(`{"Version":1,"Data":{"DC":2}}`), "key")
	refused("other json", []byte(`{"dc":2}`), "not a session")
	refused("broken file", append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{1, 2, 3}, 3000)...), "damaged")
	refused("cut file", sqlite(t, telethonTables, key)[:5000], "damaged")
	refused("file of nobody", sqlite(t, telethonTables, key), "not logged in")
	refused("file of nobody yet", sqlite(t, telethonTables+"insert into sessions values (2, 'x', 443, X'', null);", key), "not logged in")
	refused("short key", sqlite(t, telethonTables+"insert into sessions values (2, 'x', 443, %s, null);", key[:100]), "100 bytes")
	refused("other tables", sqlite(t, "create table peers (id integer);", key), "not a session of Telethon")
	refused("Pyrogram", sqlite(t, `create table sessions (dc_id integer primary key, api_id integer, test_mode integer,
		auth_key blob, date integer not null, user_id integer, is_bot integer);
		insert into sessions values (2, 1, 0, %s, 0, 5, 0);`, key), "Pyrogram")
}
