package pipeline

import (
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/article"
	"belfry/store"
)

// What a picture shows is tagged while the AI still thinks about the text alone.
func TestTagsOfAPictureOutliveASlowAnswerAboutItsText(t *testing.T) {
	inBubble(t, Config{Vision: true, AITags: true}, func(b *bench) {
		b.asked = func(m []ai.Message) (string, error) {
			about := m[1].Content
			switch {
			case m[1].Image != nil:
				return "Подснежник", nil
			case strings.Contains(about, "Подснежник"):
				return `["цветы"]`, nil
			}
			b.mu.Unlock()
			<-time.After(30 * time.Second)
			b.mu.Lock()
			return `["город"]`, nil
		}
		ids := b.arrive(store.Message{Text: "В парке", Media: &store.MessageMedia{Kind: "photo"}})
		b.Pass(time.Minute)
		if m := b.message(ids[0]); strings.Join(m.Tags, " ") != "цветы" {
			t.Errorf("tagged %v, shows %q", m.Tags, m.Vision)
		}
		b.settled()
	})
}

// A message is replayed once more while the first replay of it is under way.
func TestAReplayDuringAReplayIsCarriedOut(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		said := "Лёд"
		b.read = func(string) (article.Article, error) {
			found := article.Article{Text: said}
			b.mu.Unlock()
			<-time.After(10 * time.Second)
			b.mu.Lock()
			return found, nil
		}
		ids := b.arrive(withLink("Пришла весна", "https://example.com/ice"))
		b.Pass(time.Minute)
		replay := func() {
			b.Update(func(tx *store.Tx) error {
				_, err := b.w.Replay(tx, Replay{Stage: "enrich", MessageID: ids[0]}, false)
				return err
			})
		}
		replay()
		b.Pass(5 * time.Second)
		b.mu.Lock()
		said = "Вода"
		b.mu.Unlock()
		replay()
		b.Pass(time.Minute)
		if m := b.message(ids[0]); len(m.Links) != 1 || m.Links[0].Text != "Вода" {
			t.Errorf("read %+v", m.Links)
		}
		b.settled()
	})
}

// The links of a message could not be read, and are read once more by hand or because it was edited.
func TestLinksAreTriedAsOftenAsBeforeInAReplay(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		away := true
		b.read = func(string) (article.Article, error) {
			if away {
				return article.Article{}, &platform.Error{Kind: platform.Transient, Err: errors.New("502")}
			}
			return article.Article{Text: "Вода"}, nil
		}
		ids := b.arrive(withLink("Пришла весна", "https://example.com/ice"))
		b.Pass(time.Hour)
		if m := b.message(ids[0]); len(m.Links) != 1 || m.Links[0].Reason.Zero() {
			t.Fatalf("read %+v", m.Links)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.w.Replay(tx, Replay{Stage: "enrich", MessageID: ids[0]}, false)
			return err
		})
		b.Pass(10 * time.Second)
		away = false
		b.Pass(time.Hour)
		if m := b.message(ids[0]); len(m.Links) != 1 || m.Links[0].Text != "Вода" {
			t.Errorf("read %+v", m.Links)
		}
		b.settled()
	})
}
