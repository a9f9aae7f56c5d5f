package page

import (
	"errors"
	"strings"
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

// span says a length of time exactly, such as "1 hour 30 minutes".
func (v view) span(d time.Duration) string {
	var parts []string
	if n := int(d / time.Hour); n > 0 {
		parts = append(parts, v.T("time.hours", n))
	}
	if n := int(d % time.Hour / time.Minute); n > 0 {
		parts = append(parts, v.T("time.minutes", n))
	}
	return strings.Join(parts, " ")
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
