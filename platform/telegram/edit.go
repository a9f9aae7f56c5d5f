package telegram

import (
	"context"
	"errors"
	"fmt"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
)

// Edit replaces the text and the buttons of a message that the identity has sent to the post's
// target; without buttons, those of the message go. A message that is so already is a success, so
// that Edit may be repeated. Media stay as they are, and the post names none. The key is not needed.
// Its errors are of type [*platform.Error].
func (n *Network) Edit(ctx context.Context, identityID uint64, messageID int64, p platform.Post) error {
	if len(p.Media) > 0 {
		return refusedContent("media", errors.New("the media of a message are not replaced: leave them out"))
	}
	if _, err := parseTarget(p.Target); err != nil {
		return refusedChat(err)
	}
	d, _, err := n.draft(p)
	if err != nil {
		return err
	}
	as := publisher{network: n, identity: identityID}
	return as.cured(ctx, d.target, func() *failure { return as.edit(ctx, d, messageID) })
}

// edit does everything once.
func (p publisher) edit(ctx context.Context, d draft, messageID int64) *failure {
	api, c, err := p.network.api(ctx, p.identity)
	if err != nil {
		return &failure{err: platform.AsError(err)}
	}
	if err := c.mayShow(d.Buttons); err != nil {
		return &failure{err: err}
	}
	at, err := p.network.place(ctx, c, api, d.target)
	if err == nil {
		req := &tg.MessagesEditMessageRequest{Peer: at.input(), ID: int(messageID), NoWebpage: d.NoLinkPreview,
			Entities: d.entities, ReplyMarkup: inlineMarkup(d.Buttons)}
		req.SetMessage(d.text)
		_, err = api.MessagesEditMessage(ctx, req)
	}
	if err == nil || tgerr.Is(err, "MESSAGE_NOT_MODIFIED") {
		return nil
	}
	e := c.sorted(api, fmt.Errorf("edit the message: %w", err), false)
	return &failure{err: e, cure: prescribe(err, e, at), peer: at.Peer}
}
