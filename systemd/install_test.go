package systemd_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The tests here install into a tree; boot_test.go installs into a machine that runs.

func TestInstallFillsATree(t *testing.T) {
	root := t.TempDir()
	out := mustInstall(t, root, fakeProgram(t, "1"))

	for _, file := range []struct {
		path    string
		mode    fs.FileMode
		content string
	}{
		{"usr/local/bin/belfry", 0o755, "\x7fELF 1"},
		{"usr/local/lib/systemd/system/belfry.service", 0o644, read(t, "belfry.service")},
		{"etc/belfry/belfry.env", 0o640, read(t, "belfry.env")},
	} {
		if got := read(t, filepath.Join(root, file.path)); got != file.content {
			t.Errorf("%s holds %.60q", file.path, got)
		}
		if got := modeOf(t, filepath.Join(root, file.path)); got != file.mode {
			t.Errorf("%s has mode %o, not %o", file.path, got, file.mode)
		}
	}
	if key := root + "/etc/belfry/belfry.key"; len(read(t, key)) != 65 || modeOf(t, key) != 0o600 {
		t.Errorf("the key %q has mode %o", read(t, key), modeOf(t, key))
	}
	if got := modeOf(t, root+"/var/lib/belfry"); got != fs.ModeDir|0o700 {
		t.Errorf("the data folder has mode %v", got)
	}
	link, err := os.Readlink(root + "/etc/systemd/system/multi-user.target.wants/belfry.service")
	if want := "/usr/local/lib/systemd/system/belfry.service"; err != nil || link != want {
		t.Errorf("the unit is enabled by a link to %q (%v), not to %s", link, err, want)
	}
	if !strings.Contains(out, "starts with that machine") {
		t.Errorf("the end does not say what comes next:\n%s", out)
	}
}

func TestSecondInstallChangesNothing(t *testing.T) {
	root := t.TempDir()
	program := fakeProgram(t, "1")
	mustInstall(t, root, program)
	before := snapshot(t, root)
	mustInstall(t, root, program)
	sameTree(t, before, snapshot(t, root))
}

func TestUpgradeKeepsSettingsDataAndTheVersionBefore(t *testing.T) {
	root := t.TempDir()
	mustInstall(t, root, fakeProgram(t, "1"))
	write(t, root+"/etc/belfry/belfry.env", "BELFRY_LANG=ru\n")
	write(t, root+"/var/lib/belfry/belfry.db", "the data of version 1")

	mustInstall(t, root, fakeProgram(t, "2"))
	holds(t, root+"/usr/local/bin/belfry", "\x7fELF 2")
	holds(t, root+"/usr/local/bin/belfry.previous", "\x7fELF 1")
	holds(t, root+"/etc/belfry/belfry.env", "BELFRY_LANG=ru\n")
	holds(t, root+"/var/lib/belfry/belfry.db", "the data of version 1")
	holds(t, root+"/var/backups/belfry/belfry.db.before-upgrade", "the data of version 1")
	if got := modeOf(t, root+"/var/backups/belfry"); got != fs.ModeDir|0o700 {
		t.Errorf("the folder of the copy has mode %v", got)
	}
	write(t, root+"/var/lib/belfry/belfry.db", "the data of version 2")

	t.Run("the same version again leaves the way back alone", func(t *testing.T) {
		mustInstall(t, root, fakeProgram(t, "2"))
		holds(t, root+"/usr/local/bin/belfry.previous", "\x7fELF 1")
		holds(t, root+"/var/backups/belfry/belfry.db.before-upgrade", "the data of version 1")
	})
	t.Run("the way back exchanges the two and keeps the copy from before", func(t *testing.T) {
		mustInstall(t, root, root+"/usr/local/bin/belfry.previous")
		holds(t, root+"/usr/local/bin/belfry", "\x7fELF 1")
		holds(t, root+"/usr/local/bin/belfry.previous", "\x7fELF 2")
		holds(t, root+"/var/backups/belfry/belfry.db.before-upgrade", "the data of version 1")
	})
	t.Run("data that the settings put elsewhere are copied from there", func(t *testing.T) {
		write(t, root+"/etc/belfry/belfry.env", "#BELFRY_DB=/nowhere\nBELFRY_DB=\"/srv/posts.db\"\n")
		write(t, root+"/srv/posts.db", "data under /srv")
		mustInstall(t, root, fakeProgram(t, "3"))
		holds(t, root+"/var/backups/belfry/belfry.db.before-upgrade", "data under /srv")
	})
	t.Run("--no-copy makes none", func(t *testing.T) {
		write(t, root+"/srv/posts.db", "newer data")
		mustInstall(t, root, fakeProgram(t, "4"), "--no-copy")
		holds(t, root+"/usr/local/bin/belfry", "\x7fELF 4")
		holds(t, root+"/var/backups/belfry/belfry.db.before-upgrade", "data under /srv")
	})
}

func TestFailedUpgradeLeavesTheInstalledVersion(t *testing.T) {
	root := t.TempDir()
	mustInstall(t, root, fakeProgram(t, "1"))
	write(t, root+"/var/lib/belfry/belfry.db", "data")
	write(t, root+"/var/backups", "a file where the folder of the copy should be")
	before := snapshot(t, root)
	if code, out := install(t, "--root", root, "--binary", fakeProgram(t, "2")); code != 1 {
		t.Errorf("exit code %d, not 1:\n%s", code, out)
	}
	sameTree(t, before, snapshot(t, root))
}

func TestDryRunSaysTheStepsAndChangesNothing(t *testing.T) {
	installed := t.TempDir()
	mustInstall(t, installed, fakeProgram(t, "1"))
	write(t, installed+"/var/lib/belfry/belfry.db", "data")

	for _, run := range []struct {
		name string
		args []string
	}{
		{"of an install", []string{"--root", t.TempDir(), "--binary", fakeProgram(t, "1")}},
		{"of an upgrade", []string{"--root", installed, "--binary", fakeProgram(t, "2")}},
		{"of an uninstall", []string{"--root", installed, "--uninstall"}},
	} {
		t.Run(run.name, func(t *testing.T) {
			root := run.args[1]
			before, timesBefore := snapshot(t, root), changeTimes(t, root)
			code, announced := install(t, append(run.args, "--dry-run")...)
			if code != 0 {
				t.Fatalf("exit code %d:\n%s", code, announced)
			}
			sameTree(t, before, snapshot(t, root))
			if !maps.Equal(timesBefore, changeTimes(t, root)) {
				t.Error("something was written again with what it held before")
			}
			code, done := install(t, run.args...)
			if code != 0 {
				t.Fatalf("exit code %d:\n%s", code, done)
			}
			if said, did := steps(announced, "would "), steps(done, "- "); said == "" || said != did {
				t.Errorf("the dry run announced\n%s\nand the run did\n%s", said, did)
			}
		})
	}
}

func TestUninstallKeepsSettingsAndData(t *testing.T) {
	root := t.TempDir()
	mustInstall(t, root, fakeProgram(t, "1"))
	mustInstall(t, root, fakeProgram(t, "2"))
	write(t, root+"/var/lib/belfry/belfry.db", "data")
	for _, time := range []string{"once", "and once more"} {
		t.Run(time, func(t *testing.T) {
			code, out := install(t, "--uninstall", "--root", root)
			if code != 0 {
				t.Fatalf("exit code %d:\n%s", code, out)
			}
			for _, gone := range []string{
				"usr/local/bin/belfry", "usr/local/bin/belfry.previous",
				"usr/local/lib/systemd/system/belfry.service",
				"etc/systemd/system/multi-user.target.wants/belfry.service",
			} {
				if _, err := os.Lstat(filepath.Join(root, gone)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is still there (%v)", gone, err)
				}
			}
			holds(t, root+"/var/lib/belfry/belfry.db", "data")
			holds(t, root+"/etc/belfry/belfry.env", read(t, "belfry.env"))
			for _, place := range []string{root + "/etc/belfry", root + "/var/lib/belfry", "rm -r"} {
				if !strings.Contains(out, place) {
					t.Errorf("the end does not say %s:\n%s", place, out)
				}
			}
		})
	}
}

func TestInstallBuildsTheProgramFromTheSource(t *testing.T) {
	need(t, "go")
	source, root := t.TempDir(), t.TempDir()
	copyRelease(t, source)
	write(t, source+"/go.mod", "module belfry\n\ngo 1.26.0\n")
	write(t, source+"/cmd/belfry/main.go", "package main\n\nfunc main() { println(\"belfry from source\") }\n")
	code, out := run(t, exec.Command("sh", source+"/install.sh", "--root", root))
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if _, out := run(t, exec.Command(root+"/usr/local/bin/belfry")); out != "belfry from source\n" {
		t.Errorf("the installed program says %q", out)
	}
}

func TestInstallGivesTheTreeItsUser(t *testing.T) {
	need(t, "useradd")
	if os.Geteuid() != 0 {
		lacking(t, "making a user needs root")
	}
	root := t.TempDir()
	write(t, root+"/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
	write(t, root+"/etc/group", "root:x:0:\n")
	here := read(t, "/etc/passwd")
	mustInstall(t, root, fakeProgram(t, "1"))
	holds(t, "/etc/passwd", here)

	passwd := read(t, root+"/etc/passwd")
	_, entry, found := strings.Cut(passwd, "\nbelfry:")
	if !found || !strings.Contains(entry, ":/var/lib/belfry:") || !strings.HasSuffix(strings.TrimSpace(entry), "/nologin") {
		t.Fatalf("the users of the tree are\n%s", passwd)
	}
	if owner := statOf(t, root+"/var/lib/belfry"); owner.Uid == 0 || owner.Gid == 0 {
		t.Errorf("the data folder belongs to %d:%d", owner.Uid, owner.Gid)
	}
	settings, key := root+"/etc/belfry/belfry.env", root+"/etc/belfry/belfry.key"
	belong := func() {
		t.Helper()
		data := statOf(t, root+"/var/lib/belfry")
		if owner := statOf(t, settings); owner.Uid != 0 || owner.Gid != data.Gid {
			t.Errorf("the settings belong to %d:%d", owner.Uid, owner.Gid)
		}
		if owner := statOf(t, key); owner.Uid != data.Uid || owner.Gid != data.Gid {
			t.Errorf("the key belongs to %d:%d", owner.Uid, owner.Gid)
		}
	}
	belong()
	// What a removed user has left, or root has brought from another machine, is taken up.
	if code, out := install(t, "--uninstall", "--root", root); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if err := errors.Join(os.Chown(settings, 0, 4321), os.Chown(key, 0, 0)); err != nil {
		t.Fatal(err)
	}
	mustInstall(t, root, fakeProgram(t, "1"))
	belong()
}

func TestWrongUsageIsExitCode2(t *testing.T) {
	for _, args := range [][]string{
		{"--purge"}, {"belfry"}, {"--root"}, {"--root", ""}, {"--root", "/"}, {"--binary"},
		{"--uninstall", "--binary", "belfry"}, {"--uninstall", "--no-copy"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			code, out := install(t, append(args, "--dry-run")...)
			if code != 2 || !strings.Contains(out, "Usage: install.sh") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	text := filepath.Join(t.TempDir(), "belfry")
	write(t, text, "#!/bin/sh\n")
	bare := t.TempDir()
	write(t, bare+"/install.sh", read(t, "../install.sh"))
	noProgram := t.TempDir()
	copyRelease(t, noProgram)

	script := "../install.sh"
	for _, c := range []struct {
		name, script string
		args         []string
		says         string
	}{
		{"no such tree", script, []string{"--root", "/nonexistent"}, "there is no folder /nonexistent"},
		{"no such program", script, []string{"--root", t.TempDir(), "--binary", "/nonexistent"}, "there is no program /nonexistent"},
		{"not a program", script, []string{"--root", t.TempDir(), "--binary", text}, "take the file for "},
		{"no program at all", noProgram + "/install.sh", []string{"--root", t.TempDir()}, "give --binary FILE"},
		{"half a release", bare + "/install.sh", []string{"--root", t.TempDir()}, "unpack the whole release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out := run(t, exec.Command("sh", append([]string{c.script}, c.args...)...))
			if code != 1 || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d, without %q:\n%s", code, c.says, out)
			}
		})
	}
	t.Run("not root", func(t *testing.T) {
		// Read from standard input: an ordinary user may not see the folders of this test.
		cmd := exec.Command("sh", "-s", "--", "--uninstall")
		cmd.Stdin = strings.NewReader(read(t, script))
		if os.Geteuid() == 0 {
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		if code, out := run(t, cmd); code != 1 || !strings.Contains(out, "run it again with sudo") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		t.Run("no systemd", func(t *testing.T) {
			code, out := install(t, "--dry-run", "--binary", fakeProgram(t, "1"))
			if code != 1 || !strings.Contains(out, "systemd does not run here") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

func TestWhatWasStoppedIsStartedWhoeverHasGoneAway(t *testing.T) {
	_, part, found := strings.Cut(read(t, "../install.sh"), "# --- what may have to be put right when a step fails\n")
	part, _, ended := strings.Cut(part, "# --- the program\n")
	if !found || !ended {
		t.Fatal("install.sh has other parts now")
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "script")
	write(t, script, `set -eu
say() { printf '%s\n' "$*"; }
systemctl() { echo "$*" >>`+folder+`/calls; }
start=true
`+part+`
stopped=true
systemctl stop belfry.service
read -r _ || true
say "copied"
stopped=false
`)
	cmd := exec.Command("sh", script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stderr = cmd.Stdout; cmd.Start() != nil {
		t.Fatal("the script does not start")
	}
	if err := errors.Join(out.Close(), in.Close()); err != nil { // the connection is gone
		t.Fatal(err)
	}
	_ = cmd.Wait()
	holds(t, filepath.Join(folder, "calls"), "stop belfry.service\nstart belfry.service\n")
}
