package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web/api"
	"belfry/web/page"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/bookings"
	"belfry/worker/identities"
	"belfry/worker/jobs"
	"belfry/worker/media"
	"belfry/worker/notices"
	"belfry/worker/pipeline"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/search"
	"belfry/worker/setup"
	"belfry/worker/tasks"
)

const (
	testToken    = "a-token-for-tests"
	testPassword = "correct horse battery"
	testPublic   = "https://belfry.example"
)

// harness is a Belfry with a page: real store, real workers, a network that accepts everything, a
// server on a port of its own.
type harness struct {
	t          *testing.T
	db         *store.DB
	server     *Server
	posts      *posts.Worker
	rules      *rules.Worker
	bookings   *bookings.Worker
	sources    rules.Sources // of rules
	tasks      *tasks.Worker
	network    *chatNetwork    // of broadcasts; nil with another one
	accounts   *memoryAccounts // that are logged in on the page; likewise
	media      *media.Worker
	watch      *accounts.Worker
	alerts     *alerts.Worker
	jobs       *jobs.Worker // not started: it does not look before a test asks for it
	disk       alerts.Disk  // of which the next look learns
	site       *memorySite  // where accounts are watched
	socketPath string
	base       string // such as http://127.0.0.1:40001
	client     *http.Client
	stop       func() // ends the server and the scheduler
	serve      func() // serves at another address
	served     []chan error

	mu         sync.Mutex
	connection platform.Connection // of all logins
	ahead      time.Duration
}

// acceptsAll is a network without opinions, but for Telegram's limit of a text.
type acceptsAll struct{}

func (acceptsAll) Check(p platform.Post) (platform.Measure, error) {
	styled, _ := acceptsAll{}.Styled(p.Format, p.Text)
	m := platform.Measure{Length: len(utf16.Encode([]rune(styled.Text))), Limit: 4096}
	if m.Length > m.Limit {
		return m, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "text",
			Err: fmt.Errorf("the text is %d characters long and %d are allowed: shorten it or split it into several posts", m.Length, m.Limit)}
	}
	return m, nil
}

// Styled knows one bold span, and nothing else.
func (acceptsAll) Styled(format platform.Format, text string) (platform.Styled, error) {
	before, rest, found := strings.Cut(text, "<b>")
	bold, after, closed := strings.Cut(rest, "</b>")
	if format != platform.HTML || !found || !closed {
		return platform.Styled{Text: text}, nil
	}
	return platform.Styled{Text: before + bold + after, Spans: []platform.Span{{Kind: platform.Bold, Start: len(before), End: len(before + bold)}}}, nil
}

func (acceptsAll) Reach(context.Context, uint64, string) error { return nil }

func (acceptsAll) Fetchable(context.Context, platform.Post) error { return nil }

func (acceptsAll) Publisher(uint64) platform.Publisher { return acceptsAll{} }

func (acceptsAll) Publish(context.Context, platform.Post) (platform.Receipt, error) {
	return platform.Receipt{MessageIDs: []int64{1}, Link: "https://t.me/evening_news/1"}, nil
}

// start serves a Belfry with one login, a password and a token. change may alter its settings.
func start(t testing.TB, change ...func(*Config)) *harness {
	t.Helper()
	return startWith(t, func(h *harness) (tasks.Network, platform.Logins) {
		h.network, h.accounts = newChatNetwork(t), &memoryAccounts{db: h.db, steps: make(map[uint64]platform.LoginStep)}
		return h.network, h.accounts
	}, change...)
}

// startWith is start with another network for broadcasts and accounts.
func startWith(t testing.TB, network func(*harness) (tasks.Network, platform.Logins), change ...func(*Config)) *harness {
	t.Helper()
	h := &harness{}
	h.t, _ = t.(*testing.T)
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Now: h.now, Key: make([]byte, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	h.db = db
	cfg := Config{Token: testToken, Password: testPassword, Version: "test", Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel)}
	for _, fn := range change {
		fn(&cfg)
	}
	h.posts = posts.New(db, map[string]posts.Network{"telegram": acceptsAll{}}, posts.Config{})
	chats, loggedIn := network(h)
	h.media = media.New(db, media.Config{Max: 2 << 20})
	h.sources.Keep = h.media.Add
	h.rules = rules.New(db, h.posts, h.sources, rules.Config{Zone: cfg.Timezone})
	h.tasks = tasks.New(db, chats, tasks.Config{MinPause: time.Millisecond, MaxPause: 5 * time.Millisecond, Zone: cfg.Timezone})
	h.site = &memorySite{answers: make(map[string]profile.Result)}
	told := notices.New(db, notices.Config{})
	h.watch = accounts.New(db, h.site, told, accounts.Config{MinPause: time.Millisecond, MaxPause: 2 * time.Millisecond, Zone: cfg.Timezone})
	h.connection.State = platform.Off
	logins := identities.New(db, connections{loggedIn, h}, identities.Config{Applications: identities.Applications{DB: db}})
	choices := setup.New(db, setup.Locale{Lang: cfg.Lang})
	if cfg.Timezone == nil {
		cfg.Locale = choices.Now
	}
	h.jobs = jobs.New(db, jobs.Workers{Posts: h.posts, Rules: h.rules, Accounts: h.watch, Messages: acceptsAll{}}, jobs.Config{Zone: cfg.Timezone})
	h.bookings = bookings.New(db, func(uint64) platform.Publisher { return acceptsAll{} }, told, bookings.Config{Zone: cfg.Timezone})
	found := search.New(db, told, h.posts, search.Config{Zone: cfg.Timezone})
	stages, err := pipeline.New(db, pipeline.Config{Most: 1_000_000, Index: found.Add})
	if err != nil {
		t.Fatal(err)
	}
	others := worker.Join(h.jobs.Module(), h.bookings.Module(), h.posts.Module(), h.rules.Module(), h.media.Module(), h.tasks.Module(), h.watch.Module(), told.Module(), logins.Module())
	h.alerts = alerts.New(db, told, alerts.Config{Disk: h.measured, Wrong: others.Wrong, Calm: time.Nanosecond})
	schedule := scheduler.New(db, scheduler.Config{Kinds: worker.Join(others, h.alerts.Module()).Kinds, Log: zerolog.New(io.Discard), Now: h.now})
	h.server, err = New(cfg, db, schedule, Doors{
		API: []api.Door{api.Posts(h.posts), api.Rules(h.rules), api.Bookings(h.bookings, testPublic), api.Identities(logins), api.Tasks(h.tasks), api.Uploads(h.media), api.Accounts(h.watch), api.Alerts(h.alerts), api.Jobs(h.jobs), api.Search(found), api.Pipeline(stages), api.Audit, api.SettingsOf(choices, logins, told)},
		Pages: []page.Door{
			page.Today, page.Posts(h.posts), page.Rules(h.rules), page.Bookings(h.bookings, testPublic), page.Tasks(h.tasks, api.SendDeliveries), page.Media(h.media, page.MediaConfig{Send: api.MediaAnswer, Free: func() (int64, error) { return 5 << 30, nil }}), page.Accounts(h.watch), page.Alerts(h.alerts), page.Jobs(h.jobs), page.Search(found), page.Pipeline(stages), page.Identities(logins), page.Audit(api.SendAudit), page.Setup(choices, logins, h.posts, told),
		},
		Wrong: h.alerts.Wrong,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.client = newClient(t)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	h.serve = func() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h.base = "http://" + listener.Addr().String()
		served, server := make(chan error, 1), h.server
		go func() { served <- server.Serve(ctx, listener) }()
		h.served = append(h.served, served)
	}
	h.serve()
	go func() { ran <- schedule.Run(ctx) }()
	h.stop = cancel
	t.Cleanup(func() {
		cancel()
		for _, served := range h.served {
			if err := <-served; err != nil {
				t.Errorf("serve: %v", err)
			}
		}
		if err := <-ran; err != nil {
			t.Errorf("schedule: %v", err)
		}
		problems, err := db.Verify()
		if err != nil || len(problems) > 0 {
			t.Errorf("the file is not in order at the end: %v %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	h.update(func(tx *store.Tx) error {
		_, err := identities.Add(tx, identities.Request{
			Platform: "telegram", Token: "123456789:AAEexampleexampleexampleexample", Target: "@evening_news",
		})
		return err
	})
	return h
}

// newClient is a browser without cookies that does not follow redirections.
func newClient(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: documented{t, transport}, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// another is the same Belfry seen from another browser.
func (h *harness) another() *harness {
	return &harness{t: h.t, db: h.db, server: h.server, posts: h.posts, tasks: h.tasks, media: h.media, watch: h.watch, alerts: h.alerts, site: h.site, base: h.base, client: newClient(h.t)}
}

// now is a clock that tests can set ahead.
func (h *harness) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

func (h *harness) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

func (h *harness) measured() (alerts.Disk, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disk, nil
}

// connections is where logins log in, with the connections that the test wants.
type connections struct {
	platform.Logins
	h *harness
}

func (c connections) Connection(uint64) platform.Connection {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	return c.h.connection
}

func (connections) Connect(uint64) {}

func (connections) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (h *harness) fatal(args ...any) {
	if h.t == nil {
		panic(fmt.Sprint(args...))
	}
	h.t.Helper()
	h.t.Fatal(args...)
}

func (h *harness) update(fn func(*store.Tx) error) {
	if err := h.db.Update(fn); err != nil {
		h.fatal(err)
	}
}

func (h *harness) view(fn func(*store.Tx) error) {
	if err := h.db.View(fn); err != nil {
		h.fatal(err)
	}
}

// answered is an HTTP answer that was read to its end.
type answered struct {
	status int
	header http.Header
	body   string
}

func (a answered) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// problem reads the answer as a problem document.
func (a answered) problem(t *testing.T) api.Problem {
	t.Helper()
	var p api.Problem
	if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("Content-Type is %q", kind)
	}
	a.decode(t, &p)
	return p
}

func (h *harness) do(r *http.Request) answered {
	response, err := h.client.Do(r)
	if err != nil {
		h.fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.fatal(err)
	}
	return answered{response.StatusCode, response.Header, string(body)}
}

func (h *harness) request(method, path, body string) *http.Request {
	r, err := http.NewRequest(method, h.base+path, strings.NewReader(body))
	if err != nil {
		h.fatal(err)
	}
	return r
}

// api asks the API with a token. headers are names and values in turn.
func (h *harness) api(method, path, body string, headers ...string) answered {
	r := h.request(method, "/api/v1"+path, body)
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return h.do(r)
}

// get opens a page.
func (h *harness) get(path string) answered { return h.do(h.request("GET", path, "")) }

// post sends a form as a browser on the page does, without a token against forgery.
func (h *harness) post(path string, values url.Values) answered {
	r := h.request("POST", path, values.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", h.base)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return h.do(r)
}

// submit sends a form with the token of the sign-in.
func (h *harness) submit(path string, pairs ...string) answered {
	values := url.Values{"csrf": {h.csrf()}}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return h.post(path, values)
}

// seen is what a form on the page says of what it was filled with.
func (h *harness) seen(path string) string {
	value := hidden(h.get(path).body, "seen")
	if value == "" {
		h.fatal(path, " does not say what it shows")
	}
	return value
}

// hidden is the value of a hidden field of a page.
func hidden(page, name string) string {
	_, rest, _ := strings.Cut(page, `name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func (h *harness) csrf() string {
	match := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(h.get("/logins").body)
	if match == nil {
		h.fatal("no form with a token was found: not signed in?")
	}
	return match[1]
}

// signIn signs the client in with the password.
func (h *harness) signIn() {
	if a := h.post("/sign-in", url.Values{"password": {testPassword}}); a.status != http.StatusSeeOther {
		h.fatal("sign in: ", a.status, " ", a.body)
	}
}

// skipSetup skips the steps of the setup, so that what is done to an account leads to the list of accounts.
func (h *harness) skipSetup() {
	h.t.Helper()
	if err := h.db.Update(func(tx *store.Tx) error {
		for _, step := range []string{"application", "login", "channel", "post", "admin", "locale"} {
			if err := setup.Skip(tx, step); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
}

// soon is a time to come, as the API takes it.
func (h *harness) soon(d time.Duration) string { return h.now().Add(d).UTC().Format(time.RFC3339) }

// schedulePost makes a post through the API.
func (h *harness) schedulePost(text string, in time.Duration) api.Post {
	body, err := json.Marshal(map[string]any{"platform": "telegram", "text": text, "scheduled_time": h.soon(in)})
	if err != nil {
		h.fatal(err)
	}
	a := h.api("POST", "/scheduled-posts", string(body))
	var made api.Post
	if err := json.NewDecoder(bytes.NewReader([]byte(a.body))).Decode(&made); err != nil || a.status != http.StatusCreated {
		h.fatal(a.status, " ", a.body)
	}
	return made
}
