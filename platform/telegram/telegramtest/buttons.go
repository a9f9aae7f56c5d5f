package telegramtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// The limits of buttons and presses.
const (
	buttonLimit = 100 // under one message
	dataLimit   = 64  // bytes
	answerLimit = 200 // characters
	queryLife   = time.Minute
)

// Button is one of the buttons under a bot's message: whoever presses it tells the bot its data.
type Button struct {
	Text, Data string
}

// Answer is what a person sees who has pressed a button.
type Answer struct {
	Text  string // empty: nothing but the end of the waiting
	Alert bool   // in a window that has to be closed
}

// query is a press that waits for the bot's answer, or has it.
type query struct {
	bot    *account
	until  time.Time
	answer *Answer
}

// buttons reads the inline keyboard of a message. That of a user account is dropped silently, as in
// Telegram.
func (c *call) buttons(in tg.ReplyMarkupClass) ([][]Button, error) {
	if in == nil || !c.by.bot {
		return nil, nil
	}
	markup, ok := in.(*tg.ReplyInlineMarkup)
	if !ok {
		return nil, tgerr.New(400, "REPLY_MARKUP_INVALID")
	}
	var rows [][]Button
	count := 0
	for _, row := range markup.Rows {
		if len(row.Buttons) == 0 {
			return nil, tgerr.New(400, "REPLY_MARKUP_INVALID")
		}
		var buttons []Button
		for _, b := range row.Buttons {
			callback, ok := b.Type.(*tg.InlineButtonTypeCallback)
			switch {
			case !ok:
				return nil, tgerr.New(400, "BUTTON_TYPE_INVALID")
			case b.Text == "":
				return nil, tgerr.New(400, "BUTTON_INVALID")
			case len(callback.Data) == 0 || len(callback.Data) > dataLimit:
				return nil, tgerr.New(400, "BUTTON_DATA_INVALID")
			}
			buttons = append(buttons, Button{b.Text, string(callback.Data)})
		}
		if count += len(buttons); count > buttonLimit {
			return nil, tgerr.New(400, "REPLY_MARKUP_TOO_LONG")
		}
		rows = append(rows, buttons)
	}
	return rows, nil
}

func inlineMarkup(rows [][]Button) *tg.ReplyInlineMarkup {
	markup := &tg.ReplyInlineMarkup{}
	for _, row := range rows {
		var buttons []tg.KeyboardInlineButton
		for _, b := range row {
			buttons = append(buttons, tg.KeyboardInlineButton{Text: b.Text,
				Type: &tg.InlineButtonTypeCallback{Data: []byte(b.Data)}})
		}
		markup.Rows = append(markup.Rows, tg.KeyboardInlineButtonRow{Buttons: buttons})
	}
	return markup
}

// Press has a person press the button with the given text under a message that a bot has sent them;
// the message's id is that of [Server.PrivateMessages]. The press is pushed to the connections that
// the bot has open. The number that is returned is the bot's to answer with, for a minute.
func (s *Server) Press(from, bot int64, messageID int, button string) (queryID int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	person, to := s.accounts[from], s.accounts[bot]
	if person == nil || to == nil || !to.bot || person.private[bot] == nil {
		return 0, fmt.Errorf("telegramtest: account %d has no chat with a bot %d", from, bot)
	}
	ch := person.private[bot]
	m := ch.numbered(messageID, to)
	if m == nil || m.from != to {
		return 0, fmt.Errorf("telegramtest: bot %d has sent no message %d to account %d", bot, messageID, from)
	}
	data, ok := m.data(button)
	if !ok {
		return 0, fmt.Errorf("telegramtest: there is no button %q under message %d: %v", button, messageID, m.Buttons)
	}
	id := int64(binary.BigEndian.Uint64(randomBytes(8)))
	s.queries[id] = &query{bot: to, until: now().Add(queryLife)}
	s.pushTo(to, func(bot *account) *tg.Updates {
		u := &tg.UpdateBotCallbackQuery{QueryID: id, UserID: person.ID, Peer: ch.peer(bot), MsgID: m.id(bot),
			ChatInstance: ch.pair[0].ID ^ ch.pair[1].ID}
		u.SetData([]byte(data))
		return ch.updates(bot, person, u)
	})
	s.note()
	return id, nil
}

// data is that of the first button with the text.
func (m *stored) data(button string) (string, bool) {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == button {
				return b.Data, true
			}
		}
	}
	return "", false
}

// Answer is how a press was answered, if it was.
func (s *Server) Answer(queryID int64) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q, ok := s.queries[queryID]; ok && q.answer != nil {
		return *q.answer, true
	}
	return Answer{}, false
}

// AwaitAnswer waits until a press is answered.
func (s *Server) AwaitAnswer(ctx context.Context, queryID int64) (a Answer, err error) {
	err = s.await(ctx, func() bool {
		q, ok := s.queries[queryID]
		if ok && q.answer != nil {
			a = *q.answer
			return true
		}
		return false
	})
	return a, err
}

// setBotCallbackAnswer answers a press, once and in time.
func (c *call) setBotCallbackAnswer(req *tg.MessagesSetBotCallbackAnswerRequest) (bin.Encoder, error) {
	q, ok := c.srv.queries[req.QueryID]
	switch {
	case !ok || q.bot != c.by || q.answer != nil || now().After(q.until):
		return nil, tgerr.New(400, "QUERY_ID_INVALID")
	case utf8.RuneCountInString(req.Message) > answerLimit:
		return nil, tgerr.New(400, "MESSAGE_TOO_LONG")
	case req.URL != "":
		return nil, tgerr.New(400, "URL_INVALID") // of games, which do not exist here
	}
	q.answer = &Answer{Text: req.Message, Alert: req.Alert}
	return &tg.BoolTrue{}, nil
}
