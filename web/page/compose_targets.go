package page

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"belfry/store"
	"belfry/worker/posts"
)

// destination is where a form wants a post published.
type destination struct {
	posts.Target
	login store.Identity
	at    string // what the names of its fields end with
}

// places are all of them: as the account that posts to each channel that is named, then as each other chosen account.
func (f form) places(logins []store.Identity) (all []destination) {
	add := func(login store.Identity, targets, text, at string) {
		names := chatNames(targets)
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			all = append(all, destination{posts.Target{Platform: login.Platform, IdentityID: login.ID, Target: name, Text: text}, login, at})
		}
	}
	main := chosenLogin(f, logins)
	add(main, f.get("target"), "", "")
	for _, login := range logins {
		n := id(login.ID)
		targets, text := f.get("target-"+n), strings.ReplaceAll(f.get("text-"+n), "\r\n", "\n")
		if f.has("also", n) && (login.ID != main.ID || targets != "" || text != "") {
			add(login, targets, text, "-"+n)
		}
	}
	return all
}

// composeFields are the fields that the preview needs beside those of every form of a post.
func composeFields(logins []store.Identity) string {
	fields := ",when,also,post"
	for _, login := range logins {
		fields += ",target-" + id(login.ID) + ",text-" + id(login.ID)
	}
	return fields
}

// prepare checks the posts of a form, and returns what writes them. That returns the id of the first.
func (s postPages) prepare(ctx context.Context, request posts.Request, places []destination) (func(*store.Tx) (uint64, error), error) {
	if len(places) == 1 {
		request.Target = places[0].Target.Target
		draft, err := s.worker.Prepare(ctx, request)
		return func(tx *store.Tx) (uint64, error) {
			post, err := s.worker.Schedule(tx, draft)
			if err == nil {
				err = s.worker.TellHeld(tx, post)
			}
			return post.ID, err
		}, err
	}
	targets := make([]posts.Target, len(places))
	for i, p := range places {
		targets[i] = p.Target
	}
	drafts, err := s.worker.PrepareAll(ctx, request, targets)
	return func(tx *store.Tx) (uint64, error) {
		made, err := s.worker.ScheduleAll(tx, drafts)
		if err != nil {
			return 0, err
		}
		return made[0].ID, nil
	}, err
}

// refusePlace notes a refusal of one of several posts beside the field that it is about. It returns false for any
// other error.
func (f form) refusePlace(v view, err error, places []destination) bool {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok {
		return false
	}
	number, field, _ := strings.Cut(strings.TrimPrefix(wrong.Field, "targets["), "].")
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(places) {
		return false
	}
	name := field + places[i].at
	if shown := []string{"target", "text"}; places[i].at != "" && (!slices.Contains(shown, field) ||
		field == "target" && places[i].login.Kind == store.IdentityProfile) {
		name = "also" + places[i].at
	}
	f.wrong[name] = v.refusal(store.Invalid(field, wrong.Key, wrong.Args...))
	return true
}

// checkPosts measures and previews what the form says now, in each place.
func (s postPages) checkPosts(v view, f form, logins []store.Identity) []check {
	p, places := f.content(), f.places(logins)
	checks := make([]check, len(places))
	for i, to := range places {
		r := posts.Request{Text: p.Text, Format: p.Format, Media: p.Media, Platform: to.Platform, Target: to.Target.Target}
		if len(places) > 1 {
			r = s.worker.RequestFor(r, to.Target)
		}
		if r.Target == "" {
			r.Target = to.login.Target
		}
		shown := p
		shown.Platform, shown.Text, shown.Format, shown.Target = r.Platform, r.Text, r.Format, r.Target
		measure, err := s.worker.Measure(r)
		checks[i] = v.checked(shown, measure, err)
		if len(places) > 1 {
			checks[i].where = v.loginName(to.login) + " · " + r.Target
		}
		if f.get("when") == "queue" {
			s.checkQueue(v, &checks[i], to.login, f.get("post"))
		}
	}
	return checks
}

// checkQueue adds when a queued post would be published, or why it cannot be queued. changed is the id of one that
// exists, or empty.
func (s postPages) checkQueue(v view, c *check, login store.Identity, changed string) {
	number, _ := strconv.ParseUint(changed, 10, 64) // 0 is no post
	err := s.DB.View(func(tx *store.Tx) error {
		at, err := posts.NextSlot(tx, login, c.post.Target, number)
		if err == nil {
			c.where += " · " + v.Exact(at)
		}
		return err
	})
	if err != nil && c.trouble == "" {
		c.trouble = v.refusal(err)
	}
}
