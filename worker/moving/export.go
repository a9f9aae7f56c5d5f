package moving

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"belfry/store"
	"belfry/worker/pipeline"
	"belfry/worker/search"
	"belfry/worker/tasks"
)

// table is a table whose rows are exported and imported under their own ids.
type table struct {
	name   string
	export func(tx *store.Tx, write func(line) error) error
	put    func(tx *store.Tx, row []byte, jobs []store.Job) (result, error)
}

// line is a line of an export: a row, and the jobs that belong to it.
type line struct {
	Table string      `json:"table"`
	Row   any         `json:"row"`
	Jobs  []store.Job `json:"jobs,omitempty"`
}

// tables are what is exported, in this order. Secrets, histories and what the program finds out again are not: a webhook
// that was signed calls nothing until it has a secret again.
func tables() []table {
	return []table{
		identities(),
		clients(),
		settings(), // may name an identity
		rows("contents", func(tx *store.Tx) store.Table[store.Content] { return tx.Contents.Table }, none),
		rows("feed_memories", func(tx *store.Tx) store.Table[store.FeedMemory] { return tx.FeedMemories.Table }, none),
		rows("rules", func(tx *store.Tx) store.Table[store.Rule] { return tx.Rules.Table },
			func(r store.Rule) []string { return []string{r.JobName()} }),
		rows("posts", func(tx *store.Tx) store.Table[store.Post] { return tx.Posts.Table },
			func(p store.Post) []string { return []string{p.JobName()} }),
		chats(),
		deliveries(),
		rows("tasks", func(tx *store.Tx) store.Table[store.Task] { return tx.Tasks.Table },
			func(t store.Task) []string { return []string{t.JobName(), t.CheckName(), t.PrepareName()} }),
		rows("bookings", func(tx *store.Tx) store.Table[store.Booking] { return tx.Bookings.Table },
			func(b store.Booking) []string { return []string{b.ReminderName(), b.FeedbackName()} }),
		channelRows(),
		messages(),
		rows("tag_rules", func(tx *store.Tx) store.Table[store.TagRule] { return tx.TagRules.Table }, none),
		rows("watches", func(tx *store.Tx) store.Table[store.Watch] { return tx.Watches.Table }, none,
			func(w *store.Watch) { leaveOut(&w.Secret, &w.Sealed) }),
		rows("own_jobs", func(tx *store.Tx) store.Table[store.OwnJob] { return tx.OwnJobs.Table },
			func(j store.OwnJob) []string { return []string{j.JobName()} },
			func(j *store.OwnJob) { leaveOut(&j.Action.Secret, &j.Sealed) }),
		rows("accounts", func(tx *store.Tx) store.Table[store.Account] { return tx.Accounts.Table }, none),
		rows("account_results", func(tx *store.Tx) store.Table[store.AccountResult] { return tx.AccountResults.Table }, none),
		media(),
		rows("moved", func(tx *store.Tx) store.Table[store.Moved] { return tx.Moved.Table }, none),
		standingJobs(),
	}
}

// Export writes all tables as JSON lines, as the transaction sees them.
func Export(tx *store.Tx, to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	for _, t := range tables() {
		err := t.export(tx, func(l line) error {
			l.Table = t.name
			return encoder.Encode(l)
		})
		if err != nil {
			return fmt.Errorf("export %s: %w", t.name, err)
		}
	}
	return nil
}

// prepareRecord reads a line of an export.
func prepareRecord(name string, record []byte, report *Report) (func(*store.Tx) (result, error), error) {
	all := tables()
	i := slices.IndexFunc(all, func(t table) bool { return t.name == name })
	var l struct {
		Row  json.RawMessage `json:"row"`
		Jobs []store.Job     `json:"jobs"`
	}
	if i < 0 || json.Unmarshal(record, &l) != nil {
		return nil, unreadable()
	}
	return func(tx *store.Tx) (result, error) {
		what, err := all[i].put(tx, l.Row, l.Jobs)
		if err != nil || what != made {
			return what, err
		}
		report.note("import.paused")
		var hook struct{ Title, Name, Sealed string }
		if json.Unmarshal(l.Row, &hook) == nil && hook.Sealed == leftOut {
			report.note("import.secret", cmp.Or(hook.Title, hook.Name))
		}
		return what, pause(tx)
	}, nil
}

// pause keeps what is imported from running, as [store.Restore] does: a part of it is not there yet, and the system that
// has exported it may still run.
func pause(tx *store.Tx) (err error) {
	why := "imported from an export at " + tx.Now().Format(time.RFC3339)
	for _, name := range []string{store.Paused, store.Restored} {
		was, wrong := tx.Settings.Value(name)
		if wrong == nil && was == "" {
			wrong = tx.Settings.Set(name, why)
		}
		err = errors.Join(err, wrong)
	}
	return err
}

func unreadable() error { return store.Invalid("row", "invalid.import_record") }

// leftOut stands for a secret that is not exported.
const leftOut = "-"

func leaveOut(secret, sealed *string) {
	if *secret+*sealed != "" {
		*secret, *sealed = "", leftOut
	}
}

// rows is a table of rows of type T. jobs names the jobs that belong to a row, and bare makes it as it is exported.
func rows[T any](name string, in func(*store.Tx) store.Table[T], jobs func(T) []string, bare ...func(*T)) table {
	return table{name,
		func(tx *store.Tx, write func(line) error) error {
			for row := range in(tx).All() {
				for _, bare := range bare {
					bare(&row)
				}
				l := line{Row: row}
				for _, name := range jobs(row) {
					job, err := tx.Jobs.ByName(name)
					if err == nil && !job.Removed {
						l.Jobs = append(l.Jobs, waiting(job))
					} else if err != nil && !errors.Is(err, store.ErrNotFound) {
						return err
					}
				}
				if err := write(l); err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *store.Tx, data []byte, jobs []store.Job) (result, error) {
			var row T
			if json.Unmarshal(data, &row) != nil || in(tx).ID(row) == 0 {
				return same, unreadable()
			}
			old, err := in(tx).Get(in(tx).ID(row))
			for _, bare := range bare {
				bare(&old)
			}
			if err == nil && !reflect.DeepEqual(old, row) {
				return same, store.Conflict("conflict.import_other", name, in(tx).ID(row))
			}
			if !errors.Is(err, store.ErrNotFound) {
				return same, err
			}
			err = in(tx).PutAt(&row)
			for _, job := range jobs {
				if err == nil {
					err = tx.Jobs.Put(&job)
				}
			}
			return made, err
		},
	}
}

// none are the jobs of a row that has none.
func none[T any](T) []string { return nil }

// waiting is a job as it is when nothing runs.
func waiting(job store.Job) store.Job {
	if job.State != store.JobRunning {
		return job
	}
	job.State, job.LeaseEnd, job.Started = store.JobWaiting, time.Time{}, time.Time{}
	if job.Paused {
		job.State, job.Paused = store.JobPaused, false
	}
	return job
}

// identities are exported without what they log in with: a person logs them in again after an import. One that is
// connected already stays as it is.
func identities() table {
	in := func(tx *store.Tx) store.Table[store.Identity] { return tx.Identities.Table }
	t := rows("identities", in, none)
	put := t.put
	t.export = func(tx *store.Tx, write func(line) error) error {
		for i := range tx.Identities.All() {
			i.Secret, i.Sealed, i.Adopted, i.Expires = "", "", false, time.Time{}
			i.State, i.Reason = store.IdentityLogin, store.Reason{}
			if err := write(line{Row: i}); err != nil {
				return err
			}
		}
		return nil
	}
	t.put = func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
		var i store.Identity
		if json.Unmarshal(data, &i) == nil {
			if old, err := tx.Identities.Get(i.ID); err == nil && old.Lane() == i.Lane() {
				return same, nil
			}
		}
		return put(tx, data, nil)
	}
	return t
}

// clients are the people who have written to a bot: it may write to no others. Other peers are found again.
func clients() table {
	return table{"peers",
		func(tx *store.Tx, write func(line) error) error {
			for p := range tx.Peers.All() {
				if !p.Wrote {
					continue
				}
				if err := write(line{Row: p}); err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
			var p store.Peer
			if json.Unmarshal(data, &p) != nil || p.PeerID == 0 || !p.Wrote {
				return same, unreadable()
			}
			old, err := tx.Peers.ByPeer(p.IdentityID, p.Type, p.PeerID)
			if err != nil && !errors.Is(err, store.ErrNotFound) || old.Wrote {
				return same, err
			}
			p.ID = old.ID
			return made, tx.Peers.Put(&p)
		},
	}
}

// chats are those of user accounts. What an account that is connected there has only listed gives way, because deliveries
// name chats by their ids, and is listed again.
func chats() table {
	t := rows("chats", func(tx *store.Tx) store.Table[store.Chat] { return tx.Chats.Table }, none)
	listed := func(c store.Chat) bool {
		return !c.Off && c.LastSuccess.IsZero() && c.LastTried.IsZero()
	}
	put := t.put
	t.put = func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
		var c store.Chat
		if json.Unmarshal(data, &c) != nil {
			return same, unreadable()
		}
		there, err := tx.Chats.ByPeer(c.IdentityID, c.Type, c.PeerID)
		if err == nil && there.ID == c.ID && (listed(c) || !listed(there)) {
			return same, nil
		}
		for _, id := range []uint64{c.ID, there.ID} {
			if old, err := tx.Chats.Get(id); err == nil && listed(old) {
				if err := errors.Join(tx.Chats.Delete(id), tasks.ListChats(tx, old.IdentityID)); err != nil {
					return same, err
				}
			}
		}
		return put(tx, data, nil)
	}
	return t
}

// deliveries are the chats of tasks. One row may stand for several, of which each is exported.
func deliveries() table {
	t := rows("deliveries", func(tx *store.Tx) store.Table[store.Delivery] { return tx.Deliveries.Table }, none)
	t.export = func(tx *store.Tx, write func(line) error) error {
		for d := range tx.Deliveries.Each() {
			if err := write(line{Row: d}); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// channelRows are the channels, which the login there has not met. One that is there already is read on as it is.
func channelRows() table {
	t := rows("channels", func(tx *store.Tx) store.Table[store.Channel] { return tx.Channels.Table },
		func(c store.Channel) []string { return []string{c.JobName()} },
		func(c *store.Channel) { c.Place.Unmet = c.Username != "" })
	put := t.put
	t.put = func(tx *store.Tx, data []byte, jobs []store.Job) (result, error) {
		var c store.Channel
		if json.Unmarshal(data, &c) == nil {
			if old, err := tx.Channels.Get(c.ID); err == nil && old.PeerID == c.PeerID {
				return same, nil
			}
		}
		return put(tx, data, jobs)
	}
	return t
}

// messages are those of channels. What they are found by is made anew, and those that were still on their way through the
// stages begin it once more.
func messages() table {
	t := rows("messages", func(tx *store.Tx) store.Table[store.Message] { return tx.Messages.Table }, none)
	put := t.put
	t.put = func(tx *store.Tx, data []byte, jobs []store.Job) (result, error) {
		what, err := put(tx, data, jobs)
		var m store.Message
		if err != nil || what != made || json.Unmarshal(data, &m) != nil || !m.DeletedAt.IsZero() {
			return what, err
		}
		d := search.Document(m)
		err = tx.Documents.Save(&d)
		if err == nil && pipeline.Waits(m) {
			err = tx.Streams.Append(store.TopicParsed, store.EventBackfill, m.ID)
		}
		return what, err
	}
	return t
}

// medium is an uploaded file, or a part of one. The parts come before the file.
type medium struct {
	Part *store.MediaPart `json:"part,omitempty"`
	File *store.MediaFile `json:"file,omitempty"`
}

func media() table {
	return table{"media",
		func(tx *store.Tx, write func(line) error) error {
			for f := range tx.Media.Ready() {
				for part, err := range tx.Media.Parts(f) {
					if err == nil {
						err = write(line{Row: medium{Part: &part}})
					}
					if err != nil {
						return err
					}
				}
				if err := write(line{Row: medium{File: &f}}); err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
			var m medium
			switch err := json.Unmarshal(data, &m); {
			case err == nil && m.Part != nil && m.Part.MediaID != 0:
				return put(tx.Media.PutPart(*m.Part))
			case err == nil && m.File != nil && m.File.ID != 0:
				return put(tx.Media.PutWhole(*m.File))
			}
			return same, unreadable()
		},
	}
}

func put(is bool, err error) (result, error) {
	if is {
		return made, err
	}
	return same, err
}

// standingJobs are the jobs that belong to no row, such as autocheck. They take the place of those that are there.
func standingJobs() table {
	return table{"jobs",
		func(tx *store.Tx, write func(line) error) error {
			for job := range tx.Jobs.ByNames() {
				if job.Subject != 0 || job.Removed {
					continue
				}
				if err := write(line{Row: waiting(job)}); err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
			var job store.Job
			if json.Unmarshal(data, &job) != nil || job.Name == "" || job.Subject != 0 {
				return same, unreadable()
			}
			old, err := tx.Jobs.ByName(job.Name)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return same, err
			}
			job.ID = old.ID
			if reflect.DeepEqual(job, old) || old.State == store.JobRunning { // it goes on as it is
				return same, nil
			}
			return made, tx.Jobs.Put(&job)
		},
	}
}
