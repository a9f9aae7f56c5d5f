package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"belfry/store"
	"belfry/worker/pipeline"
)

// Stage is how a stage of the pipeline stands. What went in is what was done, was skipped, is tried again, is parked or
// waits.
type Stage struct {
	Stage     string    `json:"stage" example:"tag"`
	Group     string    `json:"group" doc:"The stream that it takes events from" example:"posts.parsed"`
	Off       bool      `json:"off,omitempty" doc:"It is switched off: messages pass it as they are"`
	In        uint64    `json:"in"`
	Done      uint64    `json:"done"`
	Skipped   uint64    `json:"skipped" doc:"There was nothing to do"`
	Retrying  uint64    `json:"retrying"`
	Parked    uint64    `json:"parked" doc:"Given up, and kept until it is replayed"`
	Waiting   uint64    `json:"waiting"`
	Lost      int64     `json:"lost" doc:"0 unless the file is damaged"`
	Lag       uint64    `json:"lag" doc:"Waiting and retrying"`
	Oldest    time.Time `json:"oldest,omitzero" doc:"Since when the oldest event is not handled"`
	Rate      float64   `json:"rate" doc:"Events in a minute, lately"`
	HeldUntil time.Time `json:"held_until,omitzero" doc:"What it needs cannot be had before"`
	LastAt    time.Time `json:"last_at,omitzero" doc:"When it handled something last"`
	LastError *Reason   `json:"last_error,omitempty"`
	ErrorAt   time.Time `json:"last_error_at,omitzero"`
}

// Stamp is what a stage made of a message.
type Stamp struct {
	Stage    string    `json:"stage"`
	State    string    `json:"state" enum:"done,skipped,retrying,parked,waiting"`
	At       time.Time `json:"at,omitzero"`
	Attempts int       `json:"attempts,omitempty" doc:"Attempts that failed"`
	Reason   *Reason   `json:"reason,omitempty"`
}

// ParkedItem is a message that a stage has given up.
type ParkedItem struct {
	Message  uint64    `json:"message_id" doc:"The id of the message"`
	At       time.Time `json:"at" doc:"When it was tried last"`
	Attempts int       `json:"attempts"`
	Reason   *Reason   `json:"reason,omitempty"`
}

// Pipeline is the door to the stages that messages of channels pass.
func Pipeline(w *pipeline.Worker) Door {
	return func(server *Server, a *api) {
		s := pipelineDoor{server, w}
		operation(a, http.MethodGet, "/pipeline", "List the stages, in the order in which a message passes them", s.list)
		operation(a, http.MethodGet, "/pipeline/{stage}/parked", "List what a stage has given up, the latest first", s.parked)
		operation(a, http.MethodPost, "/pipeline/replay", "Have a stage handle messages once more: one, those of a channel or of a time, or what is parked", s.replay,
			func(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusNotFound) })
		operation(a, http.MethodGet, "/messages/{id}/passport", "Read what the stages made of a message", s.passport)
	}
}

type pipelineDoor struct {
	*Server
	pipeline *pipeline.Worker
}

// Stages is the list of stages.
type Stages struct {
	Stages []Stage `json:"stages" nullable:"false"`
}

func (s pipelineDoor) list(context.Context, *struct{}) (*reply[Stages], error) {
	return within(s.db.View, func(tx *store.Tx) (Stages, error) {
		out := Stages{Stages: []Stage{}}
		for _, st := range s.pipeline.Statuses(tx) {
			out.Stages = append(out.Stages, Stage{
				Stage: st.Stage, Group: string(st.Topic), Off: st.Off, In: st.In, Done: st.Done, Skipped: st.Skipped, Retrying: st.Retrying,
				Parked: st.Parked, Waiting: st.Waiting, Lost: st.Lost(), Lag: st.Lag, Oldest: st.Oldest, Rate: st.Rate, HeldUntil: st.Held,
				LastAt: st.LastAt, LastError: s.reasonOf(st.LastError), ErrorAt: st.ErrorAt,
			})
		}
		return out, nil
	})
}

type parkedOf struct {
	Paged
	Stage string `path:"stage" example:"enrich"`
}

func (s pipelineDoor) parked(_ context.Context, in *parkedOf) (*reply[List[ParkedItem]], error) {
	return listed(s.Server, func(tx *store.Tx) (page store.Page[store.StreamItem], err error) {
		group, err := tx.Streams.Groups.ByName(in.Stage)
		if err != nil {
			return page, err
		}
		return tx.Streams.Items.Parked(group.ID, in.query())
	}, plain(func(i store.StreamItem) ParkedItem {
		return ParkedItem{Message: i.Event.Message, At: i.At, Attempts: i.Attempts, Reason: s.reasonOf(i.Reason)}
	}))
}

type replayRequest struct {
	Body struct {
		Stage    string    `json:"stage" example:"tag"`
		Message  number    `json:"message_id,omitempty" doc:"One message"`
		Channel  number    `json:"channel_id,omitempty" doc:"The messages of a channel"`
		Since    time.Time `json:"since,omitzero" doc:"Only messages from this time on, of all channels if none is named; with none of the three, what the stage has parked"`
		Estimate bool      `json:"estimate,omitempty" doc:"Only say how many messages, and what the AI is asked"`
	}
}

// Replayed is what a replay asks for.
type Replayed struct {
	Messages   int `json:"messages"`
	AIRequests int `json:"ai_requests"`
	AITokens   int `json:"ai_tokens" doc:"Roughly"`
}

func (s pipelineDoor) replay(_ context.Context, in *replayRequest) (*reply[Replayed], error) {
	run := s.db.Update
	if in.Body.Estimate {
		run = s.db.View
	}
	return within(run, func(tx *store.Tx) (Replayed, error) {
		e, err := s.pipeline.Replay(tx, pipeline.Replay{
			Stage: in.Body.Stage, MessageID: uint64(in.Body.Message), ChannelID: uint64(in.Body.Channel), Since: in.Body.Since,
		}, in.Body.Estimate)
		return Replayed(e), err
	})
}

// Passport is what the stages made of a message.
type Passport struct {
	Stages []Stamp `json:"stages" nullable:"false"`
}

func (s pipelineDoor) passport(_ context.Context, in *one) (*reply[Passport], error) {
	return within(s.db.View, func(tx *store.Tx) (Passport, error) {
		m, err := tx.Messages.Get(in.ID)
		if err != nil {
			return Passport{}, err
		}
		out := Passport{Stages: []Stamp{}}
		for _, stamp := range s.pipeline.Passport(m) {
			out.Stages = append(out.Stages, Stamp{stamp.Stage, stamp.State, stamp.At, stamp.Attempts, s.reasonOf(stamp.Reason)})
		}
		return out, nil
	})
}
