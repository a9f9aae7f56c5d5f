package telegram_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

const (
	token  = "7001:AAH-the-secret-of-the-bot"
	limit  = time.Minute // of a test's calls; none comes near it
	sendID = "messages.sendMessage"
)

// serverKey is made once: it takes a while.
var serverKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// room is a bot with a store of its own, a Telegram of its own, and a channel that it may post in.
type room struct {
	*testing.T
	ctx     context.Context
	srv     *telegramtest.Server
	db      *store.DB
	media   string
	id      uint64
	bot     int64
	channel telegramtest.Channel
	log     *logBuffer
	secrets []string // that must not be in the log

	network   *telegram.Network
	listener  *telegram.Listener // nil: nobody listens to the bot
	hearPause time.Duration      // see telegram.SetHearPause; 0: the usual
	callTime  time.Duration      // see telegram.SetCallTime; 0: the usual
	stop      func()             // ends the network and waits for it
	sent      map[int64]bool
}

type logBuffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{} // closed and replaced with every line; nil: nobody waits
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil {
		close(l.written)
		l.written = nil
	}
	return l.b.Write(p)
}

// awaitLog waits until something is in the log.
func (r *room) awaitLog(words string) {
	r.Helper()
	for {
		r.log.mu.Lock()
		if strings.Contains(r.log.b.String(), words) {
			r.log.mu.Unlock()
			return
		}
		if r.log.written == nil {
			r.log.written = make(chan struct{})
		}
		written := r.log.written
		r.log.mu.Unlock()
		select {
		case <-written:
		case <-r.ctx.Done():
			r.Fatalf("the log never says %q:\n%s", words, r.log)
		}
	}
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newRoom returns a room with a connected bot. When the test ends it proves what must hold after
// any test: each key is in the channel once, the store is sound, and no secret is in the log.
func newRoom(t *testing.T) *room {
	t.Helper()
	r := newEmptyRoom(t)
	data := r.srv.Session(r.bot)
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: data})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.connect()
	return r
}

// newEmptyRoom is a room whose bot has never logged in and whose network does not run.
func newEmptyRoom(t *testing.T, setUp ...func(*telegramtest.Options)) *room {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
	t.Cleanup(cancel)
	opts := telegramtest.Options{Key: serverKey()}
	for _, set := range setUp {
		set(&opts)
	}
	r := &room{T: t, ctx: ctx, srv: telegramtest.NewServer(opts), media: t.TempDir(),
		log: &logBuffer{}, sent: map[int64]bool{}, secrets: []string{token, "AAH-the-secret", telegramtest.AppHash}}
	t.Cleanup(r.srv.Close)
	r.bot = r.srv.AddBot(token, "bell_bot")
	r.channel = r.srv.AddChannel(telegramtest.Channel{Title: "Bells", Username: "bells_daily"}, "bell_bot")

	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Key: make([]byte, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	r.db = db
	t.Cleanup(func() { r.db.Close() })
	r.id = r.addBot("main", token)
	r.stop = func() {}
	t.Cleanup(r.prove)
	return r
}

func (r *room) addBot(name, token string) uint64 {
	r.Helper()
	identity := store.Identity{Name: name, Platform: telegram.Platform, Kind: store.IdentityBot,
		Secret: token, State: store.IdentityNew}
	if err := r.db.Update(func(tx *store.Tx) error { return tx.Identities.Put(&identity) }); err != nil {
		r.Fatal(err)
	}
	return identity.ID
}

func (r *room) config() telegram.Config {
	var private fetch.Allowed
	if err := private.UnmarshalText([]byte("127.0.0.1")); err != nil {
		r.Fatal(err)
	}
	return telegram.Config{Private: private, Application: application(telegramtest.AppID),
		Server: r.srv.DC(), Key: r.srv.PublicKeyPEM(), MediaDir: r.media, Media: r.open, Log: zerolog.New(r.log),
		Patience: time.Minute} // logging in takes seconds on a busy machine
}

// upload keeps a file in the store, as an upload does.
func (r *room) upload(name, kind string, content []byte) (id uint64) {
	r.Helper()
	w, err := r.db.WriteMedia()
	if err != nil {
		r.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		r.Fatal(err)
	}
	err = errors.Join(w.Flush(), r.db.Update(func(tx *store.Tx) error {
		_, err := tx.Media.Finish(store.MediaFile{ID: w.ID(), Name: name, Kind: kind}, nil)
		return err
	}))
	if err != nil {
		r.Fatal(err)
	}
	return w.ID()
}

// open opens a file that was uploaded.
func (r *room) open(id uint64) (platform.MediaFile, error) {
	f, err := r.db.OpenMedia(id)
	if err != nil {
		return platform.MediaFile{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "media", Err: err}
	}
	return platform.MediaFile{ReadCloser: f, Name: f.File().Name, Size: f.File().Size}, nil
}

func application(id int) func() (int, string) {
	return func() (int, string) { return id, telegramtest.AppHash }
}

// start runs a network on the room's store, as a start of the program does.
func (r *room) start() {
	r.Helper()
	n, err := telegram.New(r.db, r.config())
	if err != nil {
		r.Fatal(err)
	}
	telegram.SetUploadPatience(n, limit)
	telegram.SetUploadTimes(n, limit, 100*time.Millisecond)
	if r.hearPause > 0 {
		telegram.SetHearPause(n, r.hearPause)
	}
	if r.callTime > 0 {
		telegram.SetCallTime(n, r.callTime)
	}
	if r.listener != nil {
		n.Listen(*r.listener)
	}
	r.run(n)
}

func (r *room) run(n *telegram.Network) {
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	r.network = n
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.Errorf("Run: %v", err)
		}
	})
	r.Cleanup(r.stop)
}

// restart ends the program and starts it again.
func (r *room) restart() {
	r.Helper()
	r.stop()
	r.start()
	r.connect()
}

func (r *room) connect() { r.Helper(); r.awaitState(r.id, platform.Connected) }

// awaitState waits for a state of the connection without missing one.
func (r *room) awaitState(id uint64, want platform.ConnectionState) {
	r.Helper()
	if err := telegram.AwaitState(r.ctx, r.network, id, want); err != nil {
		r.Fatalf("waiting for %s: %v; status %+v\n%s", want, err, r.network.Connection(id), r.log)
	}
}

func (r *room) publish(p platform.Post) (platform.Receipt, error) {
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	if p.Target == "" {
		p.Target = "@bells_daily"
	}
	r.sent[p.Key] = true
	return r.network.Publisher(r.id).Publish(ctx, p)
}

func (r *room) mustPublish(p platform.Post) platform.Receipt {
	r.Helper()
	receipt, err := r.publish(p)
	if err != nil {
		r.Fatalf("publish: %v\n%s", err, r.log)
	}
	return receipt
}

// refused publishes and returns the error, which must be of that kind.
func (r *room) refused(p platform.Post, kind platform.Kind, scope platform.Scope) *platform.Error {
	r.Helper()
	_, err := r.publish(p)
	e, ok := errors.AsType[*platform.Error](err)
	if !ok {
		r.Fatalf("publish: got %v, want an error of kind %s", err, kind)
	}
	if e.Kind != kind || e.Scope != scope {
		r.Fatalf("publish: got %s about %s (%v), want %s about %s", e.Kind, e.Scope, e, kind, scope)
	}
	return e
}

func (r *room) messages() []telegramtest.Message { return r.srv.Messages(r.channel.ID) }

// awaitCalls waits for so many calls of a method.
func (r *room) awaitCalls(method string, n int) {
	r.Helper()
	if err := r.srv.AwaitCalls(r.ctx, method, n); err != nil {
		r.Fatalf("waiting for call %d of %s: %v\n%s", n, method, err, r.log)
	}
}

// only returns the single message of the channel.
func (r *room) only() telegramtest.Message {
	r.Helper()
	m := r.messages()
	if len(m) != 1 {
		r.Fatalf("the channel has %d messages, want 1", len(m))
	}
	return m[0]
}

func (r *room) prove() {
	r.stop()
	seen := map[int64]bool{}
	var known []int64
	for key := range r.sent {
		for part := range 10 {
			known = append(known, telegram.RandomID(key, part))
		}
	}
	for _, m := range r.messages() {
		if seen[m.RandomID] {
			r.Errorf("message %d is there twice", m.ID)
		}
		seen[m.RandomID] = true
		if !slices.Contains(known, m.RandomID) {
			r.Errorf("message %d has a random id that no post asked for", m.ID)
		}
	}
	problems, err := r.db.Verify()
	if err != nil || len(problems) > 0 {
		r.Errorf("verify: %v %v", problems, err)
	}
	r.noSecrets()
}

// noSecrets proves that neither tokens, sessions, codes, passwords nor phones are in the log.
func (r *room) noSecrets() {
	log := r.log.String()
	secrets := slices.Clone(r.secrets)
	err := r.db.View(func(tx *store.Tx) error {
		for s := range tx.Sessions.All() {
			secrets = append(secrets, string(s.Data))
		}
		return nil
	})
	if err != nil {
		r.Error(err)
	}
	for _, secret := range secrets {
		if bytes.Contains([]byte(log), []byte(secret)) {
			r.Errorf("the log has a secret in it:\n%s", log)
		}
	}
}
