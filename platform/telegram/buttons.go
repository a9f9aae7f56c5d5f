package telegram

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
)

// Telegram's limits of buttons.
const (
	buttonLimit = 100 // under one message
	dataLimit   = 64  // bytes
	answerLimit = 200 // characters
)

// checkButtons refuses buttons that Telegram would refuse, or drop without a word.
func checkButtons(p platform.Post) error {
	refused := func(format string, args ...any) error { return refusedContent("buttons", fmt.Errorf(format, args...)) }
	if len(p.Buttons) > 0 && len(p.Media) > 1 {
		return refused("an album has no buttons: send them with a message of their own")
	}
	count := 0
	for i, row := range p.Buttons {
		if len(row) == 0 {
			return refused("row %d has no button", i+1)
		}
		for _, b := range row {
			switch {
			case b.Text == "":
				return refused("a button of row %d has no text", i+1)
			case len(b.Data) == 0 || len(b.Data) > dataLimit:
				return refused("the data of the button %q have %d bytes: they must have 1 to %d", b.Text, len(b.Data), dataLimit)
			}
		}
		count += len(row)
	}
	if count > buttonLimit {
		return refused("there are %d buttons and %d are allowed", count, buttonLimit)
	}
	return nil
}

// mayShow refuses the buttons of a user account: Telegram would drop them without a word.
func (c *connection) mayShow(buttons [][]platform.Button) *platform.Error {
	if len(buttons) == 0 || !c.isUser() {
		return nil
	}
	return refusedContent("buttons", errors.New("only bots have buttons under their messages: send it as a bot"))
}

// inlineMarkup are buttons as Telegram takes them; nil for none.
func inlineMarkup(rows [][]platform.Button) tg.ReplyMarkupClass {
	if len(rows) == 0 {
		return nil
	}
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

// Answer ends the waiting of a person who has pressed a button under a bot's message, and shows the
// text to them if there is one. An answer that comes too late, or a second one, is no error: there
// is nobody left whom it would help. Its errors are of type [*platform.Error].
func (n *Network) Answer(ctx context.Context, identityID uint64, queryID int64, text string) error {
	if length := utf8.RuneCountInString(text); length > answerLimit {
		return refusedContent("text", fmt.Errorf("the answer is %d characters long and %d are allowed: shorten it", length, answerLimit))
	}
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return err
	}
	req := &tg.MessagesSetBotCallbackAnswerRequest{QueryID: queryID}
	if text != "" {
		req.SetMessage(text)
	}
	_, err = api.MessagesSetBotCallbackAnswer(ctx, req)
	if err == nil || tgerr.Is(err, "QUERY_ID_INVALID") {
		return nil
	}
	return c.sorted(api, fmt.Errorf("answer the press: %w", err), false)
}
