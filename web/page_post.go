package web

import (
	"errors"
	"html/template"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/posts"
)

// postPage is one post: as readers see it, how it stands, what can be done, what happened.
type postPage struct {
	frame
	ID                       string
	Message                  message
	Status                   chip
	Means, Reason            string
	When, NextTry, Published *moment
	Where, Login, Lateness   string
	Options, Network         string
	Actions                  []action
	Runs                     []pastRun
}

// message is a post as its readers see it.
type message struct {
	Text  template.HTML // made of known tags alone
	Media []shownFile
	Empty string
}

type shownFile struct{ Kind, Name, Source string }

// action is something that can be done with a post.
type action struct{ Key, Name, Link, Class string }

// pastRun is one line of a job's history.
type pastRun struct {
	Class, Result, Attempt, Reason, Next string
	When                                 *moment
}

func (s *Server) loadPost(r reader) (page, error) {
	number, err := strconv.ParseUint(r.id, 10, 64)
	if err != nil {
		return nil, echo.ErrNotFound
	}
	var post store.Post
	var job store.Job
	var login store.Identity
	var runs store.Page[store.Run]
	err = s.db.View(func(tx *store.Tx) (err error) {
		if post, err = tx.Posts.Get(number); err != nil {
			return err
		}
		if job, err = tx.Jobs.ByName(post.JobName()); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if login, err = tx.Identities.Get(post.IdentityID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		runs, err = tx.Runs.Of(post.JobName(), store.Query{Limit: shownRuns})
		return err
	})
	if err != nil {
		return nil, err
	}
	w := r.words
	p := &postPage{
		frame: s.frame(r, "posts", w.Post.Title+" "+r.id), ID: r.id, Message: r.message(post),
		Status: r.postChip(post), Means: r.postMeans(post), When: r.moment(post.ScheduledTime),
		Published: r.momentIf(post.PublishedAt), Where: post.Target, Login: r.loginName(login),
		Lateness: r.latenessText(post.Lateness), Network: webAddress(post.Link), Actions: r.postActions(post, job),
		Runs: r.pastRuns(runs.Items),
	}
	if post.Status != store.PostCancelled || post.Reason.Detail != "" {
		p.Reason = r.Say(post.Reason)
	}
	switch post.Status {
	case store.PostFailed, store.PostUnknown, store.PostSkipped: // since what was done, something else has happened
		p.Done = ""
	}
	if !post.Status.Final() && !job.Due.IsZero() && !job.Due.Equal(post.ScheduledTime) {
		p.NextTry = r.moment(job.Due)
	}
	var options []string
	if post.Silent {
		options = append(options, w.Post.Silent)
	}
	if post.NoLinkPreview {
		options = append(options, w.Post.NoPreview)
	}
	p.Options = strings.Join(options, ", ")
	return p, nil
}

func (r reader) message(p store.Post) message {
	m := message{Text: formatted(p.Format, p.Text), Empty: r.words.Compose.PreviewEmpty}
	for _, file := range p.Media {
		source := file.URL
		if source == "" {
			source = file.File
		}
		m.Media = append(m.Media, shownFile{Kind: file.Kind, Name: r.words.MediaKinds[file.Kind], Source: source})
	}
	return m
}

func (r reader) loginName(i store.Identity) string {
	switch {
	case i.ID == 0:
		return r.words.Post.Removed
	case i.Title != "":
		return i.Title + " (" + i.Name + ")"
	}
	return i.Name
}

func (r reader) latenessText(l store.Lateness) string {
	if l.Policy == store.LateSkip {
		return r.words.Post.LateSkip + " " + r.words.Time.Length(l.Grace)
	}
	return r.words.Post.LateSend
}

func (r reader) postActions(p store.Post, job store.Job) []action {
	w, path := r.words.Post, postPath(p.ID)
	change := action{"change", w.Change, path + "/change", ""}
	again := action{"again", w.Again, "/posts/new?from=" + id(p.ID), "quiet-button"}
	cancel := action{"cancel", w.Cancel, path + "/cancel", "quiet-button danger"}
	now := action{"publish-now", w.PublishNow, path + "/publish-now", "quiet-button"}
	retry := action{"retry", w.Retry, path + "/retry", ""}
	approve := action{"approve", r.words.Approval.Approve, path + "/approve", ""}
	if p.Status != store.PostScheduled || p.AwaitsApproval() {
		change.Class = "quiet-button"
	}
	switch shownStatus(p) {
	case heldPosts:
		if posts.TooLate(p, r.now) { // approving would only skip it
			now.Class = ""
			return []action{now, change, cancel}
		}
		return []action{approve, change, now, cancel}
	case store.PostScheduled:
		return []action{change, now, cancel}
	case store.PostPublishing:
		if job.State == store.JobRunning {
			return nil
		}
		return []action{now, cancel}
	case store.PostFailed:
		return []action{retry, change, cancel}
	case store.PostSkipped, store.PostCancelled: // nothing was tried, and nothing goes out by the first button
		change.Class, retry.Class, retry.Name = "", "quiet-button", w.PublishNow
		return []action{change, again, retry}
	case store.PostUnknown:
		return []action{retry, again}
	}
	return []action{again}
}

func (r reader) pastRuns(runs []store.Run) []pastRun {
	shown := make([]pastRun, 0, len(runs))
	for _, run := range runs {
		line := pastRun{
			Class: "was-" + string(run.Result), Result: r.words.Results[run.Result], When: r.moment(run.Ended),
			Reason: r.Say(run.Reason),
		}
		if run.Attempt > 1 {
			line.Attempt = r.words.Post.Attempt(strconv.Itoa(run.Attempt))
		}
		if !run.Next.IsZero() && run.Result != store.ResultDone {
			line.Next = r.words.Post.NextRun(r.moment(run.Next).Exact)
		}
		shown = append(shown, line)
	}
	return shown
}
