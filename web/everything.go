package web

import (
	"context"
	"net/http"

	"belfry/scheduler"
	"belfry/store"
)

// pauseState says whether everything is paused.
type pauseState struct {
	Paused bool   `json:"paused" doc:"Nothing is started while it is true"`
	Why    string `json:"why,omitempty" doc:"Who or what paused it"`
}

// pauseByHand is the reason that is kept when a person pauses everything.
const pauseByHand = "paused by hand"

// everythingAPI registers the operations on the schedule as a whole.
func (s *Server) everythingAPI(a *api) {
	operation(a, http.MethodPost, "/pause", "Keep everything from being started", func(context.Context, *struct{}) (*reply[pauseState], error) {
		return s.setPause(pauseByHand)
	})
	operation(a, http.MethodPost, "/resume", "Resume all, also after a restore", func(context.Context, *struct{}) (*reply[pauseState], error) {
		return s.setPause("")
	})
}

func (s *Server) setPause(why string) (*reply[pauseState], error) {
	if err := s.pauseEverything(why); err != nil {
		return nil, err
	}
	return answer(pauseState{Paused: why != "", Why: why}), nil
}

// pauseEverything pauses the schedule for a reason, or lets it go on if there is none.
func (s *Server) pauseEverything(why string) error {
	return s.db.Update(func(tx *store.Tx) error {
		if why == "" {
			return scheduler.ResumeAll(tx)
		}
		return scheduler.PauseAll(tx, why)
	})
}
