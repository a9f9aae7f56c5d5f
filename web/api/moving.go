package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"belfry/store"
	"belfry/worker/moving"
)

// ImportedRow is a row of a table: the values of a replaced system's, or a line of an export.
type ImportedRow struct {
	Line   int               `json:"line" doc:"Of the file, from 1"`
	Values map[string]string `json:"values,omitempty" doc:"By column, as PostgreSQL writes them; NULL is left out"`
	Record string            `json:"record,omitempty" doc:"Instead of values: a line of an export"`
}

// ImportBatch is some rows of one table.
type ImportBatch struct {
	Table    string        `json:"table" doc:"The table that the rows are from" example:"scheduled_posts"`
	Zone     string        `json:"zone,omitempty" doc:"Of times that name none; UTC if left out" example:"Europe/Moscow"`
	Overdue  string        `json:"overdue,omitempty" enum:"skip,publish" doc:"What happens to what was due before the import"`
	Identity uint64        `json:"identity_id,omitempty" doc:"The user account that reads the channels; the only one if left out"`
	Rows     []ImportedRow `json:"rows" nullable:"false"`
}

// ImportReport is what became of some rows.
type ImportReport struct {
	Made     int             `json:"created"`
	Changed  int             `json:"changed"`
	Same     int             `json:"unchanged" doc:"Rows that say what they have said before"`
	Problems []ImportProblem `json:"problems" nullable:"false" doc:"The rows that were not taken"`
	Notes    []string        `json:"notes" nullable:"false" doc:"What of the rows was not taken"`
}

// ImportProblem is why a row was not taken.
type ImportProblem struct {
	Line    int    `json:"line"`
	Problem string `json:"problem" doc:"The column, what is wrong, and what to do"`
}

// Import is the door to importing rows, for the owner of the machine.
func Import(w *moving.Worker) Door {
	return func(_ *Server, a *api) {
		operation(a, http.MethodPost, "/import", "Import rows of a replaced system or of an export", func(ctx context.Context, in *struct{ Body ImportBatch }) (*reply[ImportReport], error) {
			zone, err := time.LoadLocation(in.Body.Zone)
			if err != nil || in.Body.Zone == "Local" {
				return nil, store.Invalid("zone", "invalid.zone", in.Body.Zone)
			}
			batch := moving.Batch{Table: in.Body.Table, Zone: zone, Publish: in.Body.Overdue == "publish", IdentityID: in.Body.Identity}
			for _, row := range in.Body.Rows {
				batch.Rows = append(batch.Rows, moving.Row{Line: row.Line, Values: row.Values, Record: []byte(row.Record)})
			}
			report, err := w.Import(ctx, batch)
			if err != nil {
				return nil, err
			}
			return answer(shownImport(report)), nil
		}, longBodies, longRows)
	}
}

// longRows lets a request have the longest row of a file, of which JSON may write each byte as six.
func longRows(op *huma.Operation) { op.MaxBodyBytes = 6*moving.MaxLine + maxLongBody }

func shownImport(r moving.Report) ImportReport {
	shown := ImportReport{Made: r.Made, Changed: r.Changed, Same: r.Same, Problems: []ImportProblem{}, Notes: []string{}}
	for _, p := range r.Problems {
		shown.Problems = append(shown.Problems, ImportProblem{p.Line, ProblemOf(p.Err).Detail})
	}
	for _, n := range r.Notes {
		shown.Notes = append(shown.Notes, inEnglish().Say(n))
	}
	return shown
}
