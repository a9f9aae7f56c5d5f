package adminbot

import (
	"fmt"
	"strings"
	"time"
)

// What an admin may have been asked to write.
const (
	askInterval = "interval"
	askNames    = "names"
)

// answerTime is how long a text counts as the answer to a question.
const answerTime = 15 * time.Minute

func (r request) setting() string { return fmt.Sprint("adminbot.asked.", r.chat) }

// ask notes that the next text of the admin is the answer to a question.
func (r request) ask(what string) error {
	return r.tx.Settings.Set(r.setting(), what+" "+r.tx.Now().Format(time.RFC3339))
}

// asked is the question that the admin has not answered yet; empty if there is none.
func (r request) asked() (string, error) {
	value, err := r.tx.Settings.Value(r.setting())
	if err != nil {
		return "", err
	}
	what, at, _ := strings.Cut(value, " ")
	when, err := time.Parse(time.RFC3339, at)
	if err != nil || r.tx.Now().Sub(when) > answerTime {
		return "", nil //nolint:nilerr // no question was asked
	}
	return what, nil
}

// forget forgets the question: the admin has turned to something else.
func (r request) forget() error {
	value, err := r.tx.Settings.Value(r.setting())
	if err != nil || value == "" {
		return err
	}
	return r.tx.Settings.Set(r.setting(), "")
}
