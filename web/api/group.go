package api

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"belfry/store"
	"belfry/worker/posts"
)

// Target is where one of several posts goes that are made together.
type Target struct {
	Platform   string `json:"platform" doc:"telegram, instagram, twitter or x" example:"telegram"`
	IdentityID number `json:"identity_id,omitempty" doc:"The identity that posts; if left out the platform's only one, or the one called main"`
	Target     string `json:"target,omitempty" doc:"Where it goes; the identity's own target if left out" example:"@evening_news"`
	Text       string `json:"text,omitempty" doc:"Its own text instead of the common one"`
}

// PostGroup is posts that were made together. Each has its own status.
type PostGroup struct {
	Group uint64 `json:"group" doc:"The id of the first"`
	Items []Post `json:"items" nullable:"false"`
}

// MadePosts is what a request for posts has made: the post, or those of its targets.
type MadePosts struct {
	*Post
	Group uint64 `json:"group,omitempty"`
	Items []Post `json:"items,omitempty"`
}

// Schema describes both answers.
func (MadePosts) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[Post](), true, ""), r.Schema(reflect.TypeFor[PostGroup](), true, ""),
	}}
}

// targets are the places that a request names.
func (b newPost) targets() (all []posts.Target, err error) {
	switch {
	case b.Targets != nil && b.Platforms != nil:
		return nil, store.Invalid("platforms", "invalid.with_targets")
	case b.Platform != "":
		return nil, store.Invalid("platform", "invalid.with_targets")
	case b.IdentityID != 0:
		return nil, store.Invalid("identity_id", "invalid.with_targets")
	case b.Target != "":
		return nil, store.Invalid("target", "invalid.with_targets")
	}
	for _, t := range b.Targets {
		all = append(all, posts.Target{Platform: t.Platform, IdentityID: uint64(t.IdentityID), Target: t.Target, Text: t.Text})
	}
	for _, name := range b.Platforms {
		all = append(all, posts.Target{Platform: name})
	}
	return all, nil
}

// createGroup prepares posts that are made together. A refusal names the item of the list that was sent.
func (s postDoor) createGroup(ctx context.Context, b newPost, request posts.Request) (func(*store.Tx) (MadePosts, error), error) {
	targets, err := b.targets()
	if err != nil {
		return nil, err
	}
	drafts, err := s.posts.PrepareAll(ctx, request, targets)
	if wrong, ok := errors.AsType[*store.FieldError](err); ok && b.Platforms != nil && strings.HasPrefix(wrong.Field, "targets") {
		place, _, _ := strings.Cut(wrong.Field, ".")
		return nil, store.Invalid(strings.Replace(place, "targets", "platforms", 1), wrong.Key, wrong.Args...)
	}
	if err != nil {
		return nil, err
	}
	return func(tx *store.Tx) (made MadePosts, err error) {
		all, err := s.posts.ScheduleAll(tx, drafts)
		if err != nil {
			return made, err
		}
		made.Group = all[0].ID
		for _, p := range all {
			made.Items = append(made.Items, s.shownPost(p))
		}
		return made, nil
	}, nil
}

// CancelledGroup is posts that were made together, after those were cancelled that could be.
type CancelledGroup struct {
	PostGroup
	NotCancelled []NotCancelled `json:"not_cancelled" nullable:"false" doc:"Those that could not be cancelled any more"`
}

// NotCancelled is a post that could not be cancelled.
type NotCancelled struct {
	ID     uint64 `json:"id"`
	Detail string `json:"detail" doc:"Why, and what to do"`
}

func (s postDoor) cancelGroup(_ context.Context, in *one) (*reply[CancelledGroup], error) {
	return within(s.db.Update, func(tx *store.Tx) (out CancelledGroup, err error) {
		all, kept, err := s.posts.CancelGroup(tx, in.ID)
		out.Group, out.NotCancelled = in.ID, []NotCancelled{}
		for _, p := range all {
			out.Items = append(out.Items, s.shownPost(p))
			if why := kept[p.ID]; why != nil {
				out.NotCancelled = append(out.NotCancelled, NotCancelled{p.ID, ProblemOf(why).Detail})
			}
		}
		return out, err
	})
}
