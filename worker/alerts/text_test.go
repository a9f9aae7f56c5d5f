package alerts

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"belfry/store"
)

func TestAnAlertAboutSomethingLongIsReadable(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		t.Run(lang, func(t *testing.T) {
			byHand(t, func(b *bench) {
				b.worker.SetLocale(lang, nil)
				b.look()
				b.Pass(time.Second)
				b.Update(func(tx *store.Tx) error {
					p := store.Post{Platform: "telegram", Target: "https://t.me/" + strings.Repeat("🔔", 5000), Status: store.PostFailed,
						Reason: store.Reason{Code: store.ReasonRefused, Detail: strings.Repeat("😀", 5000)}, UpdatedAt: tx.Now()}
					return tx.Posts.Put(&p)
				})
				b.look()
				b.View(func(tx *store.Tx) error {
					for n := range tx.Notices.All() {
						units := len(utf16.Encode([]rune(n.Text)))
						cure := b.worker.Printer().T("alert.post_failed.cure")
						if n.Chat == "admin" && (units > 2000 || strings.Count(n.Text, "…") != 2 || !strings.HasSuffix(n.Text, cure)) {
							t.Errorf("told in %d units: %s", units, n.Text)
						}
					}
					return nil
				})
				if open := b.alerts(store.AlertOpen); len(open) != 1 || !strings.HasPrefix(open[0].Name, "https://t.me/🔔") || len([]rune(open[0].Name)) != 100 {
					t.Errorf("open %+v", open)
				}
			})
		})
	}
}

func TestTheWebhookIsToldAStormInFewWords(t *testing.T) {
	byHand(t, func(b *bench) {
		var raised []store.Alert
		for i := range maxHook + 7 {
			raised = append(raised, store.Alert{ID: uint64(i + 1), Kind: store.AlertLogin, About: "login", Name: "main"})
		}
		b.Update(func(tx *store.Tx) error { return b.worker.tellHook(tx, news{raised: raised, over: raised}) })
		var body hookNews
		b.View(func(tx *store.Tx) error {
			n, err := tx.Notices.Get(1)
			if err != nil {
				return err
			}
			return json.Unmarshal([]byte(n.Text), &body)
		})
		if len(body.Raised) != maxHook || len(body.Over) != maxHook || body.More != 14 {
			t.Errorf("%d raised, %d over and %d more", len(body.Raised), len(body.Over), body.More)
		}
		if !strings.HasPrefix(body.Text, "⚠️ 1,007 new alerts\n\n• The account main") || !strings.HasSuffix(body.Text, "…\n✅ 1,007 alerts resolved") {
			t.Errorf("said %q", body.Text)
		}
	})
}
