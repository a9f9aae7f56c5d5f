package telegramtest

import (
	"reflect"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// editMessage replaces the text and the buttons of a message of the caller's, in a private chat or a
// basic group. Without a text, the text stays; without buttons, they go.
func (c *call) editMessage(req *tg.MessagesEditMessageRequest) (bin.Encoder, error) {
	ch, err := c.writable(req.Peer)
	if err != nil {
		return nil, err
	}
	if ch.isChannel() || req.Media != nil || req.ScheduleDate != 0 {
		return nil, tgerr.New(400, "INPUT_METHOD_INVALID") // not known here
	}
	m := ch.numbered(req.ID, c.by)
	switch {
	case m == nil:
		return nil, tgerr.New(400, "MESSAGE_ID_INVALID")
	case m.from != c.by:
		return nil, tgerr.New(403, "MESSAGE_AUTHOR_REQUIRED")
	}
	text, entities := m.Text, m.entities
	if message, ok := req.GetMessage(); ok {
		limit, tooLong := textLimit, "MESSAGE_TOO_LONG"
		if m.Media != nil {
			limit, tooLong = captionLimit, "MEDIA_CAPTION_TOO_LONG"
		}
		if entities, err = c.checkText(message, req.Entities, limit, tooLong); err != nil {
			return nil, err
		}
		if utf16Len(message) == 0 && m.Media == nil {
			return nil, tgerr.New(400, "MESSAGE_EMPTY")
		}
		text = message
	}
	buttons, err := c.buttons(req.ReplyMarkup)
	if err != nil {
		return nil, err
	}
	shown := readable(text, entities)
	if text == m.Text && reflect.DeepEqual(shown, m.Entities) && reflect.DeepEqual(buttons, m.Buttons) {
		return nil, tgerr.New(400, "MESSAGE_NOT_MODIFIED")
	}
	m.Text, m.Entities, m.entities, m.Buttons, m.Edited = text, shown, entities, buttons, now()
	pts := map[*account]int{}
	for _, a := range c.srv.inside(ch) {
		pts[a] = a.record(event{m: m, edit: true})
	}
	update := func(a *account) *tg.Updates { return ch.updates(a, c.by, m.edited(a, pts[a])) }
	c.srv.tell(ch, c.by, update)
	return update(c.by), nil
}

// edited is what says to the viewer that the message was edited.
func (m *stored) edited(viewer *account, pts int) tg.UpdateClass {
	return &tg.UpdateEditMessage{Message: m.tl(viewer), Pts: pts, PtsCount: 1}
}

// numbered finds the message that has the id for a viewer, or nil.
func (ch *chat) numbered(id int, viewer *account) *stored {
	for _, m := range ch.posts {
		if m.ids[viewer.ID] == id {
			return m
		}
	}
	return nil
}
