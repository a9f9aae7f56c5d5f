package main

import (
	"context"
	"encoding/json"
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

	Repair bool `help:"Set damaged rows aside, build the indexes anew and make missing jobs again, while the service is stopped. If pages are damaged, what can be read goes into a new file."`
}

// Run verifies a file and fails if anything is wrong with it.
func (c *checkCommand) Run(ctx context.Context, o output) error {
	path := c.DB
	if c.File != "" {
		path = c.File
	}
	if c.Repair {
		return c.repair(ctx, path, o)
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
		return fmt.Errorf("%s: %d problems: restore a backup, or stop belfry and go on with what is not damaged: belfry check --repair", path, len(problems))
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
	return verifier().Verify(ctx, path)
}

// repair takes what is damaged out of the way of the rest.
func (c *checkCommand) repair(ctx context.Context, path string, o output) error {
	key, err := c.key(false)
	if err != nil {
		return err
	}
	done, err := store.Repair(ctx, path, store.Options{Key: key, Verifier: verifier()})
	if err != nil {
		return err
	}
	for _, p := range done.Taken {
		fmt.Fprintln(o.out, p)
	}
	for _, p := range done.Made {
		fmt.Fprintf(o.out, "%s: it has one again\n", p)
	}
	if done.Aside != "" {
		fmt.Fprintf(o.out, `%s: what could be read of it is in a new file; the damaged one was kept as %s.
What is missing may include what was sent: compare it with a backup. Nothing runs until: belfry jobs resume --all
`, path, done.Aside)
		return nil
	}
	_, err = fmt.Fprintf(o.out, "%s: %d damaged rows were set aside, %d missing jobs were made again, and the indexes are as the rows say\n",
		path, len(done.Taken), len(done.Made))
	return err
}
