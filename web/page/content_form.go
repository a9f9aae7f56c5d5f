package page

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
)

const (
	// inputTime is how a browser writes date and time of a form.
	inputTime = "2006-01-02T15:04"
	// suggestAhead is how far away the time is that a new form begins with.
	suggestAhead = time.Hour
	// maxFiles bounds the rows of the form; a network may allow fewer.
	maxFiles = 10
)

// fillContent writes what is sent, and as whom, into a form.
func (f form) fillContent(p store.Post) {
	f.fill(map[string]string{"identity_id": id(p.IdentityID), "text": p.Text, "format": p.Format})
	f.tick(map[string]bool{"silent": p.Silent, "no_link_preview": p.NoLinkPreview})
	f.setMedia(p.Media)
}

// content reads what is sent. What is no id of a login is 0.
func (f form) content() (p store.Post) {
	p.IdentityID, p.Text, p.Format = f.number("identity_id"), f.plain("text"), f.get("format")
	p.Silent, p.NoLinkPreview = f.on("silent"), f.on("no_link_preview")
	kinds := f.values["media_kind"]
	names, _ := url.ParseQuery(strings.Join(f.values["media_name"], "&")) // by source: another file has none
	for i, source := range f.values["media_source"] {
		source = strings.TrimSpace(source)
		if source == "" || len(p.Media) == maxFiles {
			continue
		}
		m := store.Media{Kind: "photo", Name: names.Get(source)}
		if i < len(kinds) {
			m.Kind = kinds[i]
		}
		number, isUpload := strings.CutPrefix(source, uploaded)
		switch {
		case isUpload:
			m.ID, _ = strconv.ParseUint(number, 10, 64) // 0 is refused as one that names nothing
		case webAddress(source) != "":
			m.URL = source
		default:
			m.File = source
		}
		p.Media = append(p.Media, m)
	}
	return p
}

// mediaRows are the files of the form, and an empty one if it was asked for.
func (f form) mediaRows() []store.Media {
	files := f.content().Media
	if f.get("do") == "add-media" && len(files) < maxFiles {
		files = append(files, store.Media{})
	}
	return files
}

// mediaInputs are the fields of the row i of the form.
func (v view) mediaInputs(f form, i int, m store.Media) (kind, source input) {
	number := strconv.Itoa(i + 1)
	kinds := options([]string{"photo", "video", "document"}, func(kind string) string { return v.T("media.kind." + kind) })
	kind = input{ID: "media-kind-" + number, Name: "media_kind", Label: v.T("compose.media_kind"), Value: m.Kind, Options: kinds}
	source = input{
		ID: "media-source-" + number, Name: "media_source", Label: v.T("compose.media_source") + " " + number, Type: "text", Value: m.URL + m.File,
		Error: f.wrong[fmt.Sprintf("media[%d]", i)], Placeholder: v.T("compose.media_hint"), Autocomplete: "off",
	}
	return kind, source
}

// contentFields are the fields that [form.refuse] knows of what is sent.
func contentFields() []string {
	fields := []string{"text", "format", "identity_id"}
	for i := range maxFiles {
		fields = append(fields, fmt.Sprintf("media[%d]", i))
	}
	return fields
}

// chosenLogin is the one that the form names, or the first if it names none.
func chosenLogin(f form, logins []store.Identity) store.Identity {
	for _, i := range logins {
		if id(i.ID) == f.get("identity_id") || f.get("identity_id") == "" {
			return i
		}
	}
	return store.Identity{}
}

// dropLogin forgets a login that is gone. The field shows the first one then, and so does what stands beside it.
func (f form) dropLogin(logins []store.Identity) {
	if chosenLogin(f, logins).ID == 0 {
		f.values.Del("identity_id")
	}
}

func (v view) loginOptions(logins []store.Identity) []option {
	options := make([]option, len(logins))
	several := slices.ContainsFunc(logins, func(i store.Identity) bool { return i.Platform != logins[0].Platform })
	for i, login := range logins {
		name := v.loginName(login)
		if several {
			name += " · " + v.T("platform."+login.Platform)
		}
		options[i] = option{id(login.ID), name}
	}
	return options
}

func (v view) formatOptions() []option {
	return options([]string{"plain", "html", "markdown"}, func(format string) string { return v.T("format." + format) })
}

// in is a time as a field of a form has it.
func (v view) in(t time.Time) string { return t.In(v.Zone).Format(inputTime) }

// formTime reads a time in the page's zone. One that the clock jumps over is refused; one that comes twice is
// the first.
func (v view) formTime(text string) (time.Time, error) {
	at, err := time.ParseInLocation(inputTime, text, v.Zone)
	if err != nil {
		return at, store.Invalid("scheduled_time", "invalid.bad_time")
	}
	if at.Format(inputTime) != text {
		return at, store.Invalid("scheduled_time", "invalid.gap_time")
	}
	for _, shift := range []time.Duration{2 * time.Hour, time.Hour, 30 * time.Minute} {
		if earlier := at.Add(-shift); earlier.Format(inputTime) == text {
			return earlier, nil
		}
	}
	return at, nil
}

// check is what a form shows while a person writes: the length, and the post as its readers see it.
type check struct {
	platform.Measure
	post    store.Post
	where   string // where it is sent; may be empty
	trouble string // what is wrong with it
}

func (v view) checked(p store.Post, measure platform.Measure, err error) check {
	c := check{Measure: measure, post: p, where: p.Target}
	if (p.Text != "" || len(p.Media) > 0) && fieldOf(err) != "target" {
		c.trouble = v.refusal(err)
	}
	if c.trouble != "" && measure.Length == 0 { // markup that cannot be read has no length
		c.Limit = 0
	}
	return c
}

// length says how long the text is; empty if that is not known.
func (v view) length(c check) string {
	switch over := c.Length - c.Limit; {
	case c.Limit == 0:
		return ""
	case over > 0:
		return v.T("compose.count", c.Length, c.Limit) + ": " + v.T("compose.over", over)
	}
	return v.T("compose.count", c.Length, c.Limit)
}

// near is the class of the length: over where it is too long, near where it soon will be.
func (c check) near() string {
	switch {
	case c.Limit == 0:
		return ""
	case c.Length > c.Limit:
		return "over"
	case c.Length*10 > c.Limit*9:
		return "near"
	}
	return ""
}

// once makes something unless the same form was sent before with the same in it, as by a second click. It returns the
// id of what was made. A form that is sent again after going back, with something else in it, asks for something else.
func (s *Server) once(v view, operation string, f form, do func(*store.Tx) (uint64, error)) (made uint64, err error) {
	key := sha256.Sum256([]byte("page " + id(v.signIn.ID) + "\x00" + operation + "\x00" + f.values.Encode()))
	err = s.DB.Update(func(tx *store.Tx) error {
		before, err := tx.Idempotency.ByKey(key[:])
		if err == nil {
			return json.Unmarshal(before.Body, &made)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if made, err = do(tx); err != nil {
			return err
		}
		return tx.Idempotency.Add(&store.Answer{Key: key[:], Status: http.StatusSeeOther, Body: []byte(id(made))})
	})
	return made, err
}
