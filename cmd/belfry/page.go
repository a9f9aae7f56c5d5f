package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// newPage returns the command that prints a link to the page of the running service.
func newPage() *cobra.Command {
	return newAPICommand("page", "Print a link that signs in to the page once, for example when the password is lost.",
		func(ctx context.Context, l *local, _ []string) error {
			if l.standsIn {
				return errors.New("the service does not run: start it first")
			}
			var link struct{ URL string }
			if err := l.call(ctx, http.MethodPost, "/sign-in-links", struct{}{}, &link); err != nil {
				return err
			}
			_, err := fmt.Fprintln(l.out, link.URL)
			return err
		})
}
