package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/search"
)

// TagRule is a rule for a tag as the API shows it.
type TagRule struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"`
	Keywords  []string  `json:"keywords" nullable:"false"`
	Pattern   string    `json:"pattern,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

func shownTag(r store.TagRule) TagRule {
	return TagRule{r.ID, r.Name, append([]string{}, r.Keywords...), r.Pattern, r.CreatedAt}
}

// TagWords says which messages get a tag.
type TagWords struct {
	Keywords []string `json:"keywords,omitempty" nullable:"false" doc:"A message with one of them, in any of its forms, gets the tag; several words must follow each other"`
	Pattern  string   `json:"pattern,omitempty" doc:"A message that this expression of RE2 matches gets the tag, too" example:"(?i)\\bскидк"`
}

type newTag struct {
	Name string `json:"name" doc:"The tag"`
	TagWords
}

// tagPatch is a change to a rule for a tag; what is left out stays.
type tagPatch struct {
	Name     *string   `json:"name,omitempty"`
	Keywords *[]string `json:"keywords,omitempty"`
	Pattern  *string   `json:"pattern,omitempty"`
}

type tagChange struct {
	ID   uint64 `path:"id" doc:"The rule's id"`
	Body tagPatch
}

// TagTrial is what a rule for a tag would match.
type TagTrial struct {
	Read    int          `json:"read" doc:"Messages of the last 7 days that were compared, the latest 5,000 at most"`
	Matched int          `json:"matched" doc:"Those of them that would get the tag"`
	Items   []TagExample `json:"items" nullable:"false" doc:"The latest five of those"`
}

// TagExample is a message that a rule matches.
type TagExample struct {
	MessageID uint64    `json:"message_id" doc:"Belfry's id of the message"`
	Channel   string    `json:"channel" doc:"Its @name, or its title"`
	Date      time.Time `json:"date"`
	Text      string    `json:"text"`
	Link      string    `json:"link" doc:"Of the message in Telegram"`
}

// tags adds the operations on rules for tags.
func (s searchDoor) tags(a *api) {
	operation(a, http.MethodPost, "/tags", "Add a rule for a tag", s.addTag)
	operation(a, http.MethodPost, "/tags/preview", "Try a rule for a tag on the messages of the last 7 days; nothing is saved", s.tryTag)
	operation(a, http.MethodGet, "/tags", "List the rules for tags", func(_ context.Context, in *Paged) (*reply[List[TagRule]], error) {
		return listed(s.Server, func(tx *store.Tx) (store.Page[store.TagRule], error) { return tx.TagRules.ByName(in.query()) }, plain(shownTag))
	})
	operation(a, http.MethodGet, "/tags/{id}", "Read a rule for a tag", func(_ context.Context, in *one) (*reply[TagRule], error) {
		return record(s.db.View, func(tx *store.Tx) (store.TagRule, error) { return tx.TagRules.Get(in.ID) }, plain(shownTag))
	})
	operation(a, http.MethodPatch, "/tags/{id}", "Change a rule for a tag; messages keep their tags until they are tagged again", s.changeTag)
	operation(a, http.MethodDelete, "/tags/{id}", "Delete a rule for a tag; messages keep theirs", func(_ context.Context, in *one) (*struct{}, error) {
		return nil, s.db.Update(func(tx *store.Tx) error { return tx.TagRules.Delete(in.ID) })
	})
}

func (s searchDoor) addTag(ctx context.Context, in *creation[newTag]) (*created[TagRule], error) {
	return once(ctx, s.Server, "tags", in, func() (func(*store.Tx) (TagRule, error), error) {
		return func(tx *store.Tx) (TagRule, error) {
			r, err := search.AddTag(tx, store.TagRule{Name: in.Body.Name, Keywords: in.Body.Keywords, Pattern: in.Body.Pattern})
			return shownTag(r), err
		}, nil
	})
}

func (s searchDoor) changeTag(_ context.Context, in *tagChange) (*reply[TagRule], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.TagRule, error) {
		return search.ChangeTag(tx, in.ID, func(r *store.TagRule) {
			set(&r.Name, in.Body.Name)
			set(&r.Keywords, in.Body.Keywords)
			set(&r.Pattern, in.Body.Pattern)
		})
	}, plain(shownTag))
}

func (s searchDoor) tryTag(_ context.Context, in *struct{ Body TagWords }) (*reply[TagTrial], error) {
	t, err := s.worker.TryTag(store.TagRule{Keywords: in.Body.Keywords, Pattern: in.Body.Pattern})
	if err != nil {
		return nil, err
	}
	out := TagTrial{t.Read, t.Matched, []TagExample{}}
	for _, e := range t.Examples {
		out.Items = append(out.Items, TagExample{e.Message.ID, e.Channel.Name(), e.Message.Date, search.TagText(e.Message), e.Channel.Link(e.Message.MessageID)})
	}
	return answer(out), nil
}
