package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"belfry/platform/ai"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/search"
)

const (
	maxTags = 20  // that a message may have
	maxTag  = 100 // bytes of one that the AI chooses, as of one with a rule
)

// tag is the stage that tags messages by the owner's rules and, if that is set, by the AI. It is carried out once more
// when it is known what a picture shows. Search and watches come after it, so nothing waits for an AI that does not choose:
// such a message has the tags of the rules.
func (w *Worker) tag(name string, from store.Topic) Stage {
	s := Stage{Name: name, From: from, To: store.TopicTagged, Batch: 64, Parallel: 1, Deadline: 10 * time.Second, Attempts: 5}
	if w.askTags() {
		s.Batch, s.Parallel, s.Deadline = 8, 4, ai.Deadline+10*time.Second
	}
	s.Work = func(ctx context.Context, _ store.Event, m store.Message) (Result, error) {
		text := search.TagText(m)
		if text == "" || !m.DeletedAt.IsZero() {
			return Result{}, nil
		}
		rules, err := worker.Read(w.db, func(tx *store.Tx) ([]store.TagRule, error) { return slices.Collect(tx.TagRules.All()), nil })
		if err != nil {
			return Result{}, err
		}
		tags := search.Tags(rules, text)
		var why store.Reason
		if w.askTags() {
			chosen, err := w.chooseTags(ctx, rules, text)
			if err != nil {
				why = store.Reason{Code: store.ReasonError, Detail: store.Shorten(err.Error(), 500)}
			}
			tags = append(tags, chosen...)
		}
		return Result{Why: why, Write: func(_ *store.Tx, m *store.Message) error {
			if search.TagText(*m) != text { // it was edited or its picture described meanwhile, and an event tells of that
				return nil
			}
			all := slices.Clone(tags)
			if !why.Zero() { // what the AI chose before stays
				all = append(all, slices.DeleteFunc(m.Tags, func(tag string) bool {
					return slices.ContainsFunc(rules, func(rule store.TagRule) bool { return rule.Name == tag })
				})...)
			}
			slices.Sort(all)
			all = slices.Compact(all)
			m.Tags, m.Language = all[:min(len(all), maxTags)], search.Language(text)
			return nil
		}}, nil
	}
	return s
}

// hang is a question about tags that the AI had no answer to in its time.
type hang struct {
	at  time.Time
	err error
}

// hangPause is how long no tags are asked for after that: else whatever is searched and watched would wait for the AI.
const hangPause = 5 * time.Minute

func (w *Worker) askTags() bool { return w.cfg.AITags && w.cfg.Ask != nil }

// chooseTags has the AI choose tags for a text, among those of the owner if there are any.
func (w *Worker) chooseTags(ctx context.Context, rules []store.TagRule, text string) ([]string, error) {
	if last := w.hung.Load(); last != nil && time.Since(last.at) < hangPause {
		return nil, last.err
	}
	task := "You tag messages of channels. Answer with a JSON array of up to five short lower-case tags in the language of the message, and nothing else."
	if len(rules) > 0 {
		names := make([]string, len(rules))
		for i, rule := range rules {
			names[i] = rule.Name
		}
		task += " Prefer these tags: " + strings.Join(names, ", ") + "."
	}
	answer, err := w.cfg.Ask(ctx, []ai.Message{{Role: "system", Content: task}, {Role: "user", Content: store.Shorten(text, 4000)}})
	if errors.Is(err, context.DeadlineExceeded) {
		w.hung.Store(&hang{time.Now(), err})
	}
	if err != nil {
		return nil, err
	}
	from, to := strings.Index(answer, "["), strings.LastIndex(answer, "]") // models like to say more
	var tags []string
	if from < 0 || to < from {
		return nil, fmt.Errorf("the AI answered with no array of tags: %s", store.Shorten(answer, 100))
	}
	if err := json.Unmarshal([]byte(answer[from:to+1]), &tags); err != nil {
		return nil, fmt.Errorf("the AI answered with no array of tags: %w", err)
	}
	var good []string
	for _, tag := range tags {
		tag = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(tag, "#")))
		if at := slices.IndexFunc(rules, func(r store.TagRule) bool { return strings.EqualFold(r.Name, tag) }); at >= 0 {
			tag = rules[at].Name // and no second tag beside it
		}
		if tag != "" && len(tag) <= maxTag && len(good) < 5 {
			good = append(good, tag)
		}
	}
	return good, nil
}
