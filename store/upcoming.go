package store

import (
	"bytes"
	"encoding/base64"
	"slices"

	"go.etcd.io/bbolt"
)

// maxLooked is how many jobs a page looks at where the index does not say which of them it wants; then it ends, with
// few items or none, and its cursor goes on.
const maxLooked = 5000

// JobQuery selects a part of the schedule. What is empty selects all.
type JobQuery struct {
	Query
	Kind  string
	State JobState
	Tag   string
}

// phase is what a state is in the index by kind. To wait and to run are one, so that a run does not move its job there.
func (j *Job) phase() string {
	if j.State == JobRunning {
		return string(JobWaiting)
	}
	return string(j.State)
}

func (q JobQuery) wants(j Job) bool {
	return (q.Kind == "" || j.Kind == q.Kind) && (q.State == "" || j.State == q.State) &&
		(q.Tag == "" || slices.Contains(j.Tags, q.Tag))
}

// List returns the jobs in the order of their next run. The index is by kind, so it walks one cursor for each kind
// side by side: kinds are few, and an index more would be paid for by each run. A page that follows another shows
// what has changed meanwhile as it is now.
func (t Jobs) List(q JobQuery) (Page[Job], error) {
	var page Page[Job]
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || (len(after) != 0 && len(after) != 8+idSize) {
		return page, errCursor()
	}
	if q.State == JobRunning {
		return t.listRunning(q, after), nil
	}
	heads := t.kindHeads(q, after)
	for looked := 0; ; looked++ {
		first := -1
		for i, head := range heads {
			if head.tail != nil && (first < 0 || bytes.Compare(head.tail, heads[first].tail) < 0) {
				first = i
			}
		}
		if first < 0 {
			return page, nil
		}
		if len(page.Items) == q.limit() || looked == maxLooked {
			page.Next = base64.RawURLEncoding.EncodeToString(after)
			return page, nil
		}
		after = bytes.Clone(heads[first].tail)
		job, err := t.named("kind", append(slices.Clip(heads[first].prefix), after...))
		if err == nil && q.wants(job) {
			page.Items = append(page.Items, job)
		}
		heads[first].advance()
	}
}

// listRunning finds the jobs that run, which are few, in the queue.
func (t Jobs) listRunning(q JobQuery, after []byte) (page Page[Job]) {
	place := func(j Job) []byte { return key(nil).time(j.Due).uint(j.ID) }
	for job := range t.Running() {
		if q.wants(job) && bytes.Compare(place(job), after) > 0 {
			page.Items = append(page.Items, job)
		}
	}
	slices.SortFunc(page.Items, func(a, b Job) int { return bytes.Compare(place(a), place(b)) })
	if len(page.Items) > q.limit() {
		page.Items = page.Items[:q.limit()]
		page.Next = base64.RawURLEncoding.EncodeToString(place(page.Items[q.limit()-1]))
	}
	return page
}

// kindHead walks the entries of one kind and phase.
type kindHead struct {
	cursor *bbolt.Cursor
	prefix key
	tail   []byte // time and id of the entry that it stands on; nil at the end
}

// kindHeads returns a head for each kind and phase that is wanted, on its first entry after the given time and id.
func (t Jobs) kindHeads(q JobQuery, after []byte) []*kindHead {
	var heads []*kindHead
	bucket := t.indexNamed("kind")
	kinds := bucket.Cursor()
	for k, _ := kinds.First(); k != nil; {
		if len(k) < 8+idSize { // damaged
			k, _ = kinds.Next()
			continue
		}
		head := &kindHead{cursor: bucket.Cursor(), prefix: bytes.Clone(k[:len(k)-8-idSize])}
		of := head.prefix.strs()
		if len(of) == 2 && (q.Kind == "" || of[0] == q.Kind) && (q.State == "" || of[1] == string(q.State)) {
			head.seek(after)
			heads = append(heads, head)
		}
		next := head.prefix.next()
		if next == nil {
			break
		}
		k, _ = kinds.Seek(next)
	}
	return heads
}

func (h *kindHead) seek(after []byte) {
	from := append(slices.Clip(h.prefix), after...)
	entry, _ := h.cursor.Seek(from)
	if len(after) > 0 && bytes.Equal(entry, from) {
		entry, _ = h.cursor.Next()
	}
	h.stand(entry)
}

func (h *kindHead) stand(entry []byte) {
	h.tail = nil
	if len(entry) == len(h.prefix)+8+idSize && bytes.HasPrefix(entry, h.prefix) {
		h.tail = entry[len(h.prefix):]
	}
}

func (h *kindHead) advance() {
	entry, _ := h.cursor.Next()
	h.stand(entry)
}
