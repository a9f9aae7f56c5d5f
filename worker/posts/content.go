package posts

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"belfry/platform"
	"belfry/store"
)

// ContentRequest is a content as somebody asks for it.
type ContentRequest struct {
	Title, Description, Text string
	Format                   string
	Language                 string
	Variants                 []store.Variant
	Media                    []store.Media
	Draft                    bool
	By                       string // who asks
}

// ContentRequestOf returns what makes a content as it is.
func ContentRequestOf(c store.Content) ContentRequest {
	return ContentRequest{
		Title: c.Title, Description: c.Description, Text: c.Text, Format: c.Format, Language: c.Language,
		Variants: c.Variants, Media: c.Media, Draft: c.Draft,
	}
}

const (
	maxContent  = 20_000 // characters of a text
	maxHashtags = 30
	maxLanguage = 35 // characters, as of the longest tags in use
)

// CreateContent writes a content. Where no text is given, the title and the description are it.
func CreateContent(tx *store.Tx, r ContentRequest) (store.Content, error) {
	content := store.Content{CreatedAt: tx.Now()}
	if err := r.fill(tx, &content); err != nil {
		return content, err
	}
	content.ChangedBy = r.By
	return content, errors.Join(tx.Media.Use(content.Media), tx.Contents.Put(&content))
}

// ChangeContent changes a content: change gets it as a request. If its text changes, the version before is kept. seen
// is the number of the version that the change was made to, which must be the present one; 0 means any. Posts that
// were made of it stay as they are.
func ChangeContent(tx *store.Tx, id uint64, seen int, change func(*ContentRequest)) (store.Content, error) {
	content, err := tx.Contents.Get(id)
	if err != nil {
		return content, err
	}
	before := content.Version()
	if seen != 0 && seen != before.Number {
		return content, store.Conflict("conflict.content_changed", id)
	}
	r := ContentRequestOf(content)
	change(&r)
	if err := r.fill(tx, &content); err != nil {
		return content, err
	}
	if !reflect.DeepEqual(before, content.Version()) {
		content.Keep(before)
		content.Changes++
		content.ChangedAt, content.ChangedBy = tx.Now(), r.By
	}
	return content, errors.Join(tx.Media.Use(content.Media), tx.Contents.Put(&content))
}

// RestoreContent gives a content the text of a version that was kept.
func RestoreContent(tx *store.Tx, id uint64, number int, by string) (store.Content, error) {
	content, err := tx.Contents.Get(id)
	if err != nil {
		return content, err
	}
	i := slices.IndexFunc(content.Versions, func(v store.ContentVersion) bool { return v.Number == number })
	if i < 0 {
		return content, store.Invalid("version", "invalid.no_version", number)
	}
	was := content.Versions[i]
	return ChangeContent(tx, id, 0, func(r *ContentRequest) {
		r.Title, r.Description, r.Text, r.Format = was.Title, was.Description, was.Text, was.Format
		r.Language, r.Variants, r.By = was.Language, was.Variants, by
	})
}

// fill checks the request and writes it into a content.
func (r ContentRequest) fill(tx *store.Tx, c *store.Content) (err error) {
	c.Title, c.Description, c.Text = strings.TrimSpace(r.Title), strings.TrimSpace(r.Description), r.Text
	c.Format, c.Language, c.Draft = r.Format, strings.TrimSpace(r.Language), r.Draft
	if c.Text == "" {
		c.Text = strings.TrimSpace(c.Title + "\n\n" + c.Description)
	}
	if c.Format == "" {
		c.Format = string(platform.Plain)
	}
	switch platform.Format(c.Format) {
	case platform.HTML, platform.Markdown, platform.Plain:
	default:
		return store.Invalid("format", "invalid.format", r.Format)
	}
	switch {
	case c.Text == "" && len(r.Media) == 0:
		return store.Invalid("title", "invalid.nothing")
	case len([]rune(c.Text)) > maxContent:
		return store.Invalid("text", "invalid.too_long", maxContent)
	case len([]rune(c.Language)) > maxLanguage:
		return store.Invalid("language", "invalid.too_long", maxLanguage)
	}
	if c.Variants, err = variants(r.Variants, c.Format); err != nil {
		return err
	}
	if c.Media, err = tx.Media.Fill(r.Media); err != nil {
		return err
	}
	for i, m := range c.Media {
		switch platform.MediaKind(m.Kind) {
		case platform.Photo, platform.Video, platform.Document:
		default:
			return store.Invalid(fmt.Sprintf("media[%d].kind", i), "invalid.not_one_of", m.Kind, "photo, video, document")
		}
	}
	return nil
}

// variants checks and completes what a content says on single platforms. One that says nothing is left out.
func variants(asked []store.Variant, format string) (all []store.Variant, err error) {
	for i, v := range asked {
		field := fmt.Sprintf("variants[%d].", i)
		v.Platform = canonical(v.Platform)
		if v.Text == "" && len(v.Hashtags) == 0 {
			continue
		}
		switch {
		case !slices.Contains(Platforms(), v.Platform):
			return nil, store.Invalid(field+"platform", "invalid.not_one_of", v.Platform, strings.Join(Platforms(), ", "))
		case slices.ContainsFunc(all, func(w store.Variant) bool { return w.Platform == v.Platform }):
			return nil, store.Invalid(field+"platform", "invalid.variant_twice", v.Platform)
		case len([]rune(v.Text)) > maxContent:
			return nil, store.Invalid(field+"text", "invalid.too_long", maxContent)
		case len(v.Hashtags) > maxHashtags:
			return nil, store.Invalid(field+"hashtags", "invalid.hashtags", maxHashtags)
		}
		v.Format = string(platform.Plain)
		if v.Platform == markup {
			v.Format = format
		}
		var tags []string
		for _, tag := range v.Hashtags {
			tag = strings.TrimLeft(strings.TrimSpace(tag), "#")
			if tag == "" || strings.ContainsFunc(tag, func(c rune) bool { return c != '_' && !unicode.In(c, unicode.L, unicode.M, unicode.N) }) {
				return nil, store.Invalid(field+"hashtags", "invalid.hashtag", tag)
			}
			tags = append(tags, "#"+tag)
		}
		v.Hashtags = tags
		all = append(all, v)
	}
	return all, nil
}

// Platforms are the platforms that a content can be written for, in the order in which they are shown.
func Platforms() []string { return []string{"telegram", "instagram", "twitter"} }

// ContentFor returns what a content says on a platform, as posts say it.
func (w *Worker) ContentFor(c store.Content, platformName string) (text, format string) {
	text, format = c.On(platformName)
	return w.asShown(platformName, text, format)
}

// PreviewsOf shows a content that is not written, as far as it can be read. The error is what is wrong with it.
func (w *Worker) PreviewsOf(r ContentRequest) ([]Preview, error) {
	var c store.Content
	err := w.db.View(func(tx *store.Tx) error { return r.fill(tx, &c) })
	return w.Previews(c), err
}

// Preview is a content as a platform shows it.
type Preview struct {
	Platform string
	Post     store.Post // its text, its format and its media
	Measure
	Refused error // why the platform would not take it; nil if it would
}

// Previews shows a content on each platform that is set up.
func (w *Worker) Previews(c store.Content) (all []Preview) {
	for _, name := range Platforms() {
		if _, err := w.network(name); err != nil {
			continue
		}
		p := Preview{Platform: name, Post: store.Post{Platform: name, Media: c.Media}}
		p.Post.Text, p.Post.Format = w.ContentFor(c, name)
		p.Measure, p.Refused = w.Measure(Request{Platform: name, Text: p.Post.Text, Format: p.Post.Format, Media: c.Media})
		all = append(all, p)
	}
	return all
}
