package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"

	"belfry/store"
)

type checkCommand struct {
	fileSetting
	File string `arg:"" optional:"" type:"path" help:"The file; by default the service's."`
	JSON bool   `name:"json" help:"Print JSON."`

	Repair bool `help:"Set damaged rows aside inside the file and build its indexes anew, while the service is stopped."`
}

// Run verifies a file and fails if anything is wrong with it.
func (c *checkCommand) Run(ctx context.Context, o output) error {
	path := c.DB
	if c.File != "" {
		path = c.File
	}
	if c.Repair {
		return c.repair(path, o)
	}
	problems, err := c.verify(ctx, path)
	if err != nil {
		return err
	}
	if c.JSON {
		if problems == nil {
			problems = []store.Problem{}
		}
		if err := json.NewEncoder(o.out).Encode(map[string]any{"file": path, "problems": problems}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			fmt.Fprintln(o.out, p)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s: %d problems: restore a backup, or go on without the damaged rows: belfry check --repair", path, len(problems))
	}
	if !c.JSON {
		fmt.Fprintf(o.out, "%s: no problems\n", path)
	}
	return nil
}

// verify asks the service if it is its file and it runs, because it holds the file.
func (c *checkCommand) verify(ctx context.Context, path string) ([]store.Problem, error) {
	if filepath.Clean(path) == filepath.Clean(c.DB) {
		if conn, err := net.Dial("unix", c.socket()); err == nil {
			if err := conn.Close(); err != nil {
				return nil, err
			}
			var result struct{ Problems []store.Problem }
			err := (&local{http: client(c.socket())}).call(ctx, http.MethodPost, "/check", nil, &result)
			return result.Problems, err
		}
	}
	db, err := store.Open(path, store.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	problems, err := db.Verify()
	return problems, errors.Join(err, db.Close())
}

// repair takes what is damaged out of the way of the rest.
func (c *checkCommand) repair(path string, o output) error {
	key, err := c.key(false)
	if err != nil {
		return err
	}
	db, err := store.Open(path, store.Options{Key: key, Verifier: verifier()})
	if err != nil {
		return err
	}
	taken, err := db.Repair()
	for _, p := range taken {
		fmt.Fprintln(o.out, p)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "%s: %d damaged rows were set aside, and the indexes are as the rows say\n", path, len(taken))
	return err
}
