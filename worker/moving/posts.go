package moving

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/posts"
)

// place is where posts of a batch go.
type place struct {
	identity uint64
	target   string
}

// chat is what names a chat, and not an account that posts.
var chat = regexp.MustCompile(`^(@\w+|-\d+|(https?://)?t\.me/.+)$`)

// publishOptions is what scheduled_posts says of how a post goes out.
type publishOptions struct {
	ChatID         any    `json:"chat_id"` // a number, or @name
	ParseMode      string `json:"parse_mode"`
	Silent         bool   `json:"disable_notification"`
	NoLinkPreviews bool   `json:"disable_web_page_preview"`
}

// post reads a row of scheduled_posts.
func (w *Worker) post(ctx context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error) {
	request, old, err := w.postRequest(r, was)
	if err != nil || r.err != nil {
		return nil, err
	}
	at := r.time("scheduled_time")
	ended := posts.Ended{CreatedAt: r.time("created_at")}
	switch status := strings.ToLower(r.text("status")); status {
	case "scheduled", "pending", "":
		if old.Status == store.PostCancelled && !r.was.Stopped { // here, since
			r.report.note("import.kept")
			return func(*store.Tx) (uint64, error) { return was, nil }, nil
		}
		if old.Status == store.PostPublished {
			return func(*store.Tx) (uint64, error) { return was, nil }, nil
		}
		if at.Before(r.now) && !r.batch.Publish {
			ended.Status, ended.Reason = store.PostSkipped, store.Reason{Code: store.ReasonImportedLate}
			break
		}
		request.AllowPast = true
		return w.schedule(ctx, r, request, old)
	case "published":
		ended.Status, ended.PublishedAt = store.PostPublished, r.time("published_at")
		if ended.PublishedAt.IsZero() {
			ended.PublishedAt = at
		}
		if id, err := strconv.ParseInt(r.text("platform_post_id"), 10, 64); err == nil {
			ended.MessageIDs = []int64{id}
		}
	case "failed", "error":
		ended.Status, ended.Reason = store.PostFailed, store.Reason{Code: store.ReasonError, Detail: store.Shorten(r.text("error_message"), 300)}
	case "cancelled", "canceled":
		ended.Status, ended.Reason = store.PostCancelled, store.Reason{Code: store.ReasonCancelled}
	case "publishing", "processing":
		ended.Status, ended.Reason = store.PostUnknown, store.Reason{Code: store.ReasonUnknown}
	default:
		r.wrong("status", "invalid.not_one_of", status, "scheduled, published, failed, cancelled, publishing")
	}
	r.stops = ended.Reason.Code != store.ReasonImportedLate
	draft, err := w.Posts.PrepareEnded(request)
	return func(tx *store.Tx) (uint64, error) {
		post, err := w.Posts.Record(tx, was, draft, ended)
		return post.ID, err
	}, err
}

// schedule prepares a post that is to go out: a new one, or the one that was made of the row before, which says what its
// content says now.
func (w *Worker) schedule(ctx context.Context, r *reader, request posts.Request, old store.Post) (func(*store.Tx) (uint64, error), error) {
	if request.Format == "markdown" { // the Bot API's, in which *text* is bold
		r.report.note("import.markdown")
	}
	if old.ID != 0 {
		says := request
		says.IdentityID, says.Target = old.IdentityID, cmp.Or(request.Target, old.Target)
		draft, err := w.Posts.PrepareEnded(says)
		if err != nil {
			return nil, err
		}
		post := draft.Post()
		draft, err = w.Posts.PrepareChange(ctx, old.ID, posts.Patch{
			Text: &post.Text, Media: &post.Media, Format: &post.Format, Target: &post.Target,
			ScheduledTime: &request.ScheduledTime, AllowPast: true, Silent: &request.Silent, NoLinkPreview: &request.NoLinkPreview,
		})
		return func(tx *store.Tx) (uint64, error) {
			post, err := w.Posts.Change(tx, old.ID, draft)
			return post.ID, err
		}, err
	}
	draft, err := w.Posts.PrepareEnded(request)
	if err != nil {
		return nil, err
	}
	var to place
	to.identity, to.target = draft.Place()
	refused, asked := r.batch.asked[to]
	if refused != nil {
		return nil, refused
	}
	request.Reached = asked
	draft, err = w.Posts.Prepare(ctx, request)
	if wrong, is := errors.AsType[*store.FieldError](err); err == nil || is && wrong.Field == "target" {
		r.batch.asked[to] = err
	}
	return func(tx *store.Tx) (uint64, error) {
		post, err := w.Posts.Schedule(tx, draft)
		return post.ID, err
	}, err
}

// postRequest reads what a post says and where it goes.
func (w *Worker) postRequest(r *reader, was uint64) (request posts.Request, old store.Post, err error) {
	var options publishOptions
	r.object("publish_options", &options)
	at := r.time("scheduled_time")
	if at.IsZero() {
		r.wrong("scheduled_time", "invalid.time_missing")
	}
	request = posts.Request{
		Platform: strings.ToLower(r.text("platform")), ScheduledTime: at.Format(time.RFC3339Nano),
		Silent: options.Silent, NoLinkPreview: options.NoLinkPreviews,
	}
	if request.Platform == "x" {
		request.Platform = "twitter"
	}
	switch strings.ToLower(options.ParseMode) {
	case "html":
		request.Format = "html"
	case "markdown", "markdownv2":
		request.Format = "markdown"
	}
	switch id := options.ChatID.(type) {
	case string:
		request.Target = id
	case float64:
		request.Target = strconv.FormatInt(int64(id), 10)
	}
	account := r.text("account_id")
	if request.Platform == "telegram" && chat.MatchString(account) {
		if request.Target == "" {
			request.Target = account
		}
		account = ""
	}
	err = w.db.View(func(tx *store.Tx) (err error) {
		request.IdentityID = r.identity(tx, request.Platform, account)
		if was != 0 {
			if old, err = tx.Posts.Get(was); err != nil {
				return err
			}
		}
		request.ContentID, request.Text, err = r.content(tx)
		return err
	})
	return request, old, err
}

// content returns the content that a row names, or else the row's own text. A row without either is wrong.
func (r *reader) content(tx *store.Tx) (id uint64, text string, err error) {
	if named := r.text("content_id"); named != "" {
		if moved, err := tx.Moved.Of("content_pieces", named); err == nil {
			return moved.OurID, "", nil
		}
	}
	if text = r.text("text"); text == "" {
		r.wrong("text", "invalid.import_no_content", r.text("content_id"))
	}
	return 0, text, nil
}
