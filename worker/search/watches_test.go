package search

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/posts"
)

type told []string

func (t *told) Tell(_ *store.Tx, n store.Notice, _ ...string) error {
	*t = append(*t, n.Text)
	return nil
}

// write writes a message of channel 1 and puts it into the index.
func write(b *schedulertest.Bench, w *Worker, m store.Message, fresh bool) store.Message {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		m.ChannelID, m.Date = 1, tx.Now()
		if err := tx.Messages.Put(&m); err != nil {
			return err
		}
		d := Document(m)
		return w.Add(tx, &d, fresh)
	})
	return m
}

func TestAWatchTellsOfEachNewMessageOnce(t *testing.T) {
	schedulertest.InBubble(t, func(b *schedulertest.Bench) {
		var said told
		w := New(b.DB, &said, nil, Config{Lang: "en"})
		b.Start(w.Module())
		b.Update(func(tx *store.Tx) error {
			if err := tx.Channels.Put(&store.Channel{PeerID: 1, Username: "news"}); err != nil {
				return err
			}
			for _, r := range []WatchRequest{
				{Name: "Markets", Query: "рынок -нефть", Action: "notify", Channels: []uint64{1}}, {Name: "Paused", Query: "рынок", Action: "notify"},
			} {
				if _, err := w.AddWatch(tx, r); err != nil {
					return err
				}
			}
			_, err := w.PauseWatch(tx, 2)
			return err
		})
		b.Pass(time.Minute)
		write(b, w, store.Message{MessageID: 1, Text: "Рынки растут"}, false)
		b.Update(func(tx *store.Tx) error { // it is read late, such as after its channel was paused
			late := store.Message{ChannelID: 1, MessageID: 4, Text: "Рынок был тих", Date: tx.Now().Add(-2 * time.Minute)}
			err := tx.Messages.Put(&late)
			d := Document(late)
			return errors.Join(err, w.Add(tx, &d, true))
		})
		write(b, w, store.Message{MessageID: 2, Text: "Рынок нефти"}, true)
		m := write(b, w, store.Message{MessageID: 3, Text: "Ничего"}, true)
		b.Pass(time.Minute)
		if len(said) != 0 {
			t.Fatalf("told of %q", said)
		}
		m.Text = "На рынках & <b>тихо</b>"
		m = write(b, w, m, true) // an edit makes it match
		b.Pass(time.Minute)
		m.Text += "!"
		write(b, w, m, true)
		b.Pass(time.Hour)
		if len(said) != 1 || !strings.Contains(said[0], "<b>тихо</b>") || !strings.Contains(said[0], "https://t.me/news/3") {
			t.Errorf("told of %q", said)
		}
		b.View(func(tx *store.Tx) error {
			watch, err := tx.Watches.Get(1)
			if watch.Hits != 1 || watch.LastHitAt.IsZero() {
				t.Errorf("%+v", watch)
			}
			return err
		})
	})
}

func TestWatchesThatCannotBeCarriedOutAreRefused(t *testing.T) {
	db := newDB(t)
	w := New(db, nil, nil, Config{Lang: "en"})
	update(t, db, func(tx *store.Tx) error {
		for _, r := range []WatchRequest{
			{Query: "рынок", Action: "notify"}, {Name: "A", Action: "notify"}, {Name: "A", Query: "-рынок", Action: "notify"},
			{Name: "A", Query: "рынок"}, {Name: "A", Query: "рынок", Action: "webhook", URL: "ftp://a"},
			{Name: "A", Query: "рынок", Action: "notify", Channels: []uint64{9}},
		} {
			if _, err := w.AddWatch(tx, r); err == nil {
				t.Errorf("%+v is accepted", r)
			}
		}
		return nil
	})
}

// network is where a draft would go.
type network struct{}

func (network) Check(p platform.Post) (platform.Measure, error) {
	return platform.Measure{Length: len(p.Text), Limit: 4096}, nil
}

func (network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}
func (network) Reach(context.Context, uint64, string) error { return nil }
func (n network) Publisher(uint64) platform.Publisher       { return n }
func (network) Publish(context.Context, platform.Post) (platform.Receipt, error) {
	return platform.Receipt{}, errors.New("a draft was published")
}

// Each message makes one draft, which waits for approval. Without an account for it the hit says why there is none.
func TestAWatchMakesADraftOfEachNewMessage(t *testing.T) {
	schedulertest.InBubble(t, func(b *schedulertest.Bench) {
		made := posts.New(b.DB, map[string]posts.Network{"telegram": network{}}, posts.Config{})
		told := 0
		made.OnHeld(func(*store.Tx, []store.Post) error { told++; return nil })
		w := New(b.DB, nil, made, Config{Lang: "en"})
		b.Start(w.Module(), made.Module())
		b.Update(func(tx *store.Tx) error {
			if err := tx.Channels.Put(&store.Channel{PeerID: 1, Username: "news"}); err != nil {
				return err
			}
			_, err := w.AddWatch(tx, WatchRequest{Name: "Markets", Query: "рынок", Action: "draft"})
			return err
		})
		write(b, w, store.Message{MessageID: 1, Text: "Рынок закрыт"}, true)
		b.Pass(time.Minute)
		b.Update(func(tx *store.Tx) error {
			if hit, err := tx.WatchHits.Get(1); err != nil || hit.State != store.HitFailed || hit.Reason.Detail == "" {
				t.Errorf("without an account: %+v, %v", hit, err)
			}
			return tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityBot, Target: "@mine", State: store.IdentityReady})
		})
		m := write(b, w, store.Message{MessageID: 2, Text: "Рынки <растут>"}, true)
		b.Pass(time.Minute)
		m.Text += "!"
		write(b, w, m, true) // an edit makes no other one
		b.Pass(48 * time.Hour)
		b.View(func(tx *store.Tx) error {
			drafts := slices.Collect(tx.Posts.All())
			hit, err := tx.WatchHits.Get(2)
			if len(drafts) != 1 || told != 1 || hit.State != store.HitDone || hit.PostID != drafts[0].ID {
				t.Fatalf("%+v of %+v", drafts, hit)
			}
			if p := drafts[0]; p.Text != "Рынки <растут>\n\nhttps://t.me/news/2" || p.Format != "plain" || !p.Held || p.Status != store.PostScheduled || p.Target != "@mine" {
				t.Errorf("%+v", p)
			}
			return err
		})
	})
}

// The first answer asks to come again; both calls have the same id and body, and are signed.
func TestAWebhookIsCalledUntilItAnswersAndCanTellRepetitions(t *testing.T) {
	var mu sync.Mutex
	var ids, bodies []string
	var secret string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "." + string(body)))
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%s does not sign", r.Header.Get("webhook-signature"))
		}
		if ids, bodies = append(ids, r.Header.Get("webhook-id")), append(bodies, string(body)); len(ids) == 1 {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	db := newDB(t)
	var private fetch.Allowed
	if err := private.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	w := New(db, nil, nil, Config{Lang: "en", Private: private})
	var job store.Job
	update(t, db, func(tx *store.Tx) error {
		if err := tx.Channels.Put(&store.Channel{PeerID: 7}); err != nil {
			return err
		}
		watch, err := w.AddWatch(tx, WatchRequest{Name: "Hook", Query: "рынок", Action: "webhook", URL: server.URL})
		if err != nil {
			return err
		}
		secret = watch.Secret
		m := store.Message{ChannelID: 1, MessageID: 5, Date: tx.Now(), Text: "Рынок"}
		if err := tx.Messages.Put(&m); err != nil {
			return err
		}
		d := Document(m)
		if err := w.Add(tx, &d, true); err != nil {
			return err
		}
		job, err = tx.Jobs.ByName("watch_1")
		return err
	})
	if webhook.CheckSecret(secret) != nil {
		t.Fatalf("the secret is %q", secret)
	}
	if _, err := w.Run(t.Context(), job); err == nil {
		t.Error("a failed call is no error")
	}
	out, err := w.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *store.Tx) error {
		if err := out.Write(tx); err != nil {
			return err
		}
		hit, err := tx.WatchHits.Get(1)
		if hit.State != store.HitDone {
			t.Errorf("%+v", hit)
		}
		return err
	})
	if out, err := w.Run(t.Context(), job); err != nil || len(ids) != 2 || ids[0] != ids[1] || bodies[0] != bodies[1] ||
		!strings.Contains(bodies[0], `"link":"https://t.me/c/7/5"`) {
		t.Errorf("%v %v: %q %q", out, err, ids, bodies)
	}
	update(t, db, func(tx *store.Tx) error { // another is given up
		hit := store.WatchHit{WatchID: 1, MessageID: 2, Key: 7}
		err := tx.WatchHits.Add(&hit)
		lost := hit.Job()
		lost.Subject = hit.ID
		err = errors.Join(err, w.End(tx, lost, store.Reason{Code: store.ReasonGaveUp}))
		if a, bad := tx.Alerts.Standing(store.AlertWatch, "watch_1"); bad != nil || a.Name != "Hook" || a.Count != 1 {
			t.Errorf("what was given up is told as %+v, %v", a, bad)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error {
		watch, err1 := tx.Watches.Get(1)
		hit, err2 := tx.WatchHits.Get(1)
		watch.Secret, watch.Sealed, hit.State = "", "with another key", store.HitWaiting
		return errors.Join(err1, err2, tx.Watches.Put(&watch), tx.WatchHits.Put(&hit))
	})
	if out, err := w.Run(t.Context(), job); err != nil || !strings.Contains(out.Reason.Detail, "sealed with another key") || len(ids) != 2 {
		t.Errorf("without the secret: %v %v, %d calls", out, err, len(ids))
	}
	update(t, db, func(tx *store.Tx) error { // removing it takes the rest along
		if err := w.RemoveWatch(tx, 1); err != nil {
			return err
		}
		for h := range tx.WatchHits.All() {
			t.Errorf("%+v is left", h)
		}
		return scheduler.Delete(tx, job.Name)
	})
}

func TestMessagesAreTaggedByKeywordsInAnyFormAndByPatterns(t *testing.T) {
	rules := []store.TagRule{
		{Name: "sale", Keywords: []string{"скидка", "чёрная пятница"}}, {Name: "code", Pattern: `(?i)промокод\s+\w+`}, {Name: "bad", Pattern: `(`},
	}
	for text, want := range map[string]string{
		"Много скидок": "sale", "в Черную пятницу": "sale", "пятница чёрная": "", "ПРОМОКОД SALE10 и скидки": "code sale", "сказка": "",
	} {
		if got := strings.Join(Tags(rules, text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestChannelsAreRelatedByWhatTheyForwardLinkAndMention(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *store.Tx) error {
		for _, c := range []store.Channel{{PeerID: 1, Username: "News"}, {PeerID: 2, Username: "other"}, {PeerID: 3}} {
			if err := tx.Channels.Put(&c); err != nil {
				return err
			}
		}
		for i, m := range []store.Message{
			{ChannelID: 1, Text: "см. @Other и t.me/other/5", Entities: []store.MessageEntity{{Type: "mention", Offset: 4, Length: 6}, {Type: "url", Offset: 13, Length: 12}}, Tags: []string{"a"}},
			{ChannelID: 1, Forward: &store.MessageForward{ChannelID: 3}, Tags: []string{"a", "b"}},
			{ChannelID: 1, Forward: &store.MessageForward{ChannelID: 99, Username: "far"}},
			{ChannelID: 2, Text: "👍 тут", Entities: []store.MessageEntity{{Type: "text_link", Offset: 3, Length: 3, URL: "https://t.me/c/1/7"}, {Type: "mention", Offset: 3, Length: 99}}},
			{ChannelID: 3, Forward: &store.MessageForward{ChannelID: 1, Username: "news"}},
		} {
			m.MessageID, m.Date = i+1, tx.Now().Add(-time.Hour)
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
			d := Document(m)
			if err := tx.Documents.Save(&d); err != nil {
				return err
			}
		}
		return nil
	})
	err := db.View(func(tx *store.Tx) error {
		all, tags, err := RelatedTo(tx, 1)
		if len(all) != 3 || len(tags) != 2 || tags[0] != (Count{"a", 2}) {
			t.Errorf("%+v %+v", all, tags)
			return err
		}
		if r := all[0]; r.Channel.ID != 2 || r.Links != 1 || r.Mentions != 1 || r.CitedFrom != 1 {
			t.Errorf("%+v", r)
		}
		if r := all[1]; r.Channel.ID != 3 || r.Forwards != 1 || r.CitedFrom != 1 {
			t.Errorf("%+v", r)
		}
		if r := all[2]; r.Name != "@far" || r.Forwards != 1 {
			t.Errorf("%+v", r)
		}
		trends := Trends(tx, 24*time.Hour)
		if len(trends) != 2 || trends[0].Tag != "a" || trends[0].Count != 2 || trends[0].Before != 0 {
			t.Errorf("%+v", trends)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLanguagesAreToldApart(t *testing.T) {
	for text, want := range map[string]string{
		"Сегодня в городе тепло": "ru", "Сьогодні в місті, її": "uk", "The weather in the city is fine": "en", "Das Wetter ist nicht gut und": "de",
		"42 🙂": "", "你好世界，今天": "", "Скидки in the Store сегодня": "ru",
	} {
		if got := Language(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
