package api

import "belfry/store"

// reply is an answer with a body.
type reply[T any] struct{ Body T }

func answer[T any](body T) *reply[T] { return &reply[T]{Body: body} }

// Paged are the parameters of a list. Huma reads embedded fields of exported types only.
type Paged struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many items at most"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
}

func (p Paged) query() store.Query { return store.Query{Limit: p.Limit, Cursor: p.Cursor} }

// List is a page of items.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next_cursor" doc:"cursor of the next page; empty on the last one"`
}

// transaction is [store.DB.View] or [store.DB.Update].
type transaction func(func(*store.Tx) error) error

// within answers with what fn returns in a transaction.
func within[T any](run transaction, fn func(*store.Tx) (T, error)) (*reply[T], error) {
	var out T
	err := run(func(tx *store.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

// record answers with the record that act returns, as show has it.
func record[R, T any](run transaction, act func(*store.Tx) (R, error), show func(*store.Tx, R) (T, error)) (*reply[T], error) {
	return within(run, func(tx *store.Tx) (shown T, err error) {
		row, err := act(tx)
		if err != nil {
			return shown, err
		}
		return show(tx, row)
	})
}

// listed answers with the records of the page that find returns, each as show has it.
func listed[R, T any](s *Server, find func(*store.Tx) (store.Page[R], error), show func(*store.Tx, R) (T, error)) (*reply[List[T]], error) {
	return record(s.db.View, find, func(tx *store.Tx, page store.Page[R]) (List[T], error) {
		out := List[T]{Items: make([]T, 0, len(page.Items)), Next: page.Next}
		for _, row := range page.Items {
			shown, err := show(tx, row)
			if err != nil {
				return out, err
			}
			out.Items = append(out.Items, shown)
		}
		return out, nil
	})
}

// plain is a show that needs no transaction.
func plain[R, T any](show func(R) T) func(*store.Tx, R) (T, error) {
	return func(_ *store.Tx, row R) (T, error) { return show(row), nil }
}
