package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/web/session"
	"belfry/worker/identities"
	"belfry/worker/posts"
)

const (
	// inputTime is how a browser writes date and time of a form.
	inputTime = "2006-01-02T15:04"
	// suggestAhead is how far away the time is that a new post begins with.
	suggestAhead = time.Hour
	// maxFiles bounds the rows of the form; a network may allow fewer.
	maxFiles = 10
)

// composePage writes a new post or changes one.
type composePage struct {
	frame
	ID, Heading, Action, Back, Button string // ID is empty for a new post
	Wrong, FormKey                    string
	Seen                              string // names what the form has begun with, where a post is changed
	NoLogin, Now                      bool
	Login, Target, Text, Format       input
	Time, Lateness, Silent, NoPreview input
	Hold                              *input // nil where a post is changed: what was held stays held
	Stays                             bool   // held, after the change too
	Media                             []mediaRow
	check
}

// mediaRow is one picture or file of the form.
type mediaRow struct{ Kind, Source input }

// newPostForm shows an empty form, or one filled with the post that the query names.
func (s *Server) newPostForm(c echo.Context) error {
	r, f := s.readerOf(c), newForm(nil)
	f.values.Set("time", r.now.Add(suggestAhead).Truncate(5*time.Minute).In(r.zone).Format(inputTime))
	if from, err := strconv.ParseUint(r.query.Get("from"), 10, 64); err == nil {
		var old store.Post
		err := s.db.View(func(tx *store.Tx) (err error) {
			old, err = tx.Posts.Get(from)
			return err
		})
		if err != nil {
			return err
		}
		fillForm(f, old)
	}
	return s.showForm(c, http.StatusOK, r, f, nil)
}

// changeForm shows the form of a post that exists.
func (s *Server) changeForm(c echo.Context) error {
	post, err := s.postOf(c)
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(nil)
	fillForm(f, post)
	f.values.Set("time", post.ScheduledTime.In(r.zone).Format(inputTime))
	f.values.Set("seen", posts.Seen(post))
	return s.showForm(c, http.StatusOK, r, f, &post)
}

// showForm renders the form; post is the one that is changed, or nil.
func (s *Server) showForm(c echo.Context, status int, r reader, f form, post *store.Post) error {
	logins, err := identities.List(s.db)
	if err != nil {
		return err
	}
	w := r.words.Compose
	p := &composePage{
		frame: s.frame(r, "compose", w.New), Heading: w.New, Action: "/posts/new", Back: "/posts", Button: w.Schedule,
		NoLogin: len(logins) == 0, Wrong: f.wrong[""], Now: f.get("when") == "now", FormKey: f.get("form"),
		Login: f.choice("identity_id", w.Login, "", loginOptions(r, logins)), Target: f.text("target", w.Target, ""),
		Text: f.text("text", w.Text, ""), Format: f.choice("format", w.Format, w.FormatHint, formatOptions(r)),
		Time: f.text("time", w.Time, w.TimeHint+" "+r.zone.String()), Lateness: f.choice("late", w.Lateness, "", lateOptions(r, f.get("late"))),
		Silent: f.checkbox("silent", w.Silent), NoPreview: f.checkbox("no_link_preview", w.NoLinkPreview),
		Media: mediaRows(r, f), check: s.checkForm(r, f, logins),
	}
	p.Composes = !p.NoLogin
	p.Text.Value = f.values.Get("text")
	p.Time.Type = "datetime-local"
	if p.FormKey == "" {
		p.FormKey = session.NewSecret()
	}
	if login := chosenLogin(f, logins); login.Target != "" {
		p.Target.Placeholder = login.Target
	}
	if post == nil {
		hold := f.checkbox("hold", r.words.Approval.Hold)
		p.Hold = &hold
	} else {
		p.Stays, p.Seen = post.AwaitsApproval(), f.get("seen")
		p.ID, p.Heading, p.Button, p.Page = id(post.ID), w.Change, w.Save, "posts"
		p.Action, p.Back = postPath(post.ID)+"/change", postPath(post.ID)
		p.Title = w.Change
	}
	if len(f.wrong) > 0 && p.Wrong == "" {
		p.Wrong = w.Fix
	}
	return s.render(c, status, "compose", p)
}

func loginOptions(r reader, logins []store.Identity) []option {
	options := make([]option, 0, len(logins))
	for _, i := range logins {
		options = append(options, option{Value: id(i.ID), Name: r.loginName(i) + " · " + r.words.Platforms[i.Platform]})
	}
	return options
}

func formatOptions(r reader) []option {
	var options []option
	for _, format := range []string{"plain", "html", "markdown"} {
		options = append(options, option{Value: format, Name: r.words.Formats[format]})
	}
	return options
}

// lateOptions offers some lengths of time, and the one that the post has.
func lateOptions(r reader, current string) []option {
	w := r.words.Compose
	options := []option{{Value: "", Name: w.LateSend}}
	known := current == ""
	for _, d := range []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
		options = append(options, option{Value: d.String(), Name: w.LateSkip(d)})
		known = known || d.String() == current
	}
	if d, err := time.ParseDuration(current); err == nil && !known {
		options = append(options, option{Value: current, Name: w.LateSkip(d)})
	}
	return options
}
