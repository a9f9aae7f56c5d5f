package web

import (
	"net/http"
	"strings"
	"testing"

	"belfry/store"
)

// An owner tries a tag, saves it, changes it, has old messages tagged again, and sees the result of one.
func TestATagIsTriedAndSavedOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.update(func(tx *store.Tx) error {
		c := store.Channel{PeerID: 1, Username: "news", Title: "News"}
		if err := tx.Channels.Put(&c); err != nil {
			return err
		}
		for i, text := range []string{"Скидки <b>всем</b>", "Погода"} {
			if err := tx.Messages.Put(&store.Message{ChannelID: c.ID, MessageID: i + 1, Date: tx.Now(), ReadAt: tx.Now(), Text: text}); err != nil {
				return err
			}
		}
		return tx.Streams.Join("tag", store.TopicParsed, "stage_tag")
	})
	words := []string{"keywords", "скидка\r\n"}
	if a := h.submit("/tags/preview", words...); a.status != http.StatusOK || !strings.Contains(a.body, "1 of the latest 2") || !strings.Contains(a.body, "Скидки &lt;b&gt;") {
		t.Errorf("tried: %d %s", a.status, a.body)
	}
	if a := h.api("GET", "/tags", ""); strings.Contains(a.body, "shops") {
		t.Errorf("a tag that was only tried was saved: %s", a.body)
	}
	if a := h.submit("/tags/new", "name", "shops", "pattern", "("); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "pattern-error") {
		t.Errorf("a pattern that cannot be read: %d", a.status)
	}
	if a := h.submit("/tags/new", append(words, "name", "shops")...); a.status != http.StatusSeeOther {
		t.Fatalf("saved: %d %s", a.status, a.body)
	}
	if a := h.submit("/tags/1/change", append(words, "name", "offers")...); a.status != http.StatusSeeOther {
		t.Errorf("changed: %d %s", a.status, a.body)
	}
	if a := h.get("/tags"); !strings.Contains(a.body, "offers") || strings.Contains(a.body, "shops") {
		t.Errorf("listed: %s", a.body)
	}
	if a := h.get("/pipeline/tag/replay?back=168h"); a.status != http.StatusOK || !strings.Contains(a.body, "2 messages") {
		t.Errorf("asked: %d %s", a.status, a.body)
	}
	if a := h.submit("/pipeline/tag/replay?back=168h"); a.status != http.StatusSeeOther {
		t.Errorf("replayed: %d %s", a.status, a.body)
	}
	if a := h.get("/pipeline/nothing/replay"); a.status != http.StatusConflict && a.status != http.StatusNotFound {
		t.Errorf("a stage that does not exist: %d", a.status)
	}
	if a := h.get("/messages/1"); a.status != http.StatusOK || !strings.Contains(a.body, "Скидки &lt;b&gt;") || !strings.Contains(a.body, "Passport") {
		t.Errorf("the message: %d %s", a.status, a.body)
	}
	if a := h.submit("/tags/1/remove"); a.status != http.StatusSeeOther {
		t.Errorf("deleted: %d", a.status)
	}
	audited := strings.Join(h.audited("?action=tags"), "\n")
	if strings.Contains(audited, "preview") || !strings.Contains(audited, "tags.create") || !strings.Contains(audited, "tags.change") {
		t.Errorf("audited:\n%s", audited)
	}
}
