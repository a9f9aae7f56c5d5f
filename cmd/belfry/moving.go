package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
	"belfry/web/api"
	"belfry/worker/moving"
)

// importOptions are what is said of the files of an import.
type importOptions struct {
	Table   string   `flag:"table" help:"The table that the rows are from. By default the file's name without its ending."`
	Zone    string   `flag:"zone" help:"Time zone of times that name none, such as Europe/Moscow. By default UTC."`
	Overdue string   `flag:"overdue" default:"skip" help:"What was due before the import: skip, or publish it now."`
	To      importTo `settings:"of any table"`

	tables map[string]string // by file; else Table, or the file's name
}

// importTo is what is said of the import of any table.
type importTo struct {
	Identity uint64 `flag:"identity" help:"The user account that reads the channels. By default the only one."`
	DryRun   bool   `flag:"dry-run" help:"Import into a copy of the file, report, and remove the copy."`
}

const (
	// maxBatch and maxBatchSize bound what goes into one commit: rows, and bytes.
	maxBatch     = 100
	maxBatchSize = 1 << 20
	// progressEvery is the time between two lines about a long file.
	progressEvery = 2 * time.Second
)

// newImport returns the command that imports what the replaced systems, or belfry export, have written.
func newImport() *cobra.Command {
	var options importOptions
	c := newAPICommand("import FILE...", "Import posts, rules, broadcasts, chats, accounts and channels. A FILE is CSV, as COPY … CSV HEADER of PostgreSQL writes it, JSON lines, as row_to_json does, or of belfry export.\n"+
		"Tables: "+strings.Join(moving.Tables(), ", ")+".\nThe same rows can be imported again: they change what was made of them and make nothing twice.",
		func(ctx context.Context, l *local, args []string) (err error) {
			if err := oneOf("--overdue", options.Overdue, "skip", "publish"); err != nil {
				return err
			}
			return runImport(ctx, l, options, args)
		})
	bind(c.Flags(), &options)
	return withJSON(c)
}

// runImport imports files, or into a copy.
func runImport(ctx context.Context, l *local, options importOptions, files []string) (err error) {
	into := l
	if options.To.DryRun {
		if into, err = copyOf(ctx, l); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, into.close()) }()
		into.out, into.json = l.out, l.json
	}
	return (&importer{local: into, options: options}).run(ctx, files)
}

// newChannelsImport returns the command that imports the channels of the replaced system and what it has read of them.
func newChannelsImport() *cobra.Command {
	var files struct {
		Channels string   `flag:"channels" help:"The table channels, as COPY … CSV HEADER of PostgreSQL writes it."`
		Posts    string   `flag:"posts" help:"The table posts, likewise."`
		Zone     string   `flag:"zone" help:"Time zone of times that name none. By default UTC."`
		To       importTo `settings:"of any table"`
	}
	c := newAPICommand("import", "Import channels and the messages that were read of them, from the tables channels and posts of the replaced system. The same rows can be imported again.",
		func(ctx context.Context, l *local, _ []string) error {
			options := importOptions{Zone: files.Zone, To: files.To, tables: map[string]string{}}
			var names []string
			for _, f := range [][2]string{{files.Channels, "channels"}, {files.Posts, "posts"}} {
				if f[0] != "" {
					names, options.tables[f[0]] = append(names, f[0]), f[1]
				}
			}
			if len(names) == 0 {
				return store.Invalid("--channels", "invalid.empty")
			}
			return runImport(ctx, l, options, names)
		})
	bind(c.Flags(), &files)
	return withJSON(c)
}

// copyOf returns the API on a verified copy of the file, which is removed when it is closed.
func copyOf(ctx context.Context, l *local) (*local, error) {
	path, err := backupBeside(ctx, l)
	if err != nil {
		return nil, err
	}
	copied, err := standIn(ctx, fileSetting{DB: path, KeyFile: l.file.KeyFile})
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	end := copied.close
	copied.close = func() error { return errors.Join(end(), os.Remove(path)) }
	return copied, nil
}

// backupBeside has a verified copy of the file written beside it: the service may see another /tmp than the caller.
func backupBeside(ctx context.Context, l *local) (string, error) {
	path := filepath.Join(filepath.Dir(l.file.DB), fmt.Sprint("backup-", time.Now().UnixNano(), store.ForNow))
	return path, l.call(ctx, http.MethodPost, "/backup", map[string]string{"file": path}, nil)
}

// importedFile is what became of a file. It has the first thousand problems.
type importedFile struct {
	File     string `json:"file"`
	Rejected int    `json:"rejected"`
	api.ImportReport
}

// importer imports files.
type importer struct {
	*local
	options importOptions

	file  importedFile // the present one
	batch api.ImportBatch
	size  int // of the batch, in bytes
	shown time.Time
	read  int
}

// run imports files in the order in which their tables name each other.
func (im *importer) run(ctx context.Context, files []string) error {
	files = slices.Clone(files)
	order := func(file string) int { return slices.Index(moving.Tables(), im.tableOf(file)) }
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	all, rejected := []importedFile{}, 0
	for _, file := range files {
		if err := im.importFile(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all, rejected = append(all, im.file), rejected+im.file.Rejected
	}
	if im.json {
		if err := json.NewEncoder(im.out).Encode(map[string]any{"files": all, "dry_run": im.options.To.DryRun}); err != nil {
			return err
		}
	}
	if rejected > 0 {
		return fmt.Errorf("%d rows were rejected", rejected)
	}
	return nil
}

// tableOf is the table that a file is from.
func (im *importer) tableOf(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return cmp.Or(im.options.tables[file], im.options.Table, name)
}

func (im *importer) importFile(ctx context.Context, name string) error {
	in, err := os.Open(name)
	if err != nil {
		return store.Invalid("FILE", "invalid.file_unreadable", err)
	}
	defer in.Close()
	im.file = importedFile{name, 0, api.ImportReport{Problems: []api.ImportProblem{}, Notes: []string{}}}
	im.read, im.shown = 0, time.Now()
	for l := range moving.Lines(in) {
		if _, refused := errors.AsType[*store.FieldError](l.Err); refused {
			im.problem(api.ImportProblem{Line: l.Line, Problem: said(l.Err)})
			continue
		}
		if l.Err != nil {
			return fmt.Errorf("read: %w", l.Err)
		}
		table := l.Table
		if len(l.Record) == 0 {
			if table = im.tableOf(name); !slices.Contains(moving.Tables(), table) {
				return store.Invalid("--table", "invalid.import_table", table)
			}
		}
		if table != im.batch.Table || len(im.batch.Rows) == maxBatch || im.size+l.Size > maxBatchSize {
			if err := im.send(ctx); err != nil {
				return err
			}
		}
		im.batch.Table, im.size = table, im.size+l.Size
		im.batch.Rows = append(im.batch.Rows, api.ImportedRow{Line: l.Line, Values: l.Values, Record: string(l.Record)})
	}
	if err := im.send(ctx); err != nil || im.json {
		return err
	}
	_, err = fmt.Fprintf(im.out, "%s: %d created, %d changed, %d unchanged, %d rejected\n", name, im.file.Made, im.file.Changed, im.file.Same, im.file.Rejected)
	for _, note := range im.file.Notes {
		fmt.Fprintf(im.out, "%s: %s\n", name, note)
	}
	return err
}

// send has the batch imported.
func (im *importer) send(ctx context.Context) error {
	if len(im.batch.Rows) == 0 {
		return nil
	}
	im.batch.Zone, im.batch.Overdue, im.batch.Identity = im.options.Zone, im.options.Overdue, im.options.To.Identity
	var report api.ImportReport
	if err := im.call(ctx, http.MethodPost, "/import", im.batch, &report); err != nil {
		return err
	}
	im.file.Made, im.file.Changed, im.file.Same = im.file.Made+report.Made, im.file.Changed+report.Changed, im.file.Same+report.Same
	for _, p := range report.Problems {
		im.problem(p)
	}
	what := map[string]string{"identities": "connected accounts", "channels": "channels"}[im.batch.Table]
	if what != "" && im.batch.Rows[0].Record != "" && len(report.Problems) > 0 { // posts would go out as another account, messages be another channel's
		return fmt.Errorf("the %s are not those of the export, and nothing more was imported: import it into the file of a service without %[1]s", what)
	}
	im.file.Notes = append(im.file.Notes, report.Notes...)
	slices.Sort(im.file.Notes)
	im.file.Notes = slices.Compact(im.file.Notes)
	im.read += len(im.batch.Rows)
	if now := time.Now(); now.Sub(im.shown) > progressEvery {
		im.shown = now
		fmt.Fprintf(os.Stderr, "%s: %d rows\n", im.file.File, im.read)
	}
	im.batch.Rows, im.size = im.batch.Rows[:0], 0
	return nil
}

// problem reports a row that was not taken.
func (im *importer) problem(p api.ImportProblem) {
	const most = 1000
	if im.file.Rejected++; len(im.file.Problems) < most {
		im.file.Problems = append(im.file.Problems, p)
	}
	if !im.json {
		fmt.Fprintf(im.out, "%s:%d: %s\n", im.file.File, p.Line, p.Problem)
	}
}

// newExport returns the command that writes what the file holds as JSON lines.
func newExport() *cobra.Command {
	return newAPICommand("export [FILE]", "Write everything but secrets and histories as JSON lines. belfry import takes them back into an empty file. Without FILE they go to standard output.",
		func(ctx context.Context, l *local, args []string) (err error) {
			path, err := backupBeside(ctx, l)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.Remove(path)) }()
			db, err := store.Open(path, store.Options{ReadOnly: true})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			to := l.out
			if len(args) > 0 {
				f, wrong := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if wrong != nil {
					return store.Invalid("FILE", "invalid.file_unwritable", wrong)
				}
				defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
				to = f
			}
			buffered := bufio.NewWriterSize(to, 256<<10)
			return errors.Join(db.View(func(tx *store.Tx) error { return moving.Export(tx, buffered) }), buffered.Flush())
		})
}
