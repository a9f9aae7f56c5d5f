package store

import (
	"errors"
	"time"
)

// Content is a text with its title and media, from which posts are made.
type Content struct {
	ID          uint64    `json:"id"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format"` // html, markdown or plain
	Media       []Media   `json:"media,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// Media is a file that is shown with a text. Exactly one of ID, File and URL is set.
type Media struct {
	Kind string `json:"kind"`         // photo, video or document
	ID   uint64 `json:"id,omitempty"` // of an uploaded one
	File string `json:"file,omitempty"`
	URL  string `json:"url,omitempty"`
	Name string `json:"name,omitempty"`
}

// Contents is the table of contents.
type Contents struct{ Table[Content] }

func contentTable() def[Content] {
	return def[Content]{
		name: "contents",
		id:   func(c *Content) *uint64 { return &c.ID },
		indexes: []Index[Content]{
			// Every table has an index that all its rows are in: so Verify misses a row that is gone.
			{Name: "created", Key: func(c *Content) []byte { return key(nil).time(c.CreatedAt) }},
			{Name: "media", Key: func(c *Content) []byte { return mediaKey(c.Media, c.CreatedAt) }},
		},
	}
}

// Fill completes what is to be sent: either a text and media of its own, or those of the content with
// the given id, whose format holds unless another one is given, and what media say of themselves. It refuses both,
// and neither, with a [*FieldError].
func (t Contents) Fill(id uint64, text *string, media *[]Media, format *string) (err error) {
	if err := t.fill(id, text, media, format); err != nil {
		return err
	}
	*media, err = t.tx.Media.Fill(*media)
	return err
}

func (t Contents) fill(id uint64, text *string, media *[]Media, format *string) error {
	given := *text != "" || len(*media) > 0
	switch {
	case id == 0 && !given:
		return Invalid("text", "invalid.no_text")
	case id == 0:
		return nil
	case given:
		return Invalid("content_id", "invalid.content_and_text")
	}
	content, err := t.Get(id)
	if errors.Is(err, ErrNotFound) {
		return Invalid("content_id", "invalid.no_content", id)
	}
	if err != nil {
		return err
	}
	*text, *media = content.Text, content.Media
	if *format == "" {
		*format = content.Format
	}
	return nil
}
