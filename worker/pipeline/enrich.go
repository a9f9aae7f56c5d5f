package pipeline

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"belfry/platform"
	"belfry/store"
)

const (
	maxLinks = 5     // of a message, that are read
	maxText  = 20000 // bytes of each
)

// enrich is the stage that reads what the links of a message lead to. A link that cannot be read has its reason, and keeps
// the message from nothing.
func (w *Worker) enrich() Stage {
	s := Stage{Name: "enrich", From: store.TopicTagged, To: store.TopicEnriched, Batch: 16, Parallel: 8, Deadline: time.Minute, Attempts: 4}
	s.Off = !w.cfg.Links || w.cfg.Read == nil
	s.Work = func(ctx context.Context, e store.Event, m store.Message) (Result, error) {
		addresses := links(m)
		if len(addresses) == 0 || !m.DeletedAt.IsZero() {
			return Result{}, nil
		}
		read := make([]store.MessageLink, len(addresses))
		var failed error
		again := e.Why == store.EventReplay && e.ID == 0 // of this stage, and not of one before it
		for i, address := range addresses {
			if at := slices.IndexFunc(m.Links, func(l store.MessageLink) bool { return l.URL == address && l.Reason.Zero() }); at >= 0 && !again {
				read[i] = m.Links[at]
				continue
			}
			found, err := w.cfg.Read(ctx, address)
			read[i] = store.MessageLink{URL: address, Title: store.Shorten(found.Title, 300), Text: store.Shorten(found.Text, maxText)}
			if err != nil {
				read[i].Reason = store.Reason{Code: store.ReasonLink, Detail: store.Shorten(err.Error(), 300)}
				if e, ok := errors.AsType[*platform.Error](err); !ok || e.Kind != platform.Refused {
					failed = err
				}
			}
		}
		var why store.Reason
		if at := slices.IndexFunc(read, func(l store.MessageLink) bool { return !l.Reason.Zero() }); at >= 0 {
			why = read[at].Reason
			why.About = read[at].URL
		}
		if so := m.Stages["enrich"]; failed != nil && (so.State != store.StageRetrying || so.Attempts+1 < s.Attempts) {
			return Result{}, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: failed}
		}
		return Result{Why: why, Write: func(_ *store.Tx, m *store.Message) error {
			m.Links = read
			return nil
		}}, nil
	}
	return s
}

// links returns the addresses that a message links to and that can be read, without those of Telegram itself.
func links(m store.Message) (all []string) {
	text := utf16.Encode([]rune(m.Text))
	for _, entity := range m.Entities {
		switch {
		case entity.Type == "text_link":
			all = append(all, entity.URL)
		case entity.Type == "url" && entity.Offset >= 0 && entity.Length > 0 && entity.Offset+entity.Length <= len(text):
			all = append(all, string(utf16.Decode(text[entity.Offset:entity.Offset+entity.Length])))
		}
	}
	if m.Media != nil && m.Media.Kind == "web_page" {
		all = append(all, m.Media.URL)
	}
	var good []string
	for _, address := range all {
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			continue
		}
		switch strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") {
		case "t.me", "telegram.me", "telegram.org":
			continue
		}
		u.Fragment = ""
		if address = u.String(); !slices.Contains(good, address) && len(good) < maxLinks {
			good = append(good, address)
		}
	}
	return good
}
