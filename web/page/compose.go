package page

import (
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
)

func (s postPages) mountCompose(g *echo.Group) {
	g.GET("/posts/new", s.newPost)
	g.POST("/posts/new", s.savePost)
	g.POST("/posts/check", s.answerForm(func(v view, f form) (templ.Component, error) {
		logins, err := identities.List(s.DB)
		return v.checkedNow(s.checkPosts(v, f, logins)), err
	}))
	g.GET("/posts/:id/change", of(s.Server, getPost, s.changePost))
	g.POST("/posts/:id/change", of(s.Server, getPost, s.saveChange))
}

// fillPost writes what a post says into a form, all but its time.
func (f form) fillPost(p store.Post) {
	f.fillContent(p)
	f.values.Set("target", p.Target)
	if p.Lateness.Policy == store.LateSkip {
		f.values.Set("late", p.Lateness.Grace.String())
	}
	f.tick(map[string]bool{"needs_approval": p.AwaitsApproval()})
}

// newPost shows an empty form, or one filled with the post that the query names.
func (s postPages) newPost(c echo.Context) error {
	v, f := s.view(c), newForm(nil)
	f.values.Set("time", v.in(v.Now.Add(suggestAhead).Truncate(5*time.Minute)))
	if from, err := strconv.ParseUint(v.query.Get("from"), 10, 64); err == nil {
		old, err := fetch(s.Server, func(tx *store.Tx) (store.Post, error) { return getPost(tx, from) })
		if err != nil {
			return err
		}
		f.fillPost(old)
	}
	if content, err := strconv.ParseUint(v.query.Get("content"), 10, 64); err == nil {
		if err := s.fillFrom(f, content); err != nil {
			return err
		}
	}
	return s.showCompose(c, http.StatusOK, f, nil)
}

// changePost shows the form of a post that exists.
func (s postPages) changePost(c echo.Context, p *store.Post) error {
	f := newForm(nil)
	f.fillPost(*p)
	f.values.Set("time", s.view(c).in(p.ScheduledTime))
	f.values.Set("seen", posts.Seen(*p))
	return s.showCompose(c, http.StatusOK, f, p)
}

// showCompose shows the form; p is the post that is changed, or nil.
func (s postPages) showCompose(c echo.Context, status int, f form, p *store.Post) error {
	logins, err := identities.List(s.DB)
	if err != nil {
		return err
	}
	v := s.view(c)
	f.dropLogin(logins)
	f.prepare(v.T("compose.fix"))
	shown := screen{nav: "/posts", title: v.T("compose.new")}
	if p != nil {
		shown.title = v.T("compose.change")
	}
	if len(logins) > 0 {
		shown.form = "compose"
	}
	shown.body = v.compose(f, p, logins, s.checkPosts(v, f, logins))
	return s.show(c, status, v, shown)
}

// lateOptions offers some lengths of time, and the one that the post has.
func (v view) lateOptions(current string) []option {
	options := []option{{"", v.T("compose.late_send")}}
	known := current == ""
	for _, d := range []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
		options = append(options, option{d.String(), v.T("compose.late_skip", v.ExactLength(d))})
		known = known || d.String() == current
	}
	if d, err := time.ParseDuration(current); err == nil && !known {
		options = append(options, option{current, v.T("compose.late_skip", v.ExactLength(d))})
	}
	return options
}

// postRequest reads the form. The errors are about its fields.
func (v view) postRequest(f form, logins []store.Identity) (posts.Request, error) {
	p, login := f.content(), chosenLogin(f, logins)
	request := posts.Request{
		Text: p.Text, Media: p.Media, Platform: login.Platform, IdentityID: login.ID, Target: f.get("target"), Format: p.Format,
		Silent: p.Silent, NoLinkPreview: p.NoLinkPreview, Hold: f.on("needs_approval"),
	}
	if late := f.get("late"); late != "" {
		grace, err := time.ParseDuration(late)
		if err != nil {
			return request, echo.ErrBadRequest // no browser sends what the list does not have
		}
		request.Lateness = store.Lateness{Policy: store.LateSkip, Grace: grace}
	}
	if f.get("when") == "queue" {
		request.Queue = true
		return request, nil
	}
	if f.get("when") == "now" {
		request.ScheduledTime, request.AllowPast = v.Now.Format(time.RFC3339), true
		return request, nil
	}
	at, err := v.formTime(f.get("time"))
	request.ScheduledTime = at.UTC().Format(time.RFC3339)
	return request, err
}

// savePost schedules the post of the form, or asks again.
func (s postPages) savePost(c echo.Context) error {
	return s.takeCompose(c, nil, func(v view, f form, request posts.Request, places []destination) (uint64, string, error) {
		schedule, err := s.prepare(c.Request().Context(), request, places)
		if err != nil {
			return 0, "", err
		}
		made, err := s.once(v, "scheduled-posts", f, schedule)
		switch {
		case request.Hold:
			return made, "held", err
		case len(places) > 1:
			return made, "scheduled-together", err
		}
		return made, "scheduled", err
	})
}

// saveChange saves a changed post, or asks again.
func (s postPages) saveChange(c echo.Context, p *store.Post) error {
	return s.takeCompose(c, p, func(v view, f form, request posts.Request, _ []destination) (uint64, string, error) {
		patch := v.patch(request, *p, f.get("time"))
		patch.Seen = f.get("seen")
		draft, err := s.worker.PrepareChange(c.Request().Context(), p.ID, patch)
		if err != nil {
			return 0, "", err
		}
		return p.ID, "changed", s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Change(tx, p.ID, draft)) })
	})
}

// takeCompose reads the form and saves it; save returns the post and the code of what was done.
func (s postPages) takeCompose(c echo.Context, p *store.Post, save func(view, form, posts.Request, []destination) (uint64, string, error)) error {
	f, err := s.readMediaForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if status := f.notSaved(); status != 0 {
		return s.showCompose(c, status, f, p)
	}
	logins, err := identities.List(s.DB)
	if err != nil {
		return err
	}
	places := f.places(logins)
	request, err := v.postRequest(f, logins)
	var saved uint64
	var done string
	if err == nil {
		saved, done, err = save(v, f, request, places)
	}
	if err == nil {
		return did(c, postPath(saved), done)
	}
	if !f.refusePlace(v, err, places) && !f.refuse(v, err, append(contentFields(), "target", "scheduled_time:time", "lateness:late", "queue")...) {
		return err
	}
	if p != nil && posts.IsChanged(err) {
		f.wrong[""] = v.T("compose.changed")
		f.values.Set("seen", posts.Seen(*p)) // it was said: saved again, this change replaces the other one
	}
	return s.showCompose(c, http.StatusUnprocessableEntity, f, p)
}

// patch is the change that the form asks for. A time that was left as it is keeps its seconds.
func (v view) patch(request posts.Request, p store.Post, typed string) posts.Patch {
	patch := posts.Patch{
		Text: &request.Text, Media: &request.Media, Format: &request.Format, Target: &request.Target,
		Lateness: &request.Lateness, Silent: &request.Silent, NoLinkPreview: &request.NoLinkPreview, AllowPast: request.AllowPast,
	}
	if request.IdentityID != 0 {
		patch.IdentityID = &request.IdentityID
	}
	if patch.Queue = request.Queue; patch.Queue {
		return patch
	}
	if request.AllowPast || typed != v.in(p.ScheduledTime) {
		patch.ScheduledTime = &request.ScheduledTime
	}
	return patch
}
