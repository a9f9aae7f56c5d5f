package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// Request is a task as somebody asks for it. Either ContentID or Text and Media say what is sent.
type Request struct {
	ContentID     uint64
	Text          string
	Media         []store.Media
	Format        string   // html, markdown or plain; empty means the content's, or plain
	IdentityID    uint64   // 0: the user account, if there is only one
	Targets       []string // ids as Telethon writes them, @names or links; none: the settings' ones
	MinPause      *time.Duration
	MaxPause      *time.Duration
	Attempts      int    // 0: as the settings say
	StartAt       string // RFC 3339 with a zone; empty: at once
	QuietFrom     string // 22:00; empty: no quiet hours
	QuietTo       string // 08:00
	DailyCap      int    // messages of the account in a day; 0: no limit
	Silent        bool
	NoLinkPreview bool
	// DryRun has the chats looked at, and nothing sent before the task is resumed.
	DryRun bool
	// Hold has nothing done before the task is resumed.
	Hold bool
}

// Draft is a task that has been checked and can be made.
type Draft struct {
	task    store.Task
	targets []string
	hold    bool
	dryRun  bool
}

const (
	maxTargets  = 200_000
	maxPause    = 24 * time.Hour
	maxAttempts = 100
	maxAhead    = 366 * 24 * time.Hour
)

// Prepare checks a request as far as possible without asking the network: its fields, its text
// and media by the network's rules, and that the media can be fetched. The errors are of type [*store.FieldError].
func (w *Worker) Prepare(r Request) (Draft, error) {
	d := Draft{hold: r.Hold || r.DryRun, dryRun: r.DryRun}
	var err error
	if d.task, err = w.post(r); err != nil {
		return d, err
	}
	d.task.MaxAttempts, d.task.DailyCap = cmp.Or(r.Attempts, w.cfg.Attempts), r.DailyCap
	d.task.MinPause, d.task.MaxPause = w.cfg.MinPause, w.cfg.MaxPause
	if err := d.setPauses(r); err != nil {
		return d, err
	}
	if err := d.setTimes(r, w.db.Now()); err != nil {
		return d, err
	}
	if err := d.setTargets(r.Targets, w.cfg.Targets); err != nil {
		return d, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.Deadline)
	defer cancel()
	if err := w.network.Fetchable(ctx, platformPost(d.task, 0, "")); err != nil {
		return d, fieldError(err)
	}
	return d, nil
}

// post is what a request has sent, and by whom.
func (w *Worker) post(r Request) (store.Task, error) {
	t := store.Task{
		ContentID: r.ContentID, IdentityID: r.IdentityID, Text: r.Text, Format: r.Format, Media: r.Media,
		Silent: r.Silent, NoLinkPreview: r.NoLinkPreview,
	}
	err := w.db.View(func(tx *store.Tx) error {
		if err := tx.Contents.Fill(t.ContentID, Platform, &t.Text, &t.Media, &t.Format); err != nil {
			return err
		}
		identity, err := account(tx, t.IdentityID)
		t.IdentityID = identity.ID
		return err
	})
	if err != nil {
		return t, err
	}
	t.Format = cmp.Or(t.Format, string(platform.Plain))
	if _, err := w.network.Check(platformPost(t, 0, "")); err != nil {
		return t, fieldError(err)
	}
	return t, nil
}

func (d *Draft) setPauses(r Request) error {
	if r.MinPause != nil {
		d.task.MinPause = *r.MinPause
		if r.MaxPause == nil {
			d.task.MaxPause = max(d.task.MaxPause, d.task.MinPause)
		}
	}
	if r.MaxPause != nil {
		d.task.MaxPause = *r.MaxPause
		if r.MinPause == nil {
			d.task.MinPause = min(d.task.MinPause, d.task.MaxPause)
		}
	}
	switch {
	case d.task.MinPause < 0 || d.task.MinPause > maxPause:
		return store.Invalid("min_seconds_between_chats", "invalid.min_pause")
	case d.task.MaxPause > maxPause:
		return store.Invalid("max_seconds_between_chats", "invalid.max_pause")
	case d.task.MaxPause < d.task.MinPause:
		return store.Invalid("max_seconds_between_chats", "invalid.pause_order")
	case d.task.MaxAttempts < 1 || d.task.MaxAttempts > maxAttempts:
		return store.Invalid("max_attempts", "invalid.attempts")
	case d.task.DailyCap < 0:
		return store.Invalid("daily_cap", "invalid.cap")
	}
	return nil
}

func (d *Draft) setTimes(r Request, now time.Time) error {
	d.task.StartAt = now
	if r.StartAt != "" {
		at, err := worker.ParseTime(r.StartAt)
		if err != nil {
			return store.Invalid("start_at", "invalid.time", r.StartAt)
		}
		if at.After(now.Add(maxAhead)) {
			return store.Invalid("start_at", "invalid.far", 1)
		}
		if at.After(now) {
			d.task.StartAt = at
		}
	}
	if r.QuietFrom == "" && r.QuietTo == "" {
		return nil
	}
	for _, of := range []struct{ field, value string }{{"quiet_from", r.QuietFrom}, {"quiet_to", r.QuietTo}} {
		if of.value == "" {
			return store.Invalid(of.field, "invalid.time_of_day_missing")
		}
		if _, err := time.Parse("15:04", of.value); err != nil {
			return store.Invalid(of.field, "invalid.time_of_day", of.value)
		}
	}
	if r.QuietFrom == r.QuietTo {
		return store.Invalid("quiet_to", "invalid.quiet_same")
	}
	d.task.Quiet = store.QuietHours{From: r.QuietFrom, To: r.QuietTo}
	return nil
}

// setTargets takes the targets in their order, each once.
func (d *Draft) setTargets(targets, usual []string) error {
	if len(targets) == 0 {
		targets = usual
	}
	if len(targets) == 0 {
		return store.Invalid("target_chat_ids", "invalid.no_targets")
	}
	if len(targets) > maxTargets {
		return store.Invalid("target_chat_ids", "invalid.too_many_targets", len(targets), maxTargets)
	}
	seen := make(map[string]bool, len(targets))
	d.targets = make([]string, 0, len(targets))
	for i, target := range targets {
		target, ok := normalTarget(target)
		if !ok {
			return store.Invalid(fmt.Sprintf("target_chat_ids[%d]", i), "invalid.chat", targets[i])
		}
		if seen[target] {
			continue
		}
		seen[target] = true
		d.targets = append(d.targets, target)
	}
	return nil
}

// Outlook returns to how many chats a draft goes, and when the last one will have it, by estimate; zero if
// nobody can tell.
func (w *Worker) Outlook(tx *store.Tx, d Draft) (chats int, ends time.Time, err error) {
	task := d.task
	task.Total = len(d.targets)
	ends, err = w.estimate(tx, task, Progress{At: task.StartAt})
	return task.Total, ends, err
}

// normalTarget trims a target and writes names in one way. What it means is the network's business;
// here only what cannot mean anything is refused.
func normalTarget(target string) (string, bool) {
	target = strings.TrimSpace(target)
	if id, err := strconv.ParseInt(target, 10, 64); err == nil {
		return strconv.FormatInt(id, 10), id != 0
	}
	if strings.Contains(target, "/") {
		return target, !strings.ContainsAny(target, " \t\n")
	}
	name := strings.ToLower(strings.TrimPrefix(target, "@"))
	const letters = "abcdefghijklmnopqrstuvwxyz"
	ok := len(name) >= 4 && len(name) <= 32 && strings.Trim(name, letters+"0123456789_") == "" &&
		strings.ContainsRune(letters, rune(name[0]))
	return "@" + name, ok
}

// account finds the account that sends.
func account(tx *store.Tx, id uint64) (store.Identity, error) {
	if id == 0 {
		return usualAccount(tx)
	}
	identity, err := tx.Identities.Get(id)
	if errors.Is(err, store.ErrNotFound) {
		return identity, store.Invalid("identity_id", "invalid.no_account", id)
	}
	if err == nil && identity.Kind != store.IdentityUser {
		return identity, store.Invalid("identity_id", "invalid.bot_sends", id)
	}
	return identity, err
}

// usualAccount is the user account that is meant where none is named.
func usualAccount(tx *store.Tx) (store.Identity, error) {
	all := tx.Identities.Of(Platform)
	damaged := tx.Identities.Count(Platform) - len(all) // any of them may be the one that is meant
	all = slices.DeleteFunc(all, func(i store.Identity) bool { return i.Kind != store.IdentityUser })
	switch n := len(all) + damaged; {
	case len(all) == 0:
		return store.Identity{}, store.Invalid("identity_id", "invalid.no_user")
	case n > 1:
		return store.Identity{}, store.Invalid("identity_id", "invalid.which_account", n)
	}
	return all[0], nil
}

// fieldError turns a network's objection into one about the request's field.
func fieldError(err error) error {
	e := platform.AsError(err)
	return store.Invalid(cmp.Or(e.Field, "text"), "invalid.refused", store.Detail(e.Error()))
}

// Seconds is a length of time that was given in seconds; one that no pause can have stays too long.
func Seconds(s *float64) *time.Duration {
	if s == nil {
		return nil
	}
	const tooLong = 1e9
	return new(time.Duration(min(max(*s, -tooLong), tooLong) * float64(time.Second)))
}
