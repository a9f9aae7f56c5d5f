package posts

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/instagram"
	"belfry/platform/instagram/instagramtest"
	"belfry/platform/platformtest"
	"belfry/platform/x"
	"belfry/platform/x/xtest"
	"belfry/store"
)

// deadly is a network with which the program is killed: in the attempt with the given number, after what it did at
// the network, before it is on record.
type deadly struct {
	Network
	kill, attempts atomic.Int64
	killed         atomic.Bool
}

func (d *deadly) Publisher(id uint64) platform.Publisher {
	return deadlyPublisher{d, d.Network.Publisher(id)}
}

type deadlyPublisher struct {
	*deadly
	publisher platform.Publisher
}

func (p deadlyPublisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	receipt, err := p.publisher.Publish(ctx, post)
	if p.attempts.Add(1) == p.kill.Load() {
		p.killed.Store(true)
		<-ctx.Done()
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Err: errors.New("killed")}
	}
	return receipt, err
}

// clock gives a server outside the bubble the time that the adapter saw last.
type clock struct{ last atomic.Int64 }

func (c *clock) inside() time.Time {
	now := time.Now()
	c.last.Store(now.UnixNano())
	return now
}

func (c *clock) outside() time.Time { return time.Unix(0, c.last.Load()) }

// publish has one post published through a network, in a program that is killed in one attempt and started again, and
// returns how it has ended and whether that attempt was made.
func publish(t *testing.T, platformName string, network Network, kill int64, r Request) (p store.Post, reached bool) {
	t.Helper()
	inBubble(t, func(b *bench) {
		d := &deadly{Network: network}
		d.kill.Store(kill)
		b.Update(func(tx *store.Tx) error {
			return tx.Identities.Put(&store.Identity{Platform: platformName, Name: "main", Kind: store.IdentityProfile, Target: "@me", State: store.IdentityReady})
		})
		var identity uint64
		b.View(func(tx *store.Tx) error {
			i, err := tx.Identities.ByName(platformName, "main")
			identity = i.ID
			return err
		})
		if identity != 2 {
			t.Fatalf("the identity is %d", identity)
		}
		cfg := Config{}
		if err := cfg.XWindow.UnmarshalText([]byte("2/1h")); err != nil {
			t.Fatal(err)
		}
		b.worker = New(b.DB, map[string]Network{platformName: d}, cfg)
		b.start()
		r.Platform = platformName
		id := b.schedule(time.Second, r).ID
		for range 300 {
			b.Pass(5 * time.Second)
			if d.killed.CompareAndSwap(true, false) {
				reached = true
				b.start()
			}
			if p = b.post(id); p.Status.Final() {
				break
			}
		}
		if p.State != nil && p.Status == store.PostPublished {
			t.Errorf("what is published keeps %s", p.State)
		}
	})
	return p, reached
}

func keysOf(t *testing.T, login any) *platformtest.Keys {
	secret, err := json.Marshal(login)
	keys := &platformtest.Keys{}
	if err := errors.Join(err, keys.SetSecret(1, nil, secret), keys.SetSecret(2, nil, secret)); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestKilledAnywhereAPostOnXIsOutOnce(t *testing.T) {
	dir := t.TempDir()
	film := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), make([]byte, 2<<20)...)
	if err := os.WriteFile(filepath.Join(dir, "film.mp4"), film, 0o600); err != nil {
		t.Fatal(err)
	}
	for kill := int64(1); ; kill++ {
		var c clock
		server := xtest.NewServer(xtest.Options{Processing: 1, Now: c.outside})
		u := server.AddUser(xtest.User{Username: "me", ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as"})
		network, err := x.New(x.Config{URL: server.URL, MediaDir: dir, Now: c.inside,
			Keys: keysOf(t, x.Login{ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as", UserID: u.ID})})
		if err != nil {
			t.Fatal(err)
		}
		p, reached := publish(t, x.Platform, network, kill, Request{Text: "once", Media: []store.Media{{Kind: "video", File: "film.mp4"}}})
		if n := len(server.Posts()); n != 1 || p.Status != store.PostPublished || len(p.MessageIDs) != 1 {
			t.Errorf("killed in attempt %d: %d posts, %+v", kill, n, p)
		}
		server.Close()
		if !reached {
			if kill < 5 {
				t.Errorf("%d attempts were made", kill-1)
			}
			return
		}
	}
}

func TestKilledAnywhereAPostOnInstagramIsOutOnce(t *testing.T) {
	for kill := int64(1); ; kill++ {
		var c clock
		server := instagramtest.NewServer(instagramtest.Options{Filling: 7 * time.Second, Now: c.outside})
		a := server.AddAccount(instagramtest.Account{Username: "me", Token: "IGAA"})
		network, err := instagram.New(instagram.Config{URL: server.URL, Now: c.inside,
			Keys: keysOf(t, instagram.Login{Token: "IGAA", UserID: strconv.FormatInt(a.ID, 10)})})
		if err != nil {
			t.Fatal(err)
		}
		media := []store.Media{{Kind: "photo", URL: "https://media.example/1.jpg"}, {Kind: "photo", URL: "https://media.example/2.jpg"}}
		p, reached := publish(t, instagram.Platform, network, kill, Request{Text: "once", Media: media})
		if n := len(server.Posts()); n != 1 || p.Status != store.PostPublished || len(p.MessageIDs) != 1 || p.Link == "" {
			t.Errorf("killed in attempt %d: %d posts, %+v", kill, n, p)
		}
		server.Close()
		if !reached {
			if kill < 5 {
				t.Errorf("%d attempts were made", kill-1)
			}
			return
		}
	}
}

// A creation that X has carried out and not answered is looked for; where the timeline may not be read the post is
// unknown, is not sent again by itself, and is known to be out when a person has it sent again.
func TestAPostOnXWithoutAnAnswerIsUnknownAndNeverTwice(t *testing.T) {
	var c clock
	server := xtest.NewServer(xtest.Options{Now: c.outside})
	defer server.Close()
	u := server.AddUser(xtest.User{Username: "me", ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as"})
	network, err := x.New(x.Config{URL: server.URL, Now: c.inside,
		Keys: keysOf(t, x.Login{ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as", UserID: u.ID})})
	if err != nil {
		t.Fatal(err)
	}
	server.Fail(xtest.Fault{Call: xtest.Create, Carried: true}, xtest.Fault{Call: xtest.Timeline, Status: 403, Body: `{"title":"Forbidden"}`})
	inBubble(t, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			return tx.Identities.Put(&store.Identity{Platform: x.Platform, Name: "main", Kind: store.IdentityProfile, Target: "@me", State: store.IdentityReady})
		})
		b.worker = New(b.DB, map[string]Network{x.Platform: network}, Config{})
		b.start()
		id := b.schedule(time.Second, Request{Platform: "x", Text: "once"}).ID
		b.Pass(24 * time.Hour)
		if p := b.post(id); p.Status != store.PostUnknown || len(server.Posts()) != 1 {
			t.Fatalf("%+v", p)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.Retry(tx, id)
			return err
		})
		b.Pass(time.Minute)
		if p := b.post(id); p.Status != store.PostPublished || p.SentAgain || len(p.MessageIDs) != 1 || len(server.Posts()) != 1 {
			t.Errorf("%+v", p)
		}
	})
}
