package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"belfry/store"
	"belfry/web/session"
	"belfry/worker/posts"
	"belfry/worker/rules"
)

// newContent is the request for a content.
type newContent struct {
	Title       string  `json:"title,omitempty" doc:"What it is about"`
	Description string  `json:"description,omitempty" doc:"What it should say"`
	Text        string  `json:"text,omitempty" doc:"The finished text; written by an AI if left out, or made of title and description where none is set up"`
	Format      format  `json:"format,omitempty" doc:"html, markdown or plain (default)"`
	Media       []Media `json:"media,omitempty"`
	Picture     bool    `json:"picture,omitempty" doc:"Have an AI make a picture of title and description, too; it is added to media"`

	Language string    `json:"language,omitempty" doc:"Of the text, also of what an AI writes" example:"ru"`
	Status   string    `json:"status,omitempty" doc:"approved (default), or draft: no post is made of it before it is approved"`
	Variants []Variant `json:"variants,omitempty" nullable:"false" doc:"What posts of single networks say instead"`
}

// Content is a content as the API shows it.
type Content struct {
	ID          uint64           `json:"id"`
	ContentID   uint64           `json:"content_id" doc:"The same as id"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Text        string           `json:"text"`
	Format      string           `json:"format" enum:"html,markdown,plain"`
	Media       []Media          `json:"media" nullable:"false"`
	Language    string           `json:"language,omitempty"`
	Status      string           `json:"status" doc:"draft: no post is made of it before it is approved" enum:"draft,approved"`
	Variants    []Variant        `json:"variants" nullable:"false"`
	Version     int              `json:"version" doc:"The number of this version"`
	Versions    []ContentVersion `json:"versions" nullable:"false" doc:"The versions before, the latest first; 20 are kept"`
	CreatedAt   time.Time        `json:"created_at"`
	ChangedAt   time.Time        `json:"changed_at" doc:"When this version was written"`
	ChangedBy   string           `json:"changed_by,omitempty" doc:"Who has written it"`
	Note        string           `json:"note,omitempty" doc:"What the caller should know about how the text was made"`
}

// What the caller should know about a text.
const (
	noAI  = "No AI is set up, so the text was made of title and description as they are."
	notAI = "No AI is set up, so the posts say title and description as they are."
	byAI  = "The text was written by an AI."
)

// contentAPI registers the operations on contents.
func (s ruleDoor) contentAPI(a *api) {
	operation(a, http.MethodPost, "/content/create", "Make a content, from which posts are made: without a text, an AI writes it", s.createContent, patient)
}

func (s ruleDoor) createContent(ctx context.Context, in *creation[newContent]) (*created[Content], error) {
	return once(ctx, s.Server, "content", in, func() (func(*store.Tx) (Content, error), error) {
		b, note, by := in.Body, "", string(session.CallerOf(ctx))
		draft, err := isDraft(b.Status)
		if err != nil {
			return nil, err
		}
		if b.Text == "" {
			note = noAI
		}
		if b.Text == "" && s.rules.HasAI() && strings.TrimSpace(b.Title+b.Description) != "" {
			b.Text, err = s.rules.Write(ctx, rules.Brief{Title: b.Title, Description: b.Description, Format: string(b.Format), Language: b.Language})
			if err != nil {
				return nil, err
			}
			note, by = byAI, writtenByAI
		}
		if b.Picture {
			drawn, err := s.rules.Draw(ctx, rules.Brief{Title: b.Title, Description: b.Description})
			if err != nil {
				return nil, err
			}
			b.Media = append(b.Media, Media{ID: number(drawn.ID)})
		}
		return func(tx *store.Tx) (Content, error) {
			made, err := posts.CreateContent(tx, posts.ContentRequest{
				Title: b.Title, Description: b.Description, Text: b.Text, Format: string(b.Format), Media: storedMedia(b.Media),
				Language: b.Language, Draft: draft, Variants: storedVariants(b.Variants), By: by,
			})
			shown := shownContent(made)
			shown.Note = note
			return shown, err
		}, nil
	})
}
