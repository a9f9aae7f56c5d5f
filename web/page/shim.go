package page

import (
	"errors"

	"belfry/store"
)

// why says a reason.
func (v view) why(because store.Reason) string { return because.Text(v.Lang, v.Zone) }

// refusal says an error that the reader can cure; it is empty for any other.
func (v view) refusal(err error) string {
	if field, ok := errors.AsType[*store.FieldError](err); ok {
		return field.Error()
	}
	if conflict, ok := errors.AsType[*store.ConflictError](err); ok {
		return conflict.Error()
	}
	return ""
}

// fieldOf is the field that a refusal is about; empty if it is about none.
func fieldOf(err error) string {
	if field, ok := errors.AsType[*store.FieldError](err); ok {
		return field.Field
	}
	return ""
}
