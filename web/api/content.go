package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/posts"
)

// newContent is the request for a content.
type newContent struct {
	Title       string  `json:"title,omitempty" doc:"What it is about"`
	Description string  `json:"description,omitempty" doc:"What it should say"`
	Text        string  `json:"text,omitempty" doc:"The finished text; made of title and description if left out"`
	Format      string  `json:"format,omitempty" doc:"html, markdown or plain (default)"`
	Media       []Media `json:"media,omitempty"`
}

// Content is a content as the API shows it.
type Content struct {
	ID          uint64    `json:"id"`
	ContentID   uint64    `json:"content_id" doc:"The same as id"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format"`
	Media       []Media   `json:"media"`
	CreatedAt   time.Time `json:"created_at"`
	Note        string    `json:"note,omitempty" doc:"What the caller should know about how the text was made"`
}

// noAI tells why the text is what it is.
const noAI = "No AI is set up, so the text was made of title and description as they are."

// contentAPI registers the operations on contents.
func (s *Server) contentAPI(a *api) {
	operation(a, http.MethodPost, "/content/create", "Make a content, from which posts are made", s.createContent)
}

func (s *Server) createContent(ctx context.Context, in *creation[newContent]) (*created[Content], error) {
	return once(ctx, s, "content", in, func() (func(*store.Tx) (Content, error), error) {
		return func(tx *store.Tx) (Content, error) {
			made, err := posts.CreateContent(tx, posts.ContentRequest{
				Title: in.Body.Title, Description: in.Body.Description, Text: in.Body.Text,
				Format: in.Body.Format, Media: storedMedia(in.Body.Media),
			})
			shown := Content{
				ID: made.ID, ContentID: made.ID, Title: made.Title, Description: made.Description,
				Text: made.Text, Format: made.Format, Media: shownMedia(made.Media), CreatedAt: made.CreatedAt,
			}
			if in.Body.Text == "" {
				shown.Note = noAI
			}
			return shown, err
		}, nil
	})
}
