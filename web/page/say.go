package page

import (
	"errors"

	"belfry/i18n"
	"belfry/store"
)

// why says a reason; empty if there is none.
func (v view) why(because store.Reason) string {
	if because.Zero() {
		return ""
	}
	return v.Say(because)
}

// refusal says an error that the reader can cure; it is empty for any other.
func (v view) refusal(err error) string {
	if _, ok := errors.AsType[i18n.Refusal](err); ok {
		return v.Error(err)
	}
	return ""
}

// fieldOf is the field that a refusal is about; empty if it is about none.
func fieldOf(err error) string {
	if r, ok := errors.AsType[i18n.Refusal](err); ok {
		field, _, _ := r.Refusal()
		return field
	}
	return ""
}
