package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/tasks"
)

// newTask is the request for a broadcast: the text itself, or the id of a content.
type newTask struct {
	ContentID     number   `json:"content_id,omitempty" doc:"The content that goes out; or give text"`
	Text          string   `json:"text,omitempty" doc:"The text, in the given format"`
	Media         []Media  `json:"media,omitempty" doc:"What is shown with the text; two or more make an album"`
	Format        format   `json:"format,omitempty" doc:"html, markdown or plain (default)"`
	IdentityID    number   `json:"identity_id,omitempty" doc:"The user account that sends; if left out the only one"`
	Targets       targets  `json:"target_chat_ids,omitempty" doc:"The chats, in the order in which they get it; TARGET_CHAT_IDS if left out"`
	MinPause      *float64 `json:"min_seconds_between_chats,omitempty" doc:"The pause between two chats is random between this and the next" example:"20"`
	MaxPause      *float64 `json:"max_seconds_between_chats,omitempty" example:"40"`
	MaxAttempts   int      `json:"max_attempts,omitempty" doc:"Attempts after errors, before the broadcast fails" example:"3"`
	StartAt       when     `json:"start_at,omitempty" doc:"RFC 3339 with a zone; at once if left out" example:"2027-03-01T12:00:00+03:00"`
	QuietFrom     string   `json:"quiet_from,omitempty" doc:"Nothing is sent from this time of the day" example:"22:00"`
	QuietTo       string   `json:"quiet_to,omitempty" doc:"to this one, in the zone of BELFRY_TIMEZONE" example:"08:00"`
	DailyCap      int      `json:"daily_cap,omitempty" doc:"Messages of the account in a day; 0: no limit"`
	Silent        bool     `json:"silent,omitempty" doc:"Deliver without a sound"`
	NoLinkPreview bool     `json:"no_link_preview,omitempty" doc:"Show no preview of links"`
	DryRun        bool     `json:"dry_run,omitempty" doc:"Find out which chats can be reached, and send nothing before the task is resumed"`
	Paused        bool     `json:"paused,omitempty" doc:"Create it paused: nothing is done before it is resumed"`
}

func (b newTask) request() (tasks.Request, error) {
	chats, err := b.Targets.named()
	return tasks.Request{
		ContentID: uint64(b.ContentID), Text: b.Text, Media: storedMedia(b.Media), Format: string(b.Format),
		IdentityID: uint64(b.IdentityID), Targets: chats, MinPause: tasks.Seconds(b.MinPause), MaxPause: tasks.Seconds(b.MaxPause),
		Attempts: b.MaxAttempts, StartAt: string(b.StartAt), QuietFrom: b.QuietFrom, QuietTo: b.QuietTo, DailyCap: b.DailyCap,
		Silent: b.Silent, NoLinkPreview: b.NoLinkPreview, DryRun: b.DryRun, Hold: b.Paused,
	}, err
}

// Task is a broadcast as the API shows it.
type Task struct {
	ID              uint64    `json:"id"`
	Status          string    `json:"status" doc:"preparing (a large list of chats is being written), pending, processing, done, failed or cancelled" enum:"preparing,pending,processing,done,failed,cancelled"`
	ContentID       uint64    `json:"content_id,omitempty"`
	IdentityID      uint64    `json:"identity_id"`
	Text            string    `json:"text"`
	Format          string    `json:"format" enum:"html,markdown,plain"`
	Media           []Media   `json:"media" nullable:"false"`
	Silent          bool      `json:"silent"`
	NoLinkPreview   bool      `json:"no_link_preview"`
	MinPause        float64   `json:"min_seconds_between_chats"`
	MaxPause        float64   `json:"max_seconds_between_chats"`
	MaxAttempts     int       `json:"max_attempts"`
	Attempts        int       `json:"attempts" doc:"How often it was taken up"`
	Total           int       `json:"total_count" doc:"Its chats"`
	Sent            int       `json:"sent_count" doc:"Chats that have it"`
	Failed          int       `json:"error_count" doc:"Chats for which the attempts were used up"`
	Skipped         int       `json:"skipped_count" doc:"Chats that refuse it, or are not to have it"`
	Left            int       `json:"left_count" doc:"Chats that are still to be sent to"`
	LastError       string    `json:"last_error" doc:"Of the task or of a chat, in plain words; empty if there was none"`
	LastErrorReason *Reason   `json:"last_error_reason,omitempty"`
	StartAt         time.Time `json:"start_at"`
	QuietFrom       string    `json:"quiet_from,omitempty"`
	QuietTo         string    `json:"quiet_to,omitempty"`
	DailyCap        int       `json:"daily_cap,omitempty"`
	Paused          bool      `json:"paused" doc:"It goes on when it is resumed"`
	NextTarget      string    `json:"next_target,omitempty" doc:"The chat that comes next"`
	NextAt          time.Time `json:"next_at,omitzero" doc:"When, as far as is known"`
	Waiting         *Reason   `json:"waiting,omitempty" doc:"Why not before"`
	EstimatedEnd    time.Time `json:"estimated_end,omitzero" doc:"When the last chat will have been sent to, by estimate"`
	DryRun          string    `json:"dry_run" doc:"running, done, or empty if none was asked for" enum:",running,done"`
	CreatedAt       time.Time `json:"created_at"`
	StartedAt       time.Time `json:"started_at,omitzero"`
	EndedAt         time.Time `json:"ended_at,omitzero"`
	Job             string    `json:"job" doc:"The job that sends it" example:"task_4"`
}

// shownTask needs the transaction for what comes next.
func (s taskDoor) shownTask(tx *store.Tx, t store.Task) (Task, error) {
	next, err := s.tasks.ProgressOf(tx, t)
	if err != nil {
		return Task{}, err
	}
	return Task{
		ID: t.ID, Status: string(t.Status), ContentID: t.ContentID, IdentityID: t.IdentityID, Text: t.Text, Format: t.Format,
		Media: shownMedia(t.Media), Silent: t.Silent, NoLinkPreview: t.NoLinkPreview,
		MinPause: t.MinPause.Seconds(), MaxPause: t.MaxPause.Seconds(), MaxAttempts: t.MaxAttempts, Attempts: t.Attempts,
		Total: t.Total, Sent: t.Sent, Failed: t.Failed, Skipped: t.Skipped, Left: t.Left(),
		LastError: inEnglish().Say(t.LastError), LastErrorReason: s.reasonOf(t.LastError),
		StartAt: t.StartAt, QuietFrom: t.Quiet.From, QuietTo: t.Quiet.To, DailyCap: t.DailyCap,
		Paused: next.Paused, NextTarget: next.Next.Target, NextAt: next.At, Waiting: s.reasonOf(next.Why), EstimatedEnd: next.Ends,
		DryRun: string(t.Check), CreatedAt: t.CreatedAt, StartedAt: t.StartedAt, EndedAt: t.EndedAt, Job: t.JobName(),
	}, nil
}

// Tasks is the door to broadcasts and to the chats of accounts.
func Tasks(w *tasks.Worker) Door {
	return func(server *Server, a *api) {
		s := taskDoor{server, w}
		s.chatsAPI(a)
		operation(a, http.MethodPost, "/tasks", "Send a post to many chats as a user account", s.createTask, longBodies)
		operation(a, http.MethodGet, "/tasks", "List broadcasts, the latest first", s.listTasks)
		operation(a, http.MethodGet, "/tasks/{id}", "Read a broadcast: how far it is, what comes next and why it waits", s.readTask)
		operation(a, http.MethodDelete, "/tasks/{id}", "Cancel a broadcast before its next chat; it stays on record", s.taskAction((*tasks.Worker).Cancel))
		operation(a, http.MethodPost, "/tasks/{id}/pause", "Pause a broadcast", s.taskAction((*tasks.Worker).Pause))
		operation(a, http.MethodPost, "/tasks/{id}/resume", "Resume a broadcast, or start one that was created paused", s.taskAction((*tasks.Worker).Resume))
		operation(a, http.MethodPost, "/tasks/{id}/retry", "Send to the chats again that did not get it", s.taskAction((*tasks.Worker).Retry))
		operation(a, http.MethodPost, "/tasks/{id}/dry-run", "Find out which of its chats can be reached", s.taskAction((*tasks.Worker).DryRun))
		operation(a, http.MethodPost, "/tasks/{id}/preview", "Send its post to the account itself, at once", s.previewTask, patient)
		operation(a, http.MethodGet, "/tasks/{id}/deliveries", "List the chats of a broadcast with their statuses", s.listDeliveries)
		operation(a, http.MethodGet, "/tasks/{id}/deliveries.csv", "The same as a file for a spreadsheet", s.deliveryFile, csvFile)
	}
}

type taskDoor struct {
	*Server
	tasks *tasks.Worker
}

func (s taskDoor) createTask(ctx context.Context, in *creation[newTask]) (*created[Task], error) {
	return once(ctx, s.Server, "tasks", in, func() (func(*store.Tx) (Task, error), error) {
		request, err := in.Body.request()
		if err != nil {
			return nil, err
		}
		draft, err := s.tasks.Prepare(request)
		if err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (Task, error) {
			t, err := s.tasks.Create(tx, draft)
			if err != nil {
				return Task{}, err
			}
			return s.shownTask(tx, t)
		}, nil
	})
}

type taskFilter struct {
	Paged
	Status string `query:"status" enum:"preparing,pending,processing,done,failed,cancelled" doc:"Only broadcasts that have this status"`
}

func (s taskDoor) listTasks(_ context.Context, in *taskFilter) (*reply[List[Task]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Task], error) {
		return tx.Tasks.ByTime(store.TaskStatus(in.Status), in.query())
	}, s.shownTask)
}

func (s taskDoor) readTask(_ context.Context, in *one) (*reply[Task], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Task, error) { return tx.Tasks.Get(in.ID) }, s.shownTask)
}

// taskAction makes an operation of an action on a broadcast.
func (s taskDoor) taskAction(act func(*tasks.Worker, *store.Tx, uint64) (store.Task, error)) func(context.Context, *one) (*reply[Task], error) {
	return func(_ context.Context, in *one) (*reply[Task], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Task, error) { return act(s.tasks, tx, in.ID) }, s.shownTask)
	}
}

// Previewed says where the account finds its preview.
type Previewed struct {
	MessageIDs []int64 `json:"message_ids" doc:"In the account's saved messages" nullable:"false"`
	Link       string  `json:"link,omitempty"`
}

func (s taskDoor) previewTask(ctx context.Context, in *one) (*reply[Previewed], error) {
	receipt, err := s.tasks.Preview(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(Previewed{MessageIDs: append([]int64{}, receipt.MessageIDs...), Link: receipt.Link}), nil
}
