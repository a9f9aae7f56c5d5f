package page

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/search"
)

// Search is the door to the search and to watches.
func Search(w *search.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := searchPages{server, w}
		s.entry(read, "search", "/search")
		s.entry(read, "watches", "/watches")
		s.canMake("watch", "/watches")
		s.mountTags(g)
		s.jobPages[store.WatchKind] = func(store.Job) string { return "/watches" }
		g.GET("/search", s.search)
		g.GET("/watches", func(c echo.Context) error {
			f := newForm(nil)
			f.values.Set("query", c.QueryParam("query"))
			f.values.Set("name", shorten(c.QueryParam("query"), 40))
			return s.showWatches(c, http.StatusOK, f, "")
		})
		g.POST("/watches", s.sent(s.addWatch))
		g.POST("/watches/:id", s.actOnWatch)
		s.step(g, step{
			path: "/watches/:id/remove", done: "watch-removed",
			ask: about(getWatch, func(v view, watch store.Watch) question {
				return question{
					nav: "/watches", ask: "watch.remove_ask", about: watch.Name, means: v.T("watch.remove_means"), button: "watch.remove",
					danger: true, back: "/watches",
				}
			}),
			act: w.RemoveWatch,
		})
	}
}

func getWatch(tx *store.Tx, id uint64) (store.Watch, error) { return tx.Watches.Get(id) }

type searchPages struct {
	*Server
	worker *search.Worker
}

const (
	shownResults = 20
	day          = 24 * time.Hour
)

// searchTimes are the times back to which a search can be narrowed, and whose trends are shown.
var searchTimes = []time.Duration{day, 7 * day, 30 * day}

// found is what the page of the search shows.
type found struct {
	channels []store.Channel
	results  search.Found
	trends   []search.Trend
	window   time.Duration
	asked    bool
}

// search shows what was found, or, where nothing was asked for, the tags that are more frequent than before.
func (s searchPages) search(c echo.Context) error {
	v, f := s.view(c), newForm(c.QueryParams())
	filter := search.Filter{Tag: f.get("tag"), Language: f.get("language"), HasMedia: f.get("has_media") != ""}
	if n := f.number("channel_id"); n != 0 {
		filter.Channels = []uint64{n}
	}
	shown := found{window: day, asked: f.get("q") != "" || filter.Tag != "" || filter.Language != "" || filter.HasMedia || len(filter.Channels) > 0}
	if back, err := time.ParseDuration(f.get("back")); err == nil && back > 0 && back <= 30*day {
		filter.Since, shown.window = v.Now.Add(-back), back
	}
	status := http.StatusOK
	err := s.DB.View(func(tx *store.Tx) error {
		page, err := tx.Channels.ByName(store.Query{Limit: 500})
		if shown.channels = page.Items; !shown.asked {
			shown.trends = search.Trends(tx, shown.window)
		}
		return err
	})
	if err == nil && shown.asked {
		shown.results, err = s.worker.Search(c.Request().Context(), f.get("q"), filter, store.Query{Limit: shownResults, Cursor: f.get("cursor")})
	}
	if err != nil && !f.refuse(v, err, "q") {
		return err
	}
	if err != nil {
		status, shown.asked = http.StatusUnprocessableEntity, false
	}
	return s.show(c, status, v, screen{nav: "/search", title: v.T("nav.search"), body: v.searchBody(f, shown)})
}

func (v view) channelOptions(channels []store.Channel) []option {
	all := []option{{"", v.T("search.all_channels")}}
	for _, c := range channels {
		all = append(all, option{id(c.ID), c.Name()})
	}
	return all
}

func (v view) languageOptions() []option {
	languages := []string{"ru", "en", "uk", "be", "de", "es", "fr", "it", "pt", "pl", "tr"}
	return append([]option{{"", v.T("search.any")}}, options(languages, func(l string) string { return l })...)
}

func (v view) timeOptions() []option {
	all := []option{{"", v.T("search.any_time")}}
	for _, d := range searchTimes {
		all = append(all, option{d.String(), v.T("search.last", int(d/day))})
	}
	return all
}

// showWatches lists the watches, with the form for another one. secret is that of the watch that was just made.
func (s searchPages) showWatches(c echo.Context, status int, f form, secret string) error {
	v := s.view(c)
	v.path = "/watches"
	f.prepare("")
	var watches store.Page[store.Watch]
	var channels store.Page[store.Channel]
	failed := make(map[uint64]store.WatchHit)
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if watches, err = tx.Watches.ByTime(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")}); err != nil {
			return err
		}
		for _, w := range watches.Items {
			hits, err := tx.WatchHits.Of(w.ID, store.Query{Limit: 1})
			if err != nil {
				return err
			}
			if len(hits.Items) > 0 && hits.Items[0].State == store.HitFailed {
				failed[w.ID] = hits.Items[0]
			}
		}
		channels, err = tx.Channels.ByName(store.Query{Limit: 500})
		return err
	})
	if err != nil {
		return err
	}
	return s.show(c, status, v, screen{nav: "/watches", title: v.T("nav.watches"), form: "watch", body: v.watchesBody(f, watches, channels.Items, failed, secret)})
}

// addWatch adds the watch of the form. The secret of one that calls a webhook is shown at once.
func (s searchPages) addWatch(c echo.Context, v view, f form) error {
	if f.onlyShow() {
		return s.showWatches(c, http.StatusOK, f, "")
	}
	r := search.WatchRequest{Name: f.get("name"), Query: f.get("query"), Action: f.get("action"), URL: f.get("url")}
	if n := f.number("channel"); n != 0 {
		r.Channels = []uint64{n}
	}
	var made store.Watch
	_, err := s.once(v, "watches", f, func(tx *store.Tx) (_ uint64, err error) {
		made, err = s.worker.AddWatch(tx, r)
		return made.ID, err
	})
	switch {
	case err == nil && made.Secret != "":
		return s.showWatches(c, http.StatusOK, newForm(nil), made.Secret)
	case err == nil:
		return did(c, "/watches", "watch-added")
	case !f.refuse(v, err, "name", "query", "url", "action", "channels:channel"):
		return err
	}
	return s.showWatches(c, http.StatusUnprocessableEntity, f, "")
}

// actOnWatch pauses or resumes a watch.
func (s searchPages) actOnWatch(c echo.Context) error {
	number := s.view(c).number()
	act, done := s.worker.PauseWatch, "watch-paused"
	if c.FormValue("do") == "resume" {
		act, done = s.worker.ResumeWatch, "watch-resumed"
	}
	return s.do(c, "/watches", done, func(tx *store.Tx) error { return failure(act(tx, number)) })
}
