package moving

import (
	"context"
	"path"
	"strings"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/posts"
)

// content reads a row of content_pieces. Its call to action and those of its hashtags that the text lacks follow the
// text.
func (w *Worker) content(_ context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error) {
	text := r.text("text")
	if more := r.text("call_to_action"); !strings.Contains(text, more) {
		text += "\n\n" + more
	}
	var tags []string
	for _, tag := range r.list("hashtags") {
		tag = "#" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(tag), "#"), " ", "_")
		if !strings.Contains(strings.ToLower(text), strings.ToLower(tag)) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 0 {
		text += "\n\n" + strings.Join(tags, " ")
	}
	request := posts.ContentRequest{Title: r.text("title"), Text: strings.TrimSpace(text), Media: mediaAt(r.list("media_urls"))}
	if r.text("text") == "" && len(request.Media) == 0 {
		r.wrong("text", "invalid.import_no_text")
	}
	return func(tx *store.Tx) (uint64, error) {
		content, err := posts.CreateContent(tx, request)
		if err != nil || was == 0 {
			return content.ID, err
		}
		old, err := tx.Contents.Get(was)
		if err != nil {
			return 0, err
		}
		if err := tx.Contents.Delete(content.ID); err != nil {
			return 0, err
		}
		content.ID, content.CreatedAt = was, old.CreatedAt
		return was, tx.Contents.Put(&content)
	}, nil
}

// mediaAt are files at addresses, of the kinds that these end with.
func mediaAt(addresses []string) (all []store.Media) {
	for _, address := range addresses {
		kind := platform.Photo
		name, _, _ := strings.Cut(address, "?")
		switch strings.ToLower(path.Ext(name)) {
		case ".mp4", ".mov", ".m4v", ".webm":
			kind = platform.Video
		case ".pdf", ".zip", ".doc", ".docx", ".txt":
			kind = platform.Document
		}
		all = append(all, store.Media{Kind: string(kind), URL: address})
	}
	return all
}
