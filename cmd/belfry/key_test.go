package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheKeyIsMadeOnceAndNeverBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	f := fileSetting{DB: filepath.Join(dir, "data", "belfry.db"), KeyFile: filepath.Join(dir, "settings", keyName)}
	if key, err := f.key(false); key != nil || err != nil {
		t.Errorf("a command that makes none: %x, %v", key, err)
	}
	made, err := f.key(true)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(f.KeyFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if again, err := f.key(true); err != nil || !bytes.Equal(again, made) {
		t.Errorf("the next start has another key: %v", err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(f.KeyFile)) // as systemd hands it over
	beside := fileSetting{DB: f.DB, KeyFile: filepath.Join(dir, "data", keyName)}
	if key, err := beside.key(true); err != nil || !bytes.Equal(key, made) {
		t.Errorf("the credential is not used: %v", err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	if _, err := beside.key(true); err == nil || !strings.Contains(said(err), "beside the database") {
		t.Errorf("beside the file: %v", err)
	}
	if err := os.WriteFile(f.KeyFile, []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.key(true); err == nil || strings.Contains(err.Error(), "no key\n") {
		t.Errorf("a file that holds no key: %v", err)
	}
}

// Under systemd the service cannot write where its key was.
func TestAKeyThatIsGoneAndCannotBeMadeIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := "/proc/self/" + keyName // nobody makes a file there
	if _, err := (fileSetting{DB: filepath.Join(dir, "belfry.db"), KeyFile: path}).key(true); err == nil ||
		!strings.Contains(said(err), "there is no key at "+path) || !strings.Contains(said(err), "your copy of the key") {
		t.Errorf("got %v", err)
	}
}

// A copy alone gives no login to whoever finds it; one that carries its key does to the owner.
func TestASealedBackupMovesTheLoginsToAnotherMachine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("moved_bot", "moved_away")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_BACKUP_PASSPHRASE=correct horse")
	p, url := m.start()
	m.waitForLogin(url)
	plain, sealed := filepath.Join(m.dir, "plain"), filepath.Join(m.dir, "sealed")
	if out, err := m.output("backup", plain); err != nil || !strings.Contains(out, m.keyFile()) {
		t.Errorf("backup does not say which key it needs: %s, %v", out, err)
	}
	if _, err := m.output("backup", "--sealed", sealed); err != nil {
		t.Fatal(err)
	}
	p.stop()
	for _, path := range []string{m.file(), plain, sealed} {
		data, err := os.ReadFile(path)
		if err != nil || bytes.Contains(data, []byte(token)) {
			t.Errorf("%s has the bot's token in clear, %v", path, err)
		}
	}

	there := *m // another machine, which knows neither token nor key
	there.dir = t.TempDir()
	there.env = append(m.env[:len(m.env)-2:len(m.env)-2], "BELFRY_BACKUP_PASSPHRASE=correct horse", "BELFRY_DB="+there.file(), "BELFRY_KEY_FILE="+there.keyFile())
	if out, err := there.output("restore", plain); err != nil || !strings.Contains(out, there.file()+" are sealed with another key") || strings.Contains(out, "Its logins are sealed with the key") || !strings.Contains(out, there.keyFile()+", which was made just now") {
		t.Errorf("restore does not say that the key is missing, and which it made: %s, %v", out, err)
	}
	if err := os.Remove(there.file()); err != nil {
		t.Fatal(err)
	}
	if out, err := there.output("restore", sealed); err != nil || strings.Contains(out, "another key") || strings.Contains(out, "just now") {
		t.Fatalf("restore: %s, %v", out, err)
	}
	logins := m.tg.Calls("auth.importBotAuthorization")
	p, url = there.start()
	asked := m.tg.Calls("users.getUsers")
	if _, err := there.output("jobs", "resume", "--all"); err != nil {
		t.Fatal(err)
	}
	if err := m.tg.AwaitCalls(t.Context(), "users.getUsers", asked+1); err != nil {
		t.Error(err)
	}
	there.waitForLogin(url)
	if m.tg.Calls("auth.importBotAuthorization") != logins {
		t.Error("it logged in again, although the backup carries the session and its key")
	}
	p.stop()
}

// The service has another home than root, and would not find a key there.
func TestARestoreByRootMakesNoKeyInTheHomeOfRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || exists(filepath.Join(installedIn, keyName)) {
		t.Skip("it takes root, and a machine on which nothing is installed")
	}
	m := newMachine(t)
	p, _ := m.start()
	p.stop()
	there := *m
	there.dir = t.TempDir()
	there.env = append(slices.DeleteFunc(slices.Clone(m.env), func(e string) bool { return strings.HasPrefix(e, "BELFRY_KEY_FILE=") }), "BELFRY_DB="+there.file(), "HOME="+there.dir)
	if _, err := there.output("restore", m.file()); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "run install.sh first") {
		t.Errorf("got %v", err)
	}
	if exists(filepath.Join(there.dir, ".config", "belfry", keyName)) || exists(there.file()) {
		t.Error("it has made something")
	}
}

// The service may have its key from elsewhere than a shell does, as a systemd credential. A sealed backup carries the key
// of the file, or there is none.
func TestASealedBackupCarriesTheKeyThatTheServiceHas(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("moved_bot", "moved_away")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_BACKUP_PASSPHRASE=correct horse")
	p, url := m.start()
	defer p.stop()
	m.waitForLogin(url)
	shell := *m
	other := filepath.Join(t.TempDir(), keyName)
	if err := os.WriteFile(other, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.env = append(slices.Clone(m.env), "BELFRY_KEY_FILE="+other)
	file := filepath.Join(m.dir, "sealed")
	if _, err := shell.output("backup", "--sealed", file); err == nil || !strings.Contains(err.Error(), "another key than the service has") || exists(file) {
		t.Errorf("with another key: %v", err)
	}
	if said, err := shell.output("backup", filepath.Join(m.dir, "plain")); err != nil || strings.Contains(said, other) {
		t.Errorf("a plain one names the wrong key: %s%v", said, err)
	}
	if said, err := m.output("backup", "--sealed", file); err != nil {
		t.Errorf("with the right one: %s%v", said, err)
	}
	if _, err := m.output("check", file); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "sealed backup") {
		t.Errorf("check: %v", err)
	}
}

func TestAPathThatIsTooLongForTheSocketIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("long", 30), "belfry.sock")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := listenLocal(path); err == nil || !strings.Contains(said(err), "is too long") {
		t.Errorf("got %v", err)
	}
}
