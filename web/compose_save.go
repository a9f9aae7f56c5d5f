package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/posts"
)

// savePost schedules the post of the form, or asks again.
func (s *Server) savePost(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	if f.onlyShow() {
		return s.showForm(c, http.StatusOK, r, f, nil)
	}
	logins, err := s.identities()
	if err != nil {
		return err
	}
	request, err := f.request(r, logins)
	var draft posts.Draft
	if err == nil {
		draft, err = s.posts.Prepare(c.Request().Context(), request)
	}
	var made uint64
	if err == nil {
		made, err = s.onceFromPage(r, "scheduled-posts", f.get("form"), func(tx *store.Tx) (uint64, error) {
			post, err := s.posts.Schedule(tx, draft)
			return post.ID, err
		})
	}
	if err == nil {
		done := "scheduled"
		if request.Hold {
			done = "held"
		}
		return c.Redirect(http.StatusSeeOther, postPath(made)+"?done="+done)
	}
	if !f.refusePost(r, err) {
		return err
	}
	return s.showForm(c, http.StatusUnprocessableEntity, r, f, nil)
}

// onceFromPage makes something unless the same form was sent before, as by a second click. It returns
// the id of what was made.
func (s *Server) onceFromPage(r reader, operation, form string, do func(*store.Tx) (uint64, error)) (made uint64, err error) {
	key := answerKey(caller("page "+id(r.signIn.ID)), operation, form)
	err = s.db.Update(func(tx *store.Tx) error {
		before, err := tx.Idempotency.ByKey(key)
		if err == nil {
			return json.Unmarshal(before.Body, &made)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if made, err = do(tx); err != nil {
			return err
		}
		return tx.Idempotency.Add(&store.Answer{Key: key, Status: http.StatusSeeOther, Body: []byte(id(made))})
	})
	return made, err
}

// refusePost notes a refusal of a post beside the form's field.
func (f form) refusePost(r reader, err error) bool {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok {
		return f.refuse(r, err)
	}
	said := r.Error(wrong)
	field, _, _ := strings.Cut(wrong.Field, ".")
	switch {
	case field == "scheduled_time":
		f.wrong["time"] = said
	case field == "lateness":
		f.wrong["late"] = said
	case field == "text", field == "target", field == "format", field == "identity_id", field == "late", strings.HasPrefix(field, "media["):
		f.wrong[field] = said
	default:
		f.wrong[""] = said
	}
	return true
}

// saveChange saves a changed post, or asks again.
func (s *Server) saveChange(c echo.Context) error {
	post, err := s.postOf(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	if f.onlyShow() {
		return s.showForm(c, http.StatusOK, r, f, &post)
	}
	logins, err := s.identities()
	if err != nil {
		return err
	}
	request, err := f.request(r, logins)
	var draft posts.Draft
	if err == nil {
		patch := patchOf(r, request, post, f.get("time"))
		patch.Seen = f.get("seen")
		draft, err = s.posts.PrepareChange(c.Request().Context(), post.ID, patch)
	}
	if err == nil {
		err = s.db.Update(func(tx *store.Tx) error {
			_, err := s.posts.Change(tx, post.ID, draft)
			return err
		})
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, postPath(post.ID)+"?done=changed")
	}
	if !f.refusePost(r, err) {
		return err
	}
	if posts.IsChanged(err) {
		f.wrong[""] = r.words.Compose.Changed
		f.values.Set("seen", posts.Seen(post)) // it was said: saved again, this change replaces the other one
	}
	return s.showForm(c, http.StatusUnprocessableEntity, r, f, &post)
}

// patchOf is the change that the form asks for. A time that was left as it is keeps its seconds.
func patchOf(r reader, request posts.Request, post store.Post, typed string) posts.Patch {
	p := posts.Patch{
		Text: &request.Text, Media: &request.Media, Format: &request.Format, Target: &request.Target,
		Lateness: &request.Lateness, Silent: &request.Silent, NoLinkPreview: &request.NoLinkPreview, AllowPast: request.AllowPast,
	}
	if request.IdentityID != 0 {
		p.IdentityID = &request.IdentityID
	}
	if request.AllowPast || typed != post.ScheduledTime.In(r.zone).Format(inputTime) {
		p.ScheduledTime = &request.ScheduledTime
	}
	return p
}
