package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house rules. A room is a folder at the top; platform, worker and web are shared by many,
// so each folder in them is a room of its own. A room may always import itself.
var (
	// mayImport is, for each room, the rooms that it may import. "adapters" are the rooms
	// below platform, "workers" those below worker.
	mayImport = map[string][]string{
		"store":              {},
		"i18n":               {},
		"scheduler":          {"store"},
		"platform":           {},
		"platform/telegram":  {"platform", "platform/fetch", "store"}, // sessions and peers live in the store
		"platform/*":         {"platform", "platform/fetch"},
		"platform/instagram": {"platform", "platform/fetch", "platform/rest"},
		"platform/x":         {"platform", "platform/fetch", "platform/rest"},
		"worker":             {"store", "scheduler", "platform"}, // what people tell bots
		"worker/*":           {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/send"},
		"worker/accounts":    {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/identities"},                                              // some sites are asked as a login
		"worker/bookings":    {"store", "scheduler", "i18n", "platform", "worker", "worker/send", "worker/identities"},                                           // the default bot serves clients
		"worker/rules":       {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/posts"},                                                   // they make posts
		"worker/jobs":        {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/send", "worker/posts", "worker/rules", "worker/accounts"}, // what jobs of the owner's own do
		"worker/search":      {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/posts"},                                                   // watches make drafts
		"worker/pipeline":    {"store", "scheduler", "i18n", "platform", "adapters", "worker", "worker/search"},                                                  // it indexes
		"worker/moving":      {"store", "scheduler", "i18n", "platform", "adapters", "worker", "workers"},                                                        // what it reads, they own
		"worker/adminbot":    {"store", "scheduler", "i18n", "platform", "adapters", "worker", "workers"},                                                        // a door to their actions
		"web":                {"store", "scheduler", "i18n", "workers", "web/session", "web/api", "web/page", "web/metrics"},
		"web/session":        {"store"},
		"web/api":            {"store", "scheduler", "i18n", "platform", "workers", "web/session"},
		"web/metrics":        {"store", "scheduler", "worker"},
		"web/page":           {"store", "scheduler", "i18n", "platform", "workers", "web/session"},
		"cmd":                {"store", "scheduler", "i18n", "platform", "adapters", "worker", "workers", "web", "web/api", "web/page", "web/metrics"},
		"systemd":            {},
		"docs":               {"store", "scheduler", "platform", "adapters", "worker/tasks"}, // what is measured there
	}

	// testsMayImport comes on top in _test.go files and in packages for tests. Pages are tested with real workers, and
	// those need real adapters against fake networks.
	testsMayImport = map[string][]string{
		"web":                {"platform", "adapters", "worker"},
		"i18n":               {"store"},          // what has messages, and as which sentences it is shown
		"scheduler":          {"i18n", "worker"}, // schedulertest runs modules
		"platform/profile":   {"i18n"},
		"platform/instagram": {"platform/platformtest"},
		"platform/x":         {"platform/platformtest"},
		"worker/tasks":       {"worker/identities"}, // a login that can act again
		"worker/jobs":        {"worker/notices"},    // what the checks of accounts tell
		"worker/alerts":      {"worker/identities"}, // one that cannot
		"worker/pipeline":    {"worker/posts"},      // what falls due meanwhile
		// What becomes of messages.
		"worker/channels": {"worker/pipeline", "worker/search", "worker/identities"},
		// It plays all of them, each with the part that lies beside it.
		"worker/simulation": {"workers"},
	}

	// onlyIn names libraries that are the business of certain rooms alone.
	onlyIn = map[string][]string{
		"github.com/gotd/":                    {"platform/telegram"},
		"go.etcd.io/bbolt":                    {"store"},
		"github.com/reugn/go-quartz":          {"scheduler"},
		"github.com/labstack/echo":            {"web", "web/session", "web/api", "web/page", "cmd"},
		"github.com/danielgtaylor/huma":       {"web/api", "cmd"},
		"github.com/prometheus/client_golang": {"worker", "worker/posts", "worker/rules", "worker/tasks", "worker/accounts", "worker/alerts", "worker/channels", "worker/pipeline", "web/metrics"},
	}

	// testsMayUse are libraries that tests of other rooms may use, too: a row that is damaged on
	// purpose is damaged below the store.
	testsMayUse = map[string][]string{
		"go.etcd.io/bbolt": {"scheduler"},
	}

	// runTestPackages are the rooms whose programs run a fake service themselves: the demo, and
	// what is measured with a login that is connected.
	runTestPackages = []string{"cmd", "docs"}

	// topLevel is what stands beside dot-files and what .gitignore names.
	topLevel = []string{
		"store", "scheduler", "i18n", "platform", "worker", "web", "cmd", "systemd", "docs",
		"install.sh", "go.mod", "go.sum", "README.md", "CHANGELOG.md",
	}
)

const repository = "../.."

func TestImportsFollowTheHouseRules(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(repository, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != repository && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		seen++
		name = filepath.ToSlash(strings.TrimPrefix(name, repository+string(filepath.Separator)))
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rule := broken(name, imported); rule != "" {
				t.Errorf("%s imports %s: %s", name, imported, rule)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no Go file was found: the test looks into the wrong folder")
	}
}

func TestTopLevelHoldsOnlyTheRooms(t *testing.T) {
	entries, err := os.ReadDir(repository)
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(filepath.Join(repository, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	allowed := slices.Clone(topLevel)
	for _, pattern := range strings.Fields(string(ignore)) {
		allowed = append(allowed, strings.Trim(pattern, "/"))
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, ".") && !slices.ContainsFunc(allowed, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		}) {
			t.Errorf("%s stands at the top level, where only %s and dot-files may", name, strings.Join(topLevel, ", "))
		}
	}
}

func TestEachHouseRuleIsEnforced(t *testing.T) {
	for _, c := range []struct {
		file, imported string
		want           bool
	}{
		{"store/file.go", "belfry/store/storetest", false},
		{"store/file_test.go", "belfry/store/storetest", true},
		{"store/file.go", "belfry/scheduler", false},
		{"store/file_test.go", "belfry/scheduler", false},
		{"store/file.go", "go.etcd.io/bbolt", true},
		{"scheduler/queue.go", "belfry/store", true},
		{"scheduler/queue.go", "belfry/platform", false},
		{"scheduler/queue.go", "github.com/reugn/go-quartz/quartz", true},
		{"scheduler/queue.go", "go.etcd.io/bbolt", false},
		{"scheduler/queue_test.go", "go.etcd.io/bbolt", true},
		{"platform/post.go", "belfry/store", false},
		{"platform/post.go", "belfry/platform/telegram", false},
		{"platform/telegram/send.go", "belfry/platform", true},
		{"platform/telegram/send.go", "belfry/store", true},
		{"platform/telegram/send.go", "belfry/platform/x", false},
		{"platform/x/send.go", "belfry/platform/fetch", true},
		{"platform/telegram/send.go", "belfry/platform/telegram/telegramtest", false},
		{"platform/telegram/send_test.go", "belfry/platform/telegram/telegramtest", true},
		{"platform/telegram/telegramtest/server.go", "belfry/platform/telegram", true},
		{"platform/telegram/telegramtest/server.go", "github.com/gotd/td/tg", true},
		{"platform/x/send.go", "belfry/store", false},
		{"platform/x/xtest/server.go", "belfry/platform/instagram/instagramtest", false},
		{"platform/x/send.go", "github.com/gotd/td/tg", false},
		{"worker/posts/run.go", "belfry/platform/telegram", true},
		{"worker/posts/run.go", "belfry/worker/rules", false},
		{"worker/rules/run.go", "belfry/worker/posts", true},
		{"worker/posts/run.go", "belfry/web", false},
		{"worker/posts/run.go", "belfry/worker/simulation", false},
		{"web/page/posts.go", "belfry/worker/simulation", false},
		{"worker/posts/poststest/judges.go", "belfry/worker/simulation", true},
		{"worker/alerts/alertstest/alertstest.go", "belfry/worker/notices/noticestest", true},
		{"worker/alerts/alertstest/alertstest.go", "belfry/worker/notices", false},
		{"worker/simulation/world.go", "belfry/worker/posts", false},
		{"worker/simulation/year_test.go", "belfry/worker/posts/poststest", true},
		{"worker/posts/run.go", "belfry/worker/adminbot", false},
		{"worker/adminbot/posts.go", "belfry/worker/posts", true},
		{"worker/adminbot/posts.go", "belfry/web", false},
		{"worker/posts/run.go", "github.com/gotd/td/tg", false},
		{"worker/posts/run.go", "belfry/platform/telegram/telegramtest", false},
		{"worker/posts/run_test.go", "belfry/platform/telegram/telegramtest", true},
		{"web/posts.go", "belfry/worker/posts", true},
		{"web/posts.go", "belfry/platform", false},
		{"web/posts.go", "github.com/labstack/echo/v4", true},
		{"web/posts_test.go", "belfry/platform/telegram/telegramtest", true},
		{"web/posts.go", "belfry/cmd/belfry", false},
		{"web/posts.go", "belfry/web/api", true},
		{"web/api/posts.go", "belfry/web/session", true},
		{"web/api/posts.go", "belfry/web/page", false},
		{"web/session/links.go", "belfry/web/api", false},
		{"web/page/posts.go", "belfry/web/api", false},
		{"cmd/belfry/serve.go", "belfry/web", true},
		{"cmd/belfry/demo.go", "belfry/platform/telegram/telegramtest", true},
		{"cmd/belfry/serve.go", "github.com/gotd/td/tg", false},
		{"worker/posts/run.go", "github.com/danielgtaylor/huma/v2", false},
		{"systemd/unit_test.go", "belfry/store", false},
		{"docs/benchmark/serve/main.go", "belfry/platform/telegram/telegramtest", true},
		{"docs/benchmark/main.go", "belfry/worker/posts", false},
		{"tools/gen.go", "belfry/store", false},
		{"store/file.go", "encoding/json", true},
	} {
		if rule := broken(c.file, c.imported); (rule == "") != c.want {
			t.Errorf("%s imports %s: allowed should be %v, and the rule says %q", c.file, c.imported, c.want, rule)
		}
	}
}

// broken returns the rule against which the file imports that package, or nothing.
func broken(file, imported string) string {
	room, isTest := roomOf(path.Dir(file)), strings.HasSuffix(file, "_test.go")
	for library, rooms := range onlyIn {
		if isTest || isTestPackage(path.Dir(file)) {
			rooms = slices.Concat(rooms, testsMayUse[library])
		}
		if strings.HasPrefix(imported, library) && !slices.Contains(rooms, room) {
			return library + " is only for " + strings.Join(rooms, " and ")
		}
	}
	target, ours := strings.CutPrefix(imported, "belfry/")
	if !ours {
		return ""
	}
	if isTestPackage(target) && !isTest && !slices.Contains(runTestPackages, room) && !isTestPackage(path.Dir(file)) {
		return "a package for tests is only for _test.go files and for programs in " + strings.Join(runTestPackages, " and ")
	}
	targetRoom := roomOf(target)
	if targetRoom == room || isPart(path.Dir(file)) && isPart(target) {
		return ""
	}
	allowed, known := mayImport[room]
	if !known {
		allowed, known = mayImport[path.Dir(room)+"/*"]
	}
	if !known {
		return room + " is not a room of this house"
	}
	if isTest || strings.HasSuffix(path.Dir(file), "test") {
		allowed = slices.Concat(allowed, testsMayImport[room])
	}
	if slices.Contains(allowed, kindOf(targetRoom)) || slices.Contains(allowed, targetRoom) {
		return ""
	}
	if len(allowed) == 0 {
		return room + " may import nothing of ours"
	}
	return room + " may import only " + strings.Join(allowed, ", ")
}

// roomOf is the room in which a folder lies: store, web/api, platform/telegram, worker/posts.
func roomOf(dir string) string {
	parts := strings.Split(dir, "/")
	if len(parts) > 1 && (parts[0] == "platform" || parts[0] == "worker" || parts[0] == "web") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// kindOf is the word that mayImport uses for a room that is imported.
func kindOf(room string) string {
	switch path.Dir(room) {
	case "platform":
		return "adapters"
	case "worker":
		return "workers"
	}
	return room
}

// isTestPackage: telegramtest beside telegram, in the manner of net/http/httptest.
func isTestPackage(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") || dir == "worker/simulation"
}

// isPart: what the workers bring into the simulation may build on it and on each other.
func isPart(dir string) bool { return strings.HasPrefix(dir, "worker/") && isTestPackage(dir) }
