package systemd_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A machine is a small Debian of its own that systemd-nspawn has booted: its own systemd,
// users and loopback, and no way out.
type machine struct {
	root   string // its tree, as seen from outside
	leader string // the process id of its systemd, as seen from outside
	ended  chan struct{}
	err    error // of systemd-nspawn, once it has ended
}

// bootTime bounds a boot, which takes some seconds, on a build machine that is busy.
const bootTime = 2 * time.Minute

// boot starts a machine whose tree prepare has had its way with. It is powered off when
// the test ends.
func boot(t *testing.T, prepare func(root string)) *machine {
	t.Helper()
	nspawn := need(t, "systemd-nspawn")
	need(t, "nsenter")
	if os.Geteuid() != 0 {
		lacking(t, "booting a machine needs root")
	}
	m := &machine{root: filepath.Join(t.TempDir(), "machine"), ended: make(chan struct{})}
	mustRun(t, "cp", "-a", "--reflink=auto", debian(t), m.root)
	prepare(m.root)
	// What follows installs and removes: it has to be sure where it is.
	write(t, m.root+"/etc/belfry-test-machine", "")

	// systemd-nspawn tells us when the machine has booted, as a service would.
	socket := filepath.Join(t.TempDir(), "notify")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()

	var console bytes.Buffer
	cmd := exec.Command(nspawn, "--directory="+m.root, "--boot", "--notify-ready=yes", "--console=pipe",
		"--register=no", "--keep-unit", "--private-network", "--link-journal=no", "--resolv-conf=off", "--timezone=off")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	cmd.Stdout, cmd.Stderr = &console, &console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		m.err = cmd.Wait()
		close(m.ended)
		notify.Close() // whoever waits for a boot learns that none comes
	}()
	t.Cleanup(func() {
		if m.leader == "" || !m.powerOff(t) {
			cmd.Process.Kill()
			<-m.ended
		}
		if t.Failed() {
			t.Logf("the console of the machine:\n%s", console.String())
		}
	})

	if err := notify.SetReadDeadline(time.Now().Add(bootTime)); err != nil {
		t.Fatal(err)
	}
	for ready, message := false, make([]byte, 4096); !ready; {
		n, err := notify.Read(message)
		if err != nil {
			t.Fatalf("the machine did not boot, or not within %v: %v", bootTime, err)
		}
		for line := range strings.Lines(string(message[:n])) {
			line = strings.TrimSpace(line)
			if pid, found := strings.CutPrefix(line, "X_NSPAWN_LEADER_PID="); found {
				m.leader = pid
			}
			ready = ready || line == "READY=1"
		}
	}
	if m.leader == "" {
		t.Fatal("systemd-nspawn did not say which process is the machine's systemd")
	}
	if code, out := m.try(t, "test -e /etc/belfry-test-machine"); code != 0 {
		m.leader = ""
		t.Fatalf("nsenter does not lead into the machine:\n%s", out)
	}
	return m
}

// powerOff reports whether the machine went down by itself.
func (m *machine) powerOff(t *testing.T) bool {
	m.try(t, "systemctl poweroff")
	select {
	case <-m.ended:
		return m.err == nil
	case <-time.After(bootTime):
		return false
	}
}

// try runs a line of shell inside the machine.
func (m *machine) try(t *testing.T, script string) (code int, out string) {
	t.Helper()
	return run(t, m.command(context.Background(), script))
}

func (m *machine) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", "--target="+m.leader, "--all", "--root", "--wd", "/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root"}
	return cmd
}

// must runs a line of shell inside the machine that has to succeed.
func (m *machine) must(t *testing.T, script string) string {
	t.Helper()
	code, out := m.try(t, script)
	if code != 0 {
		t.Fatalf("%s: exit code %d:\n%s\nthe journal of belfry:\n%s", script, code, out, m.journal(t))
	}
	return strings.TrimSpace(out)
}

func (m *machine) journal(t *testing.T) string {
	t.Helper()
	_, out := m.try(t, "journalctl --no-pager -o short-precise -u belfry -n 60")
	return out
}

// property of belfry.service, as systemctl shows it.
func (m *machine) property(t *testing.T, name string) string {
	t.Helper()
	return m.must(t, "systemctl show --value -p "+name+" belfry.service")
}

// after does something and waits until the journal of a unit says that line once more. It
// counts from the journal's begin: with -u, journalctl 252 skips an entry behind a cursor
// that is another unit's.
func (m *machine) after(t *testing.T, do, unit, line string) {
	t.Helper()
	before := strings.Count(m.must(t, "journalctl --no-pager -o cat -u "+unit), line)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	follow := m.command(ctx, "exec journalctl -u "+unit+" --follow --no-tail -o cat")
	// nsenter has a child in the machine, which does not end with it.
	follow.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	follow.Cancel = func() error { return syscall.Kill(-follow.Process.Pid, syscall.SIGKILL) }
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	m.must(t, do)
	found := 0
	for said := bufio.NewScanner(out); found <= before && said.Scan(); {
		found += strings.Count(said.Text(), line)
	}
	cancel()
	follow.Wait() // was killed just now, and that is all it has to say
	if found <= before {
		t.Fatalf("the journal of %s does not say %q:\n%s", unit, line, m.must(t, "journalctl --no-pager -n 60 -u "+unit))
	}
}

// debian is a tree with systemd, what install.sh calls, and curl. It is made once and kept
// in the user's cache; another list of packages is another tree.
func debian(t *testing.T) string {
	t.Helper()
	mmdebstrap := need(t, "mmdebstrap")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--mode=root", "--variant=minbase", "--include=systemd,systemd-sysv,dash,coreutils,passwd,curl",
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*", "bookworm",
	}
	sum := sha256.Sum256([]byte(strings.Join(args, " ")))
	tree := filepath.Join(cache, "belfry-test", fmt.Sprintf("bookworm-%x", sum[:4]))
	if _, err := os.Stat(tree); err == nil {
		return tree
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o755); err != nil {
		t.Fatal(err)
	}
	part, err := os.MkdirTemp(filepath.Dir(tree), "part-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(part)
	mustRun(t, mmdebstrap, append(args, filepath.Join(part, "tree"))...)
	// Another test may have been quicker.
	if err := os.Rename(filepath.Join(part, "tree"), tree); err != nil {
		if _, there := os.Stat(tree); there != nil {
			t.Fatal(err)
		}
	}
	return tree
}
