// Package moving brings the records of the replaced systems into Belfry, and those of one Belfry into another.
//
// Rows come in batches. Each goes through the actions of the worker that owns what is made of it, so the same checks
// hold as at every other door. What was made of a row is on record with it: the same row again makes nothing twice. A
// row that cannot be taken is reported and keeps no other one out.
package moving

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/channels"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/setup"
	"belfry/worker/tasks"
)

// Workers are those who own what is imported.
type Workers struct {
	Posts    *posts.Worker
	Rules    *rules.Worker
	Tasks    *tasks.Worker
	Accounts *accounts.Worker
	Channels *channels.Worker
	Setup    *setup.Worker
	Keep     time.Duration // of messages; 0 is for ever
}

// Worker imports.
type Worker struct {
	db *store.DB
	Workers
}

// New returns a worker for the records in db.
func New(db *store.DB, w Workers) *Worker { return &Worker{db, w} }

// Batch is some rows of one table.
type Batch struct {
	Table string
	Zone  *time.Location // of times that name none; nil means UTC
	// Publish has posts and broadcasts go out late that were due before the import. Else they are skipped.
	Publish bool
	// IdentityID is the user account that reads the channels; 0: the only one.
	IdentityID uint64
	Rows       []Row

	asked map[place]error // what the networks say of places, once they were asked
}

// Report is what became of a batch. Same is the rows that say what they have said before.
type Report struct {
	Made, Changed, Same int
	Problems            []Problem
	Notes               []store.Sentence // what of the rows was not taken, each once
}

// note says once what of the rows is not taken.
func (r *Report) note(key string, args ...any) {
	said := store.Say(key, args...)
	same := func(s store.Sentence) bool { return s.Key == said.Key && slices.Equal(s.Args, said.Args) }
	if !slices.ContainsFunc(r.Notes, same) {
		r.Notes = append(r.Notes, said)
	}
}

// Problem is why a row was not taken: an error of the kinds that actions refuse with.
type Problem struct {
	Line int
	Err  error
}

// result is what became of a row.
type result int

const (
	same result = iota
	changed
	made
)

// step is a row that was prepared.
type step struct {
	line  int
	write func(tx *store.Tx) (result, error)
}

// Import takes a batch. Its error is one of the store or of ctx, and then the batch can be given again.
func (w *Worker) Import(ctx context.Context, b Batch) (report Report, err error) {
	b.Zone, b.asked = cmp.Or(b.Zone, time.UTC), make(map[place]error)
	var steps []step
	for _, row := range b.Rows {
		write, err := w.prepare(ctx, b, row, &report)
		switch {
		case ctx.Err() != nil:
			return report, ctx.Err()
		case refusal(err):
			report.Problems = append(report.Problems, Problem{row.Line, err})
		case err != nil:
			return report, fmt.Errorf("import line %d of %s: %w", row.Line, b.Table, err)
		case write == nil:
			report.Same++
		default:
			steps = append(steps, step{row.Line, write})
		}
	}
	err = errors.Join(w.commit(steps, &report), w.db.Release())
	if b.Table == "settings" && report.Made > 0 {
		w.Setup.Refresh()
	}
	slices.SortStableFunc(report.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return report, err
}

// commit writes rows in one transaction. If one is refused after a part of it was written, each gets its own.
func (w *Worker) commit(steps []step, report *Report) error {
	var refused []Problem
	var counts [made + 1]int
	err := w.db.Update(func(tx *store.Tx) error {
		refused, counts = nil, [made + 1]int{}
		for _, s := range steps {
			before := tx.Writes()
			what, err := s.write(tx)
			switch {
			case err == nil:
				counts[what]++
			case refusal(err) && tx.Writes() == before:
				refused = append(refused, Problem{s.line, err})
			default:
				return err
			}
		}
		return nil
	})
	switch {
	case refusal(err) && len(steps) > 1:
		for i := range steps {
			if err := w.commit(steps[i:i+1], report); err != nil {
				return err
			}
		}
		return nil
	case refusal(err):
		refused, counts = []Problem{{steps[0].line, err}}, [made + 1]int{}
	case err != nil:
		return err
	}
	report.Made, report.Changed, report.Same = report.Made+counts[made], report.Changed+counts[changed], report.Same+counts[same]
	report.Problems = append(report.Problems, refused...)
	return nil
}

// source reads the rows of a table of a replaced system. was is the id of what was made of the row before, or 0.
type source struct {
	table   string
	id      []string // the columns that name a row: the first one that it has
	prepare func(w *Worker, ctx context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error)
}

// sources are the tables of the replaced systems that can be imported, those first that others name.
func sources() []source {
	return []source{
		{"content_pieces", []string{"id"}, (*Worker).content},
		{"scheduled_posts", []string{"id"}, (*Worker).post},
		{"auto_posting_rules", []string{"id"}, (*Worker).rule},
		{"userbot_tasks", []string{"id"}, (*Worker).task},
		{"chats", []string{"chat_id"}, (*Worker).chat},
		{"accounts", []string{"id", "username"}, (*Worker).account},
		{"channels", []string{"id"}, (*Worker).channel},
		{"posts", []string{"id"}, (*Worker).message},
	}
}

// Tables are the tables of the replaced systems that can be imported, in the order in which they are to be.
func Tables() (names []string) {
	for _, s := range sources() {
		names = append(names, s.table)
	}
	return names
}

// prepare reads a row and checks it as far as that needs no transaction. It returns nil for a row that says what it has
// said before.
func (w *Worker) prepare(ctx context.Context, b Batch, row Row, report *Report) (func(*store.Tx) (result, error), error) {
	if len(row.Record) > 0 {
		return prepareRecord(b.Table, row.Record, report)
	}
	i := slices.Index(Tables(), b.Table)
	if i < 0 {
		return nil, store.Invalid("table", "invalid.import_table", b.Table)
	}
	from, r := sources()[i], &reader{batch: b, values: row.Values, report: report, now: w.db.Now()}
	id := r.text(from.id...)
	if id == "" {
		return nil, store.Invalid(from.id[0], "invalid.empty")
	}
	text, err := json.Marshal(row.Values)
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, " %s %v", b.Zone, b.Publish)
	var was store.Moved
	err = w.db.View(func(tx *store.Tx) (err error) {
		if content, err := tx.Moved.Of("content_pieces", r.text("content_id")); err == nil && b.Table == "scheduled_posts" {
			text = append(text, content.Sum...) // the post says what that says
		}
		was, err = tx.Moved.Of(b.Table, id)
		return err
	})
	sum := sha256.Sum256(text)
	if err != nil && !errors.Is(err, store.ErrNotFound) || bytes.Equal(was.Sum, sum[:]) {
		return nil, err
	}
	r.was = was
	write, err := from.prepare(w, ctx, r, was.OurID)
	if err = deletedHere(err, was); err != nil {
		return nil, errors.Join(r.err, err)
	}
	return func(tx *store.Tx) (result, error) {
		is, err := tx.Moved.Of(b.Table, id)
		if err == nil && !bytes.Equal(is.Sum, was.Sum) {
			return same, store.Conflict("conflict.imported_twice", id)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return same, err
		}
		ours, err := write(tx)
		if err != nil {
			return same, deletedHere(err, was)
		}
		what := changed
		if was.ID == 0 {
			what = made
		}
		return what, tx.Moved.Put(&store.Moved{ID: was.ID, Table: b.Table, Source: id, OurID: ours, Sum: sum[:], Stopped: r.stops})
	}, r.err
}

// deletedHere is an error as a refusal, if it is that what was made of the row before is not there any more.
func deletedHere(err error, was store.Moved) error {
	if was.OurID != 0 && errors.Is(err, store.ErrNotFound) {
		return store.Conflict("conflict.import_deleted")
	}
	return err
}

// refusal reports whether an error is about the row, and not about the file or the program.
func refusal(err error) bool {
	_, field := errors.AsType[*store.FieldError](err)
	_, conflict := errors.AsType[*store.ConflictError](err)
	return field || conflict || errors.Is(err, store.ErrExists) || store.IsCorrupt(err)
}
