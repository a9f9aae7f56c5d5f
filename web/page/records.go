package page

import (
	"context"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// fetch returns what one short view of the store finds.
func fetch[T any](s *Server, find func(*store.Tx) (T, error)) (found T, err error) {
	err = s.DB.View(func(tx *store.Tx) (err error) {
		found, err = find(tx)
		return err
	})
	return found, err
}

// getter reads a record, such as a post, by its id.
type getter[T any] func(tx *store.Tx, id uint64) (T, error)

// named is the record that the path names.
func named[T any](v view, get getter[T]) (T, error) {
	return fetch(v.server, func(tx *store.Tx) (T, error) { return get(tx, v.number()) })
}

// of is the handler of a page or a form about the record that the path names.
func of[T any](s *Server, get getter[T], do func(c echo.Context, record *T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		record, err := named(s.view(c), get)
		if err != nil {
			return err
		}
		return do(c, &record)
	}
}

// about is the question of a [step] about the record that the path names.
func about[T any](get getter[T], ask func(v view, record T) question) func(view) (question, error) {
	return func(v view) (question, error) {
		record, err := named(v, get)
		return ask(v, record), err
	}
}

// act carries an action on a record out in a transaction of its own.
func act[T any](s *Server, do func(*store.Tx, uint64) (T, error)) func(context.Context, uint64) error {
	return func(_ context.Context, id uint64) error {
		return s.DB.Update(func(tx *store.Tx) error { return failure(do(tx, id)) })
	}
}

// each reads what a list says about each of its records.
func each[R, S any](tx *store.Tx, records []R, find func(*store.Tx, R) (S, error)) (all []S, err error) {
	all = make([]S, len(records))
	for i, record := range records {
		if all[i], err = find(tx, record); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// failure is the error of an action whose result is not needed.
func failure[T any](_ T, err error) error { return err }

// do carries an action out and goes on to a page, which says what was done.
func (s *Server) do(c echo.Context, to, done string, action func(*store.Tx) error) error {
	if err := s.DB.Update(action); err != nil {
		return err
	}
	return did(c, to, done)
}
