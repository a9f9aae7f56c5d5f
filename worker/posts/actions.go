package posts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Schedule writes the post and its job. One for the queue takes the next time that is free.
func (w *Worker) Schedule(tx *store.Tx, d Draft) (store.Post, error) {
	identity, err := tx.Identities.Get(d.identity.ID)
	if err != nil {
		return store.Post{}, err
	}
	post := d.normal()
	post.ID, post.Status = 0, store.PostScheduled
	post.Key = platform.NewKey()
	post.CreatedAt, post.UpdatedAt = tx.Now(), tx.Now()
	if d.queue {
		if post.ScheduledTime, err = NextSlot(tx, identity, post.Target, 0); err != nil {
			return post, err
		}
	}
	if err := errors.Join(tx.Media.Use(post.Media), tx.Posts.Put(&post)); err != nil {
		return post, err
	}
	return post, putJob(tx, post, identity, post.ScheduledTime)
}

// TellHeld tells of those of the posts, made together, that need approval.
func (w *Worker) TellHeld(tx *store.Tx, made ...store.Post) error {
	var held []store.Post
	for _, p := range made {
		if p.AwaitsApproval() {
			held = append(held, p)
		}
	}
	if len(held) == 0 || w.held == nil {
		return nil
	}
	return w.held(tx, held)
}

// Change writes a changed post and moves its job. If anything has happened to the post since the
// change was prepared, it refuses: the draft would undo it.
func (w *Worker) Change(tx *store.Tx, id uint64, d Draft) (store.Post, error) {
	was, err := tx.Posts.Get(id)
	if err != nil {
		return was, err
	}
	if err := changeable(was); err != nil {
		return was, err
	}
	if !reflect.DeepEqual(was, d.was) {
		return was, changed(was)
	}
	identity, err := tx.Identities.Get(d.identity.ID)
	if err != nil {
		return was, err
	}
	post := d.normal()
	post.State = nil // was made of what it said before
	if d.queue {
		if post.ScheduledTime, err = NextSlot(tx, identity, post.Target, id); err != nil {
			return was, err
		}
	}
	if err := tx.Media.Use(post.Media); err != nil {
		return was, err
	}
	if err := withdraw(tx, post.JobName()); err != nil {
		return was, err
	}
	post, err = schedule(tx, post, identity, post.ScheduledTime)
	if err == nil && post.IdentityID != was.IdentityID { // the window of the one before is not that of this one
		err = tx.Jobs.Wake(post.JobName(), worker.Later(post.ScheduledTime, tx.Now()))
	}
	return post, err
}

// withdraw takes back that a post was asked for at once and has not gone out: the time that its owner has just saved
// holds.
func withdraw(tx *store.Tx, name string) error {
	job, err := tx.Jobs.ByName(name)
	if errors.Is(err, store.ErrNotFound) || err == nil && (!job.Requested || job.State != store.JobWaiting) {
		return nil
	}
	if err == nil {
		_, err = scheduler.Pause(tx, name)
	}
	if err == nil && !job.Paused {
		_, err = scheduler.Resume(tx, name)
	}
	return err
}

// Seen names what a person sees of a post. It is another one as soon as the post says something
// else, or goes elsewhere or at another time, or nobody knows any more whether it is out.
func Seen(p store.Post) string {
	text := fmt.Sprintf("%q %q %v %q %d %q %v %v %v %v %v", p.Text, p.Format, p.Media, p.Platform, p.IdentityID, p.Target,
		p.Silent, p.NoLinkPreview, p.ScheduledTime.UnixNano(), p.Lateness, p.Status == store.PostUnknown)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Unchanged refuses to go on with a post that is not any more what somebody has seen and agreed to.
func Unchanged(tx *store.Tx, id uint64, seen string) error {
	post, err := tx.Posts.Get(id)
	if err == nil && Seen(post) != seen {
		err = changed(post)
	}
	return err
}

// changedError is the refusal to act on a post that is not any more what somebody has seen.
type changedError struct{ *store.ConflictError }

func (e changedError) Unwrap() error { return e.ConflictError }

// IsChanged reports whether an error says that a post was changed since somebody has seen it.
func IsChanged(err error) bool {
	_, is := errors.AsType[changedError](err)
	return is
}

func changed(p store.Post) error {
	return changedError{store.Conflict("conflict.post_changed", p.ID)}
}

// changeable reports why a post can no longer be changed, if so.
func changeable(p store.Post) error {
	switch p.Status {
	case store.PostPublished:
		return store.Conflict("conflict.post_published", p.ID)
	case store.PostPublishing:
		return store.Conflict("conflict.post_publishing", p.ID)
	case store.PostUnknown:
		return store.Conflict("conflict.post_unknown", p.ID)
	}
	if p.MayBeOut() { // if it is, the network keeps what it has got
		return store.Conflict("conflict.post_unknown", p.ID)
	}
	return nil
}

// Cancel keeps a post from going out.
func (w *Worker) Cancel(tx *store.Tx, id uint64) (store.Post, error) {
	post, err := tx.Posts.Get(id)
	if err != nil {
		return post, err
	}
	switch post.Status {
	case store.PostCancelled:
		return post, nil
	case store.PostScheduled, store.PostPublishing, store.PostFailed, store.PostSkipped:
	default:
		return post, store.Conflict("conflict.post_out", id, i18n.M("post.status."+string(post.Status)+".name"))
	}
	if err := mayChange(tx, post); err != nil {
		return post, err
	}
	if post.MayBeOut() { // it will not be sent again, and may be out
		fail(&post, post.Reason)
	} else {
		post.Status, post.Reason = store.PostCancelled, store.Reason{Code: store.ReasonCancelled}
	}
	post.UpdatedAt = tx.Now()
	if err := tx.Posts.Put(&post); err != nil {
		return post, err
	}
	return post, scheduler.Delete(tx, post.JobName())
}

// Retry publishes a post at once that has ended without having gone out for sure. It keeps its key,
// so one that is out after all is recognised.
func (w *Worker) Retry(tx *store.Tx, id uint64) (store.Post, error) {
	post, err := tx.Posts.Get(id)
	if err != nil {
		return post, err
	}
	if !post.Status.Final() {
		return post, store.Conflict("conflict.post_not_ended", id, i18n.M("post.status."+string(post.Status)+".name"))
	}
	if post.Status == store.PostPublished {
		return post, store.Conflict("conflict.post_published", id)
	}
	identity, err := tx.Identities.Get(post.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		return post, store.Conflict("conflict.post_login_gone", id)
	}
	if err != nil {
		return post, err
	}
	post.Lateness, post.Held = store.Lateness{}, false // asked for by hand
	post.SentAgain, post.Unsettled = post.MayBeOut(), false
	return schedule(tx, post, identity, tx.Now())
}

// MarkPublished ends a post as published whose result is not known, because a person has seen it.
func (w *Worker) MarkPublished(tx *store.Tx, id uint64) (store.Post, error) {
	post, err := tx.Posts.Get(id)
	if err != nil || post.Status == store.PostPublished {
		return post, err
	}
	if post.Status != store.PostUnknown {
		return post, store.Conflict("conflict.post_not_unknown", id, i18n.M("post.status."+string(post.Status)+".name"))
	}
	published(&post)
	post.PublishedAt, post.UpdatedAt = tx.Now(), tx.Now()
	return post, tx.Posts.Put(&post)
}

// PublishNow publishes a waiting post at once.
func (w *Worker) PublishNow(tx *store.Tx, id uint64) (store.Post, error) {
	post, err := tx.Posts.Get(id)
	if err != nil {
		return post, err
	}
	if post.Status.Final() {
		return post, store.Conflict("conflict.post_ended", id, i18n.M("post.status."+string(post.Status)+".name"))
	}
	if _, err := scheduler.RunNow(tx, post.JobName()); err != nil {
		return post, err
	}
	return w.Approve(tx, id)
}

// Approve lets a post go out at its time that was held; one whose time has passed goes out at once, if
// it may be late. One that is not held stays as it is.
func (w *Worker) Approve(tx *store.Tx, id uint64) (store.Post, error) {
	post, err := tx.Posts.Get(id)
	if err != nil || !post.Held {
		return post, err
	}
	if post.Status.Final() {
		return post, store.Conflict("conflict.post_ended", id, i18n.M("post.status."+string(post.Status)+".name"))
	}
	if err := mayChange(tx, post); err != nil {
		return post, err
	}
	post.Held, post.UpdatedAt = false, tx.Now()
	if err := tx.Posts.Put(&post); err != nil {
		return post, err
	}
	_, err = scheduler.Resume(tx, post.JobName())
	return post, err
}

// Approved wraps an action that lets a job run, and refuses it for a post that needs approval.
func Approved(act func(*store.Tx, string) (store.Job, error)) func(*store.Tx, string) (store.Job, error) {
	return func(tx *store.Tx, name string) (store.Job, error) {
		if err := MayStart(tx, name); err != nil {
			return store.Job{}, err
		}
		return act(tx, name)
	}
}

// MayStart refuses to have the job of a post started, or let go on, that needs approval: whoever does
// that may not have read the post. Other jobs are none of its business.
func MayStart(tx *store.Tx, name string) error {
	job, err := tx.Jobs.ByName(name)
	if errors.Is(err, store.ErrNotFound) || (err == nil && job.Kind != Kind) {
		return nil
	}
	if err != nil {
		return err
	}
	if post, err := tx.Posts.Get(job.Subject); err == nil && post.AwaitsApproval() {
		return store.Conflict("conflict.needs_approval", post.ID)
	}
	return nil
}

// mayChange refuses a change to a post that is being published: what is accepted holds.
func mayChange(tx *store.Tx, post store.Post) error {
	err := scheduler.MayChange(tx, post.JobName())
	if _, running := errors.AsType[*store.ConflictError](err); running {
		return store.Conflict("conflict.post_running", post.ID)
	}
	return err
}

// schedule makes a post wait for a time, as if it were new.
func schedule(tx *store.Tx, post store.Post, identity store.Identity, at time.Time) (store.Post, error) {
	if err := mayChange(tx, post); err != nil {
		return post, err
	}
	post.Status, post.Reason, post.Failures = store.PostScheduled, store.Reason{}, 0
	post.UpdatedAt = tx.Now()
	if err := tx.Posts.Put(&post); err != nil {
		return post, err
	}
	return post, putJob(tx, post, identity, at)
}

func putJob(tx *store.Tx, post store.Post, identity store.Identity, at time.Time) error {
	err := scheduler.Put(tx, store.Job{
		Name: post.JobName(), Kind: Kind, Subject: post.ID, Lane: identity.Lane(), Trigger: store.Trigger{At: at},
	})
	if err != nil || !post.Held {
		return err
	}
	_, err = scheduler.Pause(tx, post.JobName())
	return err
}
