package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/posts"
)

// fillForm writes what a post says into a form, all but its time.
func fillForm(f form, p store.Post) {
	f.values.Set("identity_id", id(p.IdentityID))
	f.values.Set("target", p.Target)
	f.values.Set("text", p.Text)
	f.values.Set("format", p.Format)
	for _, m := range p.Media {
		source := m.URL
		if source == "" {
			source = m.File
		}
		f.values.Add("media_kind", m.Kind)
		f.values.Add("media_source", source)
	}
	if p.Lateness.Policy == store.LateSkip {
		f.values.Set("late", p.Lateness.Grace.String())
	}
	for name, on := range map[string]bool{"silent": p.Silent, "no_link_preview": p.NoLinkPreview, "hold": p.AwaitsApproval()} {
		if on {
			f.values.Set(name, "on")
		}
	}
}

// mediaRows are the rows that were filled in, and one more if it was asked for.
func mediaRows(r reader, f form) []mediaRow {
	var kinds []option
	for _, kind := range []string{"photo", "video", "document"} {
		kinds = append(kinds, option{Value: kind, Name: r.words.MediaKinds[kind]})
	}
	var rows []mediaRow
	files, _ := formMedia(f)
	if f.get("do") == "add-media" && len(files) < maxFiles {
		files = append(files, store.Media{})
	}
	for i, file := range files {
		number := strconv.Itoa(i + 1)
		one := newForm(nil)
		one.values.Set("media_kind", file.Kind)
		one.values.Set("media_source", file.URL+file.File)
		one.wrong["media_source"] = f.wrong[fmt.Sprintf("media[%d]", i)]
		row := mediaRow{
			Kind:   one.choice("media_kind", r.words.Compose.MediaKind, "", append([]option(nil), kinds...)),
			Source: one.text("media_source", r.words.Compose.MediaSource+" "+number, ""),
		}
		row.Source.Placeholder = r.words.Compose.MediaHint
		row.Kind.ID, row.Source.ID = "media-kind-"+number, "media-source-"+number
		rows = append(rows, row)
	}
	return rows
}

// formMedia reads the rows that name a file. at is, for each, the row of the form.
func formMedia(f form) (files []store.Media, at []int) {
	sources, kinds := f.values["media_source"], f.values["media_kind"]
	for i, source := range sources {
		source = strings.TrimSpace(source)
		if source == "" || len(files) == maxFiles {
			continue
		}
		m := store.Media{Kind: "photo"}
		if i < len(kinds) {
			m.Kind = kinds[i]
		}
		if webAddress(source) != "" {
			m.URL = source
		} else {
			m.File = source
		}
		files, at = append(files, m), append(at, i)
	}
	return files, at
}

func chosenLogin(f form, logins []store.Identity) store.Identity {
	for _, i := range logins {
		if id(i.ID) == f.get("identity_id") {
			return i
		}
	}
	if len(logins) > 0 && f.get("identity_id") == "" {
		return logins[0]
	}
	return store.Identity{}
}

// request reads the form. The errors are about its fields.
func (f form) request(r reader, logins []store.Identity) (posts.Request, error) {
	login := chosenLogin(f, logins)
	files, _ := formMedia(f)
	request := posts.Request{
		Text: strings.ReplaceAll(f.values.Get("text"), "\r\n", "\n"), Media: files, Platform: login.Platform, IdentityID: login.ID,
		Target: f.get("target"), Format: f.get("format"), Silent: f.get("silent") == "on", NoLinkPreview: f.get("no_link_preview") == "on",
		Hold: f.get("hold") == "on",
	}
	if late := f.get("late"); late != "" {
		grace, err := time.ParseDuration(late)
		if err != nil {
			return request, store.Invalid("late", "invalid.duration", f.get("late"))
		}
		request.Lateness = store.Lateness{Policy: store.LateSkip, Grace: grace}
	}
	if f.get("when") == "now" {
		request.ScheduledTime, request.AllowPast = r.now.Format(time.RFC3339), true
		return request, nil
	}
	at, err := r.formTime(f.get("time"))
	request.ScheduledTime = at.UTC().Format(time.RFC3339)
	return request, err
}

// formTime reads a time in the page's zone. One that the clock jumps over is refused; one that
// comes twice is the first.
func (r reader) formTime(text string) (time.Time, error) {
	at, err := time.ParseInLocation(inputTime, text, r.zone)
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
