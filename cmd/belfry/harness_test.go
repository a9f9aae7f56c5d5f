package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// The long form of the torture: go test ./cmd/belfry -long
var long = flag.Bool("long", false, "kill the program a hundred times instead of some times")

// program builds the program once for all tests of this package.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "belfry-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "belfry")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

const apiToken = "a-token-for-tests"

// machine is a folder with a file, a Telegram, and the settings with which the program runs there.
type machine struct {
	t   *testing.T
	tg  *telegramtest.Server
	dir string
	env []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, tg: telegramtest.NewServer(telegramtest.Options{}), dir: t.TempDir()}
	t.Cleanup(m.tg.Close)
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "TMPDIR=" + m.dir,
		"BELFRY_DB=" + m.file(), "BELFRY_KEY_FILE=" + m.keyFile(), "BELFRY_LISTEN=127.0.0.1:0", "BELFRY_API_TOKEN=" + apiToken, "BELFRY_LOG_FORMAT=json",
		fmt.Sprint("TELEGRAM_API_ID=", telegramtest.AppID), "TELEGRAM_API_HASH=" + telegramtest.AppHash,
		"BELFRY_TELEGRAM_WINDOW=off", // many posts are due at once
		"BELFRY_TELEGRAM_DC=" + m.tg.DC(), "BELFRY_TELEGRAM_KEY=" + m.tg.PublicKeyPEM(),
	}
	return m
}

func (m *machine) file() string    { return filepath.Join(m.dir, "belfry.db") }
func (m *machine) keyFile() string { return filepath.Join(m.dir, "settings", "belfry.key") }

// bot adds a bot to Telegram, with channels in which it may post, and returns its token.
func (m *machine) bot(name string, channels ...string) (token string, added []telegramtest.Channel) {
	token = fmt.Sprintf("1000%d:test-token-of-%s-0123456789", len(name), name)
	m.tg.AddBot(token, name)
	for _, c := range channels {
		added = append(added, m.tg.AddChannel(telegramtest.Channel{Title: c, Username: c}, name))
	}
	return token, added
}

// command prepares a run of the program.
func (m *machine) command(args ...string) *exec.Cmd {
	m.t.Helper()
	path, err := program()
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = m.env, m.dir
	return cmd
}

// output runs a command to its end and returns what it printed.
func (m *machine) output(args ...string) (string, error) {
	m.t.Helper()
	var out, stderr bytes.Buffer
	cmd := m.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Start()
	if err == nil {
		late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }) // it serves where it should refuse
		err = cmd.Wait()
		late.Stop()
	}
	if err != nil {
		err = fmt.Errorf("belfry %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out.String(), err
}

// process is a running service.
type process struct {
	m    *machine
	cmd  *exec.Cmd
	log  *bytes.Buffer
	url  chan string // receives the page's address when it serves
	done chan error

	verified chan int      // receives how many problems it has found in the file
	ending   chan struct{} // receives when it has begun to end
}

// launch starts the service and returns at once.
func (m *machine) launch() *process {
	m.t.Helper()
	p := &process{m: m, cmd: m.command("serve"), log: &bytes.Buffer{}, url: make(chan string, 1), done: make(chan error, 1), verified: make(chan int, 1), ending: make(chan struct{}, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(io.TeeReader(stderr, p.log))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var event struct {
				Message, Page string
				Problems      int
			}
			if json.Unmarshal(lines.Bytes(), &event) != nil {
				continue
			}
			switch {
			case event.Message == "belfry serves":
				p.url <- event.Page
			case event.Message == "the file was verified":
				p.verified <- event.Problems
			case strings.HasPrefix(event.Message, "belfry is ending"):
				p.ending <- struct{}{}
			}
		}
		p.done <- p.cmd.Wait()
	}()
	return p
}

// start starts the service and waits until it serves.
func (m *machine) start() (p *process, url string) {
	m.t.Helper()
	p = m.launch()
	select {
	case url = <-p.url:
		m.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
		return p, url
	case err := <-p.done:
		m.t.Fatalf("the service ended: %v\n%s", err, p.log)
	case <-time.After(time.Minute):
		m.t.Fatalf("the service does not serve\n%s", p.log)
	}
	return nil, ""
}

// stop ends the service as a service manager does.
func (p *process) stop() {
	p.m.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.m.t.Fatal(err)
	}
	select {
	case err := <-p.done:
		if err != nil {
			p.m.t.Fatalf("the service failed at its end: %v\n%s", err, p.log)
		}
	case <-time.After(time.Minute):
		p.m.t.Fatalf("the service does not end\n%s", p.log)
	}
}

// kill ends the service as a power failure does, as far as a process can tell.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

// api calls the API and decodes the answer.
func callAPI(ctx context.Context, method, url string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+apiToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, data)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// waitForLogin waits until all logins are connected. The first time costs seconds of computing.
func (m *machine) waitForLogin(url string) {
	m.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); <-tick.C {
		type identity struct{ State string }
		var all struct{ Items []identity }
		if err := callAPI(context.Background(), "GET", url+"/api/v1/identities", nil, &all); err != nil {
			m.t.Fatal(err)
		}
		out := func(i identity) bool { return i.State != string(store.IdentityReady) }
		if len(all.Items) > 0 && !slices.ContainsFunc(all.Items, out) {
			return
		}
	}
	m.t.Fatal("the bot does not log in")
}

// inStore reads the file of a service that has ended.
func (m *machine) inStore(fn func(*store.Tx) error) {
	m.t.Helper()
	db, err := store.Open(m.file(), store.Options{ReadOnly: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(fn); err != nil {
		m.t.Fatal(err)
	}
}

// allPosts returns the posts in the file.
func (m *machine) allPosts() (posts []store.Post) {
	m.t.Helper()
	m.inStore(func(tx *store.Tx) error {
		for p := range tx.Posts.All() {
			posts = append(posts, p)
		}
		return nil
	})
	return posts
}

// mustCheck runs `belfry check`.
func (m *machine) mustCheck() {
	m.t.Helper()
	if out, err := m.output("check"); err != nil || !strings.Contains(out, "no problems") {
		m.t.Errorf("belfry check: %v\n%s", err, out)
	}
}
