package web

import (
	"fmt"
	"strconv"
	"time"

	"belfry/store"
)

// bar is how far something is.
type bar struct {
	Value, Max int
	Text       string
}

type countOf struct {
	Name, N string
}

func taskPath(n uint64) string { return fmt.Sprintf("/tasks/%d", n) }

func chatsPath(login uint64) string { return "/chats?identity_id=" + id(login) }

// progress is a broadcast as its chip needs it.
type progress struct{ task store.Task }

// pauseRange writes a pause in seconds.
func pauseRange(from, _ time.Duration) string {
	return strconv.FormatFloat(from.Seconds(), 'f', -1, 64)
}

// taskTitle is the first words of a broadcast.
func (r reader) taskTitle(t store.Task) string {
	return r.postTitle(store.Post{Text: t.Text, Format: t.Format, Media: t.Media})
}

func (r reader) taskChip(p progress) chip {
	return chip{"is-task-" + string(p.task.Status), r.words.TaskStatus[p.task.Status].Name}
}

// thousands is the mark between thousands.
func (r reader) thousands() string {
	if r.lang == russian {
		return "\u00a0"
	}
	return ","
}
