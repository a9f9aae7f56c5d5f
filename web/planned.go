package web

import (
	"strings"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// planned is a job with what it is about and why it waits.
type planned struct {
	job  store.Job
	post *store.Post // nil for a job of another kind, or about a post that is gone
	task *store.Task // likewise
	note *store.Notice
	why  store.Reason
}

// plan reads what a job is about.
func plan(tx *store.Tx, j store.Job) (planned, error) {
	why, err := scheduler.Why(tx, j)
	if err != nil {
		return planned{}, err
	}
	p := planned{job: j, why: why}
	switch j.Kind {
	case posts.Kind:
		p.post = subject(tx.Posts.Table, j.Subject)
	case tasks.Kind, tasks.CheckKind:
		p.task = subject(tx.Tasks.Table, j.Subject)
	case notices.Kind:
		p.note = subject(tx.Notices.Table, j.Subject)
	}
	return p, nil
}

// readComing reads what runs next. Jobs that are paused keep their places among the others, long
// after their time: it looks past them, though not without end.
func (o *overview) readComing(tx *store.Tx) error {
	query := store.Query{Limit: 4 * comingRuns}
	for range comingPages {
		jobs, err := tx.Jobs.Upcoming("", query)
		if err != nil {
			return err
		}
		for _, j := range jobs.Items {
			switch {
			case j.State == store.JobSetAside:
				if len(o.setAside) < maxTrouble {
					o.setAside = append(o.setAside, j)
				}
			case j.State == store.JobPaused, watches(j.Kind):
			case len(o.coming) == comingRuns:
				o.more = true
			default:
				p, err := plan(tx, j)
				if err != nil {
					return err
				}
				o.coming = append(o.coming, p)
			}
		}
		if query.Cursor = jobs.Next; query.Cursor == "" {
			return nil
		}
		if len(o.coming) == comingRuns {
			break
		}
	}
	o.more = true
	return nil
}

// watches reports whether jobs of a kind only look after Belfry itself, each minute: among what is to
// come they would hide the rest.
func watches(kind string) bool { return kind == alerts.Kind || kind == alerts.HeartbeatKind }

// subject returns nil for a record that is gone or damaged: it must not hide the others.
func subject[T any](table store.Table[T], id uint64) *T {
	row, err := table.Get(id)
	if err != nil {
		return nil
	}
	return &row
}

// jobTitle says in words what a job is, where it goes, and where to read more.
func (r reader) jobTitle(p planned) (title, where, link string) {
	if p.post != nil {
		return r.postTitle(*p.post), p.post.Target, postPath(p.post.ID)
	}
	if p.task != nil {
		title, link = r.taskTitle(*p.task), taskPath(p.task.ID)
		if p.job.Kind == tasks.CheckKind {
			return title, r.words.JobKinds[tasks.CheckKind], link
		}
		return title, r.words.JobKinds[tasks.Kind] + ", " + r.words.Tasks.Of(p.task.Total-p.task.Left(), p.task.Total), link
	}
	if p.note != nil && p.note.Chat == store.WebhookChat { // its text is JSON
		return r.words.Jobs.Webhook, "", "/jobs/" + p.job.Name
	}
	if p.note != nil {
		first, _, _ := strings.Cut(p.note.Text, "\n")
		return first, r.words.JobKinds[notices.Kind] + " " + p.note.Chat, "/jobs/" + p.job.Name
	}
	title = r.words.JobKinds[p.job.Kind]
	if title == "" {
		title = p.job.Kind
	}
	if number, ok := strings.CutPrefix(p.job.Name, p.job.Kind+"_"); ok {
		title += " " + number
	}
	switch {
	case p.job.Kind == tasks.ListKind:
		return title, "", chatsPath(p.job.Subject)
	case p.job.Kind == accounts.Kind && r.watch:
		return title, "", "/accounts"
	case p.job.Kind == alerts.Kind && r.alerts:
		return title, "", "/alerts"
	}
	return title, "", "/jobs/" + p.job.Name
}

// postTitle is the first words of a post, or what it shows.
func (r reader) postTitle(p store.Post) string {
	if text := shorten(firstLine(p.Format, p.Text), 90); text != "" {
		return text
	}
	switch len(p.Media) {
	case 0:
		return r.words.Posts.NoText
	case 1:
		return strings.TrimSpace(r.words.MediaKinds[p.Media[0].Kind] + " " + r.words.Posts.NoText)
	}
	return r.words.Posts.Album(len(p.Media))
}
