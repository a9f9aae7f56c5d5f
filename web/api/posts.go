package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/posts"
)

// newPost is the request for a post: the text itself, or the id of a content.
type newPost struct {
	ContentID     number    `json:"content_id,omitempty" doc:"The content that goes out; or give text"`
	Text          string    `json:"text,omitempty" doc:"The text, in the given format"`
	Media         []Media   `json:"media,omitempty" doc:"What is shown with the text; two or more make an album"`
	Platform      string    `json:"platform,omitempty" doc:"telegram, instagram, twitter or x" example:"telegram"`
	IdentityID    number    `json:"identity_id,omitempty" doc:"The identity that posts; if left out the platform's only one, or the one called main"`
	Target        string    `json:"target,omitempty" doc:"Where it goes: @name, a link or a numeric id; the identity's own target if left out" example:"@evening_news"`
	Format        format    `json:"format,omitempty" doc:"html, markdown or plain (default)"`
	Targets       []Target  `json:"targets,omitempty" nullable:"false" doc:"Several places: a post to each is made, all or none. They replace platform, identity_id and target, and the answer has the posts in items"`
	Platforms     []string  `json:"platforms,omitempty" nullable:"false" doc:"Like targets: a post as the default identity of each" example:"[\"telegram\",\"x\"]"`
	ScheduledTime when      `json:"scheduled_time,omitempty" doc:"RFC 3339 with a zone" example:"2027-03-01T12:00:00+03:00"`
	Queue         bool      `json:"queue,omitempty" doc:"Instead of scheduled_time: the next free time of the identity's queue (its slots)"`
	Lateness      *Lateness `json:"lateness,omitempty" doc:"What happens if it is not out at that time, such as after an outage"`
	Silent        bool      `json:"silent,omitempty" doc:"Deliver without a sound"`
	NoLinkPreview bool      `json:"no_link_preview,omitempty" doc:"Show no preview of links"`
	AllowPast     bool      `json:"allow_past,omitempty" doc:"Accept a time that has passed: the post goes out at once"`
	NeedsApproval bool      `json:"needs_approval,omitempty" doc:"Publish the post only after a person has approved it, not before its time"`
}

func (b newPost) request() (posts.Request, error) {
	late, err := b.Lateness.stored()
	return posts.Request{
		ContentID: uint64(b.ContentID), Text: b.Text, Media: storedMedia(b.Media),
		Platform: b.Platform, IdentityID: uint64(b.IdentityID), Target: b.Target, Format: string(b.Format),
		ScheduledTime: string(b.ScheduledTime), Queue: b.Queue, Lateness: late,
		Silent: b.Silent, NoLinkPreview: b.NoLinkPreview, AllowPast: b.AllowPast, Hold: b.NeedsApproval,
	}, err
}

// Media is a file that is shown with a text.
type Media struct {
	Kind mediaKind `json:"kind,omitempty" doc:"photo, video or document; not needed with id" example:"photo"`
	ID   number    `json:"id,omitempty" doc:"A file that was uploaded to /media; or give url or file"`
	File string    `json:"file,omitempty" doc:"Path below the media folder of this server; or give url"`
	URL  string    `json:"url,omitempty" doc:"http or https address that the file is fetched from"`
	Name string    `json:"name,omitempty" doc:"File name that readers see (documents)"`
}

func storedMedia(items []Media) []store.Media {
	stored := make([]store.Media, 0, len(items))
	for _, m := range items {
		stored = append(stored, store.Media{Kind: string(m.Kind), ID: uint64(m.ID), File: m.File, URL: m.URL, Name: m.Name})
	}
	return stored
}

func shownMedia(stored []store.Media) []Media {
	items := make([]Media, 0, len(stored))
	for _, m := range stored {
		items = append(items, Media{Kind: mediaKind(m.Kind), ID: number(m.ID), File: m.File, URL: m.URL, Name: m.Name})
	}
	return items
}

// Lateness says what happens to a run whose time has passed.
type Lateness struct {
	Policy policy `json:"policy,omitempty" doc:"run_once (default): do it late; skip: not if later than grace, also after a failed attempt; run_each: make up for each missed run"`
	Grace  string `json:"grace,omitempty" doc:"With skip: how late is still in time" example:"15m"`
}

func (l *Lateness) stored() (store.Lateness, error) {
	if l == nil {
		return store.Lateness{}, nil
	}
	stored := store.Lateness{Policy: store.LatenessPolicy(l.Policy)}
	if l.Grace == "" {
		return stored, nil
	}
	if l.Policy == "" { // it would be run_once, whatever it was before
		return stored, store.Invalid("lateness.policy", "invalid.policy")
	}
	grace, err := time.ParseDuration(l.Grace)
	if err != nil {
		return stored, store.Invalid("lateness.grace", "invalid.duration", l.Grace)
	}
	stored.Grace = grace
	return stored, nil
}

func shownLateness(stored store.Lateness) Lateness {
	shown := Lateness{Policy: policy(stored.Policy)}
	if shown.Policy == "" {
		shown.Policy = policy(store.LateOnce)
	}
	if stored.Grace > 0 {
		shown.Grace = stored.Grace.String()
	}
	return shown
}

// Post is a post as the API shows it.
type Post struct {
	ID            uint64    `json:"id"`
	ContentID     uint64    `json:"content_id,omitempty"`
	RuleID        uint64    `json:"rule_id,omitempty" doc:"The rule that made it"`
	Group         uint64    `json:"group,omitempty" doc:"The first of the posts that were made together"`
	Platform      string    `json:"platform"`
	IdentityID    uint64    `json:"identity_id"`
	Target        string    `json:"target"`
	Text          string    `json:"text"`
	Format        string    `json:"format" enum:"html,markdown,plain"`
	Media         []Media   `json:"media" nullable:"false"`
	Silent        bool      `json:"silent"`
	NoLinkPreview bool      `json:"no_link_preview"`
	ScheduledTime time.Time `json:"scheduled_time"`
	Lateness      Lateness  `json:"lateness"`
	Status        string    `json:"status" doc:"scheduled, publishing, published, failed, unknown, cancelled or skipped" enum:"scheduled,publishing,published,failed,unknown,cancelled,skipped"`
	NeedsApproval bool      `json:"needs_approval" doc:"It is published only after a person has approved it"`
	Reason        *Reason   `json:"reason,omitempty" doc:"Why it has that status, or why it waits"`
	Attempts      int       `json:"attempts"`
	MessageIDs    []int64   `json:"message_ids" nullable:"false"`
	Link          string    `json:"link,omitempty" doc:"Where a reader finds it"`
	PublishedAt   time.Time `json:"published_at,omitzero"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	Job           string    `json:"job" doc:"The job that publishes it" example:"post_17"`
}

func (s postDoor) shownPost(p store.Post) Post {
	ids := p.MessageIDs
	if ids == nil {
		ids = []int64{}
	}
	return Post{
		ID: p.ID, ContentID: p.ContentID, RuleID: p.RuleID, Group: p.Group, Platform: p.Platform, IdentityID: p.IdentityID, Target: p.Target,
		Text: p.Text, Format: p.Format, Media: shownMedia(p.Media), Silent: p.Silent, NoLinkPreview: p.NoLinkPreview,
		ScheduledTime: p.ScheduledTime, Lateness: shownLateness(p.Lateness), Status: string(p.Status), NeedsApproval: p.AwaitsApproval(),
		Reason: s.reasonOf(p.Reason), Attempts: p.Attempts, MessageIDs: ids, Link: p.Link,
		PublishedAt: p.PublishedAt, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, Job: p.JobName(),
	}
}

// Posts is the door to posts.
func Posts(w *posts.Worker) Door {
	return func(server *Server, a *api) {
		s := postDoor{server, w}
		operation(a, http.MethodPost, "/scheduled-posts", "Schedule a post", s.createPost)
		operation(a, http.MethodPost, "/scheduled-posts/groups/{id}/cancel", "Cancel the posts that were made together: each that can still be cancelled is", s.cancelGroup)
		operation(a, http.MethodGet, "/scheduled-posts", "List posts, the latest scheduled time first", s.listPosts)
		operation(a, http.MethodGet, "/scheduled-posts/{id}", "Read a post", s.readPost)
		operation(a, http.MethodPatch, "/scheduled-posts/{id}", "Change a post that has not gone out: one that was cancelled or skipped, or has failed, is scheduled again", s.changePost)
		operation(a, http.MethodDelete, "/scheduled-posts/{id}", "Cancel a post; it stays on record", s.postAction((*posts.Worker).Cancel))
		operation(a, http.MethodPost, "/scheduled-posts/{id}/approve", "Approve a post: it is published at its time, or at once if that has passed", s.postAction((*posts.Worker).Approve))
		operation(a, http.MethodPost, "/scheduled-posts/{id}/retry", "Send a failed or unknown post again", s.postAction((*posts.Worker).Retry))
		operation(a, http.MethodPost, "/scheduled-posts/{id}/mark-published", "Say that an unknown post is published", s.postAction((*posts.Worker).MarkPublished))
		s.contentsAPI(a)
		operation(a, http.MethodPost, "/scheduled-posts/{id}/publish-now", "Publish a post now; this also approves it", s.postAction((*posts.Worker).PublishNow))
	}
}

type postDoor struct {
	*Server
	posts *posts.Worker
}

// postPatch is a change to a post; what is left out stays.
type postPatch struct {
	Text          *string   `json:"text,omitempty"`
	Media         *[]Media  `json:"media,omitempty" doc:"They replace those before"`
	Format        *format   `json:"format,omitempty"`
	IdentityID    *number   `json:"identity_id,omitempty"`
	Target        *string   `json:"target,omitempty"`
	ScheduledTime *when     `json:"scheduled_time,omitempty" doc:"RFC 3339 with a zone"`
	Queue         bool      `json:"queue,omitempty" doc:"Instead of scheduled_time: the next free time of the identity's queue (its slots)"`
	Lateness      *Lateness `json:"lateness,omitempty"`
	Silent        *bool     `json:"silent,omitempty"`
	NoLinkPreview *bool     `json:"no_link_preview,omitempty"`
	AllowPast     bool      `json:"allow_past,omitempty" doc:"Accept a time that has passed"`
}

func (b postPatch) patch() (posts.Patch, error) {
	p := posts.Patch{
		Text: b.Text, Format: (*string)(b.Format), IdentityID: (*uint64)(b.IdentityID), Target: b.Target,
		ScheduledTime: (*string)(b.ScheduledTime), Queue: b.Queue, Silent: b.Silent, NoLinkPreview: b.NoLinkPreview, AllowPast: b.AllowPast,
	}
	if b.Media != nil {
		stored := storedMedia(*b.Media)
		p.Media = &stored
	}
	if b.Lateness != nil {
		late, err := b.Lateness.stored()
		if err != nil {
			return p, err
		}
		p.Lateness = &late
	}
	return p, nil
}

type postChange struct {
	ID   uint64 `path:"id" doc:"The post's id"`
	Body postPatch
}

func (s postDoor) changePost(ctx context.Context, in *postChange) (*reply[Post], error) {
	patch, err := in.Body.patch()
	if err != nil {
		return nil, err
	}
	draft, err := s.posts.PrepareChange(ctx, in.ID, patch)
	if err != nil {
		return nil, err
	}
	return record(s.db.Update, func(tx *store.Tx) (store.Post, error) { return s.posts.Change(tx, in.ID, draft) }, plain(s.shownPost))
}

func (s postDoor) createPost(ctx context.Context, in *creation[newPost]) (*created[MadePosts], error) {
	return once(ctx, s.Server, "scheduled-posts", in, func() (func(*store.Tx) (MadePosts, error), error) {
		request, err := in.Body.request()
		if err != nil {
			return nil, err
		}
		if in.Body.Targets != nil || in.Body.Platforms != nil {
			return s.createGroup(ctx, in.Body, request)
		}
		draft, err := s.posts.Prepare(ctx, request)
		if err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (MadePosts, error) {
			p, err := s.posts.Schedule(tx, draft)
			if err == nil {
				err = s.posts.TellHeld(tx, p)
			}
			shown := s.shownPost(p)
			return MadePosts{Post: &shown}, err
		}, nil
	})
}

type postFilter struct {
	Paged
	Status        string `query:"status" enum:"scheduled,publishing,published,failed,unknown,cancelled,skipped" doc:"Only posts that have this status"`
	NeedsApproval bool   `query:"needs_approval" doc:"Only posts that need approval, the earliest first"`
	Group         uint64 `query:"group" doc:"Only the posts that were made together, whatever their status"`
}

func (s postDoor) listPosts(_ context.Context, in *postFilter) (*reply[List[Post]], error) {
	return listed(s.Server, func(tx *store.Tx) (none store.Page[store.Post], err error) {
		status := store.PostStatus(in.Status)
		switch {
		case in.Group != 0:
			return tx.Posts.OfGroup(in.Group, in.query())
		case !in.NeedsApproval:
			return tx.Posts.ByTime(status, in.query())
		case status == "" || status == store.PostScheduled:
			return tx.Posts.Held(in.query())
		}
		return none, nil
	}, plain(s.shownPost))
}

func (s postDoor) readPost(_ context.Context, in *one) (*reply[Post], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Post, error) { return tx.Posts.Get(in.ID) }, plain(s.shownPost))
}

// postAction makes an operation of an action on a post.
func (s postDoor) postAction(act func(*posts.Worker, *store.Tx, uint64) (store.Post, error)) func(context.Context, *one) (*reply[Post], error) {
	return func(_ context.Context, in *one) (*reply[Post], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Post, error) { return act(s.posts, tx, in.ID) }, plain(s.shownPost))
	}
}
