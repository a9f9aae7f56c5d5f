package pipeline

import (
	"context"
	"errors"

	"belfry/platform/ai"
	"belfry/store"
	"belfry/worker"
)

// vision is the stage that has the AI describe the picture of a message. The picture was fetched with the message and is
// kept until then.
func (w *Worker) vision() Stage {
	s := Stage{Name: "vision", From: store.TopicParsed, To: store.TopicVision, Batch: 8, Parallel: 4, Deadline: ai.Deadline, Attempts: 12, OnlyDone: true}
	s.Off = !w.Sees()
	s.Work = func(ctx context.Context, _ store.Event, m store.Message) (Result, error) {
		if !m.DeletedAt.IsZero() || m.Media == nil || m.Media.Kind != "photo" {
			return Result{}, nil
		}
		photo, err := worker.Read(w.db, func(tx *store.Tx) (store.Photo, error) { return tx.Photos.Of(m.ID) })
		if errors.Is(err, store.ErrNotFound) && m.Vision != "" { // it was described before
			return Result{}, nil
		}
		if errors.Is(err, store.ErrNotFound) {
			return Result{Why: store.Reason{Code: store.ReasonNoPhoto}}, nil
		}
		if err != nil {
			return Result{}, err
		}
		said, err := w.cfg.Ask(ctx, []ai.Message{
			{Role: "system", Content: "You describe pictures for a search index. Say in two or three sentences what is seen, and repeat the text that stands in the picture. Write in the language of that text, else in English."},
			{Role: "user", Content: "Describe this picture.", Image: photo.Data, ImageType: photo.Type},
		})
		if err != nil {
			return Result{}, err
		}
		return Result{Write: func(tx *store.Tx, m *store.Message) error {
			m.Vision = store.Shorten(said, 4000)
			if err := tx.Photos.Delete(photo.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil // it is gone if another event about the message is in the same batch
		}}, nil
	}
	return s
}

// Sees reports whether pictures are described, and have to be fetched for that.
func (w *Worker) Sees() bool { return w.cfg.Vision && w.cfg.Ask != nil }
