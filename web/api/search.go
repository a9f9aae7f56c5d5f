package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/search"
)

// FoundMessage is a message that a search has found.
type FoundMessage struct {
	ID        uint64    `json:"id"`
	ChannelID uint64    `json:"channel_id"`
	Channel   string    `json:"channel" doc:"Its @name, or its title"`
	MessageID int       `json:"message_id" doc:"Telegram's, within the channel"`
	Date      time.Time `json:"date"`
	Text      string    `json:"text"`
	Tags      []string  `json:"tags" nullable:"false"`
	Language  string    `json:"language,omitempty"`
	HasMedia  bool      `json:"has_media"`
}

// Found is a result of a search.
type Found struct {
	Message FoundMessage `json:"message"`
	Snippet string       `json:"snippet" doc:"HTML: the text is escaped, and the words that were searched for are in <mark>"`
	Link    string       `json:"link" doc:"Of the message in Telegram" example:"https://t.me/news/17"`
	Score   float64      `json:"score" doc:"3 and more: the words as they are written; 2 and more: their stems; 1 and more: their stems without a fleeting vowel; else how near the meaning is"`
	By      string       `json:"by" enum:"words,meaning,both" doc:"How it was found; by its meaning only if embeddings are set up"`
}

// SearchResults is a page of results.
type SearchResults struct {
	Items     []Found `json:"items" nullable:"false"`
	Next      string  `json:"next_cursor" doc:"cursor of the next page; empty on the last one"`
	NoMeaning string  `json:"no_meaning,omitempty" doc:"Why no messages could be found by their meaning this time; missing if they were, or if embeddings are not set up"`
}

// Watch is a saved search as the API shows it.
type Watch struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"`
	Query     string    `json:"query"`
	Channels  []uint64  `json:"channels" nullable:"false" doc:"Ids of channels; empty: all"`
	Action    string    `json:"action" enum:"notify,draft,webhook"`
	URL       string    `json:"url,omitempty"`
	Secret    string    `json:"secret,omitempty" doc:"Signs the calls of the webhook, as Standard Webhooks does; shown when it is made, and never again"`
	Active    bool      `json:"is_active"`
	Hits      int       `json:"hits" doc:"Messages that it has found"`
	LastHitAt time.Time `json:"last_hit_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
}

func shownWatch(w store.Watch) Watch {
	return Watch{
		ID: w.ID, Name: w.Name, Query: w.Query, Channels: append([]uint64{}, w.Channels...), Action: w.Action, URL: w.URL,
		Active: w.Active, Hits: w.Hits, LastHitAt: w.LastHitAt, CreatedAt: w.CreatedAt,
	}
}

type newWatch struct {
	Name     string   `json:"name" doc:"What its owner calls it"`
	Query    string   `json:"query" doc:"As in a search: words, \"a phrase\", the beginning of a word with *, and - before what must not be there"`
	Channels []number `json:"channels,omitempty" nullable:"false" doc:"Ids of channels; all if left out"`
	Action   string   `json:"action" doc:"notify, draft or webhook: what is done with each new message that matches"`
	URL      string   `json:"url,omitempty" doc:"Of webhook: called by POST"`
}

// watchPatch is a change to a watch; what is left out stays.
type watchPatch struct {
	Name     *string   `json:"name,omitempty"`
	Query    *string   `json:"query,omitempty"`
	Channels *[]number `json:"channels,omitempty"`
	Action   *string   `json:"action,omitempty"`
	URL      *string   `json:"url,omitempty"`
}

func (p watchPatch) apply(r *search.WatchRequest) {
	set(&r.Name, p.Name)
	set(&r.Query, p.Query)
	set(&r.Action, p.Action)
	set(&r.URL, p.URL)
	if p.Channels != nil {
		r.Channels = ids(*p.Channels)
	}
}

// WatchHit is a message that a watch has found.
type WatchHit struct {
	ID        uint64    `json:"id"`
	MessageID uint64    `json:"message_id" doc:"Belfry's id of the message"`
	State     string    `json:"state" enum:"waiting,done,failed"`
	PostID    uint64    `json:"post_id,omitempty" doc:"The draft that was made of it"`
	Reason    *Reason   `json:"reason,omitempty" doc:"Why it failed"`
	At        time.Time `json:"at"`
}

// RelatedChannel is a channel that another one refers to, or that refers to that one.
type RelatedChannel struct {
	Name      string `json:"name"`
	ChannelID uint64 `json:"channel_id,omitempty" doc:"Missing: it is not read"`
	Title     string `json:"title,omitempty"`
	Forwards  int    `json:"forwards" doc:"Messages of the channel that forward it"`
	Links     int    `json:"links" doc:"Messages of the channel that link to it"`
	Mentions  int    `json:"mentions" doc:"Messages of the channel that mention it"`
	CitedFrom int    `json:"cited_from" doc:"Its messages that forward, link to or mention the channel"`
}

// TagCount is a tag and how many messages have it.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// RelatedTo is what belongs to a channel.
type RelatedTo struct {
	Channels []RelatedChannel `json:"channels" nullable:"false"`
	Tags     []TagCount       `json:"tags" nullable:"false"`
}

// Trend is a tag that is more frequent than before.
type Trend struct {
	Tag    string  `json:"tag"`
	Count  int     `json:"count" doc:"Messages in the window"`
	Before float64 `json:"before" doc:"Messages in a window of the same length, on average of the four before"`
}

// Search is the door to the search.
func Search(w *search.Worker) Door {
	return func(server *Server, a *api) {
		s := searchDoor{server, w}
		operation(a, http.MethodGet, "/search", "Search the messages of channels: the words as they are written first, then their forms, each the newest first; merged with those that are near in meaning, if embeddings are set up", s.search)
		operation(a, http.MethodGet, "/trends", "List the tags that are more frequent than before", s.trends)
		operation(a, http.MethodGet, "/channels/{id}/related", "Show the channels that a channel forwards, links and mentions, those that do so with it, and its tags", s.related)
		s.tags(a)
		operation(a, http.MethodPost, "/watches", "Add a watch: a search that each new message is compared with", s.addWatch)
		operation(a, http.MethodGet, "/watches", "List the watches, the latest first", func(_ context.Context, in *Paged) (*reply[List[Watch]], error) {
			return listed(s.Server, func(tx *store.Tx) (store.Page[store.Watch], error) { return tx.Watches.ByTime(in.query()) }, plain(shownWatch))
		})
		operation(a, http.MethodGet, "/watches/{id}", "Read a watch", func(_ context.Context, in *one) (*reply[Watch], error) {
			return record(s.db.View, func(tx *store.Tx) (store.Watch, error) { return tx.Watches.Get(in.ID) }, plain(shownWatch))
		})
		operation(a, http.MethodPatch, "/watches/{id}", "Change a watch", s.changeWatch)
		operation(a, http.MethodDelete, "/watches/{id}", "Delete a watch, and what it has not done yet", func(_ context.Context, in *one) (*struct{}, error) {
			return nil, s.db.Update(func(tx *store.Tx) error { return w.RemoveWatch(tx, in.ID) })
		})
		operation(a, http.MethodPost, "/watches/{id}/pause", "Pause a watch", s.watchAction(w.PauseWatch))
		operation(a, http.MethodPost, "/watches/{id}/resume", "Resume a watch: it finds what is new from then on", s.watchAction(w.ResumeWatch))
		operation(a, http.MethodGet, "/watches/{id}/hits", "List what a watch has found, the latest first", s.hits)
	}
}

type searchDoor struct {
	*Server
	worker *search.Worker
}

type searchQuery struct {
	Query     string    `query:"q" doc:"Words, \"a phrase\", the beginning of a word with * behind it, and - before what must not be there; may be empty beside a filter" example:"скидки -билеты"`
	ChannelID uint64    `query:"channel_id" doc:"Only messages of this channel"`
	Since     time.Time `query:"since" doc:"Only messages from this time on"`
	Until     time.Time `query:"until" doc:"Only messages before this time"`
	Tag       string    `query:"tag" doc:"Only messages with this tag"`
	Language  string    `query:"language" doc:"Only messages in this language" example:"ru"`
	HasMedia  bool      `query:"has_media" doc:"true: only messages with media"`
	Limit     int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many items at most; a page that has less may still be followed by another one"`
	Cursor    string    `query:"cursor" doc:"next_cursor of the page before"`
}

func (s searchDoor) search(ctx context.Context, in *searchQuery) (*reply[SearchResults], error) {
	f := search.Filter{Since: in.Since, Until: in.Until, Tag: in.Tag, Language: in.Language, HasMedia: in.HasMedia}
	if in.ChannelID != 0 {
		f.Channels = []uint64{in.ChannelID}
	}
	found, err := s.worker.Search(ctx, in.Query, f, store.Query{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := SearchResults{Items: make([]Found, 0, len(found.Items)), Next: found.Next}
	if found.NoMeaning != nil {
		out.NoMeaning = found.NoMeaning.Error()
	}
	for _, r := range found.Items {
		out.Items = append(out.Items, Found{FoundMessage{
			r.MessageID, r.ChannelID, r.Channel.Name(), r.Message.MessageID, r.Date, r.Message.Text, append([]string{}, r.Tags...), r.Language, r.HasMedia,
		}, r.Snippet, r.Link(), r.Score, r.By})
	}
	return answer(out), nil
}

type trendsQuery struct {
	Window string `query:"window" default:"24h" doc:"How far back: up to 720h" example:"168h"`
}

func (s searchDoor) trends(_ context.Context, in *trendsQuery) (*reply[List[Trend]], error) {
	window, err := time.ParseDuration(in.Window)
	if err != nil || window < time.Hour || window > 30*24*time.Hour {
		return nil, store.Invalid("window", "invalid.search_window", 1, 720)
	}
	return within(s.db.View, func(tx *store.Tx) (List[Trend], error) {
		out := List[Trend]{Items: []Trend{}}
		for _, t := range search.Trends(tx, window) {
			out.Items = append(out.Items, Trend(t))
		}
		return out, nil
	})
}

func (s searchDoor) related(_ context.Context, in *one) (*reply[RelatedTo], error) {
	return within(s.db.View, func(tx *store.Tx) (RelatedTo, error) {
		all, tags, err := search.RelatedTo(tx, in.ID)
		out := RelatedTo{[]RelatedChannel{}, []TagCount{}}
		for _, r := range all {
			out.Channels = append(out.Channels, RelatedChannel{r.Name, r.Channel.ID, r.Channel.Title, r.Forwards, r.Links, r.Mentions, r.CitedFrom})
		}
		for _, t := range tags {
			out.Tags = append(out.Tags, TagCount(t))
		}
		return out, err
	})
}

// addWatch answers with the secret of a webhook; the answer that is kept for a repetition has none.
func (s searchDoor) addWatch(ctx context.Context, in *creation[newWatch]) (*created[Watch], error) {
	var secret string
	out, err := once(ctx, s.Server, "watches", in, func() (func(*store.Tx) (Watch, error), error) {
		b := in.Body
		return func(tx *store.Tx) (Watch, error) {
			made, err := s.worker.AddWatch(tx, search.WatchRequest{Name: b.Name, Query: b.Query, Channels: ids(b.Channels), Action: b.Action, URL: b.URL})
			secret = made.Secret
			return shownWatch(made), err
		}, nil
	})
	if err == nil && out.Replayed == "" {
		out.Body.Secret = secret
	}
	return out, err
}

type watchChange struct {
	ID   uint64 `path:"id" doc:"The watch's id"`
	Body watchPatch
}

func (s searchDoor) changeWatch(_ context.Context, in *watchChange) (*reply[Watch], error) {
	return within(s.db.Update, func(tx *store.Tx) (Watch, error) {
		before, err := tx.Watches.Get(in.ID)
		if err != nil {
			return Watch{}, err
		}
		changed, err := s.worker.ChangeWatch(tx, in.ID, in.Body.apply)
		shown := shownWatch(changed)
		if before.Secret == "" && before.Sealed == "" { // it was just made
			shown.Secret = changed.Secret
		}
		return shown, err
	})
}

// watchAction makes an operation of an action on a watch.
func (s searchDoor) watchAction(act func(*store.Tx, uint64) (store.Watch, error)) func(context.Context, *one) (*reply[Watch], error) {
	return func(_ context.Context, in *one) (*reply[Watch], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Watch, error) { return act(tx, in.ID) }, plain(shownWatch))
	}
}

type hitsQuery struct {
	ID uint64 `path:"id" doc:"The watch's id"`
	Paged
}

func (s searchDoor) hits(_ context.Context, in *hitsQuery) (*reply[List[WatchHit]], error) {
	return listed(s.Server, func(tx *store.Tx) (page store.Page[store.WatchHit], err error) {
		if _, err = tx.Watches.Get(in.ID); err == nil {
			page, err = tx.WatchHits.Of(in.ID, in.query())
		}
		return page, err
	}, plain(func(h store.WatchHit) WatchHit {
		return WatchHit{h.ID, h.MessageID, h.State, h.PostID, s.reasonOf(h.Reason), h.At}
	}))
}
