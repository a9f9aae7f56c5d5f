package web

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"belfry/store"
	"belfry/worker/tasks"
)

// taskRequest reads the form. The errors are about its fields.
func (f form) taskRequest(r reader) (tasks.Request, error) {
	files, _ := formMedia(f)
	account, _ := strconv.ParseUint(f.get("identity_id"), 10, 64) // what is no id is no account, and 0 is the usual one
	request := tasks.Request{
		Text: strings.ReplaceAll(f.values.Get("text"), "\r\n", "\n"), Media: files, Format: f.get("format"), IdentityID: account,
		Targets:   append(chatNames(f.values.Get("target_chat_ids")), f.values["chat"]...),
		QuietFrom: f.get("quiet_from"), QuietTo: f.get("quiet_to"),
		Silent: f.get("silent") == "on", NoLinkPreview: f.get("no_link_preview") == "on", DryRun: f.get("do") == "check",
	}
	var err error
	if request.MinPause, err = f.pause(r, "min_seconds_between_chats"); err != nil {
		return request, err
	}
	if request.MaxPause, err = f.pause(r, "max_seconds_between_chats"); err != nil {
		return request, err
	}
	if request.DailyCap, err = f.whole(r, "daily_cap"); err != nil {
		return request, err
	}
	if request.Attempts, err = f.whole(r, "max_attempts"); err != nil {
		return request, err
	}
	if f.get("when") == "at" {
		at, err := r.formTime(f.get("time"))
		request.StartAt = at.UTC().Format(time.RFC3339)
		return request, err
	}
	return request, nil
}

// chatNames takes a list of chats apart that somebody has typed or pasted.
func chatNames(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ';' || unicode.IsSpace(c) })
}

func (f form) pause(r reader, name string) (*time.Duration, error) {
	text := strings.Replace(f.get(name), ",", ".", 1)
	if text == "" {
		return nil, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) {
		return nil, store.Invalid(name, "invalid.not_number")
	}
	return seconds(&number), nil
}

func (f form) whole(r reader, name string) (int, error) {
	if f.get(name) == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(f.get(name))
	if err != nil {
		return 0, store.Invalid(name, "invalid.not_number")
	}
	return number, nil
}
