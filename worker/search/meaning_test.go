package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform/ai"
	"belfry/platform/ai/aitest"
	"belfry/store"
)

// withMeaning is a worker whose model is the server.
func withMeaning(t *testing.T, db *store.DB, server *aitest.Server) *Worker {
	t.Helper()
	client, err := ai.New(ai.Config{Base: server.Base(), Key: aitest.Key, EmbedModel: "small"})
	if err != nil {
		t.Fatal(err)
	}
	return New(db, nil, nil, Config{Model: "small", Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
		out, err := client.Embed(ctx, texts)
		return out.Values, err
	}})
}

// understand makes the vectors of the messages with these ids.
func understand(t *testing.T, w *Worker, ids ...uint64) (changed int) {
	t.Helper()
	all, err := w.Vectors(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	update(t, w.db, func(tx *store.Tx) error {
		for _, v := range all {
			if err := tx.Vectors.Save(&v); err != nil {
				return err
			}
		}
		return nil
	})
	return len(all)
}

// searched is what a search finds, page by page, each text with how it was found.
func searched(t *testing.T, w *Worker, query string, f Filter, limit int) (all []string) {
	t.Helper()
	for page := (store.Query{Limit: limit}); ; {
		out, err := w.Search(t.Context(), query, f, page)
		if err != nil || out.NoMeaning != nil || len(out.Items) > limit {
			t.Fatalf("%s: %d results, %v, %v", query, len(out.Items), err, out.NoMeaning)
		}
		for _, r := range out.Items {
			all = append(all, r.Text+" "+r.By)
		}
		if page.Cursor = out.Next; out.Next == "" {
			return all
		}
	}
}

func TestAMessageIsFoundByItsMeaning(t *testing.T) {
	db, server := newDB(t), aitest.New()
	defer server.Close()
	server.Same("автомобиль", "машина", "машину")
	add(t, db, "Продаю автомобиль недорого", "машина времени", "расписание трамваев", "весна пришла", "")
	w := withMeaning(t, db, server)
	if n := understand(t, w, 1, 2, 3, 4, 5, 99); n != 4 {
		t.Errorf("%d messages were understood", n)
	}
	if n := understand(t, w, 1, 2, 3, 4); n != 0 || len(server.Embeddings()) != 1 {
		t.Errorf("%d of the same messages were asked about again", n)
	}
	// By its word and by its meaning, then by its meaning alone; what has nothing to do with it is not there.
	for limit := 1; limit < 3; limit++ {
		if got := strings.Join(searched(t, w, "машину", Filter{}, limit), "|"); got != "машина времени both|Продаю автомобиль недорого meaning" {
			t.Errorf("%d a page: %s", limit, got)
		}
	}
	for query, want := range map[string]string{
		"машину -недорого": "машина времени both", `"машина времени"`: "машина времени words", "маши*": "машина времени words",
	} {
		if got := strings.Join(searched(t, w, query, Filter{}, 10), "|"); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	if n := len(server.Embeddings()); n != 2 {
		t.Errorf("the model was asked %d times about one query", n-1)
	}
	for _, f := range []Filter{{Channels: []uint64{7}}, {Tag: "x"}, {Since: noon.Add(time.Minute)}, {Until: noon.Add(-10 * time.Hour)}} {
		if got := searched(t, w, "машину", f, 10); len(got) != 0 {
			t.Errorf("%+v: %v", f, got)
		}
	}
	update(t, db, func(tx *store.Tx) error { return tx.Messages.Remove(1) })
	if got := searched(t, w, "машину", Filter{Channels: []uint64{1}}, 10); len(got) != 1 {
		t.Errorf("after one was deleted: %v", got)
	}
	err := db.View(func(tx *store.Tx) error {
		for v := range tx.Vectors.All() {
			if v.DocumentID == 1 {
				t.Error("its vector is left")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWordsAreFoundWhereTheModelDoesNotAnswer(t *testing.T) {
	db, server := newDB(t), aitest.New()
	defer server.Close()
	add(t, db, "весна пришла", "рынок")
	w := withMeaning(t, db, server)
	understand(t, w, 1, 2)
	server.Fail(aitest.Down)
	out, err := w.Search(t.Context(), "весна", Filter{}, store.Query{})
	if err != nil || len(out.Items) != 1 || out.NoMeaning == nil || !strings.Contains(out.NoMeaning.Error(), "503") {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err = w.Search(t.Context(), "весна", Filter{}, store.Query{}); err != nil || out.NoMeaning != nil {
		t.Errorf("once it answers again: %v, %v", out.NoMeaning, err)
	}
}

// Each message comes once, in the same order, however the ranking is divided into pages.
func TestTheMergedRankingIsStable(t *testing.T) {
	db, server := newDB(t), aitest.New()
	defer server.Close()
	server.Same("рынок", "базар", "торг")
	var texts []string
	var ids []uint64
	for i := range 150 {
		texts = append(texts, fmt.Sprintf("%s %d", []string{"рынок", "базар", "погода"}[i%3], i))
		ids = append(ids, uint64(i+1))
	}
	add(t, db, texts...)
	w := withMeaning(t, db, server)
	understand(t, w, ids...)
	whole := searched(t, w, "рынок", Filter{}, 100)
	for _, limit := range []int{1, 7, 20, 33} {
		if got := searched(t, w, "рынок", Filter{}, limit); !slices.Equal(got, whole) {
			t.Errorf("%d a page:\n%v, want\n%v", limit, got, whole)
		}
	}
	seen, byMeaning := make(map[string]bool), 0
	for _, text := range whole {
		if seen[text] {
			t.Errorf("%s comes twice", text)
		}
		seen[text] = true
		if strings.HasSuffix(text, ByMeaning) {
			byMeaning++
		}
	}
	if len(whole) != 50+byMeaning || byMeaning == 0 {
		t.Errorf("%d results, %d by their meaning", len(whole), byMeaning)
	}
}

func TestWithoutAModelNothingIsAsked(t *testing.T) {
	db := newDB(t)
	add(t, db, "весна пришла")
	w := New(db, nil, nil, Config{})
	if got := searched(t, w, "весна", Filter{}, 10); len(got) != 1 || w.HasMeaning() {
		t.Errorf("%v", got)
	}
	if _, err := w.Search(t.Context(), "весна", Filter{}, store.Query{Cursor: "m.5"}); err != nil {
		t.Errorf("a cursor from when there was one: %v", err)
	}
}

func TestQuantisedVectorsKeepTheirDirection(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		a, b := make([]float32, 770), make([]float32, 770)
		var product, ofA, ofB float64
		for i := range a {
			a[i], b[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
			b[i] += a[i]
			product, ofA, ofB = product+float64(a[i])*float64(b[i]), ofA+float64(a[i])*float64(a[i]), ofB+float64(b[i])*float64(b[i])
		}
		dataA, scaleA := quantise(a)
		dataB, scaleB := quantise(b)
		want, got := product/math.Sqrt(ofA*ofB), float64(dot(dataA, dataB))*float64(scaleA)*float64(scaleB)
		if math.Abs(want-got) > 0.01 {
			t.Errorf("%f became %f", want, got)
		}
	}
	if data, _ := quantise(make([]float32, 3)); data != "" {
		t.Error("a vector without a direction has one")
	}
}

// 50,000 vectors of 768 values are compared with a query, without and with a filter.
func BenchmarkMeaning(b *testing.B) {
	const messages, dimensions = 50_000, 768
	db, random := newDB(b), rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dimensions)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	w := New(db, nil, nil, Config{Model: "small"})
	write := func(batch int, one func(tx *store.Tx, n int) error) {
		for from := 0; from < messages; from += batch {
			update(b, db, func(tx *store.Tx) error {
				for n := from; n < min(from+batch, messages); n++ {
					if err := one(tx, n); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	write(500, func(tx *store.Tx, n int) error {
		return tx.Documents.Save(&store.Document{MessageID: uint64(n + 1), ChannelID: uint64(n%10 + 1), Date: noon.Add(time.Duration(n) * time.Minute)})
	})
	before, _ := db.Size()
	write(16, func(tx *store.Tx, n int) error {
		v := store.Vector{DocumentID: uint64(n + 1), Model: w.model(), Sum: random.Uint64(), Date: noon.Add(time.Duration(n) * time.Minute)}
		v.Data, v.Scale = quantise(vector())
		return tx.Vectors.Save(&v)
	})
	after, _ := db.Size()
	b.Logf("%d bytes for each message", (after-before)/messages)
	var query store.Vector
	query.Data, query.Scale = quantise(vector())
	for name, f := range map[string]Filter{"all": {}, "one channel": {Channels: []uint64{3}}, "a week": {Since: noon.AddDate(0, 0, 20)}} {
		b.Run(name, func(b *testing.B) {
			used := cpu()
			for b.Loop() {
				if all, err := w.near(b.Context(), query, f); err != nil || len(all) != nearest {
					b.Fatal(len(all), err)
				}
			}
			b.ReportMetric(float64((cpu()-used).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}
