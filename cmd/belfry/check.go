package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newCheck returns the command that verifies a file and fails if anything is wrong with it.
func newCheck() *cobra.Command {
	var withRepair bool
	c := newFileCommand("check [FILE]", "Verify every page, row and index of FILE, by default of the service's file.", func(c *cobra.Command, f fileSetting, args []string) error {
		path, err := filepath.Abs(append(args, f.DB)[0])
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if sealed, err := store.IsSealed(path); err == nil && sealed {
				return store.Invalid("FILE", "invalid.sealed_backup")
			}
		}
		if withRepair {
			return repair(c.Context(), f, path, c.OutOrStdout())
		}
		problems, err := verify(c.Context(), f, path)
		if err != nil {
			return err
		}
		asJSON, _ := c.Flags().GetBool("json")
		if asJSON {
			err = json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"file": path, "problems": append([]store.Problem{}, problems...)})
		} else {
			for _, p := range problems {
				fmt.Fprintln(c.OutOrStdout(), p)
			}
		}
		if len(problems) > 0 {
			return errors.Join(err, fmt.Errorf("%s: %d problems: restore a backup, or stop belfry and keep what is not damaged with belfry check --repair", path, len(problems)))
		}
		if !asJSON {
			fmt.Fprintf(c.OutOrStdout(), "%s: no problems\n", path)
		}
		return err
	})
	c.Flags().BoolVar(&withRepair, "repair", false, "Set damaged rows aside, rebuild the indexes and make missing jobs again,\nwhile the service is stopped. If pages are damaged, a new file gets what can be read.")
	return withJSON(c)
}

// verify lets the service verify its file if it runs, because it holds the file.
func verify(ctx context.Context, f fileSetting, path string) ([]store.Problem, error) {
	if running, err := serves(f.socket()); path != f.DB || err != nil || !running {
		return verifier().Verify(ctx, path)
	}
	var result struct{ Problems []store.Problem }
	err := (&local{http: client(f.socket())}).call(ctx, http.MethodPost, "/check", nil, &result)
	return result.Problems, err
}

// repair takes what is damaged out of the way of the rest.
func repair(ctx context.Context, f fileSetting, path string, out io.Writer) error {
	key, err := f.key(false)
	if err != nil {
		return err
	}
	done, err := store.Repair(ctx, path, store.Options{Key: key, Verifier: verifier()})
	if err == nil {
		err = audit(path, key, "repair")
	}
	if err != nil {
		return err
	}
	for _, p := range done.Taken {
		fmt.Fprintln(out, p)
	}
	for _, p := range done.Made {
		fmt.Fprintf(out, "%s: it has one again\n", p)
	}
	if done.Aside != "" {
		fmt.Fprintf(out, `%s: what could be read of it is in a new file; the damaged one was kept as %s.
What is missing may include what was sent: compare it with a backup. Nothing runs until: belfry jobs resume --all
`, path, done.Aside)
		return nil
	}
	_, err = fmt.Fprintf(out, "%s: %d damaged rows were set aside, %d missing jobs were made again, and the indexes are as the rows say\n",
		path, len(done.Taken), len(done.Made))
	return err
}
