package telegram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gotd/td/tg"

	"belfry/platform"
)

// entityNames are the Bot API's names of what Telegram calls messageEntity…; the others are called the same in both.
var entityNames = map[string]string{
	"BotCommand": "bot_command", "TextUrl": "text_link", "MentionName": "text_mention", "Strike": "strikethrough",
	"Phone": "phone_number", "CustomEmoji": "custom_emoji", "BankCard": "bank_card",
}

// readEntities names entities as the Bot API does.
func readEntities(in []tg.MessageEntityClass) (list []platform.Entity) {
	for _, e := range in {
		name := strings.TrimPrefix(e.TypeName(), "messageEntity")
		one := platform.Entity{Type: cmp.Or(entityNames[name], strings.ToLower(name)), Offset: e.GetOffset(), Length: e.GetLength()}
		switch e := e.(type) {
		case *tg.MessageEntityTextURL:
			one.URL = e.URL
		case *tg.MessageEntityMentionName:
			one.UserID = e.UserID
		case *tg.MessageEntityPre:
			one.Language = e.Language
		case *tg.MessageEntityBlockquote:
			if e.Collapsed {
				one.Type = "expandable_blockquote"
			}
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b platform.Entity) int { return cmp.Compare(a.Offset, b.Offset) })
	return list
}

// readMedia describes what a message carries, and says where its picture is.
func readMedia(in tg.MessageMediaClass) (*platform.Attachment, *platform.PhotoFile) {
	switch m := in.(type) {
	case nil, *tg.MessageMediaEmpty:
		return nil, nil
	case *tg.MessageMediaPhoto:
		a := &platform.Attachment{Kind: "photo", Type: "image/jpeg"}
		photo, ok := m.Photo.(*tg.Photo)
		if !ok {
			return a, nil
		}
		return a, readPhoto(photo, a)
	case *tg.MessageMediaDocument:
		a := &platform.Attachment{Kind: "document"}
		if d, ok := m.Document.(*tg.Document); ok {
			readDocument(d, a)
		}
		if m.Voice {
			a.Kind = "voice"
		}
		return a, nil
	case *tg.MessageMediaWebPage:
		page, ok := m.Webpage.(*tg.WebPage)
		if !ok {
			return nil, nil
		}
		return &platform.Attachment{Kind: "web_page", URL: page.URL, Title: page.Title}, nil
	case *tg.MessageMediaPoll:
		return &platform.Attachment{Kind: "poll", Title: m.Poll.Question.Text}, nil
	case *tg.MessageMediaGeo, *tg.MessageMediaGeoLive:
		return &platform.Attachment{Kind: "location"}, nil
	case *tg.MessageMediaVenue:
		return &platform.Attachment{Kind: "location", Title: m.Title}, nil
	case *tg.MessageMediaContact:
		return &platform.Attachment{Kind: "contact", Title: strings.TrimSpace(m.FirstName + " " + m.LastName)}, nil
	}
	return &platform.Attachment{Kind: "unknown", Class: lowerFirst(strings.TrimPrefix(in.TypeName(), "messageMedia"))}, nil
}

// readPhoto chooses the largest size up to 1280 pixels, which is as much as is of use to the eyes of an AI.
func readPhoto(p *tg.Photo, a *platform.Attachment) *platform.PhotoFile {
	var f *platform.PhotoFile
	for _, s := range p.Sizes {
		var kind string
		var w, h, size int
		switch s := s.(type) {
		case *tg.PhotoSize:
			kind, w, h, size = s.Type, s.W, s.H, s.Size
		case *tg.PhotoSizeProgressive:
			kind, w, h, size = s.Type, s.W, s.H, slices.Max(append(s.Sizes, 0))
		default:
			continue
		}
		if w > a.Width || f == nil {
			a.Width, a.Height, a.Size = w, h, int64(size)
		}
		if f == nil || size > f.Bytes && max(w, h) <= 1280 {
			f = &platform.PhotoFile{ID: p.ID, AccessHash: p.AccessHash, Reference: p.FileReference, Size: kind, Bytes: size}
		}
	}
	return f
}

func readDocument(d *tg.Document, a *platform.Attachment) {
	a.Type, a.Size = d.MimeType, d.Size
	var animated bool
	for _, attribute := range d.Attributes {
		switch t := attribute.(type) {
		case *tg.DocumentAttributeFilename:
			a.Name = t.FileName
		case *tg.DocumentAttributeVideo:
			a.Kind, a.Width, a.Height, a.Duration = "video", t.W, t.H, int(t.Duration)
			if t.RoundMessage {
				a.Kind = "video_note"
			}
		case *tg.DocumentAttributeAudio:
			a.Kind, a.Duration, a.Title = "audio", t.Duration, t.Title
			if t.Voice {
				a.Kind = "voice"
			}
		case *tg.DocumentAttributeImageSize:
			a.Width, a.Height = t.W, t.H
		case *tg.DocumentAttributeSticker, *tg.DocumentAttributeCustomEmoji:
			a.Kind = "sticker"
		case *tg.DocumentAttributeAnimated:
			animated = true
		}
	}
	if animated && a.Kind != "sticker" {
		a.Kind = "animation"
	}
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
