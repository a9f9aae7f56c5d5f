// Package docs tests what the documents show.
package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "also run the long forms of the tests")

// block is a fenced block of a document that is a file, or what stands in one after a line.
var block = regexp.MustCompile("(?ms)^```\\w+ file=(\\S+)(?: after=\"([^\n]+)\")?\n(.*?)^```$")

// The worker of worker.md is built into a copy of the program and runs.
func TestTheWorkerOfTheDocumentRuns(t *testing.T) {
	if !*long {
		t.Skip("builds the program: -long")
	}
	dir := t.TempDir()
	run(t, "..", "sh", "-c", `git ls-files -z | xargs -0 cp --parents -t "$0"`, dir)
	if outside := apply(t, dir, "worker.md"); len(outside) > 8 {
		t.Errorf("the worker touches %d files outside of its folder: %q", len(outside), outside)
	}
	run(t, dir, "go", "test", "-timeout", "20m", "./worker/notes", "./i18n")
	binary := filepath.Join(dir, "belfry")
	run(t, dir, "go", "build", "-o", binary, "./cmd/belfry")
	notes := serve(t, binary)
	at := time.Now().Add(time.Second).Format(time.RFC3339Nano)
	var made, got struct {
		ID    uint64
		Items []struct {
			SentAt time.Time `json:"sent_at"`
		}
		Detail string
	}
	if status := notes(http.MethodPost, `{"text":" ","at":"`+at+`"}`, &got); status != http.StatusUnprocessableEntity {
		t.Errorf("an empty note: %d", status)
	}
	if status := notes(http.MethodPost, `{"text":"Call the printer","at":"`+at+`"}`, &made); status != http.StatusCreated || made.ID != 1 {
		t.Fatalf("%d %+v", status, made)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		got.Items = nil
		if notes(http.MethodGet, "", &got); len(got.Items) == 1 && !got.Items[0].SentAt.IsZero() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the note was not sent: %+v", got)
		}
	}
}

// apply writes the blocks of a document into the sources below dir, and returns the files that are not in the worker's own
// folder. The generated part of a page counts.
func apply(t *testing.T, dir, document string) (outside []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range block.FindAllSubmatch(text, -1) {
		name, after, content := string(b[1]), "\n"+string(b[2])+"\n", b[3]
		path := filepath.Join(dir, name)
		if after != "\n\n" {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Count(source, []byte(after)) != 1 {
				t.Fatalf("%s has not one line %q", name, after)
			}
			content = bytes.Replace(source, []byte(after), []byte(after+string(content)), 1)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "worker/") && !slices.Contains(outside, name) {
			outside = append(outside, name)
		}
		if component, is := strings.CutSuffix(name, ".templ"); is {
			run(t, dir, "go", "run", "github.com/a-h/templ/cmd/templ@v0.3.977", "generate", "-f", name)
			outside = append(outside, component+"_templ.go")
		}
	}
	return outside
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// serve runs the service until the test ends, and returns what calls its operations on notes.
func serve(t *testing.T, binary string) func(method, body string, out any) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "belfry.db")
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--db", file, "--key-file", filepath.Join(t.TempDir(), "key"), "--listen", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, 20*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("serve: %v\n%s", err, log.String())
		}
	})
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		for {
			conn, err := d.DialContext(ctx, "unix", filepath.Join(filepath.Dir(file), "belfry.sock"))
			if err == nil || ctx.Err() != nil {
				return conn, err
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}}, Timeout: 20 * time.Second}
	return func(method, body string, out any) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, "http://belfry/api/v1/notes", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(out); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
}
