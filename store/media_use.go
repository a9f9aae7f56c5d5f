package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Fill completes media that name uploaded files: what kind they are, unless they are to be shown as documents, and
// what they are called. One that does not exist is refused with a [*FieldError].
func (t MediaFiles) Fill(media []Media) ([]Media, error) {
	media = slices.Clone(media)
	for i, m := range media {
		if m.ID == 0 {
			continue
		}
		f, err := t.Whole(m.ID)
		if errors.Is(err, ErrNotFound) {
			return nil, Invalid(fmt.Sprintf("media[%d].id", i), "invalid.no_media", m.ID)
		}
		if err != nil {
			return nil, err
		}
		if m.Kind != "document" {
			media[i].Kind = f.Kind
		}
		if m.Name == "" {
			media[i].Name = f.Name
		}
	}
	return media, nil
}

// Use notes that the uploaded files are used now. One that does not exist any more is refused with a [*FieldError].
func (t MediaFiles) Use(media []Media) error {
	if _, err := t.Fill(media); err != nil {
		return err
	}
	for _, m := range media {
		if m.ID == 0 {
			continue
		}
		f, err := t.Get(m.ID)
		if err != nil {
			return err
		}
		f.UsedAt = t.in().Now()
		if err := t.Put(&f); err != nil {
			return err
		}
	}
	return nil
}

// MediaUser is what uses an uploaded file: a content, a rule, or a post or task that has not ended.
type MediaUser struct {
	Kind string // content, rule, post or task
	ID   uint64
}

// Users returns for each uploaded file that is used the first that uses it.
func (t MediaFiles) Users() map[uint64]MediaUser {
	users := make(map[uint64]MediaUser)
	note := func(kind string, id uint64, media []Media) {
		for _, m := range media {
			if _, known := users[m.ID]; !known && m.ID != 0 {
				users[m.ID] = MediaUser{kind, id}
			}
		}
	}
	for p := range t.in().Posts.scan("media", nil, nil) {
		note("post", p.ID, p.Media)
	}
	for task := range t.in().Tasks.scan("media", nil, nil) {
		note("task", task.ID, task.Media)
	}
	for c := range t.in().Contents.scan("media", nil, nil) {
		note("content", c.ID, c.Media)
	}
	for r := range t.in().Rules.All() {
		note("rule", r.ID, r.Content.Media)
	}
	return users
}

// mediaKey is the key of a row in the index of those that use uploaded files; nil if it uses none.
func mediaKey(media []Media, at time.Time) []byte {
	if !slices.ContainsFunc(media, func(m Media) bool { return m.ID != 0 }) {
		return nil
	}
	return key(nil).time(at)
}
