package search

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"belfry/store"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func newDB(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Key: make([]byte, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func update(t testing.TB, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

// add writes messages of one channel and their documents, the latest first, an hour between them.
func add(t testing.TB, db *store.DB, texts ...string) {
	t.Helper()
	update(t, db, func(tx *store.Tx) error {
		c := store.Channel{PeerID: 1, Username: "news"}
		if err := tx.Channels.Put(&c); err != nil {
			return err
		}
		for i, text := range texts {
			m := store.Message{ChannelID: c.ID, MessageID: i + 1, Date: noon.Add(-time.Duration(i) * time.Hour), Text: text}
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
}

// search returns what a query finds, in pages of two.
func search(t testing.TB, db *store.DB, query string, f Filter) (all []Result) {
	t.Helper()
	q, err := Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	page := store.Query{Limit: 2}
	for {
		var found store.Page[Result]
		err := db.View(func(tx *store.Tx) (err error) {
			found, err = Find(tx, q, f, page)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, found.Items...); found.Next == "" {
			return all
		}
		page.Cursor = found.Next
	}
}

func texts(results []Result) string {
	var all []string
	for _, r := range results {
		all = append(all, r.Text)
	}
	return strings.Join(all, "|")
}

func TestWordsAsTheyAreWrittenComeBeforeTheirForms(t *testing.T) {
	db := newDB(t)
	add(t, db, "рынка нет", "на рынках", "весь рынок", "рыночек", "рынок и рынок, снова рынок", "market days", "the markets", "\"Большой театр\" открыт", "театр большой")
	for query, want := range map[string]string{
		"рынок":           "рынок и рынок, снова рынок|весь рынок|рынка нет|на рынках",
		"рынка":           "рынка нет|на рынках|весь рынок|рынок и рынок, снова рынок",
		"Рынок -снова":    "весь рынок|рынка нет|на рынках",
		"рын*":            "рынка нет|на рынках|весь рынок|рыночек|рынок и рынок, снова рынок",
		"market":          "market days|the markets",
		"MARKETS days":    "market days",
		"«большой театр»": "\"Большой театр\" открыт",
		"большой театр":   "\"Большой театр\" открыт|театр большой",
		"театр -\"театр большой\"": "\"Большой театр\" открыт",
		"нигде": "",
	} {
		if got := texts(search(t, db, query, Filter{})); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestAWordWithAHyphenIsFoundInAnyForm(t *testing.T) {
	db := newDB(t)
	add(t, db, "Ищем веб-дизайнера", "веб и дизайнер", "нужны веб-дизайнеры", "e-mails", "тел. 8-800-555")
	for query, want := range map[string]string{
		"Веб-дизайнер":             "Ищем веб-дизайнера|нужны веб-дизайнеры",
		"\"веб-дизайнера\"":        "Ищем веб-дизайнера",
		"нужен -веб-дизайнер":      "",
		"веб-дизайнер -«нужны веб": "Ищем веб-дизайнера",
		"дизайнер -веб-дизайнер":   "веб и дизайнер",
		"e-mail": "e-mails",
		"8-800":  "тел. 8-800-555",
	} {
		got := search(t, db, query, Filter{})
		if texts(got) != want {
			t.Errorf("%s: %q, want %q", query, texts(got), want)
		}
		q, err := Parse(query)
		for _, r := range got {
			if err != nil || !q.Matches(&r.Document) || !strings.Contains(r.Snippet, "</mark>") {
				t.Errorf("%s: a watch misses %q, %v: %s", query, r.Text, err, r.Snippet)
			}
		}
	}
	if q, err := Parse("Веб-дизайнер"); err != nil || q.meant() != "веб дизайнер" {
		t.Errorf("the model is asked about %q, %v", q.meant(), err)
	}
}

func TestQueriesThatCannotBeCarriedOutAreRefused(t *testing.T) {
	for _, query := range []string{"а*", "-рынок", strings.Repeat("а", 501), strings.Repeat("слово ", 21)} {
		if _, err := Parse(query); err == nil {
			t.Errorf("%.20q is accepted", query)
		}
	}
	err := newDB(t).View(func(tx *store.Tx) error {
		_, err := Find(tx, Query{}, Filter{}, store.Query{})
		return err
	})
	if err == nil {
		t.Error("a search for nothing is accepted")
	}
}

func TestSnippetsAreEscaped(t *testing.T) {
	q, err := Parse(`рынок script "b" onerr*`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`<script>alert("рынка")</script> & <b>`:                           `&lt;<mark>script</mark>&gt;alert(&#34;<mark>рынка</mark>&#34;)&lt;/<mark>script</mark>&gt; &amp; &lt;<mark>b</mark>&gt;`,
		`<img src=x onerror='x()'> </mark><mark>`:                         `&lt;img src=x <mark>onerror</mark>=&#39;x()&#39;&gt; &lt;/mark&gt;&lt;mark&gt;`,
		"\xff\xfe рынок \xe2\x80":                                         "\xff\xfe <mark>рынок</mark> \xe2\x80",
		strings.Repeat("до ", 100) + "рынок" + strings.Repeat(" за", 100): "…" + strings.Repeat("до ", 19) + "<mark>рынок</mark>" + strings.Repeat(" за", 59) + "…",
	} {
		if got := q.marks().snippet(text); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}

// A search finds what a scan of all messages finds, whatever was written, changed and deleted before.
func TestTheIndexFindsWhatAScanFinds(t *testing.T) {
	vocabulary := strings.Fields("рынок рынка рынки скидка скидок канал каналы Ёлка елки don't day days дня кто-то ok 42 a̋b Ж")
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "words"), rapid.SampledFrom([]string{" ", ", ", "\n"}).Draw(t, "gap"))
	})
	db := newDB(t)
	add(t, db)
	update(t, db, func(tx *store.Tx) error { return tx.Channels.Put(&store.Channel{PeerID: 2}) })
	rapid.Check(t, func(rt *rapid.T) {
		messages := map[uint64]store.Message{}
		count := rapid.IntRange(0, 25).Draw(rt, "messages")
		written := make([]store.Message, count)
		before := make([]string, count)
		for n := range written {
			written[n] = store.Message{
				ChannelID: uint64(rapid.IntRange(1, 2).Draw(rt, "channel")), MessageID: n, Text: text.Draw(rt, "text"),
				Date: noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "date")) * time.Minute),
			}
			if rapid.Bool().Draw(rt, "tagged") {
				written[n].Tags = []string{"sale"}
			}
			before[n] = text.Draw(rt, "before")
		}
		update(t, db, func(tx *store.Tx) error {
			for m := range tx.Messages.All() {
				if err := errors.Join(tx.Documents.Drop(m.ID), tx.Messages.Delete(m.ID)); err != nil {
					return err
				}
			}
			for n := range written {
				m := written[n]
				if err := tx.Messages.Put(&m); err != nil {
					return err
				}
				was := m
				was.Text = before[n]
				for _, m := range []store.Message{was, m} {
					d := Document(m)
					if err := tx.Documents.Save(&d); err != nil {
						return err
					}
				}
				if n%5 != 4 {
					messages[m.ID] = m
				} else if err := tx.Documents.Drop(m.ID); err != nil {
					return err
				}
			}
			return nil
		})
		for range 5 {
			words := rapid.SliceOfN(rapid.SampledFrom(append(vocabulary, "ры*", `"рынок скидок"`, `"day"`)), 1, 3).Draw(rt, "query")
			for i := 1; i < len(words); i++ {
				if rapid.IntRange(0, 3).Draw(rt, "not") == 0 {
					words[i] = "-" + words[i]
				}
			}
			f := Filter{}
			if rapid.Bool().Draw(rt, "narrow") {
				f = Filter{Tag: "sale", Channels: []uint64{1}, Since: noon.Add(time.Minute), Until: noon.Add(4 * time.Minute)}
			}
			query := strings.Join(words, " ")
			var got []uint64
			for _, r := range search(t, db, query, f) {
				got = append(got, r.MessageID)
			}
			slices.Sort(got)
			var want []uint64
			for _, id := range slices.Sorted(maps.Keys(messages)) {
				if scan(messages[id], words, f) {
					want = append(want, id)
				}
			}
			if !slices.Equal(got, want) {
				rt.Errorf("%s %+v: %v, want %v", query, f, got, want)
			}
		}
	})
}

// scan reports whether a message matches the words of a query, each by itself.
func scan(m store.Message, query []string, f Filter) bool {
	if f.Tag != "" && (len(m.Tags) == 0 || m.ChannelID != 1 || m.Date.Before(f.Since) || !m.Date.Before(f.Until)) {
		return false
	}
	var has []string
	for w := range words(m.Text) {
		has = append(has, w.folded)
	}
	for _, token := range query {
		token, not := strings.CutPrefix(token, "-")
		var asked []string
		for w := range words(token) {
			asked = append(asked, w.folded)
		}
		found := false
		for i, w := range has {
			switch {
			case strings.HasSuffix(token, "*"):
				found = found || strings.HasPrefix(w, asked[0])
			case len(asked) > 1:
				found = found || i+len(asked) <= len(has) && slices.Equal(has[i:i+len(asked)], asked)
			default:
				s, a := stem(w), stem(asked[0])
				found = found || w == asked[0] || s == a || squeeze(w, s) == squeeze(asked[0], a)
			}
		}
		if found == not {
			return false
		}
	}
	return true
}

func ExampleQuery() {
	q, _ := Parse(`"большой театр" -билеты премьер*`)
	d := Document(store.Message{Text: "Большой театр объявил о премьере"})
	fmt.Println(q.Matches(&d))
	// Output: true
}
