package store

// FieldError is the error for input that cannot be accepted. It is meant for the person who sent
// it: it names the field, says what is wrong, and what to do.
type FieldError struct {
	Field   string // as the person wrote it, such as scheduled_time or media[2].url
	Problem string // completes "<field> …", such as "is in the past"
	Cure    string // an instruction, such as "choose a later time"
}

func (e *FieldError) Error() string {
	s := e.Field + " " + e.Problem
	if e.Cure != "" {
		s += ": " + e.Cure
	}
	return s
}

// ConflictError is the error for an action that the present state of a record does not allow, such
// as cancelling a post that is out.
type ConflictError struct {
	Problem string // a sentence, such as "post 17 is published already"
	Cure    string // an instruction, or empty if there is nothing to do
}

func (e *ConflictError) Error() string {
	if e.Cure == "" {
		return e.Problem
	}
	return e.Problem + ": " + e.Cure
}
