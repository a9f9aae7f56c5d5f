package telegramtest

import (
	"strings"
	"unicode/utf16"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// The limits of Telegram; texts are counted in UTF-16 units.
const (
	textLimit    = 4096
	captionLimit = 1024
	entityLimit  = 100
	albumLimit   = 10
)

// Entity is one piece of formatting.
type Entity struct {
	Type           string // "bold", "texturl", "pre" …: gotd's name without MessageEntity, in lower case
	Offset, Length int    // UTF-16 units
	Text           string // what it covers
	URL            string // of a texturl
	Language       string // of a pre
}

func utf16Len(s string) int { return len(utf16.Encode([]rune(strings.TrimSpace(s)))) }

// checkText refuses what Telegram refuses of a text, and returns the entities as readers get them.
func (c *call) checkText(text string, in []tg.MessageEntityClass, limit int, tooLong string) ([]tg.MessageEntityClass, error) {
	units := len(utf16.Encode([]rune(text)))
	if units > limit {
		return nil, tgerr.New(400, tooLong)
	}
	if len(in) > entityLimit {
		return nil, tgerr.New(400, "ENTITIES_TOO_LONG")
	}
	var out []tg.MessageEntityClass
	for _, e := range in {
		if e.GetOffset() < 0 || e.GetLength() <= 0 || e.GetOffset()+e.GetLength() > units {
			return nil, tgerr.New(400, "ENTITY_BOUNDS_INVALID")
		}
		if mention, ok := e.(*tg.InputMessageEntityMentionName); ok {
			user, ok := mention.UserID.(*tg.InputUser)
			if ok {
				_, ok = c.account(user.UserID, user.AccessHash)
			}
			if !ok {
				return nil, tgerr.New(400, "ENTITY_MENTION_USER_INVALID")
			}
			e = &tg.MessageEntityMentionName{Offset: mention.Offset, Length: mention.Length, UserID: user.UserID}
		}
		out = append(out, e)
	}
	return out, nil
}

func readable(text string, entities []tg.MessageEntityClass) []Entity {
	units := utf16.Encode([]rune(text))
	var list []Entity
	for _, e := range entities {
		r := Entity{
			Type:   strings.ToLower(strings.TrimPrefix(e.TypeName(), "messageEntity")),
			Offset: e.GetOffset(),
			Length: e.GetLength(),
			Text:   string(utf16.Decode(units[e.GetOffset() : e.GetOffset()+e.GetLength()])),
		}
		switch e := e.(type) {
		case *tg.MessageEntityTextURL:
			r.URL = e.URL
		case *tg.MessageEntityPre:
			r.Language = e.Language
		}
		list = append(list, r)
	}
	return list
}
