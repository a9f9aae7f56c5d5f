package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

type pageCommand struct{ fileSetting }

// Run prints a link to the page of the running service.
func (c *pageCommand) Run(ctx context.Context, o output) (err error) {
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if l.standsIn {
		return errors.New("the service does not run: start it first")
	}
	var link struct{ URL string }
	if err := l.call(ctx, http.MethodPost, "/sign-in-links", struct{}{}, &link); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, link.URL)
	return err
}
