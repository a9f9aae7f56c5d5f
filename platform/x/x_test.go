package x_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/platformtest"
	"belfry/platform/x"
	"belfry/platform/x/xtest"
)

var (
	picture = append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...)
	film    = append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), make([]byte, 2<<20)...)
)

// bench is an X with a user, and a network that posts as it with the keys of OAuth 1.0a as identity 1, and by
// OAuth 2, once it has logged in, as identity 2.
type bench struct {
	*testing.T
	server *xtest.Server
	net    *x.Network
	keys   *platformtest.Keys
	ahead  atomic.Int64 // of the clock of both
}

func (b *bench) now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

func newBench(t *testing.T) *bench {
	b := &bench{T: t, keys: &platformtest.Keys{}}
	b.server = xtest.NewServer(xtest.Options{Processing: 2, Now: b.now})
	t.Cleanup(b.server.Close)
	u := b.server.AddUser(xtest.User{Username: "evening_news", ConsumerKey: "ck", ConsumerSecret: "c/s", AccessToken: "at", AccessSecret: "a+s", ClientID: "app", ClientSecret: "hidden"})
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.png": picture, "film.mp4": film} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	b.net, err = x.New(x.Config{URL: b.server.URL, MediaDir: dir, Media: uploaded, Keys: b.keys, Now: b.now, Redirect: "http://127.0.0.1:1/logins/x"})
	if err != nil {
		t.Fatal(err)
	}
	b.secret(1, x.Login{ConsumerKey: u.ConsumerKey, ConsumerSecret: u.ConsumerSecret, AccessToken: u.AccessToken, AccessSecret: u.AccessSecret, UserID: u.ID})
	b.secret(2, x.Login{ClientID: u.ClientID, ClientSecret: u.ClientSecret})
	return b
}

func (b *bench) secret(id uint64, l x.Login) {
	data, err := json.Marshal(l)
	if err == nil {
		err = b.keys.SetSecret(id, nil, data)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// logIn logs identity 2 in, as its owner does.
func (b *bench) logIn() error {
	b.Helper()
	address, err := b.net.Begin(context.Background(), 2)
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	r.Body.Close()
	back, err := url.Parse(r.Header.Get("Location"))
	if err != nil || r.StatusCode != http.StatusFound {
		b.Fatal(r.Status, err)
	}
	_, secret, err := b.net.Finish(context.Background(), 2, back.Query().Get("code"), back.Query().Get("state"))
	if err != nil {
		return err
	}
	return b.keys.SetSecret(2, nil, secret)
}

func (b *bench) drive(identity uint64, p platform.Post) (platform.Receipt, *platform.Error) {
	b.Helper()
	receipt, err, _ := platformtest.Drive(b.net.Publisher(identity), p, 12, nil, func(d time.Duration) { b.ahead.Add(int64(d)) })
	return receipt, err
}

// uploaded opens the one file that was uploaded.
func uploaded(id uint64) (platform.MediaFile, error) {
	if id != 7 {
		return platform.MediaFile{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: errors.New("it was deleted")}
	}
	return platform.MediaFile{ReadCloser: io.NopCloser(bytes.NewReader(picture)), Type: "image/png", Size: int64(len(picture))}, nil
}

func TestUploadedMediaArePublished(t *testing.T) {
	b := newBench(t)
	p := platform.Post{Text: "Good evening", Media: []platform.Media{{Kind: platform.Photo, ID: 7}}}
	if _, err := b.net.Check(p); err != nil {
		t.Error(err)
	}
	if _, err := b.drive(1, p); err != nil || len(b.server.Posts()) != 1 || len(b.server.Posts()[0].MediaIDs) != 1 {
		t.Errorf("%v, %+v", err, b.server.Posts())
	}
	p.Media[0].ID = 8
	if _, err := b.net.Check(p); err == nil || platform.AsError(err).Field != "media[0].id" {
		t.Errorf("a file that is gone: %v", err)
	}
}

func photos(n int) []platform.Media {
	media := make([]platform.Media, n)
	for i := range media {
		media[i] = platform.Media{Kind: platform.Photo, File: "a.png"}
	}
	return media
}

func TestTextPhotosAndVideosArePublishedWithBothKindsOfKeys(t *testing.T) {
	b := newBench(t)
	if err := b.logIn(); err != nil {
		t.Fatal(err)
	}
	for i, media := range [][]platform.Media{nil, photos(4), {{Kind: platform.Video, File: "film.mp4"}}} {
		for identity := range uint64(2) {
			text := fmt.Sprintf("Café & <tea> %d %d: https://example.com", i, identity)
			receipt, err := b.drive(identity+1, platform.Post{Key: 1, Text: text, Media: media})
			posts := b.server.Posts()
			if err != nil || len(posts) == 0 {
				t.Fatal(err)
			}
			last := posts[len(posts)-1]
			if len(receipt.MessageIDs) != 1 || receipt.MessageIDs[0] != last.ID || !strings.HasSuffix(receipt.Link, fmt.Sprint("/", last.ID)) || last.Text != text || len(last.MediaIDs) != len(media) {
				t.Errorf("%+v, %+v", receipt, last)
			}
			if len(media) == 1 && !bytes.Equal(b.server.Media(last.MediaIDs[0]), film) {
				t.Error("the film is another one")
			}
		}
	}
	if n := len(b.server.Posts()); n != 6 {
		t.Errorf("%d posts", n)
	}
}

func TestEachAnswerIsSorted(t *testing.T) {
	reset := http.Header{"X-Rate-Limit-Reset": {fmt.Sprint(time.Now().Add(5 * time.Minute).Unix())}}
	for name, c := range map[string]struct {
		fault xtest.Fault
		kind  platform.Kind
		scope platform.Scope
	}{
		"its limit":   {xtest.Fault{Status: 429, Header: reset, Body: `{"title":"Too Many Requests"}`}, platform.Wait, platform.ScopeIdentity},
		"usage":       {xtest.Fault{Status: 429, Body: `{"title":"UsageCapExceeded","type":"https://api.twitter.com/2/problems/usage-capped"}`}, platform.Stopped, platform.ScopeIdentity},
		"no credits":  {xtest.Fault{Status: 402, Body: `{"title":"CreditsDepleted"}`}, platform.Stopped, platform.ScopeIdentity},
		"keys":        {xtest.Fault{Status: 401, Body: `{"title":"Unauthorized"}`}, platform.Login, platform.ScopeIdentity},
		"duplicate":   {xtest.Fault{Status: 403, Body: `{"detail":"You are not allowed to create a Tweet with duplicate content."}`}, platform.Refused, platform.ScopeContent},
		"suspended":   {xtest.Fault{Status: 403, Body: `{"detail":"Your account is suspended."}`}, platform.Stopped, platform.ScopeIdentity},
		"bad request": {xtest.Fault{Status: 400, Body: `{"errors":[{"message":"no"}],"title":"Invalid Request"}`}, platform.Refused, platform.ScopeContent},
		"bad gateway": {xtest.Fault{Status: 502, Body: `<html>`}, platform.Unknown, platform.ScopeIdentity},
		"no sense":    {xtest.Fault{Status: 201, Body: `{`}, platform.Unknown, platform.ScopeIdentity},
		"no answer":   {xtest.Fault{}, platform.Unknown, platform.ScopeIdentity},
	} {
		b := newBench(t)
		c.fault.Call = xtest.Create
		b.server.Fail(c.fault)
		if c.kind == platform.Login { // also when they are tried again
			b.server.Fail(xtest.Fault{Call: xtest.Me, Status: 401})
		}
		state, err := json.Marshal(map[string]any{"begun": b.now()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.net.Publisher(1).Publish(context.Background(), platform.Post{Text: "hello", State: state})
		e := platform.AsError(err)
		if e.Kind != c.kind || e.Scope != c.scope || (c.kind == platform.Wait && (e.Wait < 4*time.Minute || e.Wait > 6*time.Minute)) {
			t.Errorf("%s: %+v", name, e)
		}
		if (b.keys.Out(1) != "") != (c.kind == platform.Login) {
			t.Errorf("%s: logged out: %q", name, b.keys.Out(1))
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	b := newBench(t)
	for _, secret := range []string{`{"consumer_key":"ck","consumer_secret":"c/s","access_token":"at","access_token_secret":"other"}`, `{"client_id":"app"}`} {
		if _, _, err := b.net.Probe(context.Background(), []byte(secret)); platform.AsError(err).Kind != platform.Login {
			t.Error(err)
		}
	}
	if p, _, err := b.net.Probe(context.Background(), []byte(`{"consumer_key":"ck","consumer_secret":"c/s","access_token":"at","access_token_secret":"a+s"}`)); err != nil || p.Username != "evening_news" {
		t.Error(p, err)
	}
	if _, _, err := b.net.Finish(context.Background(), 2, "code", "state"); platform.AsError(err).Field != "state" {
		t.Error(err)
	}
}

func TestAnAccessIsRefreshedAheadAndWhenItIsRefused(t *testing.T) {
	b := newBench(t)
	if err := b.logIn(); err != nil {
		t.Fatal(err)
	}
	again, err := b.net.Refresh(context.Background(), 2)
	if err != nil || again.Sub(b.now()) < time.Hour {
		t.Fatal(again.Sub(b.now()), err)
	}
	b.ahead.Add(int64(110 * time.Minute))
	if again, err = b.net.Refresh(context.Background(), 2); err != nil || again.Sub(b.now()) < time.Hour {
		t.Fatal(again.Sub(b.now()), err)
	}
	b.server.Fail(xtest.Fault{Call: xtest.Create, Status: 401})
	if _, err := b.drive(2, platform.Post{Text: "one"}); err != nil || len(b.server.Posts()) != 1 {
		t.Error(err)
	}
	b.ahead.Add(int64(24 * time.Hour))
	if _, err := b.drive(2, platform.Post{Text: "two"}); err != nil || len(b.server.Posts()) != 2 {
		t.Error(err)
	}
	b.server.Revoke()
	if _, err := b.drive(2, platform.Post{Text: "three"}); err == nil || err.Kind != platform.Login || b.keys.Out(2) == "" {
		t.Error(err)
	}
}

func TestTokensThatCouldNotBeStoredAreNotLost(t *testing.T) {
	b := newBench(t)
	if err := b.logIn(); err != nil {
		t.Fatal(err)
	}
	b.ahead.Add(int64(110 * time.Minute))
	b.keys.FailOnce()
	if _, err := b.net.Refresh(context.Background(), 2); platform.AsError(err).Kind != platform.Transient {
		t.Error(err)
	}
	if again, err := b.net.Refresh(context.Background(), 2); err != nil || again.Sub(b.now()) < time.Hour {
		t.Error(again.Sub(b.now()), err)
	}
	b.ahead.Add(int64(24 * time.Hour))
	if _, err := b.drive(2, platform.Post{Text: "one"}); err != nil || b.keys.Out(2) != "" {
		t.Errorf("%v, logged out: %q", err, b.keys.Out(2))
	}
}

func TestOneRefusalOfGoodKeysEndsNoLogin(t *testing.T) {
	b := newBench(t)
	b.server.Fail(xtest.Fault{Call: xtest.Create, Status: 401, Body: `{"title":"Unauthorized"}`})
	if _, err := b.drive(1, platform.Post{Text: "one"}); err != nil || b.keys.Out(1) != "" || len(b.server.Posts()) != 1 {
		t.Errorf("%v, logged out: %q", err, b.keys.Out(1))
	}
	if err := b.logIn(); err != nil {
		t.Fatal(err)
	}
	b.ahead.Add(int64(110 * time.Minute))
	b.server.Fail(xtest.Fault{Call: xtest.Token, Status: 403, Body: "<html>Attention Required!"})
	if _, err := b.net.Refresh(context.Background(), 2); platform.AsError(err).Kind != platform.Transient || b.keys.Out(2) != "" {
		t.Errorf("%v, logged out: %q", err, b.keys.Out(2))
	}
	if _, err := b.net.Refresh(context.Background(), 2); err != nil {
		t.Error(err)
	}
}

// Whatever call has no answer or is the last before the program is killed, no post is out twice, and one that is not
// said to be unknown is out once.
func TestNoPostIsOutTwiceWhereverItIsCutOff(t *testing.T) {
	calls := []string{xtest.Initialize, xtest.Append, xtest.Finalize, xtest.Status, xtest.Create}
	post := platform.Post{Key: 1, Text: "once & only", Media: []platform.Media{{Kind: platform.Video, File: "film.mp4"}}}
	for _, call := range calls {
		for _, carried := range []bool{false, true} {
			for _, timeline := range []bool{false, true} {
				b := newBench(t)
				b.server.Fail(xtest.Fault{Call: call, Carried: carried})
				if !timeline {
					b.server.Fail(xtest.Fault{Call: xtest.Timeline, Status: 403, Body: `{"title":"Forbidden"}`})
				}
				receipt, err := b.drive(1, post)
				n := len(b.server.Posts())
				unsure := call == xtest.Create && (!carried || !timeline)
				if n > 1 || unsure != (err != nil && err.Kind == platform.Unconfirmed) || !unsure && (n != 1 || err != nil || len(receipt.MessageIDs) != 1) {
					t.Errorf("%s, carried %v, timeline %v: %d posts, %+v, %v", call, carried, timeline, n, receipt, err)
				}
			}
		}
	}
	for kill := range 12 {
		b := newBench(t)
		_, err, attempts := platformtest.Drive(b.net.Publisher(1), post, 20, func(n int) bool { return n == kill }, nil)
		if n := len(b.server.Posts()); n != 1 || err != nil {
			t.Errorf("killed in attempt %d: %d posts, %v", kill, n, err)
		}
		if attempts <= kill {
			break
		}
	}
}

// onTheWay is a network whose calls of X pass do first; where that reports false they are lost.
func (b *bench) onTheWay(cfg x.Config, do func(path string) bool) *x.Network {
	b.Helper()
	to, err := url.Parse(b.server.URL)
	if err != nil {
		b.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !do(r.URL.Path) {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	b.Cleanup(server.Close)
	cfg.URL, cfg.Keys, cfg.Now = server.URL, b.keys, b.now
	net, err := x.New(cfg)
	if err == nil {
		err = b.logIn() // the keys of OAuth 1.0a sign the address, too
	}
	if err != nil {
		b.Fatal(err)
	}
	return net
}

func TestALongFilmIsUploadedInSeveralAttempts(t *testing.T) {
	b := newBench(t)
	long := append(bytes.Clone(film), make([]byte, 18<<20)...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "long.mp4"), long, 0o600); err != nil {
		t.Fatal(err)
	}
	var begun, parts atomic.Int64
	var down atomic.Bool
	down.Store(true)
	net := b.onTheWay(x.Config{MediaDir: dir}, func(path string) bool {
		switch {
		case strings.HasSuffix(path, "/initialize"):
			begun.Add(1)
		case strings.HasSuffix(path, "/append"):
			b.ahead.Add(int64(20 * time.Second))
			return parts.Add(1) != 5 && !down.Load()
		}
		return true
	})
	post := platform.Post{Key: 1, Text: "film", Media: []platform.Media{{Kind: platform.Video, File: "long.mp4"}}}
	_, err := net.Publisher(2).Publish(context.Background(), post)
	e := platform.AsError(err)
	if e.Kind != platform.Transient || e.Scope != platform.ScopeContent {
		t.Errorf("without any progress: %s, %s: %v", e.Kind, e.Scope, err)
	}
	post.State = e.State
	down.Store(false)
	for range 4 {
		_, err = net.Publisher(2).Publish(context.Background(), post)
		if e = platform.AsError(err); e.Kind != platform.UnderWay {
			t.Fatalf("after %d parts: %s: %v", parts.Load(), e.Kind, err)
		}
		post.State = e.State
	}
	if _, err, _ := platformtest.Drive(net.Publisher(2), post, 6, nil, nil); err != nil || begun.Load() != 1 || parts.Load() != 8 || len(b.server.Posts()) != 1 {
		t.Fatalf("%v, begun %d times, %d parts, %d posts", err, begun.Load(), parts.Load(), len(b.server.Posts()))
	}
	if id := b.server.Posts()[0].MediaIDs[0]; !bytes.Equal(b.server.Media(id), long) {
		t.Error("the film is another one")
	}
}

func TestADownloadThatIsCutOffIsTriedAgain(t *testing.T) {
	b := newBench(t)
	var whole atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(film)))
		if whole.Swap(true) {
			_, _ = w.Write(film)
			return
		}
		_, _ = w.Write(film[:len(film)/2])
	}))
	defer site.Close()
	var private fetch.Allowed
	if err := private.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	net, err := x.New(x.Config{URL: b.server.URL, Keys: b.keys, Now: b.now, Private: private})
	if err != nil {
		t.Fatal(err)
	}
	post := platform.Post{Key: 1, Text: "film", Media: []platform.Media{{Kind: platform.Video, URL: site.URL}}}
	_, err = net.Publisher(1).Publish(context.Background(), post)
	e := platform.AsError(err)
	if post.State = e.State; e.Kind != platform.Transient || e.Scope != platform.ScopeContent {
		t.Errorf("%s, %s: %v", e.Kind, e.Scope, err)
	}
	if _, err, _ := platformtest.Drive(net.Publisher(1), post, 12, nil, nil); err != nil || !bytes.Equal(b.server.Media(b.server.Posts()[0].MediaIDs[0]), film) {
		t.Error(err)
	}
}

// Many sites do not say how large it is what they make on demand.
func TestAPictureWhoseSiteNamesNoLengthIsPublished(t *testing.T) {
	b := newBench(t)
	large := append(bytes.Clone(picture), make([]byte, 16<<20)...)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = w.Write(map[string][]byte{"/small": picture, "/large": large}[r.URL.Path])
	}))
	defer site.Close()
	var private fetch.Allowed
	if err := private.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	net, err := x.New(x.Config{URL: b.server.URL, Keys: b.keys, Now: b.now, Private: private})
	if err != nil {
		t.Fatal(err)
	}
	post := platform.Post{Key: 1, Text: "photo", Media: []platform.Media{{Kind: platform.Photo, URL: site.URL + "/small"}}}
	if _, err, _ := platformtest.Drive(net.Publisher(1), post, 12, nil, nil); err != nil || !bytes.Equal(b.server.Media(b.server.Posts()[0].MediaIDs[0]), picture) {
		t.Error(err)
	}
	post.Media[0].URL = site.URL + "/large"
	_, err = net.Publisher(1).Publish(context.Background(), post)
	if e := platform.AsError(err); e.Kind != platform.Refused || e.Field != "media[0]" {
		t.Errorf("too large: %s, %q: %v", e.Kind, e.Field, err)
	}
}

func TestAFilmThatIsNeverProcessedFails(t *testing.T) {
	b := newBench(t)
	for range 3 {
		b.server.Fail(xtest.Fault{Call: xtest.Status, Status: 200, Body: `{"data":{"processing_info":{"state":"in_progress"}}}`})
	}
	post := platform.Post{Text: "film", Media: []platform.Media{{Kind: platform.Video, File: "film.mp4"}}}
	_, err, _ := platformtest.Drive(b.net.Publisher(1), post, 4, nil, func(time.Duration) { b.ahead.Add(int64(21 * time.Minute)) })
	if err.Kind != platform.Transient || err.Scope != platform.ScopeContent || err.State == nil || len(err.State) > 0 {
		t.Errorf("%s, %s, %q: %v", err.Kind, err.Scope, err.State, err)
	}
}

func TestAPostThatHasNoAnswerIsNotTakenForAnother(t *testing.T) {
	for n, c := range []struct {
		before, text string
		media        []platform.Media
	}{
		{"New on our blog: https://news.example/1", "New on our blog: https://news.example/2", nil},
		{"https://news.example/1", "https://news.example/2", nil},
		{"", "", photos(1)},
	} {
		for _, carried := range []bool{false, true} {
			b := newBench(t)
			if _, err := b.drive(1, platform.Post{Key: 1, Text: c.before, Media: c.media}); err != nil {
				t.Fatal(err)
			}
			b.server.Fail(xtest.Fault{Call: xtest.Create, Carried: carried})
			receipt, err := b.drive(1, platform.Post{Key: 2, Text: c.text, Media: c.media})
			posts := b.server.Posts()
			if found := carried && c.text != ""; !found && (err == nil || err.Kind != platform.Unconfirmed) || found && (err != nil || receipt.MessageIDs[0] != posts[1].ID) {
				t.Errorf("%d, carried %v: %+v, %v", n, carried, receipt, err)
			}
		}
	}
}

func TestSentAgainADuplicateIsPublished(t *testing.T) {
	b := newBench(t)
	b.server.Fail(xtest.Fault{Call: xtest.Create, Carried: true}, xtest.Fault{Call: xtest.Timeline, Status: 403})
	if _, err := b.drive(1, platform.Post{Text: "hello"}); err == nil || err.Kind != platform.Unconfirmed {
		t.Fatal(err)
	}
	receipt, err := b.drive(1, platform.Post{Text: "hello", SentAgain: true})
	if err != nil || len(b.server.Posts()) != 1 || len(receipt.MessageIDs) != 1 {
		t.Errorf("%+v, %v", receipt, err)
	}
	if _, err := b.drive(1, platform.Post{Text: "hello"}); err == nil || err.Kind != platform.Refused {
		t.Errorf("another post: %v", err)
	}
}

func TestWhatXDoesNotTakeIsRefusedWhenThePostIsMade(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"big.png": append(bytes.Clone(picture), make([]byte, 5<<20)...), "a.gif": []byte("GIF89a"), "a.bmp": []byte("BM "), "a.png": picture} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	net, err := x.New(x.Config{MediaDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for files, says := range map[string]string{"big.png": "5.0 MB", "a.gif a.png": "alone", "a.bmp": "image/bmp", "a.gif": "", "a.png a.png": ""} {
		var media []platform.Media
		for _, file := range strings.Fields(files) {
			media = append(media, platform.Media{Kind: platform.Photo, File: file})
		}
		if _, err := net.Check(platform.Post{Media: media}); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", files, err)
		}
	}
}

func TestCheckNamesTheField(t *testing.T) {
	b := newBench(t)
	for field, p := range map[string]platform.Post{
		"text":          {Text: strings.Repeat("日", 141)},
		"format":        {Text: "a", Format: platform.HTML},
		"media":         {Media: photos(5)},
		"media[1]":      {Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}, {Kind: platform.Video, File: "film.mp4"}}},
		"media[0].kind": {Media: []platform.Media{{Kind: platform.Document, File: "a.png"}}},
		"media[0].file": {Media: []platform.Media{{Kind: platform.Photo, File: "../a.png"}}},
		"media[0].url":  {Media: []platform.Media{{Kind: platform.Photo, URL: "http://127.0.0.1/a.png"}}},
	} {
		_, err := b.net.Check(p)
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Field != field || strings.HasPrefix(e.Error(), "are ") { // a sentence
			t.Errorf("%s: %v", field, err)
		}
	}
	if m, err := b.net.Check(platform.Post{Text: "hello", Media: photos(4)}); err != nil || m.Length != 5 || m.Limit != 280 {
		t.Error(m, err)
	}
}

// X says by its own clock when its limit is over, and beside it what that clock shows (Date). Ours may be wrong.
func TestALimitOfXLastsAsLongWhateverOurClockShows(t *testing.T) {
	for _, wrong := range []time.Duration{0, 30 * time.Minute, -5 * time.Hour} {
		b := newBench(t)
		theirs := time.Now()
		b.ahead.Store(int64(wrong))
		b.server.Fail(xtest.Fault{Call: xtest.Create, Status: 429, Body: `{"title":"Too Many Requests"}`, Header: http.Header{
			"X-Rate-Limit-Reset": {fmt.Sprint(theirs.Add(15 * time.Minute).Unix())}, "Date": {theirs.UTC().Format(http.TimeFormat)},
		}})
		state, err := json.Marshal(map[string]any{"begun": b.now()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.net.Publisher(1).Publish(context.Background(), platform.Post{Text: "hello", State: state})
		e := platform.AsError(err)
		if e.Kind != platform.Wait || (e.Wait-15*time.Minute).Abs() > time.Minute {
			t.Errorf("with a clock that is %v ahead: %v, wait %v", wrong, e.Kind, e.Wait)
		}
	}
}

// A clock that is three minutes ahead is nothing unusual where no time service runs.
func TestAPostThatIsOutIsFoundAlsoByAClockThatIsAhead(t *testing.T) {
	for _, ahead := range []time.Duration{0, 3 * time.Minute} {
		b := newBench(t)
		net, err := x.New(x.Config{URL: b.server.URL, Keys: b.keys, Now: func() time.Time { return b.now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		p := platform.Post{Text: "the evening news"}
		_, err = net.Publisher(1).Publish(context.Background(), p) // its time is kept
		if e := platform.AsError(err); e.Kind != platform.UnderWay {
			t.Fatal(e)
		} else {
			p.State = e.State
		}
		b.server.Fail(xtest.Fault{Call: xtest.Create, Carried: true}) // it is created, and the answer is lost
		if _, err = net.Publisher(1).Publish(context.Background(), p); platform.AsError(err).Kind != platform.Unknown {
			t.Fatal(err)
		}
		p.Unanswered = true
		if r, err := net.Publisher(1).Publish(context.Background(), p); err != nil || r.Link == "" {
			t.Errorf("%v ahead: %+v, %v", ahead, r, err)
		}
	}
}
