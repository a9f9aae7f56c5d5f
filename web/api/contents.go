package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/web/session"
	"belfry/worker/posts"
)

// writtenByAI is who has written a text of an AI.
const writtenByAI = "ai"

// Variant is what a content says on one network.
type Variant struct {
	Platform string   `json:"platform" doc:"telegram, instagram, twitter or x" example:"twitter"`
	Text     string   `json:"text,omitempty" doc:"Instead of the content's; in its format on Telegram, plain elsewhere"`
	Hashtags []string `json:"hashtags,omitempty" nullable:"false" doc:"Put after the text, with or without their #" example:"[\"#news\"]"`
}

// ContentVersion is what a content said before.
type ContentVersion struct {
	Version     int       `json:"version" doc:"Its number; 1 is the first"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format" enum:"html,markdown,plain"`
	Language    string    `json:"language,omitempty"`
	Variants    []Variant `json:"variants" nullable:"false"`
	At          time.Time `json:"at" doc:"When it was written"`
	By          string    `json:"by,omitempty" doc:"Who has written it"`
}

func storedVariants(all []Variant) []store.Variant {
	stored := make([]store.Variant, 0, len(all))
	for _, v := range all {
		stored = append(stored, store.Variant{Platform: v.Platform, Text: v.Text, Hashtags: v.Hashtags})
	}
	return stored
}

func shownVariants(stored []store.Variant) []Variant {
	all := make([]Variant, 0, len(stored))
	for _, v := range stored {
		all = append(all, Variant{v.Platform, v.Text, v.Hashtags})
	}
	return all
}

func shownContent(c store.Content) Content {
	now := c.Version()
	shown := Content{
		ID: c.ID, ContentID: c.ID, Title: c.Title, Description: c.Description, Text: c.Text, Format: c.Format, Media: shownMedia(c.Media),
		Language: c.Language, Status: "approved", Variants: shownVariants(c.Variants), Version: now.Number, Versions: []ContentVersion{},
		CreatedAt: c.CreatedAt, ChangedAt: now.At, ChangedBy: now.By,
	}
	if c.Draft {
		shown.Status = "draft"
	}
	for _, v := range c.Versions {
		shown.Versions = append(shown.Versions, ContentVersion{
			v.Number, v.Title, v.Description, v.Text, v.Format, v.Language, shownVariants(v.Variants), v.At, v.By,
		})
	}
	return shown
}

// isDraft reads a status.
func isDraft(status string) (bool, error) {
	switch status {
	case "", "approved":
		return false, nil
	case "draft":
		return true, nil
	}
	return false, store.Invalid("status", "invalid.not_one_of", status, "draft, approved")
}

// contentsAPI registers the operations on contents that exist.
func (s postDoor) contentsAPI(a *api) {
	operation(a, http.MethodGet, "/content", "List contents, the latest first", s.listContents)
	operation(a, http.MethodGet, "/content/{id}", "Read a content", s.readContent)
	operation(a, http.MethodPatch, "/content/{id}", "Change a content: posts that were made of it stay as they are", s.changeContent)
	operation(a, http.MethodPost, "/content/{id}/restore", "Give a content the text of a version before", s.restoreContent)
	operation(a, http.MethodGet, "/content/{id}/preview", "Show a content as each network will show it", s.previewContent)
}

func (s postDoor) listContents(_ context.Context, in *Paged) (*reply[List[Content]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Content], error) { return tx.Contents.ByTime(in.query()) }, plain(shownContent))
}

func (s postDoor) readContent(_ context.Context, in *one) (*reply[Content], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Content, error) { return tx.Contents.Get(in.ID) }, plain(shownContent))
}

// contentPatch is a change to a content; what is left out stays.
type contentPatch struct {
	Title       *string    `json:"title,omitempty"`
	Description *string    `json:"description,omitempty"`
	Text        *string    `json:"text,omitempty"`
	Format      *format    `json:"format,omitempty"`
	Media       *[]Media   `json:"media,omitempty"`
	Language    *string    `json:"language,omitempty"`
	Status      *string    `json:"status,omitempty" doc:"draft or approved"`
	Variants    *[]Variant `json:"variants,omitempty" doc:"They replace those before"`
	Version     int        `json:"version,omitempty" doc:"The version that the change was made to: 409 if it is not the present one"`
}

type contentChange struct {
	ID   uint64 `path:"id" doc:"The content's id"`
	Body contentPatch
}

func (s postDoor) changeContent(ctx context.Context, in *contentChange) (*reply[Content], error) {
	b := in.Body
	draft := false
	if b.Status != nil {
		var err error
		if draft, err = isDraft(*b.Status); err != nil {
			return nil, err
		}
	}
	change := func(r *posts.ContentRequest) {
		set(&r.Title, b.Title)
		set(&r.Description, b.Description)
		set(&r.Text, b.Text)
		set(&r.Format, (*string)(b.Format))
		set(&r.Language, b.Language)
		if b.Status != nil {
			r.Draft = draft
		}
		if b.Media != nil {
			r.Media = storedMedia(*b.Media)
		}
		if b.Variants != nil {
			r.Variants = storedVariants(*b.Variants)
		}
		r.By = string(session.CallerOf(ctx))
	}
	return record(s.db.Update, func(tx *store.Tx) (store.Content, error) {
		return posts.ChangeContent(tx, in.ID, b.Version, change)
	}, plain(shownContent))
}

type contentRestore struct {
	ID   uint64 `path:"id" doc:"The content's id"`
	Body struct {
		Version int `json:"version" doc:"The number of the version"`
	}
}

func (s postDoor) restoreContent(ctx context.Context, in *contentRestore) (*reply[Content], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Content, error) {
		return posts.RestoreContent(tx, in.ID, in.Body.Version, string(session.CallerOf(ctx)))
	}, plain(shownContent))
}

// ContentPreview is a content as a network will show it.
type ContentPreview struct {
	Platform string `json:"platform"`
	Text     string `json:"text" doc:"As its readers see it, without markup"`
	Length   int    `json:"length" doc:"As the network counts"`
	Limit    int    `json:"limit" doc:"How long it may be"`
	Problem  string `json:"problem,omitempty" doc:"Why the network would not take it"`
}

func (s postDoor) previewContent(_ context.Context, in *one) (*reply[List[ContentPreview]], error) {
	var c store.Content
	err := s.db.View(func(tx *store.Tx) (err error) {
		c, err = tx.Contents.Get(in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := List[ContentPreview]{Items: []ContentPreview{}}
	for _, p := range s.posts.Previews(c) {
		styled, _ := s.posts.Styled(p.Platform, p.Post.Format, p.Post.Text) // as it was written where it cannot be read
		shown := ContentPreview{Platform: p.Platform, Text: styled.Text, Length: p.Length, Limit: p.Limit}
		if p.Refused != nil {
			shown.Problem = ProblemOf(p.Refused).Detail
		}
		out.Items = append(out.Items, shown)
	}
	return answer(out), nil
}
