package search

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"belfry/store"
)

// maxText bounds the text of a document, in bytes.
const maxText = 24 << 10

// Document returns the document of a message: of its text, what its picture shows, and what is behind its links.
func Document(m store.Message) store.Document {
	parts := []string{m.Text, m.Vision}
	if m.Media != nil {
		parts = append(parts, m.Media.Title, m.Media.Name)
	}
	for _, link := range m.Links {
		parts = append(parts, link.Title, link.Text)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	text := strings.Join(parts, "\n\n")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	d := store.Document{
		MessageID: m.ID, ChannelID: m.ChannelID, Date: m.Date, Tags: slices.Clone(m.Tags), Language: m.Language,
		HasMedia: m.Media.Has(), Text: text, Terms: terms(text), Refs: refs(m),
	}
	if d.Language == "" {
		d.Language = Language(text)
	}
	return d
}

// The ways in which a message refers to a channel, as the first letter of a reference. A name or an id follows.
const (
	forwards = "f"
	links    = "l"
	mentions = "m"
)

// refName is a channel by its name, and refPeer by Telegram's id.
func refName(name string) string { return "@" + strings.ToLower(name) }
func refPeer(id int64) string    { return fmt.Sprintf("#%d", id) }

// refs are whom a message forwards, links and mentions.
func refs(m store.Message) (all []string) {
	if f := m.Forward; f != nil && f.ChannelID != 0 {
		if f.Username != "" {
			all = append(all, forwards+refName(f.Username))
		} else {
			all = append(all, forwards+refPeer(f.ChannelID))
		}
	}
	units := utf16.Encode([]rune(m.Text))
	for _, e := range m.Entities {
		if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(units) {
			continue
		}
		piece := string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
		switch e.Type {
		case "mention":
			all = append(all, mentions+refName(strings.TrimPrefix(piece, "@")))
		case "url":
			all = append(all, linked(piece)...)
		case "text_link":
			all = append(all, linked(e.URL)...)
		}
	}
	return all
}

// linked returns the channel that a link of Telegram's leads to, if it does.
func linked(address string) []string {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"t.me", "telegram.me", "telegram.dog"}, strings.ToLower(u.Hostname())) {
		return nil
	}
	path := strings.Split(strings.Trim(u.Path, "/"), "/")
	if path[0] == "s" && len(path) > 1 {
		path = path[1:]
	}
	if path[0] == "c" && len(path) > 1 {
		return []string{links + "#" + path[1]}
	}
	if len(path[0]) < 4 || strings.HasPrefix(path[0], "+") || slices.Contains([]string{"joinchat", "addstickers", "share", "proxy"}, path[0]) {
		return nil
	}
	return []string{links + refName(path[0])}
}
