package search

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"belfry/store"
)

// AddTag writes a rule for a tag. The errors are of type [*store.FieldError].
func AddTag(tx *store.Tx, r store.TagRule) (store.TagRule, error) {
	r.ID, r.CreatedAt = 0, tx.Now()
	return saveTag(tx, r)
}

// ChangeTag changes the rule for a tag. Messages keep their tags until they are tagged again.
func ChangeTag(tx *store.Tx, id uint64, change func(*store.TagRule)) (store.TagRule, error) {
	r, err := tx.TagRules.Get(id)
	if err != nil {
		return r, err
	}
	change(&r)
	r.ID = id
	return saveTag(tx, r)
}

func saveTag(tx *store.Tx, r store.TagRule) (store.TagRule, error) {
	if r.Name = strings.TrimSpace(r.Name); r.Name == "" || len(r.Name) > maxName {
		return r, store.Invalid("name", "invalid.search_name", maxName)
	}
	err := checkTag(&r)
	if err == nil {
		err = tx.TagRules.Put(&r)
	}
	if errors.Is(err, store.ErrExists) {
		err = store.Invalid("name", "invalid.tag_known", r.Name)
	}
	return r, err
}

// checkTag refuses a rule that cannot match.
func checkTag(r *store.TagRule) error {
	for i, keyword := range r.Keywords {
		if r.Keywords[i] = strings.TrimSpace(keyword); len(thirds(keyword)) == 0 {
			return store.Invalid("keywords", "invalid.tag_keyword", i+1)
		}
	}
	if len(r.Keywords) == 0 && r.Pattern == "" {
		return store.Invalid("keywords", "invalid.tag_empty")
	}
	if _, err := regexp.Compile(r.Pattern); err != nil {
		return store.Invalid("pattern", "invalid.tag_pattern", store.Detail(err.Error()))
	}
	return nil
}

// TagText is the text by which a message is tagged: its own, and what its picture shows.
func TagText(m store.Message) string { return strings.TrimSpace(m.Text + "\n" + m.Vision) }

// Tags returns the tags of a text by rules, sorted: where it has a keyword in any of its forms, the words of a longer one
// in a row, or where the pattern matches.
func Tags(rules []store.TagRule, text string) (all []string) {
	has := thirds(text)
	for _, r := range rules {
		if newTagger(r).matches(text, has) {
			all = append(all, r.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tagger is a rule, ready to be compared with texts.
type tagger struct {
	rows    [][]string
	pattern *regexp.Regexp // nil: there is none
}

func newTagger(r store.TagRule) (t tagger) {
	for _, keyword := range r.Keywords {
		t.rows = append(t.rows, thirds(keyword))
	}
	if r.Pattern != "" {
		t.pattern, _ = regexp.Compile(r.Pattern) // it was accepted when the rule was saved
	}
	return t
}

// matches reports whether a text, of which has are the thirds, gets the tag.
func (t tagger) matches(text string, has []string) bool {
	return slices.ContainsFunc(t.rows, func(row []string) bool { return containsRow(has, row) }) || t.pattern != nil && t.pattern.MatchString(text)
}

// thirds are the third keys of the words of a text: those that all forms of a word share, as far as may be.
func thirds(text string) (all []string) {
	for w := range words(text) {
		all = append(all, squeeze(w.folded, stem(w.folded)))
	}
	return all
}

func containsRow(has, row []string) bool {
	for i := range has {
		if i+len(row) <= len(has) && slices.Equal(has[i:i+len(row)], row) {
			return true
		}
	}
	return false
}

// Trial is what a rule for a tag would match.
type Trial struct {
	Read     int // messages of the last week that were compared, the latest
	Matched  int // those of them that would get the tag
	Examples []Example
}

// Example is a message that a rule matches.
type Example struct {
	Message store.Message
	Channel store.Channel
}

const (
	trialTime  = 7 * 24 * time.Hour
	trialMost  = 5000 // messages that are read
	trialSlice = 250  // messages that are read in one transaction
	trialShown = 5
)

// TryTag compares a rule with the messages of the last week. Nothing is written. The errors are of type
// [*store.FieldError].
func (w *Worker) TryTag(r store.TagRule) (t Trial, err error) {
	if err := checkTag(&r); err != nil {
		return t, err
	}
	rule, filter := newTagger(r), store.MessageFilter{Since: w.db.Now().Add(-trialTime)}
	for page := (store.Query{Limit: trialSlice}); t.Read < trialMost; {
		var list store.Page[store.Message]
		err := w.db.View(func(tx *store.Tx) (err error) {
			if list, err = tx.Messages.List(filter, page); err != nil {
				return err
			}
			for _, m := range list.Items {
				text := TagText(m)
				if text == "" || !m.DeletedAt.IsZero() {
					continue
				}
				t.Read++
				if !rule.matches(text, thirds(text)) {
					continue
				}
				if t.Matched++; len(t.Examples) < trialShown {
					if c, err := tx.Channels.Get(m.ChannelID); err == nil {
						t.Examples = append(t.Examples, Example{m, c})
					}
				}
			}
			return nil
		})
		if err != nil || list.Next == "" {
			return t, err
		}
		page.Cursor = list.Next
	}
	return t, nil
}

// TaggedLately counts the messages of the last week by their tags.
func TaggedLately(tx *store.Tx) map[string]int {
	return tx.Documents.CountTags(tx.Now().Add(-trialTime), tx.Now().Add(time.Second))
}
