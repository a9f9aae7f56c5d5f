package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// listing are the flags of the commands that list something.
type listing struct {
	fileSetting
	Limit int  `default:"50" help:"How many at most."`
	JSON  bool `name:"json" help:"Print JSON."`
}

// list asks for what path lists, narrowed by those filters that are not empty, and decodes it into out;
// with --json, it prints the answer instead.
func (l listing) list(ctx context.Context, o output, path string, filters map[string]string, out any) error {
	query := url.Values{"limit": {fmt.Sprint(l.Limit)}}
	for name, value := range filters {
		if value != "" {
			query.Set(name, value)
		}
	}
	return ask(ctx, l.fileSetting, o, l.JSON, http.MethodGet, path+"?"+query.Encode(), nil, out)
}

// ask calls the API and prints its answer as it is, or reads it into out.
func ask(ctx context.Context, f fileSetting, o output, asJSON bool, method, path string, in, out any) (err error) {
	l, err := connect(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var answer json.RawMessage
	if err := l.call(ctx, method, path, in, &answer); err != nil {
		return err
	}
	if asJSON {
		_, err := fmt.Fprintf(o.out, "%s\n", answer)
		return err
	}
	return json.Unmarshal(answer, out)
}
