package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"belfry/platform/instagram/instagramtest"
	"belfry/platform/x/xtest"
	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
)

// demoNetworks are the demo's own Instagram and X, each with an account.
type demoNetworks struct {
	instagram *instagramtest.Server
	x         *xtest.Server
	user      xtest.User
}

const demoInstagramToken = "IGAA-demo-account-of-this-machine-only"

func newDemoNetworks() demoNetworks {
	n := demoNetworks{instagram: instagramtest.NewServer(instagramtest.Options{Filling: 4 * time.Second}), x: xtest.NewServer(xtest.Options{Processing: 2})}
	n.instagram.AddAccount(instagramtest.Account{Username: "belfry_demo", Token: demoInstagramToken, Made: time.Now()})
	n.user = n.x.AddUser(xtest.User{
		Username: "belfry_demo", ConsumerKey: "demo-key", ConsumerSecret: "demo-secret", AccessToken: "demo-token", AccessSecret: "demo-token-secret",
		ClientID: "demo-app", ClientSecret: "demo-app-secret",
	})
	return n
}

func (n demoNetworks) close() {
	n.instagram.Close()
	n.x.Close()
}

// connect adds both accounts and schedules a post for each.
func (n demoNetworks) connect(ctx context.Context, svc *service) error {
	for _, r := range []identities.Request{
		{Platform: "instagram", Token: demoInstagramToken, Keys: identities.Keys{ExpiresAt: time.Now().Add(instagramtest.Lifetime)}},
		{Platform: "x", Keys: identities.Keys{
			ConsumerKey: n.user.ConsumerKey, ConsumerSecret: n.user.ConsumerSecret, AccessToken: n.user.AccessToken, AccessSecret: n.user.AccessSecret,
		}},
	} {
		r, err := svc.workers.identities.Prepare(ctx, r)
		if err == nil {
			err = svc.db.Update(func(tx *store.Tx) error {
				_, err := identities.Add(tx, r)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	for _, r := range []posts.Request{
		{Platform: "x", Text: "The same news, short: https://belfry.example/news"},
		{Platform: "instagram", Text: "Good morning from the tower #belfry", Media: []store.Media{{Kind: "photo", URL: "https://media.belfry.example/tower.jpg"}}},
	} {
		if err := demoPost(ctx, svc, r, 20*time.Second); err != nil {
			return err
		}
	}
	return nil
}

// show prints what is published, until ctx ends.
func (n demoNetworks) show(ctx context.Context, out io.Writer) {
	line := func(at time.Time, network, text string) {
		fmt.Fprintf(out, "%s  %s  %s\n", at.Local().Format(time.TimeOnly), network, text)
	}
	for shownI, shownX := 0, 0; wait(ctx, time.Second); {
		onInstagram, onX := n.instagram.Posts(), n.x.Posts()
		for _, p := range onInstagram[shownI:] {
			line(p.At, "Instagram", fmt.Sprintf("%s (%d media)", p.Caption, len(p.Media)))
		}
		for _, p := range onX[shownX:] {
			line(p.At, "X", p.Text)
		}
		shownI, shownX = len(onInstagram), len(onX)
	}
}
