package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"belfry/store"
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
}

// Content is a content as the API shows it.
type Content struct {
	ID          uint64    `json:"id"`
	ContentID   uint64    `json:"content_id" doc:"The same as id"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format" enum:"html,markdown,plain"`
	Media       []Media   `json:"media" nullable:"false"`
	CreatedAt   time.Time `json:"created_at"`
	Note        string    `json:"note,omitempty" doc:"What the caller should know about how the text was made"`
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
		b, note := in.Body, ""
		if b.Text == "" {
			note = noAI
		}
		if b.Text == "" && s.rules.HasAI() && strings.TrimSpace(b.Title+b.Description) != "" {
			var err error
			if b.Text, err = s.rules.Write(ctx, rules.Brief{Title: b.Title, Description: b.Description, Format: string(b.Format)}); err != nil {
				return nil, err
			}
			note = byAI
		}
		return func(tx *store.Tx) (Content, error) {
			made, err := posts.CreateContent(tx, posts.ContentRequest{
				Title: b.Title, Description: b.Description, Text: b.Text, Format: string(b.Format), Media: storedMedia(b.Media),
			})
			return Content{
				ID: made.ID, ContentID: made.ID, Title: made.Title, Description: made.Description,
				Text: made.Text, Format: made.Format, Media: shownMedia(made.Media), CreatedAt: made.CreatedAt, Note: note,
			}, err
		}, nil
	})
}
