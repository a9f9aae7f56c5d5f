package page

import (
	"errors"
	"time"

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

// took says how long a run took.
func (v view) took(d time.Duration) string {
	if d < time.Second {
		return v.T("time.milliseconds", int(d.Milliseconds()))
	}
	return v.Length(d)
}

// fieldOf is the field that a refusal is about; empty if it is about none.
func fieldOf(err error) string {
	if r, ok := errors.AsType[i18n.Refusal](err); ok {
		field, _, _ := r.Refusal()
		return field
	}
	return ""
}
