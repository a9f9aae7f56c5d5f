package channelstest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform/ai"
	"belfry/platform/ai/aitest"
	"belfry/platform/article"
	"belfry/platform/fetch"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/channels"
	"belfry/worker/identities"
	"belfry/worker/pipeline"
	"belfry/worker/search"
)

var (
	long = flag.Bool("long", false, "live through many more crashes")
	seed = flag.Uint64("seed", 0, "repeat the choices of this seed")
)

// press is a Telegram with channels, an AI, a web site and a webhook, and the file of the program that reads them. The
// program lives several times; each life begins an hour after the one before, so that what waited is due.
type press struct {
	*testing.T
	r     *rand.Rand
	tg    *telegramtest.Server
	ai    *aitest.Server
	web   *httptest.Server
	file  string
	ahead time.Duration
	list  []*outlet

	mu    sync.Mutex
	calls map[string]int            // of the webhook, by id
	found map[uint64]map[string]int // the same, by message
	asked map[string]int            // pages, by path

	changes uint64 // of messages, that there were
}

// outlet is a channel as it is at Telegram.
type outlet struct {
	telegramtest.Channel
	posts  []*print
	albums map[int64]bool
}

// print is a message of it.
type print struct {
	id    int
	text  string
	gone  bool
	album int64
	photo []byte
	alarm bool // the watch looks for it
}

func newPress(t *testing.T) *press {
	p := &press{T: t, file: filepath.Join(t.TempDir(), "belfry.db"), tg: telegramtest.NewServer(telegramtest.Options{}), ai: aitest.New(),
		calls: map[string]int{}, found: map[uint64]map[string]int{}, asked: map[string]int{}}
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	t.Logf("seed %d", chosen)
	p.r = rand.New(rand.NewPCG(chosen, 0))
	p.web = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() { p.tg.Close(); p.ai.Close(); p.web.Close() })
	user := p.tg.AddUser(telegramtest.User{Username: "reader", Phone: "9990001111"})
	for i := range 3 {
		name := fmt.Sprint("outlet", i)
		p.list = append(p.list, &outlet{Channel: p.tg.AddChannel(telegramtest.Channel{Title: name, Username: name, Members: []string{"reader"}}), albums: map[int64]bool{}})
	}
	db := p.open(nil)
	err := db.Update(func(tx *store.Tx) error {
		login := store.Identity{Platform: telegram.Platform, Name: "reader", Kind: store.IdentityUser, State: store.IdentityNew}
		err := tx.Identities.Put(&login)
		return errors.Join(err, tx.Sessions.Put(&store.Session{IdentityID: login.ID, Data: p.tg.Session(user.ID)}))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return p
}

// serve is the web site and the webhook, whose first answer to a call is sometimes a failure.
func (p *press) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch id := r.Header.Get("webhook-id"); {
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
	case id != "":
		var event struct {
			Data struct {
				MessageID uint64 `json:"message_id"`
			}
		}
		if err := json.Unmarshal(body, &event); err != nil {
			p.Errorf("%s: %v", body, err)
		}
		if p.found[event.Data.MessageID] == nil {
			p.found[event.Data.MessageID] = map[string]int{}
		}
		p.found[event.Data.MessageID][id]++
		if p.calls[id]++; p.calls[id] == 1 && len(p.calls)%3 == 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
	default:
		if p.asked[r.URL.Path]++; p.asked[r.URL.Path] == 1 && len(p.asked)%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<html><head><title>Page</title></head><body><article><h1>Page</h1><p>%s</p></article></body></html>", strings.Repeat("What is behind "+r.URL.Path+". ", 20))
	}
}

func (p *press) open(commit func(store.Stage) error) *store.DB {
	p.Helper()
	ahead := p.ahead
	db, err := store.Open(p.file, store.Options{Now: func() time.Time { return time.Now().Round(0).Add(ahead) }, Key: make([]byte, store.KeySize), Commit: commit})
	if err != nil {
		p.Fatal(err)
	}
	return db
}

// life is one life of the program.
type life struct {
	db       *store.DB
	began    time.Time
	channels *channels.Worker
	pipeline *pipeline.Worker
	search   *search.Worker
	died     chan struct{} // closed when it has crashed
	end      func()
}

func (l *life) dead() bool {
	select {
	case <-l.died:
		return true
	default:
		return false
	}
}

// pass lets time pass, until the life ends.
func (l *life) pass(d time.Duration) {
	select {
	case <-time.After(d):
	case <-l.died:
	}
}

var errDead = errors.New("the process is dead")

// live begins a life, which ends with a crash at a commit unless that is 0.
func (p *press) live(commit int, stage store.Stage) *life {
	p.Helper()
	p.ahead += time.Hour + 2*time.Minute
	l := &life{died: make(chan struct{})}
	var commits atomic.Int64
	var armed atomic.Bool
	l.db = p.open(func(s store.Stage) error {
		if l.dead() {
			return errDead
		}
		if armed.Load() && s == stage && commits.Add(1) == int64(commit) {
			close(l.died)
			return errDead
		}
		return nil
	})
	l.began = l.db.Now()
	var private fetch.Allowed
	reading, err := ai.New(ai.Config{Base: p.ai.Base(), Key: aitest.Key, Model: "test"})
	if err := errors.Join(err, private.UnmarshalText([]byte("127.0.0.1"))); err != nil {
		p.Fatal(err)
	}
	net, err := telegram.New(l.db, telegram.Config{
		Application: func() (int, string) { return telegramtest.AppID, telegramtest.AppHash }, Server: p.tg.DC(), Key: p.tg.PublicKeyPEM(),
		MediaDir: p.TempDir(), Private: private, Log: zerolog.Nop(),
	})
	if err != nil {
		p.Fatal(err)
	}
	l.search = search.New(l.db, nil, nil, search.Config{Private: private})
	l.pipeline, err = pipeline.New(l.db, pipeline.Config{
		Vision: true, Links: true, Most: 1_000_000, Index: l.search.Add, Read: article.New(private).Read,
		Ask: func(ctx context.Context, m []ai.Message) (string, error) {
			answer, err := reading.Write(ctx, m)
			return answer.Text, err
		},
	})
	if err != nil {
		p.Fatal(err)
	}
	l.channels = channels.New(l.db, net, channels.Config{Photos: true})
	all := worker.Join(identities.New(l.db, net, identities.Config{Log: zerolog.Nop()}).Module(), l.channels.Module(), l.search.Module(), l.pipeline.Module())
	if err := all.Start(); err != nil {
		p.Fatal(err)
	}
	s := scheduler.New(l.db, scheduler.Config{Kinds: all.Kinds, Now: l.db.Now, Drain: time.Millisecond, Log: zerolog.Nop()})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{all.Run, s.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil && !l.dead() {
				p.Error(err)
			}
		})
	}
	l.end = func() {
		cancel()
		if l.dead() { // as a process that is gone: what still runs writes nothing
			_ = l.db.Close()
		}
		running.Wait()
		if l.dead() { // perhaps at the last commits of what still ran
			_ = l.db.Close()
			return
		}
		if problems, err := l.db.Verify(); err != nil || len(problems) > 0 {
			p.Errorf("verify: %v, %v", problems, err)
		}
		if err := l.db.Close(); err != nil {
			p.Error(err)
		}
	}
	armed.Store(commit > 0)
	return l
}

// await waits until nothing is missing.
func (p *press) await(missing func() string) {
	p.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(2 * time.Minute); ; <-tick.C {
		switch what := missing(); {
		case what == "":
			return
		case time.Now().After(limit):
			p.Fatal("waited too long for ", what)
		}
	}
}

// add adds the channels and a watch.
func (p *press) add(l *life) {
	p.Helper()
	for _, o := range p.list {
		var d channels.Draft
		p.await(func() string {
			var err error
			if d, err = l.channels.Prepare(p.Context(), channels.Request{Channel: "@" + o.Username, Interval: "1h"}); err != nil {
				return err.Error()
			}
			return ""
		})
		if err := l.db.Update(func(tx *store.Tx) error { _, err := l.channels.Create(tx, d); return err }); err != nil {
			p.Fatal(err)
		}
	}
	if err := l.db.Update(func(tx *store.Tx) error {
		_, err := l.search.AddWatch(tx, search.WatchRequest{Name: "Alarm", Query: "тревога", Action: "webhook", URL: p.web.URL + "/hook"})
		return err
	}); err != nil {
		p.Fatal(err)
	}
}

// quiet waits until all that is due at this moment is done.
func (p *press) quiet(l *life) {
	p.Helper()
	p.await(func() (what string) {
		p.view(l, func(tx *store.Tx) { what = l.due(tx) })
		return what
	})
}

// due is something that is due and not done; empty if there is nothing.
func (l *life) due(tx *store.Tx) string {
	for c := range tx.Channels.All() {
		if job, err := tx.Jobs.ByName(c.JobName()); err != nil || job.State == store.JobRunning || !job.Due.After(tx.Now()) {
			return fmt.Sprintf("%+v, %+v, %v", c, job, err)
		}
	}
	for _, s := range l.pipeline.Stages() {
		if batch, err := tx.Streams.Fetch(s.Name, 1); err != nil || !batch.Empty() {
			return fmt.Sprintf("%s: %+v, %v", s.Name, batch, err)
		}
	}
	for hit := range tx.WatchHits.All() {
		if job, err := tx.Jobs.ByName(hit.Job().Name); err == nil && !job.Due.After(tx.Now()) {
			return fmt.Sprintf("%+v", job)
		}
	}
	return ""
}

func (p *press) now() time.Time { return time.Now().Add(p.ahead) }

// post posts a message; some have a link, a photo, or what the watch looks for.
func (p *press) post(o *outlet, m telegramtest.Post) {
	m.At = p.now()
	one := &print{text: m.Text, album: m.GroupedID, photo: m.Photo, alarm: strings.Contains(m.Text, "тревога")}
	one.id = p.tg.Post(o.ID, m)
	o.posts = append(o.posts, one)
	p.changes++
}

func (p *press) piece(o *outlet, album int64) {
	o.albums[album] = true
	for range 1 + p.r.IntN(3) {
		p.post(o, telegramtest.Post{Text: "album", GroupedID: album})
	}
}

// happen lets one thing happen at Telegram, to the AI or on the way.
func (p *press) happen(l *life) string {
	o := p.list[p.r.IntN(len(p.list))]
	some := func() *print {
		if len(o.posts) == 0 {
			return nil
		}
		return o.posts[p.r.IntN(len(o.posts))]
	}
	method := []string{"messages.getHistory", "updates.getChannelDifference", "channels.getMessages", "upload.getFile"}[p.r.IntN(4)]
	what := []string{"post", "post", "alarm", "link", "photo", "many", "album", "album", "split", "edit", "edit", "delete", "delete", "skip", "forget",
		"flood", "garble", "drop", "shut", "ai", "read", "read", "wait"}[p.r.IntN(23)]
	text := fmt.Sprintf("Новость %x", p.r.Uint32())
	switch what {
	case "post":
		p.post(o, telegramtest.Post{Text: text})
	case "alarm":
		p.post(o, telegramtest.Post{Text: text + " тревога"})
	case "link":
		p.post(o, telegramtest.Post{Text: text, Link: fmt.Sprintf("%s/%x", p.web.URL, p.r.Uint32())})
	case "photo":
		p.post(o, telegramtest.Post{Text: text, Photo: []byte("\xff\xd8\xff" + text)})
	case "many":
		for i := range 20 + p.r.IntN(90) {
			p.post(o, telegramtest.Post{Text: fmt.Sprintf("%s %d", text, i)})
		}
	case "album":
		p.piece(o, p.r.Int64())
	case "split":
		if m := some(); m != nil && m.album != 0 {
			p.piece(o, m.album)
		}
	case "edit":
		if m := some(); m != nil && !m.gone {
			m.text += "!"
			p.changes++
			p.tg.EditPost(o.ID, m.id, m.text)
		}
	case "delete":
		if m := some(); m != nil && !m.gone {
			m.gone = true
			p.changes++
			p.tg.DeletePosts(o.ID, m.id)
		}
	case "skip":
		p.tg.SkipIDs(o.ID, 3)
	case "forget":
		p.tg.ForgetChannel(o.ID)
	case "flood":
		p.tg.Fail(method, 1, 420, fmt.Sprint("FLOOD_WAIT_", 1+p.r.IntN(3000)))
	case "garble":
		p.tg.Garble(o.ID, method, 1+p.r.IntN(2))
	case "drop":
		p.tg.DropBefore(method, 1)
	case "shut":
		p.tg.Shut(o.ID, true)
	case "ai":
		p.ai.Fail([]aitest.Fault{aitest.Down, aitest.Nonsense, aitest.Broken}[p.r.IntN(3)])
	case "read":
		_ = l.db.Update(func(tx *store.Tx) error { // it may be dead
			c, err := tx.Channels.ByPeer(o.ID)
			if err == nil {
				_, err = l.channels.ReadNow(tx, c.ID)
			}
			return err
		})
	case "wait":
		l.pass(time.Duration(p.r.IntN(400)) * time.Millisecond)
	}
	return what
}

// Random posts, albums, edits, deletions, floods, answers that cannot be read, connections that are cut, private channels,
// an AI that fails and crashes at any commit: in the end the file has what the channels have, each stage has handled
// each event once, and each effect is there once.
func TestChannelsAreReadOnWithAnotherSession(t *testing.T) {
	p := newPress(t)
	for _, o := range p.list {
		p.post(o, telegramtest.Post{Text: "first"})
	}
	l := p.live(0, "")
	p.add(l)
	p.quiet(l)
	if err := l.db.Update(func(tx *store.Tx) error {
		session, err := tx.Sessions.Of(1)
		if err != nil {
			return err
		}
		_, err = identities.Import(tx, 1, session.Data) // what it has met is forgotten
		return err
	}); err != nil {
		t.Fatal(err)
	}
	l.end()
	for _, o := range p.list {
		p.post(o, telegramtest.Post{Text: "second"})
	}
	l = p.live(0, "")
	p.await(func() string {
		if !p.settled(l) {
			return "the channels are not read"
		}
		return ""
	})
	p.quiet(l) // they were found, and are read now
	p.judge(l)
	l.end()
}

func TestWhateverHappensEachMessageIsReadAndHandledOnce(t *testing.T) {
	lives, events := 5, 12
	if *long {
		lives, events = 60, 40
	}
	p := newPress(t)
	for _, o := range p.list {
		for range 1 + p.r.IntN(130) {
			p.post(o, telegramtest.Post{Text: fmt.Sprintf("Старая новость %x", p.r.Uint32())})
		}
	}
	l := p.live(0, "")
	p.add(l)
	p.quiet(l)
	l.end()
	crashes := 0
	for range lives {
		commit, stage := 0, store.BeforeCommit
		if p.r.IntN(4) > 0 {
			commit = 1 + p.r.IntN(40)
		}
		if p.r.IntN(2) == 0 {
			stage = store.AfterCommit
		}
		l = p.live(commit, stage)
		var happened []string
		for i := 0; i < events && !l.dead(); i++ {
			happened = append(happened, p.happen(l))
			l.pass(time.Duration(p.r.IntN(80)) * time.Millisecond)
		}
		l.pass(time.Duration(p.r.IntN(1000)) * time.Millisecond)
		if l.dead() {
			crashes++
		}
		t.Logf("%v; dead: %v", happened, l.dead())
		l.end()
		p.ai.Recover()
		for _, o := range p.list {
			p.tg.Shut(o.ID, false)
		}
	}
	p.tg.ClearFaults()
	p.ahead += 8 * time.Hour // longer than a channel waits that was private
	for range 8 {
		l = p.live(0, "")
		p.quiet(l)
		if p.settled(l) {
			break
		}
		l.end()
	}
	p.judge(l)
	l.end()
	t.Logf("%d crashes, %d messages", crashes, len(p.list[0].posts)+len(p.list[1].posts)+len(p.list[2].posts))
}

// settled reports whether nothing waits for another hour.
func (p *press) settled(l *life) (done bool) {
	p.view(l, func(tx *store.Tx) {
		done = true
		for c := range tx.Channels.All() {
			done = done && !c.LastParsedAt.Before(l.began) && c.Failures == 0 && c.Place.Pts != 0 && c.Place.Again+c.Place.Counts == 0
		}
		for f := range tx.Streams.Flows() {
			done = done && f.Waiting+f.Retrying == 0
		}
		for hit := range tx.WatchHits.All() {
			done = done && hit.State != store.HitWaiting
		}
	})
	return done
}

func (p *press) view(l *life, read func(tx *store.Tx)) {
	p.Helper()
	if err := l.db.View(func(tx *store.Tx) error { read(tx); return nil }); err != nil {
		p.Fatal(err)
	}
}

// judge compares the file with what is there.
func (p *press) judge(l *life) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view(l, func(tx *store.Tx) {
		for _, o := range p.list {
			c, err := tx.Channels.ByPeer(o.ID)
			if err != nil {
				p.Fatal(err)
			}
			if c.LastParsedAt.Before(l.began) || c.Failures > 0 || c.Place.Pts == 0 {
				job, _ := tx.Jobs.ByName(c.JobName())
				p.Errorf("%s was not read since %s: %+v, its job is %+v", c.Name(), l.began, c, job)
			}
			p.compare(tx, c, o)
		}
		flows := map[string]store.Flow{}
		for f := range tx.Streams.Flows() {
			if flows[f.Name] = f; f.Lost() != 0 || f.Waiting+f.Retrying+f.Parked != 0 {
				p.Errorf("%s: in %d, done %d, skipped %d, retrying %d, parked %d, waiting %d", f.Name, f.In, f.Done, f.Skipped, f.Retrying, f.Parked, f.Waiting)
			}
		}
		messages := uint64(0)
		for m := range tx.Messages.All() {
			if !m.Date.IsZero() && m.Service == "" {
				messages++
			}
		}
		parsed, seen := tx.Streams.Head(store.TopicParsed), tx.Streams.Head(store.TopicVision)
		if parsed < messages || parsed > p.changes {
			p.Errorf("%d events of %d messages with %d changes", parsed, messages, p.changes)
		}
		for topic, want := range map[store.Topic]uint64{
			store.TopicVision: flows["vision"].Done, store.TopicTagged: parsed + seen, store.TopicEnriched: parsed + seen, store.TopicIndexed: parsed + seen,
			store.TopicAlbum: flows["album"].Done,
		} {
			if head := tx.Streams.Head(topic); head != want {
				p.Errorf("%s has %d events, want %d", topic, head, want)
			}
		}
	})
}

func (p *press) compare(tx *store.Tx, c store.Channel, o *outlet) {
	p.Helper()
	stored := map[int]store.Message{}
	for m := range tx.Messages.Of(c.ID, 0, 0) {
		stored[m.MessageID] = m
	}
	calls := p.ai.Calls()
	whole := map[int64]bool{}
	for _, one := range o.posts {
		m, known := stored[one.id]
		delete(stored, one.id)
		if one.gone {
			if known && m.DeletedAt.IsZero() {
				p.Errorf("message %d of %s is deleted, and it is not known: %+v", one.id, c.Name(), m)
			}
		} else if !known || !m.DeletedAt.IsZero() || m.Text != one.text || m.GroupedID != one.album {
			p.Errorf("message %d of %s is %+v, and was read as %+v", one.id, c.Name(), one, m)
			continue
		}
		d, err := tx.Documents.OfMessage(m.ID)
		switch ids := p.found[m.ID]; {
		case one.gone && known && err == nil:
			p.Errorf("message %d of %s is deleted, and is in the index", one.id, c.Name())
		case !one.gone && (err != nil || !strings.Contains(d.Text, one.text)):
			p.Errorf("message %d of %s is in the index as %+v, %v", one.id, c.Name(), d, err)
		case len(ids) > 1 || known && len(ids) == 0 && one.alarm && !one.gone:
			p.Errorf("message %d of %s, %q, was found as %v", one.id, c.Name(), one.text, ids)
		}
		for name, state := range m.Stages {
			if state.State != store.StageDone && state.State != store.StageSkipped {
				p.Errorf("message %d of %s in %s: %+v", one.id, c.Name(), name, state)
			}
		}
		if m.Vision != "" {
			var n int
			if _, err := fmt.Sscanf(m.Vision, "Text %d", &n); err != nil || string(calls[n-1].Messages[1].Content.Images[0]) != string(one.photo) {
				p.Errorf("message %d of %s shows %q by %q", one.id, c.Name(), one.photo, m.Vision)
			}
		} else if one.photo != nil && !one.gone && m.Stages["vision"].Reason.Code != store.ReasonNoPhoto {
			p.Errorf("the picture of message %d of %s was not looked at: %+v", one.id, c.Name(), m.Stages)
		}
		if one.album != 0 && m.Stages["album"].State == store.StageDone {
			whole[one.album] = true
		}
	}
	for id, m := range stored {
		if m.Date.IsZero() || m.Service != "" { // it was deleted before it was read, or is the channel's first
			continue
		}
		p.Errorf("%s has no message %d: %+v", c.Name(), id, m)
	}
	for album := range o.albums {
		// A member's passport says no more that it ended the album once the member was edited or deleted.
		changed := slices.ContainsFunc(o.posts, func(one *print) bool { return one.album == album && (one.gone || one.text != "album") })
		if !changed && !whole[album] {
			p.Errorf("album %d of %s was not put together", album, c.Name())
		}
	}
}
