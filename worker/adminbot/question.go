package adminbot

import (
	"fmt"
	"strings"
	"time"

	"belfry/store"
)

// What an admin may have been asked to write.
const (
	askInterval = "interval"
	askNames    = "names"
)

const (
	// answerTime is how long a text counts as the answer to a question.
	answerTime = 15 * time.Minute
	// A client sends a text in parts that is longer than Telegram takes, which is 4096 UTF-16 units, and
	// cuts it where a word ends. What follows one of splitText within restTime belongs to it.
	splitText = 3500
	restTime  = time.Minute
)

func (r request) setting() string { return fmt.Sprint("adminbot.asked.", r.chat) }

// ask notes that the texts of the admin are, for some time, the answer to a question.
func (r request) ask(what string, during time.Duration) error {
	return r.tx.Settings.Set(r.setting(), what+" "+r.tx.Now().Add(during).Format(time.RFC3339))
}

// asked is the question that the admin has not answered yet; empty if there is none.
func (r request) asked() (string, error) {
	value, err := r.question()
	if err != nil {
		return "", err
	}
	what, until, _ := strings.Cut(value, " ")
	end, err := time.Parse(time.RFC3339, until)
	if left := end.Sub(r.tx.Now()); err != nil || left < 0 || left > answerTime+time.Minute { // or the clock was set back
		return "", nil //nolint:nilerr // no question was asked
	}
	return what, nil
}

// question is what ask has noted. One that is damaged is none.
func (r request) question() (string, error) {
	value, err := r.tx.Settings.Value(r.setting())
	if store.IsCorrupt(err) {
		return "", r.tx.Settings.Set(r.setting(), "")
	}
	return value, err
}

// forget forgets the question: the admin has turned to something else.
func (r request) forget() error {
	value, err := r.question()
	if err != nil || value == "" {
		return err
	}
	return r.tx.Settings.Set(r.setting(), "")
}
