package systemd_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The long form needs root, mmdebstrap and systemd-nspawn and takes half a minute
// beyond the build, the first time a minute: go test ./systemd -long
var long = flag.Bool("long", false, "boot a small Debian, and install and run Belfry in it")

// One life of an installation, from bare Debian to removal. The steps build on one another.
func TestInstalledServiceRunsUpgradesAndGoes(t *testing.T) {
	if !*long {
		t.Skip("long form: go test ./systemd -long")
	}
	programs := t.TempDir()
	program, probe := filepath.Join(programs, "belfry"), filepath.Join(programs, "lease")
	build(t, program, "./cmd/belfry")
	build(t, probe, "./systemd/testdata/lease")

	m := boot(t, func(root string) {
		release := root + "/opt/belfry"
		copyRelease(t, release)
		mustRun(t, "cp", program, release+"/belfry")
		mustRun(t, "cp", probe, release+"/lease")
		// The next version: the same program, told apart by what stands behind its end.
		write(t, root+"/opt/next", read(t, program)+"next")
		mustRun(t, "chmod", "+x", root+"/opt/next")
		write(t, root+"/opt/foreign", foreign(read(t, program)))
		write(t, root+"/opt/broken", read(t, program)[:4096])
	})
	const installer = "/opt/belfry/install.sh"
	step := func(name string, f func(*testing.T)) {
		t.Helper()
		if !t.Run(name, f) {
			t.FailNow()
		}
	}

	step("a program that cannot run here is refused before anything changes", func(t *testing.T) {
		for file, says := range map[string]string{"foreign": "is made for", "broken": "does not run here"} {
			code, out := m.try(t, installer+" --binary /opt/"+file)
			if code != 1 || !strings.Contains(out, says) {
				t.Errorf("%s: exit code %d, without %q:\n%s", file, code, says, out)
			}
		}
		for _, path := range []string{"usr/local/bin/belfry", "etc/belfry", "var/lib/belfry"} {
			if _, err := os.Lstat(filepath.Join(m.root, path)); err == nil {
				t.Errorf("%s is there", path)
			}
		}
		if left := m.must(t, "ls -A /usr/local/bin"); left != "" {
			t.Errorf("left in /usr/local/bin: %s", left)
		}
	})

	step("install.sh brings a bare machine to a service that serves", func(t *testing.T) {
		out := m.must(t, installer)
		for _, word := range []string{"http://127.0.0.1:8080", "journalctl -u belfry", "/etc/belfry/belfry.env", "/var/lib/belfry/belfry.db"} {
			if !strings.Contains(out, word) {
				t.Errorf("the end does not say %s:\n%s", word, out)
			}
		}
		serves(t, m)
		if got := m.property(t, "Type") + " " + m.must(t, "systemctl is-enabled belfry"); got != "notify enabled" {
			t.Errorf("the service is %s", got)
		}
		for path, want := range map[string]string{
			"/etc/belfry/belfry.env":    "640 root:belfry",
			"/etc/belfry/belfry.key":    "600 belfry:belfry",
			"/var/lib/belfry":           "700 belfry:belfry",
			"/var/lib/belfry/belfry.db": "600 belfry:belfry",
		} {
			if got := m.must(t, "stat -c '%a %U:%G' "+path); got != want {
				t.Errorf("%s is %s, not %s", path, got, want)
			}
		}
	})

	step("belfry.env names only settings that the program knows", func(t *testing.T) {
		help := m.must(t, "belfry serve --help")
		for line := range strings.Lines(read(t, "belfry.env")) {
			if name := settingName(line); name != "" && !strings.Contains(help, name) {
				t.Errorf("belfry serve --help does not name %s", name)
			}
		}
	})

	step("the commands reach the service, and a backup is good", func(t *testing.T) {
		const file = "BELFRY_DB=/var/lib/belfry/belfry.db "
		m.must(t, "runuser -u belfry -- env "+file+"belfry token curator")
		m.must(t, file+"belfry backup /var/lib/belfry/backup.db")
		m.must(t, "belfry check /var/lib/belfry/backup.db && rm /var/lib/belfry/backup.db")
		m.must(t, file+"belfry check")
	})

	step("a killed service is restarted", func(t *testing.T) {
		before := m.property(t, "MainPID")
		m.after(t, "kill -9 "+before, "belfry", "Started belfry.service")
		serves(t, m)
		if got := m.property(t, "NRestarts"); got != "1" {
			t.Errorf("restarted %s times", got)
		}
	})

	step("a hanging service is ended with a trace and restarted", func(t *testing.T) {
		m.must(t, "mkdir -p /run/systemd/system/belfry.service.d")
		m.must(t, "printf '[Service]\\nWatchdogSec=2s\\n' >/run/systemd/system/belfry.service.d/quick.conf")
		m.must(t, "systemctl daemon-reload && systemctl restart belfry")
		pid := m.property(t, "MainPID")
		m.after(t, "kill -STOP "+pid, "belfry", "Started belfry.service")
		m.must(t, "journalctl -u belfry _PID="+pid+" -o cat | grep -q '^goroutine '")
		m.must(t, "rm -r /run/systemd/system/belfry.service.d && systemctl daemon-reload && systemctl restart belfry")
		serves(t, m)
	})

	step("a second run is harmless", func(t *testing.T) {
		out := m.must(t, installer)
		if strings.Contains(out, "belfry.previous") {
			t.Errorf("it took itself for an upgrade:\n%s", out)
		}
		serves(t, m)
	})

	step("a refused upgrade does not even interrupt the service", func(t *testing.T) {
		pid := m.property(t, "MainPID")
		if code, out := m.try(t, installer+" --binary /opt/broken"); code != 1 {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		if now := m.property(t, "MainPID"); now != pid {
			t.Errorf("process %s has become %s", pid, now)
		}
	})

	step("an upgrade runs the new program and keeps the way back", func(t *testing.T) {
		out := m.must(t, installer+" --binary /opt/next")
		serves(t, m)
		m.must(t, "cmp /opt/next /usr/local/bin/belfry && cmp /opt/belfry/belfry /usr/local/bin/belfry.previous")
		m.must(t, "test -s /var/backups/belfry/belfry.db.before-upgrade")
		_, wayBack, found := strings.Cut(out, "The way back to the version before:\n")
		if !found {
			t.Fatalf("no way back is named:\n%s", out)
		}
		for line := range strings.Lines(wayBack) {
			if command, found := strings.CutPrefix(line, "  sudo "); found {
				m.must(t, command)
			}
		}
		serves(t, m)
		m.must(t, "cmp /opt/belfry/belfry /usr/local/bin/belfry")
		m.must(t, "BELFRY_DB=/var/lib/belfry/belfry.db belfry check")
	})

	step("what was switched off stays off", func(t *testing.T) {
		m.must(t, "systemctl disable --now belfry")
		out := m.must(t, installer+" --binary /opt/next")
		if state := m.property(t, "ActiveState"); state != "inactive" || !strings.Contains(out, "systemctl enable --now belfry") {
			t.Errorf("the service is %s:\n%s", state, out)
		}
		m.must(t, "systemctl enable --now belfry")
		serves(t, m)
	})

	step("an install that does not come up says where to look, and the next one heals it", func(t *testing.T) {
		m.must(t, "echo BELFRY_LISTEN=203.0.113.1:8080 >>/etc/belfry/belfry.env")
		code, out := m.try(t, installer+" --binary /opt/next")
		if code != 1 || !strings.Contains(out, "journalctl -u belfry") || !strings.Contains(out, "The way back") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		m.must(t, "sed -i '/203.0.113.1/d' /etc/belfry/belfry.env")
		m.must(t, installer+" --binary /opt/next")
		serves(t, m)
	})

	step("the hardening allows the write lease on the file", func(t *testing.T) {
		unit := read(t, "belfry.service")
		for directive, instead := range map[string]string{
			"Type=notify\n":                           "Type=oneshot\n",
			"Restart=on-failure\n":                    "",
			"ExecStart=/usr/local/bin/belfry serve\n": "ExecStart=/opt/belfry/lease\n",
		} {
			if !strings.Contains(unit, directive) {
				t.Fatalf("belfry.service has no %s", directive)
			}
			unit = strings.Replace(unit, directive, instead, 1)
		}
		write(t, m.root+"/etc/systemd/system/lease.service", unit)
		m.must(t, "systemctl daemon-reload")
		m.after(t, "systemctl start --no-block lease", "lease", "the lease is held")
		m.after(t, "timeout 20 cat /var/lib/belfry/lease", "lease", "the lease is given back")
	})

	step("systemctl stop ends it cleanly within 15 seconds", func(t *testing.T) {
		begin := time.Now()
		m.must(t, "systemctl stop belfry")
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
		if got := m.property(t, "Result") + " " + m.property(t, "ExecMainStatus"); got != "success 0" {
			t.Errorf("it ended with %s:\n%s", got, m.journal(t))
		}
	})

	step("uninstall leaves the data", func(t *testing.T) {
		m.must(t, "systemctl start belfry")
		out := m.must(t, installer+" --uninstall")
		m.must(t, "test -s /var/lib/belfry/belfry.db && test -s /etc/belfry/belfry.env && test ! -e /usr/local/bin/belfry")
		if state := m.property(t, "LoadState") + " " + m.property(t, "ActiveState"); state != "not-found inactive" {
			t.Errorf("the service is %s:\n%s", state, out)
		}
		if code, out := m.try(t, "curl -fsS http://127.0.0.1:8080/health"); code == 0 {
			t.Errorf("something still answers: %s", out)
		}
		m.must(t, installer+" --uninstall")
	})

	step("a later install takes the data up again", func(t *testing.T) {
		before := m.must(t, "stat -c %i /var/lib/belfry/belfry.db")
		m.must(t, installer)
		serves(t, m)
		if after := m.must(t, "stat -c %i /var/lib/belfry/belfry.db"); after != before {
			t.Error("belfry.db is another file")
		}
	})

	step("a file that root has put there is named with the cure", func(t *testing.T) {
		m.must(t, "systemctl stop belfry && chown root: /var/lib/belfry/belfry.db")
		if code, out := m.try(t, "systemctl start belfry"); code == 0 || !strings.Contains(m.journal(t), "sudo chown belfry: /var/lib/belfry/belfry.db") {
			t.Errorf("exit code %d:\n%s\n%s", code, out, m.journal(t))
		}
	})
}

// serves: systemd says active, and the program says that it is well.
func serves(t *testing.T, m *machine) {
	t.Helper()
	m.must(t, "systemctl is-active belfry")
	if code := m.must(t, "curl -sS -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/health"); code != "200" {
		t.Errorf("/health answers %s:\n%s\n%s", code, m.must(t, "curl -sS http://127.0.0.1:8080/health"), m.journal(t))
	}
}

// build makes a program as install.sh and a release do: without C libraries. No -trimpath,
// with which everything would be compiled once more.
func build(t *testing.T, program, source string) {
	t.Helper()
	cmd := exec.Command(need(t, "go"), "build", "-ldflags=-s -w", "-o", program, source)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if code, out := run(t, cmd); code != 0 {
		t.Fatalf("go build %s:\n%s", source, out)
	}
}

// foreign is the same program with the header of another kind of machine.
func foreign(program string) string {
	header := []byte(program)
	const machine = 18 // where ELF names it
	header[machine] = 183
	if slices.Equal(header, []byte(program)) {
		header[machine] = 62
	}
	return string(header)
}
