package identities

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/instagram"
	"belfry/platform/instagram/instagramtest"
	"belfry/platform/x"
	"belfry/platform/x/xtest"
	"belfry/scheduler"
	"belfry/store"
)

// bench is a worker with an Instagram and an X, each with an account.
type bench struct {
	*testing.T
	db     *store.DB
	worker *Worker
	gram   *instagramtest.Server
	x      *xtest.Server
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, db: newDB(t), gram: instagramtest.NewServer(instagramtest.Options{}), x: xtest.NewServer(xtest.Options{})}
	t.Cleanup(b.gram.Close)
	t.Cleanup(b.x.Close)
	b.gram.AddAccount(instagramtest.Account{Username: "evening.news", Token: "IGAA"})
	b.x.AddUser(xtest.User{Username: "evening_news", ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as", ClientID: "app"})
	gram, err := instagram.New(instagram.Config{URL: b.gram.URL, Keys: Vault{b.db}})
	if err != nil {
		t.Fatal(err)
	}
	onX, err := x.New(x.Config{URL: b.x.URL, Keys: Vault{b.db}, Redirect: "http://127.0.0.1:1/logins/x"})
	if err != nil {
		t.Fatal(err)
	}
	b.worker = New(b.db, nil, Config{Connectors: map[string]Connector{"instagram": gram, "twitter": onX}})
	return b
}

func (b *bench) add(r Request) (i store.Identity, err error) {
	r, err = b.worker.Prepare(context.Background(), r)
	if err != nil {
		return i, err
	}
	err = b.db.Update(func(tx *store.Tx) (err error) {
		i, err = Add(tx, r)
		return err
	})
	return i, err
}

func (b *bench) stored(id uint64) (i store.Identity, token bool) {
	b.Helper()
	err := b.db.View(func(tx *store.Tx) (err error) {
		if i, err = tx.Identities.Get(id); err != nil {
			return err
		}
		_, missing := tx.Jobs.ByName(tokenJob(id))
		token = missing == nil
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return i, token
}

var fourKeys = Keys{ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as"}

func TestKeysAreTriedOutWhenTheyAreEntered(t *testing.T) {
	b := newBench(t)
	wrong := fourKeys
	wrong.AccessSecret = "other"
	for field, r := range map[string]Request{
		"token":           {Platform: "instagram", Token: "other"},
		"access_token":    {Platform: "x", Keys: wrong},
		"consumer_secret": {Platform: "twitter", Keys: Keys{ConsumerKey: "ck"}},
		"window":          {Platform: "instagram", Token: "IGAA", Window: "many"},
	} {
		if _, err := b.add(r); err == nil {
			t.Errorf("%s was taken", field)
		} else if f, ok := errors.AsType[*store.FieldError](err); !ok || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	gram, err := b.add(Request{Platform: "instagram", Token: " IGAA ", Window: "10/1h"})
	if i, token := b.stored(gram.ID); err != nil || i.State != store.IdentityReady || i.Username != "evening.news" || i.Target != "@evening.news" || i.Kind != store.IdentityProfile || !token {
		t.Errorf("%+v, %v, %v", i, token, err)
	}
	onX, err := b.add(Request{Platform: "X", Keys: fourKeys})
	if i, _ := b.stored(onX.ID); err != nil || i.State != store.IdentityReady || i.Platform != "twitter" || i.Username != "evening_news" {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := b.add(Request{Platform: "x", Keys: fourKeys}); err == nil {
		t.Error("a second main was taken")
	}
}

// allow begins a login on X's site, lets Belfry in, and returns what X leads back with.
func (b *bench) allow(id uint64) (code, state string) {
	b.Helper()
	step, err := b.worker.BeginLogin(context.Background(), id)
	if err != nil || step.State != platform.LoginLink {
		b.Fatal(step, err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(step.URL)
	if err != nil {
		b.Fatal(err)
	}
	r.Body.Close()
	back, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		b.Fatal(err)
	}
	return back.Query().Get("code"), back.Query().Get("state")
}

func TestAnAccountOfXLogsInOnItsSite(t *testing.T) {
	b := newBench(t)
	i, err := b.add(Request{Platform: "x", Keys: Keys{ClientID: "app"}})
	if err != nil || i.State != store.IdentityLogin {
		t.Fatal(i, err)
	}
	code, state := b.allow(i.ID)
	if id, err := b.worker.LoginOf(state); err != nil || id != i.ID {
		t.Error(id, err)
	}
	if _, err := b.worker.FinishLogin(context.Background(), i.ID, code, "other"); err == nil {
		t.Error("another state was taken")
	}
	step, err := b.worker.FinishLogin(context.Background(), i.ID, code, state)
	if err != nil || step.State != platform.LoginDone {
		t.Fatal(step, err)
	}
	if i, token := b.stored(i.ID); i.State != store.IdentityReady || i.Target != "@evening_news" || !token {
		t.Errorf("%+v, %v", i, token)
	}
}

func TestALoginAsAnotherAccountOfXIsRefused(t *testing.T) {
	b := newBench(t)
	i, err := b.add(Request{Platform: "x", Keys: fourKeys})
	if err != nil {
		t.Fatal(err)
	}
	b.x.AddUser(xtest.User{Username: "private", ClientID: "app2"})
	p, err := b.worker.PrepareChange(context.Background(), i.ID, Patch{Keys: &Keys{ClientID: "app2"}})
	if err != nil {
		t.Fatal(err)
	}
	update(t, b.db, func(tx *store.Tx) error {
		_, err := Change(tx, i.ID, p)
		return err
	})
	code, state := b.allow(i.ID)
	before, _ := b.stored(i.ID)
	_, err = b.worker.FinishLogin(context.Background(), i.ID, code, state)
	if f, ok := errors.AsType[*store.FieldError](err); !ok || f.Field != "code" {
		t.Error(err)
	}
	if after, _ := b.stored(i.ID); !reflect.DeepEqual(after, before) || after.Username != "evening_news" || after.State != store.IdentityLogin {
		t.Errorf("%+v", after)
	}
}

func TestATokenIsRefreshedAndItsEndIsAnnounced(t *testing.T) {
	b := newBench(t)
	soon := b.db.Now().Add(6 * 24 * time.Hour)
	i, err := b.add(Request{Platform: "instagram", Token: "IGAA", Keys: Keys{ExpiresAt: soon}})
	if err != nil {
		t.Fatal(err)
	}
	if i, _ = b.stored(i.ID); !i.Expires.Equal(soon) {
		t.Fatal(i.Expires)
	}
	a, ends := ending(i, b.db.Now())
	if !ends || a.Kind != store.AlertToken {
		t.Errorf("%+v, %v", a, ends)
	}
	job := store.Job{Subject: i.ID}
	b.gram.Fail(instagramtest.Fault{Call: instagramtest.Refresh, Status: 500})
	out, err := refresher{b.worker}.Run(context.Background(), job)
	if err != nil || !out.Failed || out.Again.Before(b.db.Now().Add(tokenPause-time.Second)) {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = refresher{b.worker}.Run(context.Background(), job)
	if err != nil || out.Failed || out.Again.Sub(b.db.Now()) < 29*24*time.Hour {
		t.Errorf("%+v, %v", out, err)
	}
	i, _ = b.stored(i.ID)
	if _, ends := ending(i, b.db.Now()); ends || i.State != store.IdentityReady {
		t.Errorf("%+v", i)
	}
	update(t, b.db, func(tx *store.Tx) error {
		i.Secret, i.Expires = `{"token":"gone"}`, time.Time{}
		return tx.Identities.Put(&i)
	})
	out, err = refresher{b.worker}.Run(context.Background(), job)
	if i, _ := b.stored(i.ID); err != nil || !out.Failed || !out.Again.IsZero() || i.State != store.IdentityLogin {
		t.Errorf("%+v, %v, %+v", out, err, i)
	}
	again := "IGAA+"
	p, err := b.worker.PrepareChange(context.Background(), i.ID, Patch{Token: &again})
	if err != nil {
		t.Fatal(err)
	}
	update(t, b.db, func(tx *store.Tx) error {
		_, err := Change(tx, i.ID, p)
		return err
	})
	if i, _ := b.stored(i.ID); i.State != store.IdentityReady {
		t.Errorf("%+v", i)
	}
	update(t, b.db, func(tx *store.Tx) error { return Remove(tx, i.ID) })
}

func TestATokenIsRefreshedAfterARestrictionIsOver(t *testing.T) {
	b := newBench(t)
	i, err := b.add(Request{Platform: "instagram", Token: "IGAA", Keys: Keys{ExpiresAt: b.db.Now().Add(6 * 24 * time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	update(t, b.db, func(tx *store.Tx) error {
		i, err = tx.Identities.Get(i.ID)
		i.State, i.Reason, i.UpdatedAt = store.IdentityStopped, store.Reason{Code: store.ReasonStopped, Detail: "restricted"}, tx.Now()
		return errors.Join(err, tx.Identities.Put(&i), scheduler.Delete(tx, tokenJob(i.ID)))
	})
	update(t, b.db, func(tx *store.Tx) error {
		if i, err = Resume(tx, i.ID); err != nil {
			return err
		}
		_, err := tx.Jobs.ByName(tokenJob(i.ID))
		return err
	})
	if _, warned := ending(i, b.db.Now()); !warned || i.State != store.IdentityReady {
		t.Errorf("warned %v, %+v", warned, i)
	}
}

func TestKeysThatAreEnteredWhileAPostIsRefusedWithTheOldOnesHold(t *testing.T) {
	b := newBench(t)
	i, err := b.add(Request{Platform: "x", Keys: fourKeys})
	if err != nil {
		t.Fatal(err)
	}
	good := i.Secret
	update(t, b.db, func(tx *store.Tx) error { // the owner has made new keys at X: those that are stored have ended
		i, err := tx.Identities.Get(i.ID)
		if err != nil {
			return err
		}
		i.Secret = `{"consumer_key":"ck","consumer_secret":"cs","access_token":"at","access_token_secret":"ended"}`
		return tx.Identities.Put(&i)
	})
	publisher := b.worker.cfg.Connectors["twitter"].(*x.Network).Publisher(i.ID)
	_, err = publisher.Publish(context.Background(), platform.Post{Key: 1, Text: "hello"})
	post := platform.Post{Key: 1, Text: "hello", State: platform.AsError(err).State} // its next attempt makes the post
	ended := make(chan error, 1)
	go func() {
		_, err := publisher.Publish(context.Background(), post)
		ended <- err
	}()
	time.Sleep(300 * time.Millisecond) // X has refused the call, and is asked once more a second later
	p, err := b.worker.PrepareChange(context.Background(), i.ID, Patch{Keys: &fourKeys})
	if err != nil {
		t.Fatal(err)
	}
	update(t, b.db, func(tx *store.Tx) error { _, err := Change(tx, i.ID, p); return err })
	err = <-ended
	if i, _ := b.stored(i.ID); i.Secret != good || i.State != store.IdentityReady {
		t.Errorf("the new keys are good, and the account is %s (%s); the post: %v", i.State, i.Reason.Detail, err)
	}
}

func TestATokenThatIsRefreshedDoesNotReplaceOneThatWasEnteredMeanwhile(t *testing.T) {
	b := newBench(t)
	i, err := b.add(Request{Platform: "instagram", Token: "IGAA"})
	if err != nil {
		t.Fatal(err)
	}
	vault, old := Vault{b.db}, i.Secret
	if err := vault.SetSecret(i.ID, []byte(old), []byte(`{"token":"entered"}`)); err != nil {
		t.Fatal(err)
	}
	if err := vault.SetSecret(i.ID, []byte(old), []byte(`{"token":"refreshed"}`)); err == nil {
		t.Error("it was said to be stored")
	}
	if i, _ := b.stored(i.ID); i.Secret != `{"token":"entered"}` {
		t.Error(i.Secret)
	}
}
