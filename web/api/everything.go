package api

import (
	"context"
	"net/http"

	"belfry/scheduler"
	"belfry/store"
)

// PauseState says whether everything is paused.
type PauseState struct {
	Paused bool   `json:"paused" doc:"Nothing is started while it is true"`
	Why    string `json:"why,omitempty" doc:"Who or what paused it"`
}

// everythingAPI registers the operations on the schedule as a whole.
func (s *Server) everythingAPI(a *api) {
	operation(a, http.MethodPost, "/pause", "Keep everything from being started", func(context.Context, *struct{}) (*reply[PauseState], error) {
		return s.setPause(func(tx *store.Tx) error { return scheduler.PauseAll(tx, scheduler.ByHand) }, PauseState{true, scheduler.ByHand})
	})
	operation(a, http.MethodPost, "/resume", "Resume all, also after a restore", func(context.Context, *struct{}) (*reply[PauseState], error) {
		return s.setPause(scheduler.ResumeAll, PauseState{})
	})
}

func (s *Server) setPause(act func(*store.Tx) error, now PauseState) (*reply[PauseState], error) {
	if err := s.db.Update(act); err != nil {
		return nil, err
	}
	return answer(now), nil
}
