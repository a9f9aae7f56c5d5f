package telegram

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"belfry/store"
)

// target is a chat as a person names it: by user name, or by type and id.
type target struct {
	username string
	typ      store.PeerType
	id       int64
}

// channelMark is what the Bot API puts before the id of a channel: -100 and the id.
const channelMark = -1_000_000_000_000

// parseTarget reads the notations that people use: @name, name, t.me/name, https://t.me/name/12,
// https://t.me/c/123/45, -100123 (channel or supergroup), -123 (basic group) and 123 (user).
func parseTarget(s string) (target, error) {
	const cure = "write @name, https://t.me/name or an id such as -1001234567890"
	s = strings.TrimSpace(s)
	if s == "" {
		return target{}, errors.New("no chat is named: " + cure)
	}
	if id, err := strconv.ParseInt(s, 10, 64); err == nil {
		switch {
		case id < channelMark:
			return target{typ: store.PeerChannel, id: channelMark - id}, nil
		case id < 0:
			return target{typ: store.PeerChat, id: -id}, nil
		case id > 0:
			return target{typ: store.PeerUser, id: id}, nil
		}
	}
	name := strings.TrimPrefix(s, "@")
	if path, ok := linkPath(s); ok {
		parts := strings.Split(strings.Trim(path, "/"), "/")
		switch {
		case parts[0] == "c" && len(parts) > 1:
			if id, err := strconv.ParseInt(parts[1], 10, 64); err == nil && id > 0 {
				return target{typ: store.PeerChannel, id: id}, nil
			}
		case parts[0] == "joinchat", strings.HasPrefix(parts[0], "+"):
			return target{}, fmt.Errorf("%q is an invitation, not an address: add the bot to the chat and give the chat's id, such as -1001234567890", s)
		case parts[0] == "s" && len(parts) > 1:
			name = parts[1]
		default:
			name = parts[0]
		}
	}
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`).MatchString(name) {
		return target{}, fmt.Errorf("%q is not a chat: %s", s, cure)
	}
	return target{username: strings.ToLower(name)}, nil
}

// linkPath returns the path of a t.me link, written with or without its scheme.
func linkPath(s string) (string, bool) {
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(strings.TrimPrefix(u.Host, "www.")) {
	case "t.me", "telegram.me", "telegram.dog":
		return u.Path, true
	}
	return "", false
}
