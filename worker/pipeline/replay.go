package pipeline

import (
	"fmt"
	"time"

	"belfry/store"
)

// Replay names what is handled once more.
type Replay struct {
	Stage     string
	MessageID uint64 // of the store; 0: all messages of a channel
	ChannelID uint64 // 0: those of all channels
	// Since is the date of the oldest. With none of the three it is whatever the stage has parked.
	Since time.Time
}

// Estimate is what a replay asks for.
type Estimate struct {
	Messages   int
	AIRequests int
	AITokens   int // roughly
}

// Tokens that one question about a message takes, roughly: a picture is many, a text few.
const (
	visionTokens = 1200
	tagTokens    = 600
	embedTokens  = 200
	mostReplayed = 100_000 // messages of one replay
)

// Replay has a stage handle messages once more, and what follows from it; with estimate it only says how many and what the
// AI is asked.
func (w *Worker) Replay(tx *store.Tx, r Replay, estimate bool) (e Estimate, err error) {
	stage, err := w.stage(r.Stage)
	if err != nil {
		return e, err
	}
	ids, err := w.replayed(tx, stage, r)
	if err != nil {
		return e, err
	}
	e.Messages = len(ids)
	switch {
	case stage.Name == "vision" && !stage.Off:
		e.AIRequests, e.AITokens = len(ids), len(ids)*visionTokens
	case w.askTags() && (stage.Name == "tag" || stage.Name == "retag"):
		e.AIRequests, e.AITokens = len(ids), len(ids)*tagTokens
	case stage.Name == "embed":
		e.AIRequests, e.AITokens = (len(ids)+embedBatch-1)/embedBatch, len(ids)*embedTokens
	}
	if estimate {
		return e, nil
	}
	for _, id := range ids {
		if err := tx.Streams.Replay(stage.Name, id); err != nil {
			return e, err
		}
	}
	return e, nil
}

// replayed returns the messages that a replay names.
func (w *Worker) replayed(tx *store.Tx, stage Stage, r Replay) (ids []uint64, err error) {
	switch {
	case r.MessageID != 0:
		if _, err := tx.Messages.Get(r.MessageID); err != nil {
			return nil, err
		}
		return []uint64{r.MessageID}, nil
	case r.ChannelID != 0 || !r.Since.IsZero():
		messages := tx.Messages.Since(r.Since)
		if r.ChannelID != 0 {
			if _, err := tx.Channels.Get(r.ChannelID); err != nil {
				return nil, err
			}
			messages = tx.Messages.Of(r.ChannelID, 0, 0)
		}
		for m := range messages {
			if m.Date.Before(r.Since) || !passes(m) {
				continue
			}
			if ids = append(ids, m.ID); len(ids) > mostReplayed {
				return nil, store.Conflict("conflict.replay", mostReplayed)
			}
		}
		return ids, nil
	}
	group, err := tx.Streams.Groups.ByName(stage.Name)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	for item := range tx.Streams.Items.ParkedBy(group.ID) {
		if ids = append(ids, item.Event.Message); len(ids) > mostReplayed {
			return nil, store.Conflict("conflict.replay", mostReplayed)
		}
	}
	return ids, nil
}
