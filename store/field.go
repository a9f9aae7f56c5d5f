package store

import (
	"fmt"
	"strings"
)

// FieldError is the error for input that cannot be accepted. Whoever shows it says the message of its key:
// what is wrong, and what to do.
type FieldError struct {
	Field string // as the person wrote it, such as scheduled_time or media[2].url
	Key   string // of the message, such as invalid.empty
	Args  []any  // what the message is filled in with
}

// Invalid returns a [FieldError].
func Invalid(field, key string, args ...any) *FieldError { return &FieldError{field, key, args} }

// Error is the error as a log has it: the field, the key and the arguments.
func (e *FieldError) Error() string { return e.Field + ": " + terse(e.Key, e.Args) }

// Refusal makes the error one that can be said to people.
func (e *FieldError) Refusal() (field, key string, args []any) { return e.Field, e.Key, e.Args }

// ConflictError is the error for an action that the present state of a record does not allow, such
// as cancelling a post that is out.
type ConflictError struct {
	Key  string // of the message, such as conflict.post_published
	Args []any  // what the message is filled in with
}

// Conflict returns a [ConflictError].
func Conflict(key string, args ...any) *ConflictError { return &ConflictError{key, args} }

// Error is the error as a log has it: the key and the arguments.
func (e *ConflictError) Error() string { return terse(e.Key, e.Args) }

// Refusal makes the error one that can be said to people.
func (e *ConflictError) Refusal() (field, key string, args []any) { return "", e.Key, e.Args }

func terse(key string, args []any) string {
	return strings.TrimSpace(key + " " + fmt.Sprintln(args...))
}
