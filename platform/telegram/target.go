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

// target is a chat as a person names it: by user name, by type and id, by an invitation, or as the
// account itself.
type target struct {
	username string
	typ      store.PeerType
	id       int64
	plain    bool   // the id had no mark of a type: it is a user's, or was meant to be a chat's
	invite   string // the hash of an invitation
	numbered bool   // the link goes on with the number of a message or, in a forum, of a topic other than the general one
	self     bool
}

// saved is the target that stands for what an account keeps as its saved messages.
const saved = "me"

// channelMark is what the Bot API puts before the id of a channel: -100 and the id.
const channelMark = -1_000_000_000_000

// parseTarget reads the notations that people use: @name, name, t.me/name, https://t.me/name/12,
// https://t.me/c/123/45, t.me/+hash, -100123 (channel or supergroup), -123 (basic group), 123
// (user; of user accounts also any chat that they know by this id) and me (the account itself).
func parseTarget(s string) (target, error) {
	const cure = "write @name, https://t.me/name or an id such as -1001234567890"
	s = strings.TrimSpace(s)
	switch s {
	case "":
		return target{}, errors.New("no chat is named: " + cure)
	case saved:
		return target{self: true}, nil
	}
	if id, err := strconv.ParseInt(s, 10, 64); err == nil {
		switch {
		case id < channelMark:
			return target{typ: store.PeerChannel, id: channelMark - id}, nil
		case id < 0:
			return target{typ: store.PeerChat, id: -id}, nil
		case id > 0:
			return target{typ: store.PeerUser, id: id, plain: true}, nil
		}
	}
	name, within := strings.TrimPrefix(s, "@"), []string(nil)
	if path, ok := linkPath(s); ok {
		parts := strings.Split(strings.Trim(path, "/"), "/")
		switch {
		case parts[0] == "c" && len(parts) > 1:
			if id, err := strconv.ParseInt(parts[1], 10, 64); err == nil && id > 0 {
				return target{typ: store.PeerChannel, id: id, numbered: numbered(parts[2:])}, nil
			}
		case parts[0] == "joinchat" && len(parts) > 1:
			return target{invite: parts[1]}, nil
		case len(parts[0]) > 1 && parts[0][0] == '+':
			return target{invite: parts[0][1:]}, nil
		case parts[0] == "s" && len(parts) > 1:
			name = parts[1]
		default:
			name, within = parts[0], parts[1:]
		}
	}
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`).MatchString(name) {
		return target{}, fmt.Errorf("%q is not a chat: %s", s, cure)
	}
	return target{username: strings.ToLower(name), numbered: numbered(within)}, nil
}

func numbered(within []string) bool { return len(within) > 0 && within[0] != "1" }

// nameOf is a target as the log may have it: whoever knows an invitation can join the chat.
func nameOf(s string) string {
	if t, err := parseTarget(s); err == nil && t.invite != "" {
		return "an invitation"
	}
	return s
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
