package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker"
)

const (
	// maxMeant is how much of a message's text the model is given, in characters.
	maxMeant = 4000
	// askTime bounds how long a search waits for the model.
	askTime = 2 * time.Second
	// nearest is how many messages are found by their meaning, and mergedWords how many by their words these are merged
	// with; those after that follow by their words alone.
	nearest     = 20
	mergedWords = 60
	// fusion is the constant of reciprocal rank fusion.
	fusion = 60
	// scanned is how many vectors are compared in one transaction.
	scanned = 4096
	// maxAsked bounds the queries whose vectors are kept.
	maxAsked = 200
	// mergedCursor begins the cursor of a page of a merged ranking; a number follows.
	mergedCursor = "m."
)

// How a result was found.
const (
	ByWords   = "words"
	ByMeaning = "meaning"
	ByBoth    = "both"
)

// HasMeaning reports whether messages are also found by their meaning.
func (w *Worker) HasMeaning() bool { return w.cfg.Embed != nil }

// model stands for the model in vectors: those of another one are not compared.
func (w *Worker) model() uint64 { return sum(w.cfg.Model) }

func sum(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // it cannot fail
	return h.Sum64()
}

// Vectors has the model make vectors of the documents of messages, and returns them by the ids of the messages. A message
// without a document that can be read, or whose vector is the one that it has, is left out.
func (w *Worker) Vectors(ctx context.Context, messages []uint64) (map[uint64]store.Vector, error) {
	var made []store.Vector
	var of []uint64
	var texts []string
	err := w.db.View(func(tx *store.Tx) error {
		for _, id := range messages {
			d, err := tx.Documents.OfMessage(id)
			if errors.Is(err, store.ErrNotFound) || store.IsCorrupt(err) || err == nil && d.Text == "" {
				continue
			}
			if err != nil {
				return err
			}
			text := store.Shorten(d.Text, maxMeant)
			v := store.Vector{DocumentID: d.ID, Date: d.Date, Model: w.model(), Sum: sum(text)}
			if has, err := tx.Vectors.Of(d.ID); err == nil && has.Model == v.Model && has.Sum == v.Sum {
				continue
			}
			made, of, texts = append(made, v), append(of, id), append(texts, text)
		}
		return nil
	})
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	values, err := w.cfg.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	all := make(map[uint64]store.Vector, len(made))
	for i, v := range made {
		v.Data, v.Scale = quantise(values[i])
		all[of[i]] = v
	}
	return all, nil
}

// quantise makes a direction of length 1 and signed bytes of values.
func quantise(values []float32) (data string, scale float32) {
	var most, squares float64
	for _, x := range values {
		most, squares = max(most, math.Abs(float64(x))), squares+float64(x)*float64(x)
	}
	if most == 0 {
		return "", 0
	}
	bytes := make([]byte, len(values))
	for i, x := range values {
		bytes[i] = byte(int8(math.Round(float64(x) / most * math.MaxInt8)))
	}
	return string(bytes), float32(most / math.MaxInt8 / math.Sqrt(squares))
}

// dot is the product of two directions of the same length without their scales.
func dot(a, b string) int {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4], b[i:i+4]
		s0 += int32(int8(x[0])) * int32(int8(y[0]))
		s1 += int32(int8(x[1])) * int32(int8(y[1]))
		s2 += int32(int8(x[2])) * int32(int8(y[2]))
		s3 += int32(int8(x[3])) * int32(int8(y[3]))
	}
	for ; i < len(a); i++ {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return int(s0 + s1 + s2 + s3)
}

// meant is what the model is asked about a query: its words. It is empty for a query that has a quoted phrase or the beginning
// of a word, which are found only as they are written.
func (q Query) meant() string {
	var all []string
	for _, c := range q.clauses {
		if !c.not && !c.word() && !c.loose {
			return ""
		}
		if !c.not {
			all = append(all, c.words...)
		}
	}
	return strings.Join(all, " ")
}

// asked returns the vector of a text, for which the model is asked once.
func (w *Worker) asked(ctx context.Context, text string) (v store.Vector, err error) {
	w.mu.Lock()
	v, known := w.meant[text]
	w.mu.Unlock()
	if known {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	values, err := w.cfg.Embed(ctx, []string{text})
	if err != nil {
		return v, err
	}
	v.Data, v.Scale = quantise(values[0])
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.meant) >= maxAsked {
		clear(w.meant)
	}
	w.meant[text] = v
	return v, nil
}

// near is a document and how near its meaning is to that of a query, from 0 to 1.
type near struct {
	document uint64
	score    float64
}

// near returns the documents nearest in meaning to a query, the nearest first. It reads all vectors, a part in each
// transaction.
func (w *Worker) near(ctx context.Context, query store.Vector, f Filter) (all []near, err error) {
	within, err := worker.Read(w.db, f.documents)
	if err != nil {
		return nil, err
	}
	model, scale := w.model(), float64(query.Scale)
	for from, more := uint64(1), true; more && ctx.Err() == nil; {
		more = false
		err := w.db.View(func(tx *store.Tx) error {
			n := 0
			for v := range tx.Vectors.From(from) {
				if n++; n > scanned {
					from, more = v.ID, true
					break
				}
				if v.Model != model || len(v.Data) != len(query.Data) || v.Date.Before(f.Since) ||
					!f.Until.IsZero() && !v.Date.Before(f.Until) || within != nil && !within[v.DocumentID] {
					continue
				}
				score := float64(dot(v.Data, query.Data)) * float64(v.Scale) * scale
				if score <= 0 || len(all) == nearest && score <= all[nearest-1].score {
					continue
				}
				at, _ := slices.BinarySearchFunc(all, score, func(n near, score float64) int { return cmp.Compare(score, n.score) })
				all = slices.Insert(all, at, near{v.DocumentID, min(score, 1)})
				all = all[:min(len(all), nearest)]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, ctx.Err()
}

// documents are those that have the terms of a filter; nil if it has none.
func (f Filter) documents(tx *store.Tx) (map[uint64]bool, error) {
	if len(f.terms()) == 0 {
		return nil, nil
	}
	all := make(map[uint64]bool)
	m, err := newMatcher(tx, Query{}, f, 0, nil)
	for at, more := f.begin(0).from, err == nil; more; {
		var good bool
		if at, good, more = m.next(at); good {
			all[at.ID] = true
			at = at.Next()
		}
		if m.spent() > maxSteps {
			m.opened, m.steps = nil, 0 // it goes on: only ids are read
		}
	}
	return all, err
}

// Found is a page of results.
type Found struct {
	store.Page[Result]
	// NoMeaning is why messages could not be found by their meaning; nil if they were, or are never.
	NoMeaning error
}

// Search returns the messages that a query finds, as [Find] does. Where a model is set up, those that are near in meaning
// are merged with them, by the ranks that they have in both (reciprocal rank fusion). If the model does not answer, those
// with the words are returned alone.
func (w *Worker) Search(ctx context.Context, text string, f Filter, page store.Query) (out Found, err error) {
	q, err := Parse(text)
	if err != nil {
		return out, err
	}
	number, merged := strings.CutPrefix(page.Cursor, mergedCursor)
	meant := q.meant()
	if !merged && (page.Cursor != "" || meant == "" || !w.HasMeaning()) {
		out.Page, err = worker.Read(w.db, func(tx *store.Tx) (store.Page[Result], error) { return Find(tx, q, f, page) })
		return out, err
	}
	var by []near
	if meant != "" && w.HasMeaning() {
		var v store.Vector
		if v, out.NoMeaning = w.asked(ctx, meant); out.NoMeaning == nil {
			by, out.NoMeaning = w.near(ctx, v, f)
		}
	}
	offset := 0
	if merged {
		if offset, err = strconv.Atoi(number); err != nil {
			return out, store.Invalid("cursor", "invalid.cursor")
		}
	}
	out.Page, err = worker.Read(w.db, func(tx *store.Tx) (store.Page[Result], error) { return merge(tx, q, f, by) })
	if err != nil {
		return out, err
	}
	from := min(max(offset, 0), len(out.Items))
	to := min(from+min(cmp.Or(max(page.Limit, 0), 20), MaxResults), len(out.Items))
	if to < len(out.Items) {
		out.Next = fmt.Sprint(mergedCursor, to)
	}
	out.Items = out.Items[from:to]
	return out, nil
}

// merge merges the first messages with the words of a query with those that are near in meaning. Its Next is where those
// follow that have the words alone.
func merge(tx *store.Tx, q Query, f Filter, by []near) (store.Page[Result], error) {
	page, err := Find(tx, q, f, store.Query{Limit: mergedWords})
	if err != nil || len(by) == 0 {
		return page, err
	}
	marks, ranks := q.marks(), make(map[uint64]float64)
	for i, r := range page.Items {
		ranks[r.ID] = 1 / float64(fusion+i+1)
	}
	words := len(page.Items)
	for i, n := range by {
		if at := slices.IndexFunc(page.Items[:words], func(r Result) bool { return r.ID == n.document }); at >= 0 {
			page.Items[at].By = ByBoth
		} else {
			r, err := show(tx, match{store.Posting{ID: n.document}, n.score}, marks)
			if errors.Is(err, store.ErrNotFound) || store.IsCorrupt(err) {
				continue
			}
			if err != nil {
				return page, err
			}
			if q.excludes(&r.Document) || q.Matches(&r.Document) { // the latter come by their words, later
				continue
			}
			r.By = ByMeaning
			page.Items = append(page.Items, r)
		}
		ranks[n.document] += 1 / float64(fusion+i+1)
	}
	slices.SortStableFunc(page.Items, func(a, b Result) int {
		return cmp.Or(cmp.Compare(ranks[b.ID], ranks[a.ID]), b.Date.Compare(a.Date), cmp.Compare(a.ID, b.ID))
	})
	return page, nil
}

// excludes reports whether a document has what the query says must not be there.
func (q Query) excludes(d *store.Document) bool {
	return slices.ContainsFunc(q.clauses, func(c clause) bool { return c.not && c.in(d) })
}
