package store

import "time"

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

// Media is a file that is shown with a text. Exactly one of File and URL is set.
type Media struct {
	Kind string `json:"kind"` // photo, video or document
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
		},
	}
}
