package instagram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/instagram"
	"belfry/platform/instagram/instagramtest"
	"belfry/platform/platformtest"
)

// bench is an Instagram with an account, and a network that posts as it as identity 1.
type bench struct {
	*testing.T
	server  *instagramtest.Server
	account instagramtest.Account
	net     *instagram.Network
	keys    *platformtest.Keys
	ahead   atomic.Int64 // of the clock of both
}

func (b *bench) now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

func newBench(t *testing.T, filling time.Duration) *bench {
	b := &bench{T: t, keys: &platformtest.Keys{}}
	b.server = instagramtest.NewServer(instagramtest.Options{Filling: filling, Now: b.now})
	t.Cleanup(b.server.Close)
	b.account = b.server.AddAccount(instagramtest.Account{Username: "evening.news", Token: "IGAA", Made: b.now()})
	var err error
	if b.net, err = instagram.New(instagram.Config{URL: b.server.URL, Keys: b.keys, Now: b.now}); err != nil {
		t.Fatal(err)
	}
	b.secret(instagram.Login{Token: "IGAA", Expires: b.now().Add(instagramtest.Lifetime), UserID: strconv.FormatInt(b.account.ID, 10)})
	return b
}

func (b *bench) secret(l instagram.Login) {
	data, err := json.Marshal(l)
	if err == nil {
		err = b.keys.SetSecret(1, nil, data)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) drive(p platform.Post, attempts int) (platform.Receipt, *platform.Error, int) {
	return platformtest.Drive(b.net.Publisher(1), p, attempts, nil, func(d time.Duration) { b.ahead.Add(int64(d)) })
}

func pictures(n int) []platform.Media {
	media := make([]platform.Media, n)
	for i := range media {
		media[i] = platform.Media{Kind: platform.Photo, URL: fmt.Sprintf("https://media.example/%d.jpg", i)}
	}
	return media
}

var film = platform.Media{Kind: platform.Video, URL: "https://media.example/film.mp4"}

func TestPhotosFilmsAndAlbumsArePublished(t *testing.T) {
	for _, media := range [][]platform.Media{pictures(1), {film}, pictures(10), append(pictures(2), film)} {
		b := newBench(t, 12*time.Second)
		receipt, err, _ := b.drive(platform.Post{Text: "Good evening #news", Media: media}, 60)
		posts := b.server.Posts()
		if err != nil || len(posts) != 1 || len(posts[0].Media) != len(media) || posts[0].Caption != "Good evening #news" {
			t.Fatalf("%v, %+v", err, posts)
		}
		if len(receipt.MessageIDs) != 1 || receipt.MessageIDs[0] != posts[0].ID || !strings.HasPrefix(receipt.Link, "https://www.instagram.com/p/") {
			t.Errorf("%+v", receipt)
		}
	}
}

func TestUploadedMediaAreFetchedFromAPublicAddress(t *testing.T) {
	b := newBench(t, time.Second)
	p := platform.Post{Media: []platform.Media{{Kind: platform.Photo, ID: 7}}}
	if _, err := b.net.Check(p); err == nil || platform.AsError(err).Field != "media[0].id" || !strings.Contains(err.Error(), "BELFRY_PUBLIC_URL") {
		t.Errorf("without an address: %v", err)
	}
	files := map[uint64]platform.MediaFile{7: {Type: "image/jpeg", Size: 8 << 20}, 8: {Type: "image/png"}, 9: {Type: "image/jpeg", Size: 8<<20 + 1}}
	net, err := instagram.New(instagram.Config{URL: b.server.URL, Keys: b.keys, Now: b.now, Share: func(id uint64) (string, platform.MediaFile, error) {
		return fmt.Sprintf("https://belfry.example/shared/%d.jpg", id), files[id], nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.net = net
	if _, err := b.net.Check(p); err != nil {
		t.Error(err)
	}
	if _, err, _ := b.drive(p, 20); err != nil || len(b.server.Posts()) != 1 {
		t.Errorf("%v, %+v", err, b.server.Posts())
	}
	for _, p.Media[0].ID = range []uint64{8, 9} {
		if _, err := b.net.Check(p); err == nil || platform.AsError(err).Field != "media[0].id" {
			t.Errorf("%+v: %v", files[p.Media[0].ID], err)
		}
	}
}

func TestAContainerIsLookedAtLessAndLessOftenAndGivenUp(t *testing.T) {
	for limit, media := range map[time.Duration]platform.Media{10 * time.Minute: pictures(1)[0], time.Hour: film} {
		b := newBench(t, 1000*time.Hour)
		var at []time.Duration
		var total time.Duration
		_, err, _ := platformtest.Drive(b.net.Publisher(1), platform.Post{Media: []platform.Media{media}}, 75, nil, func(d time.Duration) {
			b.ahead.Add(int64(d))
			if d > 0 && total <= limit {
				total += d
				at = append(at, total.Round(time.Second))
			}
		})
		if err == nil || fmt.Sprint(at[:6]) != "[5s 15s 30s 1m0s 2m0s 3m0s]" || total < limit || total > limit+2*time.Minute {
			t.Errorf("looked at after %v, %v", at, err)
		}
	}
}

func TestEachErrorIsSorted(t *testing.T) {
	for _, c := range []struct {
		code, subcode int
		kind          platform.Kind
		scope         platform.Scope
		another       bool // container
	}{
		{-2, 2207003, platform.Transient, platform.ScopeContent, false},
		{-1, 2207001, platform.Transient, platform.ScopeContent, false},
		{9007, 2207027, platform.Transient, platform.ScopeContent, false},
		{9004, 2207052, platform.Transient, platform.ScopeContent, false},
		{-2, 2207020, platform.Transient, platform.ScopeContent, true},
		{-1, 2207032, platform.Transient, platform.ScopeContent, true},
		{-1, 2207053, platform.Transient, platform.ScopeContent, true},
		{24, 2207008, platform.Transient, platform.ScopeContent, true},
		{9, 2207042, platform.Wait, platform.ScopeIdentity, false},
		{4, 0, platform.Wait, platform.ScopeIdentity, false},
		{4, 2207051, platform.Stopped, platform.ScopeIdentity, false},
		{25, 2207050, platform.Stopped, platform.ScopeIdentity, false},
		{190, 0, platform.Login, platform.ScopeIdentity, false},
		{36000, 2207004, platform.Refused, platform.ScopeContent, false},
		{36000, 2207005, platform.Refused, platform.ScopeContent, false},
		{36003, 2207009, platform.Refused, platform.ScopeContent, false},
		{36003, 2207010, platform.Refused, platform.ScopeContent, false},
		{352, 2207026, platform.Refused, platform.ScopeContent, false},
		{100, 2207028, platform.Refused, platform.ScopeContent, false},
	} {
		for _, call := range []string{instagramtest.Container, instagramtest.Publish} {
			b := newBench(t, 0)
			post := platform.Post{Media: pictures(1)}
			if call == instagramtest.Publish {
				_, err := b.net.Publisher(1).Publish(context.Background(), post)
				post.State = platform.AsError(err).State
			}
			b.server.Fail(instagramtest.Refusal(call, c.code, c.subcode))
			_, err := b.net.Publisher(1).Publish(context.Background(), post)
			e := platform.AsError(err)
			if e.Kind != c.kind || e.Scope != c.scope || c.another != (e.State != nil && len(e.State) == 0) || (b.keys.Out(1) != "") != (c.kind == platform.Login) {
				t.Errorf("%d/%d to %s: %+v", c.code, c.subcode, call, e)
			}
		}
	}
}

// Instagram says that the account is restricted, and has published all the same.
func TestAPostThatIsOutIsNoRefusal(t *testing.T) {
	b := newBench(t, 0)
	fault := instagramtest.Refusal(instagramtest.Publish, 4, 2207051)
	fault.Carried = true
	b.server.Fail(fault)
	if receipt, err, _ := b.drive(platform.Post{Text: "a", Media: pictures(1)}, 9); err != nil || len(receipt.MessageIDs) != 1 {
		t.Errorf("%+v, %v", receipt, err)
	}
}

func TestAContainerThatMayBeOutIsNotReplaced(t *testing.T) {
	b := newBench(t, 0)
	filled := instagramtest.Fault{Call: instagramtest.Status, Status: http.StatusOK, Body: `{"status_code":"FINISHED","id":"1"}`}
	b.server.Fail(instagramtest.Fault{Call: instagramtest.Publish, Carried: true}, // its answer is lost
		instagramtest.Refusal(instagramtest.Publish, 24, 2207008), filled, filled, filled)
	_, err, _ := b.drive(platform.Post{Key: 1, Text: "once", Media: []platform.Media{{Kind: platform.Photo, URL: "https://example.com/a.jpg"}}}, 12)
	if n := len(b.server.Posts()); n != 1 || err == nil || err.Kind != platform.Unconfirmed {
		t.Errorf("%d posts, %v", n, err)
	}
}

func TestABrokenContainerIsReplaced(t *testing.T) {
	b := newBench(t, 0)
	b.server.Spoil("Error: Media upload has failed with error code 2207053")
	if _, err, _ := b.drive(platform.Post{Media: pictures(1)}, 9); err != nil || len(b.server.Posts()) != 1 {
		t.Error(err)
	}
	b.server.Spoil("Error: Media upload has failed with error code 2207026")
	if _, err, _ := b.drive(platform.Post{Media: []platform.Media{film}}, 9); err == nil || err.Kind != platform.Refused {
		t.Error(err)
	}
	state, err := json.Marshal(map[string]any{"container": "x"})
	if err != nil {
		t.Fatal(err)
	}
	b.server.Fail(instagramtest.Fault{Call: instagramtest.Permalink, Status: 200, Body: `{"status_code":"EXPIRED"}`})
	if _, err, _ := b.drive(platform.Post{Media: pictures(2), State: state}, 9); err != nil || len(b.server.Posts()) != 2 {
		t.Error(err)
	}
}

// Whatever call has no answer or is the last before the program is killed, the post is out once.
func TestAPostIsOutOnceWhereverItIsCutOff(t *testing.T) {
	post := platform.Post{Text: "once & only", Media: pictures(2)}
	for _, call := range []string{instagramtest.Container, instagramtest.Status, instagramtest.Publish, instagramtest.Permalink} {
		for _, carried := range []bool{false, true} {
			for _, status := range []int{0, 502} {
				b := newBench(t, time.Second)
				b.server.Fail(instagramtest.Fault{Call: call, Carried: carried, Status: status})
				if _, err, _ := b.drive(post, 20); err != nil || len(b.server.Posts()) != 1 {
					t.Errorf("%s, carried %v, status %d: %d posts, %v", call, carried, status, len(b.server.Posts()), err)
				}
			}
		}
	}
	for kill := range 20 {
		b := newBench(t, time.Second)
		receipt, err, attempts := platformtest.Drive(b.net.Publisher(1), post, 25, func(n int) bool { return n == kill }, func(d time.Duration) { b.ahead.Add(int64(d)) })
		if err != nil || len(b.server.Posts()) != 1 || len(receipt.MessageIDs) != 1 || receipt.Link == "" {
			t.Errorf("killed in attempt %d: %d posts, %+v, %v", kill, len(b.server.Posts()), receipt, err)
		}
		if attempts <= kill {
			return
		}
	}
	t.Error("no attempt came to the end")
}

func TestATokenIsRefreshedAhead(t *testing.T) {
	b := newBench(t, 0)
	due, err := b.net.Refresh(context.Background(), 1)
	if days := due.Sub(b.now()).Hours() / 24; err != nil || days < 29 || days > 31 {
		t.Fatal(days, err)
	}
	b.ahead.Add(int64(31 * 24 * time.Hour))
	due, err = b.net.Refresh(context.Background(), 1)
	if days := due.Sub(b.now()).Hours() / 24; err != nil || days < 29 || days > 31 {
		t.Fatal(days, err)
	}
	secret, err := b.keys.Secret(1)
	if err != nil {
		t.Fatal(err)
	}
	if p, _, err := b.net.Probe(context.Background(), secret); err != nil || p.Username != "evening.news" || p.ID != b.account.ID {
		t.Error(p, err)
	}
	b.ahead.Add(int64(31 * 24 * time.Hour))
	b.keys.FailOnce()
	if due, err = b.net.Refresh(context.Background(), 1); err == nil || due.Sub(b.now()) > 25*time.Hour {
		t.Errorf("not stored: again in %v, %v", due.Sub(b.now()), err)
	}
	b.secret(instagram.Login{Token: "wrong"})
	if _, err := b.net.Refresh(context.Background(), 1); platform.AsError(err).Kind != platform.Login || b.keys.Out(1) == "" {
		t.Error(err)
	}
}

func TestCheckNamesTheField(t *testing.T) {
	b := newBench(t, 0)
	photo := func(address string) platform.Post {
		return platform.Post{Media: []platform.Media{{Kind: platform.Photo, URL: address}}}
	}
	for _, c := range []struct {
		field string
		p     platform.Post
	}{
		{"text", platform.Post{Text: strings.Repeat("я", 2201), Media: pictures(1)}},
		{"text", platform.Post{Text: strings.Repeat("#я ", 31), Media: pictures(1)}},
		{"format", platform.Post{Format: platform.HTML, Media: pictures(1)}},
		{"media", platform.Post{Text: "a"}},
		{"media", platform.Post{Media: pictures(11)}},
		{"media[0].file", platform.Post{Media: []platform.Media{{Kind: platform.Photo, File: "a.jpg"}}}},
		{"media[0].kind", platform.Post{Media: []platform.Media{{Kind: platform.Document, URL: "https://media.example/a.jpg"}}}},
		{"media[0].url", photo("http://media.example/a.jpg")},
		{"media[0].url", photo("https://127.0.0.1/a.jpg")},
		{"media[0].url", photo("https://media.example/a.png")},
	} {
		_, err := b.net.Check(c.p)
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Field != c.field || strings.HasPrefix(e.Error(), "are ") { // a sentence
			t.Errorf("%s: %v", c.field, err)
		}
	}
	if m, err := b.net.Check(platform.Post{Text: "Привет", Media: pictures(10)}); err != nil || m.Length != 6 || m.Limit != 2200 {
		t.Error(m, err)
	}
}
