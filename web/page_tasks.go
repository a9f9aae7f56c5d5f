package web

import (
	"fmt"
	"strconv"
	"time"

	"belfry/store"
)

// checkLimit is how many chats of a broadcast a form is filled with.
const checkLimit = 1000

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

// firstDeliveries passes on up to [checkLimit] chats from a cursor on.
func (s *Server) firstDeliveries(t store.Task, cursor string, each func(store.Delivery)) error {
	for seen := 0; seen < checkLimit; {
		var page store.Page[store.Delivery]
		err := s.db.View(func(tx *store.Tx) (err error) {
			page, err = tx.Deliveries.Of(t, "", store.Query{Limit: checkLimit / 2, Cursor: cursor})
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range page.Items {
			each(row)
		}
		seen += len(page.Items)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return nil
}
