package store

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Content is a text with its title and media, from which posts are made.
type Content struct {
	ID          uint64    `json:"id"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format"`             // html, markdown or plain
	Language    string    `json:"language,omitempty"` // such as ru
	Variants    []Variant `json:"variants,omitempty"` // one for each platform at most
	Media       []Media   `json:"media,omitempty"`
	Draft       bool      `json:"draft,omitempty"` // no post is made of it before it is approved

	// Changes is how often the text was changed, and Versions are the texts before, the latest first.
	Changes   int              `json:"changes,omitempty"`
	Versions  []ContentVersion `json:"versions,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
	ChangedAt time.Time        `json:"changed_at,omitzero"` // the text
	ChangedBy string           `json:"changed_by,omitempty"`
}

// Variant is what a content says on one platform.
type Variant struct {
	Platform string   `json:"platform"`
	Text     string   `json:"text,omitempty"`     // empty: the content's
	Format   string   `json:"format,omitempty"`   // of its text
	Hashtags []string `json:"hashtags,omitempty"` // with their #; they end the text
}

// ContentVersion is what a content says, or said. Of media no versions are kept.
type ContentVersion struct {
	Number      int       `json:"number"` // 1 is the first
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Text        string    `json:"text"`
	Format      string    `json:"format"`
	Language    string    `json:"language,omitempty"`
	Variants    []Variant `json:"variants,omitempty"`
	At          time.Time `json:"at"` // when it was written
	By          string    `json:"by,omitempty"`
}

// maxVersions is how many versions of a content are kept beside the present one.
const maxVersions = 20

// Version is the present version.
func (c Content) Version() ContentVersion {
	at := c.ChangedAt
	if at.IsZero() {
		at = c.CreatedAt
	}
	return ContentVersion{c.Changes + 1, c.Title, c.Description, c.Text, c.Format, c.Language, c.Variants, at, c.ChangedBy}
}

// Keep adds a version that the content had.
func (c *Content) Keep(before ContentVersion) {
	c.Versions = append([]ContentVersion{before}, c.Versions[:min(len(c.Versions), maxVersions-1)]...)
}

// On returns what the content says on a platform, with the hashtags.
func (c Content) On(platform string) (text, format string) {
	text, format = c.Text, c.Format
	i := slices.IndexFunc(c.Variants, func(v Variant) bool { return v.Platform == platform })
	if i < 0 {
		return text, format
	}
	if v := c.Variants[i]; v.Text != "" {
		text, format = v.Text, v.Format
	}
	return strings.TrimSpace(text + "\n\n" + strings.Join(c.Variants[i].Hashtags, " ")), format
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
			{Name: "created", Key: func(c *Content, k key) key { return k.time(c.CreatedAt) }},
			{Name: "media", Key: func(c *Content, k key) key { return mediaKey(c.Media, c.CreatedAt) }},
		},
	}
}

// ByTime returns the contents, the latest first.
func (t Contents) ByTime(q Query) (Page[Content], error) { return t.page("created", nil, q, true) }

// Fill completes what is to be sent on a platform: either a text and media of its own, or those of the content with
// the given id, whose format holds unless another one is given, and what media say of themselves. It refuses both,
// and neither, with a [*FieldError].
func (t Contents) Fill(id uint64, platform string, text *string, media *[]Media, format *string) (err error) {
	if err := t.fill(id, platform, text, media, format); err != nil {
		return err
	}
	*media, err = t.in().Media.Fill(*media)
	return err
}

func (t Contents) fill(id uint64, platform string, text *string, media *[]Media, format *string) error {
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
	if content.Draft {
		return Invalid("content_id", "invalid.content_draft", id)
	}
	var own string
	*text, own = content.On(platform)
	*media = content.Media
	if *format == "" {
		*format = own
	}
	return nil
}
