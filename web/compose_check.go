package web

import (
	"errors"
	"html/template"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/posts"
)

// check is what the form shows while somebody writes: the length and the message as readers see it.
type check struct {
	Counter      counter
	Message      message
	PreviewWhere string
	Trouble      string
}

type counter struct{ Class, Text string }

// checkForm measures and previews what the form says now.
func (s *Server) checkForm(r reader, f form, logins []store.Identity) check {
	files, _ := formMedia(f)
	post := store.Post{Text: f.values.Get("text"), Format: f.get("format"), Media: files}
	login := chosenLogin(f, logins)
	target := f.get("target")
	if target == "" {
		target = login.Target
	}
	measure, err := s.posts.Measure(posts.Request{
		Text: post.Text, Format: post.Format, Media: files, Platform: login.Platform, Target: target,
	})
	shown := r.checked(post, measure, err)
	shown.PreviewWhere = target
	return shown
}

// checked says what measuring a post has shown.
func (r reader) checked(post store.Post, measure posts.Measure, err error) check {
	shown := check{Message: r.message(post)}
	if wrong, ok := errors.AsType[*store.FieldError](err); ok && (post.Text != "" || len(post.Media) > 0) && wrong.Field != "target" {
		shown.Trouble = r.Error(wrong)
	}
	if measure.Limit == 0 || (shown.Trouble != "" && measure.Length == 0) {
		return shown // markup that cannot be read has no length
	}
	w := r.words.Compose
	shown.Counter.Text = w.Count(measure.Length, measure.Limit)
	if over := measure.Length - measure.Limit; over > 0 {
		shown.Counter = counter{"over", shown.Counter.Text + ": " + w.Over(over)}
	} else if measure.Length*10 > measure.Limit*9 {
		shown.Counter.Class = "near"
	}
	return shown
}

// checkPost answers the form while somebody writes.
func (s *Server) checkPost(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	logins, err := s.identities()
	if err != nil {
		return err
	}
	shown := s.checkForm(s.readerOf(c), newForm(values), logins)
	return s.answerPart(c, "compose", "check", shown)
}

// signedOutNotice takes the place of the preview where the sign-in has ended, so that what was typed
// stays on the page.
func signedOutNotice(r reader) string {
	return `<p class="wrong">` + template.HTMLEscapeString(r.words.Compose.SignedOut) + `</p>`
}
