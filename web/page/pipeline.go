package page

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/pipeline"
)

// Pipeline is the door to the stages that messages of channels pass.
func Pipeline(w *pipeline.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := pipelinePages{server, w}
		s.entry(read, "pipeline", "/pipeline")
		s.live(g, "/pipeline", s.stages)
		s.live(g, "/pipeline/:id", s.stage)
		s.live(g, "/messages/:id", s.message)
		g.POST("/pipeline/:id", s.replay)
		g.GET("/pipeline/:id/replay", func(c echo.Context) error { return s.askReplay(c, http.StatusOK, "") })
		g.POST("/pipeline/:id/replay", s.replayMany)
	}
}

type pipelinePages struct {
	*Server
	worker *pipeline.Worker
}

// stages is the list of stages.
func (s pipelinePages) stages(v view) (screen, error) {
	var all []pipeline.Status
	var used bool
	err := s.DB.View(func(tx *store.Tx) error {
		all = s.worker.Statuses(tx)
		used = all[0].In > 0
		return nil
	})
	return screen{nav: "/pipeline", title: v.T("nav.pipeline"), body: v.pipelineBody(), parts: []part{{"list", v.stageList(all, used)}}}, err
}

// stage is one stage with what it has parked.
func (s pipelinePages) stage(v view) (screen, error) {
	var status pipeline.Status
	var parked store.Page[store.StreamItem]
	var own []store.Channel
	name := v.id
	err := s.DB.View(func(tx *store.Tx) (err error) {
		group, err := tx.Streams.Groups.ByName(name)
		if err != nil {
			return err
		}
		for _, one := range s.worker.Statuses(tx) {
			if one.Stage == name {
				status = one
			}
		}
		page, err := tx.Channels.ByName(store.Query{Limit: 500})
		if own = page.Items; err != nil {
			return err
		}
		parked, err = tx.Streams.Items.Parked(group.ID, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	return screen{
		nav: "/pipeline", title: v.T("pipeline.stage." + stageKey(name)), body: v.stageBody(name, own),
		parts: []part{{"facts", v.stageFacts(status)}, {"parked", v.parkedList(name, parked)}},
	}, err
}

// replay has a stage handle once more what it has parked, or one message.
func (s pipelinePages) replay(c echo.Context) error {
	v := s.view(c)
	r := pipeline.Replay{Stage: v.id}
	if id := c.FormValue("message"); id != "" {
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return echo.ErrNotFound
		}
		r.MessageID = n
	}
	err := s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Replay(tx, r, false)) })
	if errors.Is(err, store.ErrNotFound) {
		return err
	}
	path := "/pipeline/" + r.Stage
	if v.wrong = v.refusal(err); v.wrong != "" {
		v.path = path
		return s.showPage(c, http.StatusConflict, v, s.stage)
	} else if err != nil {
		return err
	}
	return did(c, cmp.Or(c.FormValue("back"), path), "replayed")
}

func messagePath(n uint64) string { return "/messages/" + id(n) }

// message is one message with its passport: what the stages made of it.
func (s pipelinePages) message(v view) (screen, error) {
	number := v.number()
	var m store.Message
	var channel store.Channel
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if m, err = tx.Messages.Get(number); err == nil {
			channel, err = tx.Channels.Get(m.ChannelID)
		}
		return err
	})
	return screen{
		nav: "/channels", title: v.T("pipeline.message", int(number)), body: v.messageBody(m, channel),
		parts: []part{{"passport", v.passport(m, s.worker.Passport(m))}},
	}, err
}

// many is the replay of a stage that the address asks for: of the messages of a channel, or of all, back to a time.
func (v view) many() pipeline.Replay {
	r := pipeline.Replay{Stage: v.id, Since: time.Unix(0, 0)}
	r.ChannelID, _ = strconv.ParseUint(v.query.Get("channel_id"), 10, 64) // 0: all
	if back, err := time.ParseDuration(v.query.Get("back")); err == nil && back > 0 {
		r.Since = v.Now.Add(-back)
	}
	return r
}

// askReplay asks before messages are replayed, and says how many, and what the AI is asked.
func (s pipelinePages) askReplay(c echo.Context, status int, wrong string) error {
	v := s.view(c)
	e, err := fetch(s.Server, func(tx *store.Tx) (pipeline.Estimate, error) { return s.worker.Replay(tx, v.many(), true) })
	if said := v.refusal(err); said != "" && wrong == "" {
		status, wrong = http.StatusConflict, said
	} else if err != nil && said == "" {
		return err
	}
	q := question{
		nav: "/pipeline", ask: "pipeline.replay_ask", about: v.T("pipeline.stage." + stageKey(v.id)), means: v.T("pipeline.replay_means", e.Messages),
		button: "pipeline.replay_do", back: "/pipeline/" + v.id,
	}
	if e.AIRequests > 0 {
		q.means += " " + v.T("pipeline.replay_cost", e.AIRequests, e.AITokens)
	}
	return s.show(c, status, v, screen{nav: q.nav, title: v.T(q.ask), body: v.confirm(q, c.Request().URL.RequestURI(), wrong)})
}

// replayMany replays what was asked about.
func (s pipelinePages) replayMany(c echo.Context) error {
	v := s.view(c)
	err := s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Replay(tx, v.many(), false)) })
	if wrong := v.refusal(err); wrong != "" {
		return s.askReplay(c, http.StatusConflict, wrong)
	} else if err != nil {
		return err
	}
	return did(c, "/pipeline/"+v.id, "replayed")
}

// stageKey is a stage's name in the catalogue; the relay has a group for each topic.
func stageKey(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	return kind
}
