package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"belfry/store"
	"belfry/web/session"
)

// creation is a request that makes something. T is its body.
type creation[T any] struct {
	Key     string `header:"Idempotency-Key" maxLength:"200" doc:"Chosen by the caller: the same request with the same key is carried out once, and answered the same each time, for 7 days"`
	RawBody []byte
	Body    T
}

// created is the answer to a creation.
type created[T any] struct {
	Status   int
	Replayed string `header:"Idempotency-Replayed" doc:"true if the request was carried out before and this is the answer that it was given"`
	Body     T
}

// once carries out a creation, or gives the answer that the same request with the same key was
// given before. prepare works outside a transaction; the function that it returns makes the record.
// The answer is written in the transaction of the record, so there is never one without the other.
func once[B, T any](ctx context.Context, s *Server, operation string, in *creation[B],
	prepare func() (func(*store.Tx) (T, error), error)) (*created[T], error) {
	answer := store.Answer{Key: session.CallerOf(ctx).AnswerKey(operation, in.Key), Request: session.Digest(in.RawBody), Status: http.StatusCreated}
	if in.Key != "" {
		var before *created[T]
		err := s.db.View(func(tx *store.Tx) (err error) {
			before, err = earlier[T](tx, answer)
			return err
		})
		if err != nil || before != nil {
			session.Nothing(ctx)
			return before, err
		}
	}
	write, err := prepare()
	if err != nil {
		return nil, err
	}
	var out *created[T]
	err = s.db.Update(func(tx *store.Tx) (err error) {
		if in.Key != "" {
			if out, err = earlier[T](tx, answer); err != nil || out != nil {
				tx.After(func() { session.Nothing(ctx) })
				return err
			}
		}
		body, err := write(tx)
		if err != nil {
			return err
		}
		out = &created[T]{Status: answer.Status, Body: body}
		if err := session.Note(ctx, tx, idOf(body)); err != nil {
			return err
		}
		if in.Key == "" {
			return nil
		}
		given := answer
		if given.Body, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		return tx.Idempotency.Add(&given)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// idOf is the id of what an answer shows; empty if it has none.
func idOf(body any) string {
	v := reflect.Indirect(reflect.ValueOf(body))
	if v.Kind() != reflect.Struct {
		return ""
	}
	for _, name := range []string{"ID", "Group"} {
		field, found := v.Type().FieldByName(name)
		if !found {
			continue
		}
		if id, err := v.FieldByIndexErr(field.Index); err == nil { // else it is that of an embedded part that is not there
			return fmt.Sprint(id.Interface())
		}
	}
	return ""
}

// earlier returns the answer that the request was given before, or nil.
func earlier[T any](tx *store.Tx, request store.Answer) (*created[T], error) {
	found, err := tx.Idempotency.ByKey(request.Key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(found.Request, request.Request) {
		return nil, store.Invalid("Idempotency-Key", "invalid.idempotency_key")
	}
	out := &created[T]{Status: found.Status, Replayed: "true"}
	if err := json.Unmarshal(found.Body, &out.Body); err != nil {
		return nil, fmt.Errorf("read the earlier answer: %w", err)
	}
	return out, nil
}
