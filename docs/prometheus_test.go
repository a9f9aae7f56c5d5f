package docs

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// comparison is what makes an alert of a number.
var comparison = regexp.MustCompile(` (>|==|!=) [0-9.]+$`)

// A real Prometheus scrapes the demo. Each query of the dashboard returns data; so does each of the alert rules
// without its limit, and with it it is valid.
func TestPrometheusScrapesTheDemoAndAnswersEachQuery(t *testing.T) {
	if !*long {
		t.Skip("builds the program and runs Prometheus: -long")
	}
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("BELFRY_NO_SKIP") == "" {
			t.Skip("needs Debian's prometheus: ", err)
		}
	}
	dir := t.TempDir()
	binary, belfry, prometheus := filepath.Join(dir, "belfry"), freeAddress(t), freeAddress(t)
	run(t, "..", "go", "build", "-o", binary, "./cmd/belfry")
	run(t, "prometheus", "promtool", "check", "config", "prometheus.yml")
	run(t, "prometheus", "promtool", "check", "rules", "belfry.rules.yml")
	background(t, binary, "demo", "--listen", belfry)
	lint(t, scrape(t, "http://"+belfry+"/metrics"))

	example, err := os.ReadFile("prometheus/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs("prometheus/belfry.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("127.0.0.1:8080", belfry, "15s", "1s", "belfry.rules.yml", rules).Replace(string(example))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	background(t, "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+prometheus)
	queries := dashboardQueries(t)
	for _, rule := range ruleQueries(t, prometheus) {
		ask(t, prometheus, rule)
		queries = append(queries, comparison.ReplaceAllString(rule, ""))
	}
	for _, query := range queries {
		deadline := time.Now().Add(4 * time.Minute) // on a busy machine the demo takes its time
		for ask(t, prometheus, query) == 0 {
			if time.Now().After(deadline) {
				t.Errorf("no data: %s", query)
				break
			}
			pause(t)
		}
	}
	t.Logf("%d queries of the dashboard and the rules return data", len(queries))
}

// lint has promtool check what was scraped.
func lint(t *testing.T, metrics []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	cmd.Stdin = bytes.NewReader(metrics)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// dashboardQueries are the queries of all panels.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	data, err := os.ReadFile("grafana/belfry.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 20 {
		t.Fatalf("the dashboard has %d queries", len(queries))
	}
	return queries
}

// ruleQueries are those of the rules that a Prometheus has loaded.
func ruleQueries(t *testing.T, prometheus string) (queries []string) {
	t.Helper()
	var loaded struct {
		Data struct {
			Groups []struct{ Rules []struct{ Query string } }
		}
	}
	if err := json.Unmarshal(scrape(t, "http://"+prometheus+"/api/v1/rules"), &loaded); err != nil {
		t.Fatal(err)
	}
	for _, group := range loaded.Data.Groups {
		for _, rule := range group.Rules {
			queries = append(queries, rule.Query)
		}
	}
	if len(queries) == 0 {
		t.Fatal("no rules are loaded")
	}
	return queries
}

// ask returns how many series a query has now.
func ask(t *testing.T, prometheus, query string) int {
	t.Helper()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(scrape(t, "http://"+prometheus+"/api/v1/query?query="+url.QueryEscape(query)), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Status != "success" {
		t.Errorf("%s: %s", query, answer.Error)
	}
	return len(answer.Data.Result)
}

// scrape reads an address, also if its server is still starting.
func scrape(t *testing.T, address string) []byte {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; pause(t) {
		resp, err := http.Get(address)
		if err == nil {
			var body bytes.Buffer
			_, err = body.ReadFrom(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode < http.StatusInternalServerError {
				return body.Bytes()
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v", address, err)
		}
	}
}

// background runs a program until the test ends.
func background(t *testing.T, name string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("%s: %v\n%s", name, err, log.String())
		}
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.FailNow()
	case <-time.After(200 * time.Millisecond):
	}
}
