package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// exitCode is the code with which a command ended.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return 0
}

func TestCommandsWorkWhetherTheServiceRunsOrNot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	work := func(name string) {
		t.Run(name, func(t *testing.T) {
			made, err := m.output("token", name)
			if err != nil || !strings.HasPrefix(made, "belfry_") {
				t.Fatalf("token: %q, %v", made, err)
			}
			listed, err := m.output("token", "list", "--json")
			var tokens struct{ Items []struct{ Name string } }
			if err != nil || json.Unmarshal([]byte(listed), &tokens) != nil {
				t.Fatalf("token list: %q, %v", listed, err)
			}
			if last := tokens.Items[len(tokens.Items)-1]; last.Name != name {
				t.Errorf("token list: %s", listed)
			}
			if _, err := m.output("token", "revoke", fmt.Sprint(len(tokens.Items))); err != nil {
				t.Error(err)
			}
			if _, err := m.output("token", " "); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "name is empty") {
				t.Errorf("a wrong value: exit code %d: %v", exitCode(err), err)
			}
			m.mustCheck()
			copied := filepath.Join(m.dir, "copy of "+name)
			if _, err := m.output("backup", copied); err != nil {
				t.Fatal(err)
			}
			if out, err := m.output("check", copied); err != nil {
				t.Errorf("the backup: %v: %s", err, out)
			}
			if _, err := m.output("backup", copied); exitCode(err) == exitDone || !strings.Contains(err.Error(), "exists") {
				t.Errorf("a backup over another one: %v", err)
			}
			if _, err := m.output("backup", filepath.Join(m.dir, "no folder", "copy")); exitCode(err) != exitFailed {
				t.Errorf("a backup to a folder that is not there: %v", err)
			}
			if left, err := filepath.Glob(filepath.Join(m.dir, "backup-*")); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
	p, url := m.start()
	work("running")
	if link, err := m.output("page"); err != nil || !strings.HasPrefix(link, url+"/sign-in/link?key=") {
		t.Errorf("page: %q, %v", link, err)
	}
	t.Run("a second service on the same file is refused in words", func(t *testing.T) {
		_, err := m.output("serve")
		if exitCode(err) != exitFailed || !strings.Contains(err.Error(), "in use by another process") ||
			!strings.Contains(err.Error(), fmt.Sprint("process ", p.cmd.Process.Pid)) || strings.Contains(err.Error(), "not closed") {
			t.Errorf("got %v", err)
		}
	})
	p.stop()
	work("stopped")
	t.Run("what goes wrong without the service is on record", func(t *testing.T) {
		if err := os.MkdirAll(m.file()+"-backup.belfry-unverified.new/in the way", 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := m.output("backup", filepath.Join(m.dir, "another")); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "directory not empty") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheDoctorSaysInWordsWhatItCannotReach(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if out, err := m.output("doctor"); exitCode(err) != exitFailed || !strings.Contains(out, "which cannot be read") || strings.Contains(out, "invalid.") {
		t.Errorf("no file: %v\n%s", err, out)
	}
	if os.Geteuid() != 0 {
		t.Skip("another user takes root")
	}
	if err := os.Chmod(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setfsuid(0) }()
	if found := checkService(t.Context(), filepath.Join(m.dir, "belfry.sock")); found.Good || !strings.Contains(found.Says, "as the user that owns the file") {
		t.Errorf("a folder of another user: %+v", found)
	}
}

func TestWrongUsageIsTwoAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		env  string
		says string
	}{
		"an unknown command":       {args: []string{"ring"}, says: "belfry --help"},
		"a zone that is not known": {args: []string{"serve"}, env: "BELFRY_TIMEZONE=Mars/Olympus", says: "Europe/Moscow"},
		"a bot without the application's id": {args: []string{"serve"}, env: "TELEGRAM_BOT_TOKEN=123456789:AAEabcdefghijklmnopqrstuvwxyz",
			says: "my.telegram.org"},
		"a port that cannot be":           {args: []string{"serve"}, env: "BELFRY_LISTEN=127.0.0.1:99999", says: "BELFRY_LISTEN"},
		"chats that are none":             {args: []string{"serve"}, env: "TARGET_CHAT_IDS=-1001234567890,what is this", says: "TARGET_CHAT_IDS"},
		"an open door without a password": {args: []string{"serve"}, env: "BELFRY_LISTEN=0.0.0.0:0", says: "BELFRY_ADMIN_PASSWORD"},
		"a file that is not there":        {args: []string{"token"}, env: "BELFRY_DB=/nowhere/belfry.db", says: "/nowhere/belfry.db"},
		"a command that is not there":     {args: []string{"tasks", "lst"}, says: `unknown command "lst"`},
		"a shell that is not there":       {args: []string{"completion", "fsh"}, says: `unknown command "fsh"`},
		"an argument that is missing":     {args: []string{"tasks", "show"}, says: "ID is missing"},
		"an id that is no number":         {args: []string{"tasks", "show", "../tokens"}, says: `ID: "../tokens"`},
		"an argument too many":            {args: []string{"check", "one", "two"}, says: `unexpected argument "two"`},
		"a flag that is no number":        {args: []string{"jobs", "--limit", "x"}, says: `--limit: "x" cannot be used`},
		"a variable that is no number":    {args: []string{"serve"}, env: "MAX_TASK_ATTEMPTS=1.5", says: `MAX_TASK_ATTEMPTS: "1.5" cannot be used`},
		"a variable that is no time":      {args: []string{"serve"}, env: "BELFRY_POST_BACKOFF=5", says: "BELFRY_POST_BACKOFF: \"5\" cannot be used: write a time such as 30s"},
		"a variable that is not a bool":   {args: []string{"serve"}, env: "DISABLE_WORKERS=maybe", says: "DISABLE_WORKERS"},
		"a language that is not there":    {args: []string{"serve", "--lang", "fr"}, says: "use one of en, ru"},
		"a text and a content":            {args: []string{"tasks", "create", "--text", "a", "--content", "3"}, says: "--text and --content"},
		"a backup that is not there":      {args: []string{"restore", "nothing"}, says: "FILE cannot be read"},
		"no command":                      {says: ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.env = append(m.env, "TELEGRAM_API_ID=", c.env)
			_, err := m.output(c.args...)
			if exitCode(err) != exitUsage || !strings.Contains(err.Error(), c.says) {
				t.Errorf("exit code %d: %v", exitCode(err), err)
			}
		})
	}
}

func TestSettingsComeFromTheFlagThenTheVariableThenTheDefault(t *testing.T) {
	t.Setenv("BELFRY_LANG", "ru")
	t.Setenv("BELFRY_TIMEZONE", "Europe/Moscow")
	t.Setenv("BELFRY_LISTEN", "")
	t.Setenv("DISABLE_WORKERS", "yes")
	t.Setenv("TARGET_CHAT_IDS", "-100,@news")
	t.Setenv("BELFRY_POST_BACKOFF", "2m")
	var s settings
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	bind(flags, &s)
	if err := errors.Join(flags.Parse([]string{"--lang", "en", "--admin-id", "5,6"}), readEnvironment(flags)); err != nil {
		t.Fatal(err)
	}
	want := defaultSettings()
	want.Timezone, want.Lang, want.DisableWorkers, want.Tasks.Targets, want.Admins, want.Posts.Backoff = "Europe/Moscow", "en", true, []string{"-100", "@news"}, people{5, 6}, 2*time.Minute
	if !reflect.DeepEqual(s, want) || want.Listen != "127.0.0.1:8080" || want.Tasks.MaxPause != 40*time.Second {
		t.Errorf("the settings are %+v", s)
	}
}

func TestAListGoesOnAtItsCursor(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("accounts", "add", "--keep-watching", "one", "two", "zoo"); err != nil || !strings.Contains(out, "3 added") {
		t.Fatalf("accounts add: %v: %s", err, out)
	}
	first, err := m.output("accounts", "--limit", "2")
	head, cursor, more := strings.Cut(first, "more: --cursor ")
	if err != nil || !more || !strings.Contains(head, "one") || !strings.Contains(head, "two") || strings.Contains(head, "zoo") {
		t.Fatalf("the first page: %v: %s", err, first)
	}
	rest, err := m.output("accounts", "list", "--cursor", strings.TrimSpace(cursor))
	if err != nil || !strings.Contains(rest, "zoo") || strings.Contains(rest, "two") || strings.Contains(rest, "more:") {
		t.Errorf("the rest: %v: %s", err, rest)
	}
	if out, err := m.output("accounts", "--tag", "none", "--json"); err != nil || strings.Contains(out, "zoo") {
		t.Errorf("with a tag that none has: %v: %s", err, out)
	}
	if out, err := m.output("accounts", "--json"); err != nil || strings.Count(out, `"keep_watching":true`) != 3 {
		t.Errorf("as JSON: %v: %s", err, out)
	}
}

// A channel's title, or a message in it, is what anybody in Telegram has written.
func TestWhatOthersHaveWrittenDoesNotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	title := "Новости\x1b]52;c;cm0gLXJm\a\r\u009b1A\tof the city"
	err = db.Update(func(tx *store.Tx) error {
		return tx.Channels.Put(&store.Channel{PeerID: 1, Title: title, IdentityID: 1})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("channels"); err != nil || !strings.Contains(out, `Новости\u001b]52;c;cm0gLXJm\u0007\u000d\u009b1A`) {
		t.Errorf("%v: %q", err, out)
	}
	var listed struct{ Items []struct{ Title string } }
	out, err := m.output("channels", "--json")
	if err != nil || json.Unmarshal([]byte(out), &listed) != nil || listed.Items[0].Title != title || strings.Contains(out, "\u009b") {
		t.Errorf("as JSON: %v: %q", err, out)
	}
}

func TestTheShellCompletesCommands(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if out, err := m.output("completion", "bash"); err != nil || !strings.Contains(out, "__start_belfry") {
		t.Errorf("%v: %.200s", err, out)
	}
	if out, err := m.output("__complete", "tasks", "d"); err != nil || !strings.Contains(out, "deliveries") || !strings.Contains(out, "dry-run") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAWrongSettingIsNamedWithItsCure(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env = append(m.env, "ADMIN_ID=5")
	for _, c := range []struct{ env, says string }{
		{"ADMIN_ID=@me", "ADMIN_ID"},
		{"ADMIN_ID=@me", "write a number such as 123456789"},
		{"ADMIN_ID=1, -100123", `"-100123" is not the id of a person`},
		{"ADMIN_NOTIFY_BOT_TOKEN=abc", "ADMIN_NOTIFY_BOT_TOKEN does not look like a bot's: paste the whole"},
		{"TELEGRAM_BOT_TOKEN=abc", "TELEGRAM_BOT_TOKEN does not look like a bot's: paste the whole"},
		{"TELETHON_SESSION=abc", "TELETHON_SESSION"},
		{"BELFRY_ALERT_WEBHOOK=example.com/x", "BELFRY_ALERT_WEBHOOK is not an http or https address: write it as"},
		{"BELFRY_HEARTBEAT_URL=foo", "BELFRY_HEARTBEAT_URL is not an http or https address: write it as"},
		{"BELFRY_PROXY=127.0.0.1:1080", "BELFRY_PROXY is not an address of a proxy: write it as http://user:password@host:3128"},
		{"BELFRY_ALLOW_PRIVATE=http://media.example", "is not an address, a prefix or a host: write it as"},
		{"BELFRY_INSTAGRAM_WEB_URL=www.instagram.com", "BELFRY_INSTAGRAM_WEB_URL is not an http or https address: write it as https://host"},
		{"BELFRY_RELAY_REDIS=redis://:s3cr%t@127.0.0.1", "BELFRY_RELAY_REDIS is not an address of Redis: write it as redis://"},
		{"OPENAI_BASE_URL=http://me:s3cr%t@127.0.0.1", "OPENAI_BASE_URL is not an http or https address: write it as"},
		{"BELFRY_TELEGRAM_DC=foo", "write it as 2@127.0.0.1:24430"},
		{"BELFRY_TELEGRAM_KEY=foo", "BELFRY_TELEGRAM_KEY is not PEM"},
	} {
		wrong := *m
		wrong.env = append(slices.Clone(m.env), c.env)
		_, err := wrong.output("serve")
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "goroutine") || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: exit code %d: %v", c.env, exitCode(err), err)
		}
	}
}

func TestCheckFindsADamagedFile(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(db.Update(func(tx *store.Tx) error { return tx.Settings.Set("name", "a value to damage") }), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(m.file())
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.ReplaceAll(string(data), "a value to damage", "a value to Damage")
	if err := os.WriteFile(m.file(), []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := m.output("check")
	if exitCode(err) != exitFailed || !strings.Contains(out, "settings 1") {
		t.Errorf("exit code %d: %v: %s", exitCode(err), err, out)
	}
	if out, err := m.output("check", "--repair"); err != nil || !strings.Contains(out, "settings 1") || !strings.Contains(out, "1 damaged rows were set aside") {
		t.Errorf("check --repair: %v: %s", err, out)
	}
	m.mustCheck()
}

// spoilPage changes a page of a file that nobody has open.
func spoilPage(t *testing.T, path string, page int64, spoil func(page []byte) []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	_, err = f.ReadAt(b, page*4096)
	if err == nil {
		_, err = f.WriteAt(spoil(b), page*4096)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedPagesAreNamedAndTheRestIsSalvaged(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error {
		for i := range 1000 {
			if err := tx.Settings.Set(fmt.Sprint(i), strings.Repeat("x", 100)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(m.file())
	if err != nil {
		t.Fatal(err)
	}
	page := int64(bytes.Index(whole, []byte(`"name":"500"`)) / 4096)
	named := fmt.Sprintf("page %d ", page)

	if err := os.Truncate(m.file(), page*4096); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("check"); exitCode(err) != exitFailed || !strings.Contains(out, "cut short") {
		t.Errorf("cut short: exit code %d: %v: %s", exitCode(err), err, out)
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"a number of pages that cannot be": func(b []byte) []byte { b[15] ^= 0x40; return b },
		"zeros":                            func(b []byte) []byte { clear(b); return b },
	} {
		if err := os.WriteFile(m.file(), whole, 0o600); err != nil {
			t.Fatal(err)
		}
		spoilPage(t, m.file(), page, spoil)
		if out, err := m.output("check", m.file()); exitCode(err) != exitFailed || !strings.Contains(out, named) {
			t.Errorf("%s: exit code %d: %v: %s", name, exitCode(err), err, out)
		}
		out, err := m.output("check", "--repair")
		if err != nil || !strings.Contains(out, named) || !strings.Contains(out, m.file()+".damaged-") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		m.mustCheck()
		m.inStore(func(tx *store.Tx) error {
			if value, err := tx.Settings.Value("1"); err != nil || value == "" {
				t.Errorf("%s: what was not damaged is not there: %v", name, err)
			}
			return nil
		})
		kept, _ := filepath.Glob(m.file() + ".damaged-*")
		for _, file := range kept {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if len(kept) != 1 {
			t.Errorf("%s: kept are %v", name, kept)
		}
	}
}

// The service says what is damaged in a file that was closed as it should be, and a post whose job is
// lost goes out after a repair.
func TestAPostWhoseJobIsDamagedGoesOutAfterARepair(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, channels := m.bot("lost_bot", "lost")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@lost")
	p, url := m.start()
	m.waitForLogin(url)
	at := time.Now().Add(2 * time.Second)
	err := callAPI(t.Context(), "POST", url+"/api/v1/scheduled-posts", map[string]any{
		"text": "not lost", "platform": "telegram", "scheduled_time": at.UTC().Format(time.RFC3339Nano),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.stop()
	var id uint64
	m.inStore(func(tx *store.Tx) error {
		job, err := tx.Jobs.ByName("post_1")
		id = job.ID
		return err
	})
	schedulertest.Damage(t, m.file(), "jobs", id)
	p, _ = m.start()
	select {
	case n := <-p.verified:
		if n == 0 {
			t.Errorf("the service finds nothing wrong with the file\n%s", p.log)
		}
	case <-time.After(time.Minute):
		t.Error("the service does not verify the file")
	}
	p.stop()
	out, err := m.output("check", "--repair")
	if err != nil || !strings.Contains(out, fmt.Sprint("jobs ", id)) || !strings.Contains(out, "posts 1: has no job post_1") {
		t.Errorf("check --repair: %v: %s", err, out)
	}
	m.mustCheck()
	p, url = m.start()
	waitForEnd(t, url, time.Now().Add(time.Minute))
	if sent := m.tg.Messages(channels[0].ID); len(sent) != 1 || sent[0].Text != "not lost" {
		t.Errorf("the channel has %v", sent)
	}
	p.stop()
	m.mustCheck()
}
