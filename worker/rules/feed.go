package rules

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"belfry/platform/feed"
	"belfry/store"
)

// maxMemory bounds the marks of a feed's items that are remembered. Those of the items that the feed has now always are.
const maxMemory = 10_000

// feedTemplate is how an item of a feed is posted.
func feedTemplate(c store.RuleContent) string { return cmp.Or(c.Template, "{title}\n\n{link}") }

// readFeed returns the texts of the oldest items of a rule's feed that it has not posted.
func (w *Worker) readFeed(ctx context.Context, r store.Rule) (t texts, err error) {
	items, err := w.sources.Feed(ctx, r.Content.FeedURL)
	if err != nil {
		return t, err
	}
	var memory store.FeedMemory
	err = w.db.View(func(tx *store.Tx) (err error) {
		if memory, err = tx.FeedMemories.Of(r.ID); errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return t, err
	}
	seen := make(map[[8]byte]bool)
	for mark := range slices.Chunk(memory.Marks, 8) {
		seen[[8]byte(mark)] = true
	}
	texts := r.TextsMade()
	var places [][8]byte // of items whose marks alone are known, from before both were remembered
	for _, i := range items {
		t.present = append(t.present, i.Mark, i.Place)
		switch {
		case seen[i.Mark] && !seen[i.Place]:
			places = append(places, i.Place)
		case seen[i.Mark] || seen[i.Place] || len(t.all) == r.Content.PerRun:
			continue
		default:
			r.Texts = texts + len(t.all)
			t.all, t.marks = append(t.all, w.itemText(r, i)), append(t.marks, i.Mark, i.Place)
		}
		seen[i.Mark], seen[i.Place] = true, true
	}
	t.marks = append(t.marks, places...)
	if len(t.all) == 0 {
		t.why = store.Reason{Code: store.ReasonNothingNew}
	}
	return t, nil
}

func (w *Worker) itemText(r store.Rule, i feed.Item) string {
	return w.fill(r, feedTemplate(r.Content), []string{"{title}", i.Title, "{link}", i.Link, "{summary}", i.Summary})
}

// remember writes that items of a feed were posted. Of those that the feed does not have any more, the oldest are
// forgotten.
func remember(tx *store.Tx, ruleID uint64, marks, present [][8]byte) error {
	if len(marks) == 0 {
		return nil
	}
	memory, err := tx.FeedMemories.Of(ruleID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	memory.RuleID = ruleID
	for _, mark := range marks {
		memory.Marks = append(memory.Marks, mark[:]...)
	}
	if over := len(memory.Marks)/8 - maxMemory; over > 0 {
		stays := make(map[[8]byte]bool)
		for _, mark := range present {
			stays[mark] = true
		}
		var kept []byte
		for mark := range slices.Chunk(memory.Marks, 8) {
			if over > 0 && !stays[[8]byte(mark)] {
				over--
				continue
			}
			kept = append(kept, mark...)
		}
		memory.Marks = kept
	}
	return tx.FeedMemories.Put(&memory)
}
