// Package systemd_test holds the operator's side to its word: the unit, the settings file
// and install.sh, up to a machine that is booted for it.
package systemd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// highestExposure is what `systemd-analyze security` may say, from 0 to 10: what is left
// is the network, which a program that posts cannot do without.
const highestExposure = 1.1

func TestUnitIsVerifiedInSilence(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	root := t.TempDir()
	mustInstall(t, root, fakeProgram(t, "1"))
	// The unit stands on systemd's own: without them nothing could be verified.
	for _, dir := range []string{"/usr/lib/systemd/system", "/lib/systemd/system"} {
		if _, err := os.Stat(dir); err == nil {
			mustRun(t, "mkdir", "-p", root+"/usr/lib/systemd")
			mustRun(t, "cp", "-a", dir, root+"/usr/lib/systemd/")
			break
		}
	}
	out, err := exec.Command(analyze, "verify", "--man=no", "--root="+root, "belfry.service").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestUnitIsHardened(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	out, err := exec.Command(analyze, "security", "--no-pager", "--offline=true", "./belfry.service").CombinedOutput()
	if err != nil {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`Overall exposure level for belfry\.service: ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("no exposure level in:\n%s", out)
	}
	exposure, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || exposure > highestExposure {
		t.Errorf("the exposure is %s, and %.1f was reached before:\n%s", found[1], highestExposure, out)
	}
}

// The program, the installer and the unit speak of the same places.
func TestUnitAndInstallerAgreeOnPlaces(t *testing.T) {
	unit := read(t, "belfry.service")
	script := read(t, "../install.sh")
	for _, line := range []struct{ unit, script string }{
		{"ExecStart=/usr/local/bin/belfry serve", "bin=$root/usr/local/bin/belfry"},
		{"Environment=BELFRY_DB=/var/lib/belfry/belfry.db", "BELFRY_DB /var/lib/belfry/belfry.db"},
		{"EnvironmentFile=-/etc/belfry/belfry.env", "settings=$root/etc/belfry/belfry.env"},
		{"Environment=BELFRY_KEY_FILE=/etc/belfry/belfry.key", "key_path=/etc/belfry/belfry.key"},
		{"StateDirectory=belfry", "data=$root/var/lib/belfry"},
		{"WantedBy=multi-user.target", "multi-user.target.wants/belfry.service"},
	} {
		if !slices.Contains(strings.Split(unit, "\n"), line.unit) {
			t.Errorf("belfry.service has no line %s", line.unit)
		}
		if !strings.Contains(script, line.script) {
			t.Errorf("install.sh does not say %s", line.script)
		}
	}
}

func TestSettingsFileExplainsEachSettingAndSetsNone(t *testing.T) {
	var names []string
	before := ""
	for i, line := range strings.Split(strings.TrimSpace(read(t, "belfry.env")), "\n") {
		switch name := settingName(line); {
		case name != "":
			if before == "" {
				t.Errorf("line %d: %s stands there without a word of explanation", i+1, name)
			}
			names = append(names, name)
		case line != "" && !strings.HasPrefix(line, "# "):
			t.Errorf("line %d is neither a comment nor a setting that is switched off: %s", i+1, line)
		}
		before = line
	}
	want := []string{
		"BELFRY_LISTEN", "BELFRY_TIMEZONE", "BELFRY_LANG", "BELFRY_ADMIN_PASSWORD", "BELFRY_API_TOKEN",
		"TELEGRAM_API_ID", "TELEGRAM_API_HASH", "TELEGRAM_BOT_TOKEN", "TELEGRAM_CHAT",
		"TELETHON_SESSION", "MIN_SECONDS_BETWEEN_CHATS", "MAX_SECONDS_BETWEEN_CHATS", "MAX_TASK_ATTEMPTS", "TARGET_CHAT_IDS",
		"ADMIN_NOTIFY_BOT_TOKEN", "ADMIN_ID", "BELFRY_BACKUP_PASSPHRASE", "BELFRY_ALERT_WEBHOOK", "BELFRY_ALERT_WEBHOOK_SECRET", "BELFRY_BACKUP_DIR", "BELFRY_BACKUP_KEEP", "BELFRY_HEARTBEAT_URL", "BELFRY_PROXY", "BELFRY_ALLOW_PRIVATE",
		"BELFRY_MEDIA_MAX", "BELFRY_MEDIA_KEEP",
		"BELFRY_TELEGRAM_WINDOW", "BELFRY_INSTAGRAM_WINDOW", "BELFRY_X_WINDOW", "BELFRY_PUBLIC_URL",
		"OPENAI_BASE_URL", "OPENAI_API_KEY", "BELFRY_AI_MODEL", "BELFRY_AI_IMAGE_MODEL", "BELFRY_AI_DAILY_REQUESTS", "BELFRY_AI_DAILY_TOKENS",
		"BELFRY_VISION", "BELFRY_AI_TAGS", "BELFRY_READ_LINKS", "BELFRY_MESSAGES_KEEP", "BELFRY_MESSAGES_MAX", "BELFRY_RELAY_REDIS", "BELFRY_RELAY_LENGTH",
		"BELFRY_LOG_LEVEL", "DISABLE_WORKERS",
	}
	if !slices.Equal(names, want) {
		t.Errorf("belfry.env has the settings\n%v, wanted are\n%v", names, want)
	}
}

// settingName is the name in a line such as #BELFRY_LISTEN=127.0.0.1:8080.
func settingName(line string) string {
	found := regexp.MustCompile(`^#([A-Z][A-Z_]+)=`).FindStringSubmatch(line)
	if found == nil {
		return ""
	}
	return found[1]
}

func TestScriptsAreCleanShell(t *testing.T) {
	for _, script := range []string{"../install.sh", "../.ci/run"} {
		t.Run(filepath.Base(script)+" has nothing for shellcheck to say", func(t *testing.T) {
			if out, err := exec.Command(need(t, "shellcheck"), script).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	t.Run("install.sh is read by dash", func(t *testing.T) {
		if out, err := exec.Command(need(t, "dash"), "-n", "../install.sh").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
