package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Rows that are read and written with each run are packed instead of being JSON: their fields follow each
// other in a fixed order, each as short as its value allows; those that are zero at the end are left out. A field
// that is added comes last, so it is zero in rows that were written before.
type packed interface {
	fields(p *packing)
}

// packedV1 begins a packed row, as '{' begins one that is JSON.
const packedV1 = 1

// packing goes through the fields of a row, either to append them to data or to take them out of text.
type packing struct {
	data    []byte
	used    int    // of data, up to the last field that is not zero
	text    string // what is left to be read
	reading bool
	err     error
}

func packRow(data []byte, row packed) []byte {
	p := packings.Get().(*packing)
	data = append(data, packedV1)
	*p = packing{data: data, used: len(data)}
	row.fields(p)
	done := p.end()
	return done.data[:done.used]
}

func unpackRow(body []byte, row packed) error {
	if body[0] != packedV1 {
		return fmt.Errorf("packed in a way (%d) that this version does not know", body[0])
	}
	p := packings.Get().(*packing)
	*p = packing{text: string(body[1:]), reading: true}
	row.fields(p)
	done := p.end()
	if done.err == nil && done.text != "" {
		done.err = fmt.Errorf("%d bytes too many", len(done.text))
	}
	return done.err
}

// packings are those that are not in use.
var packings = sync.Pool{New: func() any { return new(packing) }}

// end puts p back, and returns how it was left.
func (p *packing) end() packing {
	left := *p
	*p = packing{}
	packings.Put(p)
	return left
}

var errCutOff = errors.New("cut off within a field")

// ended reports that a row has no more fields: the rest stays as it is.
func (p *packing) ended() bool { return p.reading && (p.text == "" || p.err != nil) }

// keep says that what was appended so far is not to be left out.
func (p *packing) keep() { p.used = len(p.data) }

func (p *packing) uint(v *uint64) {
	switch {
	case p.ended():
	case !p.reading && *v == 0:
		p.data = append(p.data, 0)
	case !p.reading:
		p.data = binary.AppendUvarint(p.data, *v)
		p.keep()
	default:
		var shift uint
		var read uint64
		for i := range len(p.text) {
			read |= uint64(p.text[i]&0x7f) << shift
			if shift += 7; p.text[i] < 0x80 {
				*v, p.text = read, p.text[i+1:]
				return
			}
		}
		p.err = errCutOff
	}
}

func packInt[T ~int | ~int64](p *packing, v *T) {
	u := uint64(*v)<<1 ^ uint64(int64(*v)>>63)
	p.uint(&u)
	if p.reading {
		*v = T(u>>1) ^ -T(u&1)
	}
}

func (p *packing) bool(v *bool) {
	var u uint64
	if *v {
		u = 1
	}
	p.uint(&u)
	*v = u != 0
}

func packString[T ~string](p *packing, v *T) {
	n := uint64(len(*v))
	if p.ended() {
		return
	}
	p.uint(&n)
	switch {
	case !p.reading:
		p.data = append(p.data, *v...)
		if n > 0 {
			p.keep()
		}
	case p.err != nil || n > uint64(len(p.text)):
		p.err = errCutOff
	default:
		*v, p.text = T(p.text[:n]), p.text[n:]
	}
}

// time keeps the instant, not the zone.
func (p *packing) time(v *time.Time) {
	const year1 = 62135596800 // seconds from the zero time to 1970
	if p.ended() {
		return
	}
	seconds, nanos := uint64(v.Unix()+year1), uint64(v.Nanosecond())
	p.uint(&seconds)
	p.uint(&nanos)
	if p.reading && (seconds != 0 || nanos != 0) {
		*v = time.Unix(int64(seconds)-year1, int64(nanos)).UTC()
	}
}

// packList packs how many there are and each of them.
func packList[T any](p *packing, list *[]T, one func(*packing, *T)) {
	n := uint64(len(*list))
	p.uint(&n)
	if p.reading && n > uint64(len(p.text)) { // each takes a byte at least
		p.err = errCutOff
		return
	}
	if p.reading && n > 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		one(p, &(*list)[i])
	}
	if n > 0 {
		p.keep() // also those that are zero: each takes a byte at least
	}
}

func (j *Job) fields(p *packing) {
	packString(p, &j.Name)
	packString(p, &j.Kind)
	p.uint(&j.Subject)
	packString(p, &j.Lane)
	j.Trigger.fields(p)
	packString(p, &j.Lateness.Policy)
	packInt(p, &j.Lateness.Grace)
	packInt(p, &j.Timeout)
	packString(p, &j.State)
	p.bool(&j.Paused)
	p.bool(&j.Removed)
	p.time(&j.Due)
	p.time(&j.Occurrence)
	p.bool(&j.WallClock)
	p.bool(&j.Requested)
	packInt(p, &j.Attempt)
	packInt(p, &j.Broken)
	p.time(&j.LeaseEnd)
	p.time(&j.Started)
	packInt(p, &j.Missed)
	j.Reason.fields(p)
	p.time(&j.LastRun)
	packString(p, &j.LastResult)
	j.LastReason.fields(p)
	packInt(p, &j.Failures)
	p.time(&j.VainSince)
	p.time(&j.Trigger.From)
	packList(p, &j.Trigger.Dates, (*packing).time)
	p.bool(&j.Woken)
	packInt(p, &j.Attempts)
	packInt(p, &j.Backoff)
	packList(p, &j.Tags, packString)
}

func (t *Trigger) fields(p *packing) {
	p.time(&t.At)
	packInt(p, &t.Every)
	packString(p, &t.Cron)
	packList(p, &t.Times, packString)
	packList(p, &t.Weekdays, packInt)
	packString(p, &t.Zone)
}

func (r *Reason) fields(p *packing) {
	packString(p, &r.Code)
	packString(p, &r.About)
	packString(p, &r.Detail)
	p.time(&r.Until)
	packInt(p, &r.N)
	packInt(p, &r.Of)
}

func (r *Run) fields(p *packing) {
	packString(p, &r.Job)
	packString(p, &r.Kind)
	packString(p, &r.Lane)
	p.time(&r.Occurrence)
	p.time(&r.Started)
	p.time(&r.Ended)
	packInt(p, &r.Attempt)
	packString(p, &r.Result)
	r.Reason.fields(p)
	packInt(p, &r.Missed)
	p.time(&r.Next)
}
