package posts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"belfry/platform"
	"belfry/store"
)

// Target is where one of several posts goes that are made together.
type Target struct {
	Platform   string
	IdentityID uint64 // 0: the platform's default one
	Target     string // empty: where the identity posts
	Text       string // instead of the request's; in its format, or plain where texts have no markup
}

// maxTargets is how many posts are made together at most.
const maxTargets = 20

// PrepareAll checks a request for a post to each target, as [Worker.Prepare] checks each. A refusal names the target,
// as in targets[1].text. All of them must have different channels.
func (w *Worker) PrepareAll(ctx context.Context, r Request, targets []Target) ([]Draft, error) {
	if len(targets) == 0 || len(targets) > maxTargets {
		return nil, store.Invalid("targets", "invalid.targets_number", maxTargets)
	}
	drafts, errs := make([]Draft, len(targets)), make([]error, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() { drafts[i], errs[i] = w.Prepare(ctx, w.RequestFor(r, t)) })
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, placed(err, i)
		}
		if slices.ContainsFunc(drafts[:i], drafts[i].sameChannel) {
			return nil, store.Invalid(fmt.Sprintf("targets[%d].target", i), "invalid.target_twice")
		}
	}
	return drafts, nil
}

// RequestFor is the request for the post to a target.
func (w *Worker) RequestFor(r Request, t Target) Request {
	r.Platform, r.IdentityID, r.Target = canonical(t.Platform), t.IdentityID, t.Target
	switch {
	case t.Text == "" && r.ContentID != 0: // the content says it
	case t.Text == "":
		r.Text, r.Format = w.asShown(r.Platform, r.Text, r.Format)
	case r.Platform == markup:
		r.Text = t.Text
	default:
		r.Text, r.Format = t.Text, string(platform.Plain)
	}
	return r
}

func (d Draft) sameChannel(e Draft) bool {
	return d.identity.ID == e.identity.ID && strings.EqualFold(d.post.Target, e.post.Target)
}

// placed gives a refusal the name of the target whose post is refused.
func placed(err error, i int) error {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if ok && slices.Contains([]string{"platform", "identity_id", "target", "text"}, wrong.Field) {
		return store.Invalid(fmt.Sprintf("targets[%d].%s", i, wrong.Field), wrong.Key, wrong.Args...)
	}
	return err
}

// ScheduleAll writes posts that were prepared together, and their jobs. They share a group, the id of the first.
func (w *Worker) ScheduleAll(tx *store.Tx, drafts []Draft) ([]store.Post, error) {
	made := make([]store.Post, 0, len(drafts))
	for _, d := range drafts {
		if len(made) > 0 {
			d.post.Group = made[0].ID
		}
		post, err := w.Schedule(tx, d)
		if err != nil {
			return nil, err
		}
		made = append(made, post)
	}
	made[0].Group = made[0].ID
	return made, errors.Join(tx.Posts.Put(&made[0]), w.TellHeld(tx, made...))
}

// Group returns the posts that were made together, the first one first, or [store.ErrNotFound].
func Group(tx *store.Tx, group uint64) ([]store.Post, error) {
	page, err := tx.Posts.OfGroup(group, store.Query{Limit: maxTargets})
	if err == nil && len(page.Items) == 0 {
		err = fmt.Errorf("posts of group %d: %w", group, store.ErrNotFound)
	}
	return page.Items, err
}

// CancelGroup keeps those posts of a group from going out that have not. It returns all of them, and for those that
// cannot be cancelled why.
func (w *Worker) CancelGroup(tx *store.Tx, group uint64) (all []store.Post, kept map[uint64]error, err error) {
	if all, err = Group(tx, group); err != nil {
		return nil, nil, err
	}
	kept = make(map[uint64]error)
	for i, p := range all {
		cancelled, err := w.Cancel(tx, p.ID)
		if _, refused := errors.AsType[*store.ConflictError](err); refused {
			kept[p.ID] = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		all[i] = cancelled
	}
	return all, kept, nil
}

// markup is the platform whose texts have markup. The others show a text as it is.
const markup = "telegram"

// asShown returns a text as a platform takes it: where texts have no markup, without it, but with the addresses of its
// links. Markup that cannot be read stays, and is refused with its format.
func (w *Worker) asShown(platformName, text, format string) (shown, itsFormat string) {
	format = cmp.Or(format, string(platform.Plain))
	if platformName == markup || format == string(platform.Plain) {
		return text, format
	}
	styled, err := w.Styled(markup, format, text)
	if err != nil {
		return text, format
	}
	var out strings.Builder
	at := 0
	for _, s := range styled.Spans {
		if s.Kind != platform.Link || s.End <= at || !strings.HasPrefix(s.URL, "http") || s.URL == styled.Text[s.Start:s.End] {
			continue
		}
		out.WriteString(styled.Text[at:s.End] + " (" + s.URL + ")")
		at = s.End
	}
	return out.String() + styled.Text[at:], string(platform.Plain)
}
