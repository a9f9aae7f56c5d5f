package web

import (
	"errors"
	"time"

	"belfry/store"
)

// Speech says to people, as the page does, what the workers say to everybody. It is for doors that
// are not pages.
type Speech struct{ reader reader }

// NewSpeech speaks lang, en or ru, with times in zone.
func NewSpeech(lang string, zone *time.Location) Speech {
	return Speech{reader{lang: lang, words: wordsIn(lang), zone: zone}}
}

// Refusal says why an action was refused.
func (s Speech) Refusal(err error) string {
	if field, ok := errors.AsType[*store.FieldError](err); ok {
		return s.reader.sayField(field)
	}
	if conflict, ok := errors.AsType[*store.ConflictError](err); ok {
		return s.reader.sayConflict(conflict)
	}
	return err.Error()
}

// Plain is a text without the markup of its format.
func (s Speech) Plain(format, text string) string { return plainText(format, text) }

// Reason says why something is as it is.
func (s Speech) Reason(why store.Reason) string { return s.reader.why(why) }
