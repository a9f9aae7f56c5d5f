package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// errOtherChat is the error for a post whose key is for the chat that its target named before.
var errOtherChat = errors.New("the chat has become another one: it is looked up again")

// publisher sends posts as one identity.
type publisher struct {
	network  *Network
	identity uint64
}

// Publish sends the post and returns when Telegram has confirmed it. See [platform.Publisher]; a
// repetition with the same key, to the same chat, is answered with the first one's receipt.
func (p publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	began := p.network.cfg.Now()
	receipt, err := p.publish(ctx, post)
	log := p.network.cfg.Log.Debug() // the run that asked for it tells the owner
	if e, ok := errors.AsType[*platform.Error](err); ok {
		log = log.Str("kind", string(e.Kind)).Str("code", e.Code).Str("error", plainly(e.Err))
	}
	log.Str("platform", Platform).Uint64("identity", p.identity).Str("target", nameOf(post.Target)).
		Int("media", len(post.Media)).Ints64("messages", receipt.MessageIDs).
		Dur("took", p.network.cfg.Now().Sub(began)).Msg("publish")
	return receipt, err
}

func (p publisher) publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	if post.Key == 0 {
		return platform.Receipt{}, refusedContent("key", errors.New("a post needs a key before it is sent"))
	}
	if _, err := parseTarget(post.Target); err != nil {
		return platform.Receipt{}, refusedChat(err)
	}
	d, _, err := p.network.draft(post)
	if err != nil {
		return platform.Receipt{}, err
	}
	var receipt platform.Receipt
	err = p.cured(ctx, d.target, func() (failed *failure) {
		receipt, failed = p.attempt(ctx, d)
		return failed
	})
	return receipt, err
}

// cured makes attempts until one succeeds or nothing more can be done about its error at once.
func (p publisher) cured(ctx context.Context, t target, attempt func() *failure) error {
	tried := map[cure]int{}
	var unknown *platform.Error // of an attempt that may have made the message
	told := func(e *platform.Error) error {
		switch {
		case unknown == nil || e.Kind == platform.Unknown:
			return e
		case e.Kind == platform.Transient:
			return unknown
		}
		e = new(*e)
		e.MayBeOut = true
		return e
	}
	for {
		failed := attempt()
		if failed == nil {
			return nil
		}
		if failed.err.Kind == platform.Unknown {
			unknown = failed.err
		}
		c, limit := failed.cure, 1
		if c == sendAgain {
			limit = 3
		}
		tried[c]++
		if c == none || tried[c] > limit || ctx.Err() != nil {
			return told(failed.err)
		}
		switch c {
		case resolveAgain:
			if err := p.resolveAgain(ctx, t, failed); err != nil {
				return told(platform.AsError(err))
			}
		case sendAgain: // gotd may not have noticed the break yet
			_ = sleep(ctx, shortestPause) // an attempt fails where ctx has ended
		}
	}
}

// cure is what can be done about an error at once.
type cure int

const (
	none         cure = iota
	resolveAgain      // the stored peer is not accepted any more
	uploadAgain       // Telegram has lost the file
	logInAgain        // the session has ended, which a bot's login survives
	sendAgain         // the connection broke; the random ids make the repetition safe
)

// failure is the error of an attempt, and what may help.
type failure struct {
	err  *platform.Error
	cure cure
	peer store.Peer // with resolveAgain
}

// resolveAgain sees to it that a chat that is not accepted under its stored access hash is looked
// for again. A user account finds one that was named by its id in its list of chats only, unless it is a
// basic group; if that has nothing new to say, the chat stays refused.
func (p publisher) resolveAgain(ctx context.Context, t target, f *failure) error {
	api, c, err := p.network.api(ctx, p.identity)
	if err != nil {
		return err
	}
	if t.username == "" && c.isUser() && f.peer.Type != store.PeerChat {
		if err := p.network.learnChats(ctx, c, api); err != nil {
			return c.sorted(api, err, false)
		}
		if now, err := p.network.met(p.identity, t); err != nil || now.AccessHash == f.peer.AccessHash {
			return f.err
		}
		return nil
	}
	if err := p.network.forgetPeer(f.peer); err != nil {
		return storeFailed("forget the chat", err)
	}
	return nil
}

// attempt does everything once.
func (p publisher) attempt(ctx context.Context, d draft) (platform.Receipt, *failure) {
	api, c, err := p.network.api(ctx, p.identity)
	if err != nil {
		return platform.Receipt{}, &failure{err: platform.AsError(err)}
	}
	if err := c.mayShow(d.Buttons); err != nil {
		return platform.Receipt{}, &failure{err: err}
	}
	o := outgoing{api: api, connection: c, draft: d}
	var updates tg.UpdatesClass
	var sent bool
	if o.place, err = p.network.place(ctx, c, api, d.target); err == nil {
		err = d.target.fits(o.place)
	}
	switch {
	case err != nil:
	case d.Chat != (platform.ChatRef{}) && d.Chat != o.ref():
		err = &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Field: "target", Err: errOtherChat}
	default:
		if err = o.mention(ctx); err == nil {
			updates, sent, err = o.send(ctx)
		}
	}
	if err != nil {
		e := c.sorted(api, err, sent)
		cure := prescribe(err, e, o.place)
		if cure == uploadAgain || e.Kind == platform.Refused && e.Scope == platform.ScopeContent {
			c.uploads.forget(o.uploads...)
		}
		if e.Code == "INPUT_USER_DEACTIVATED" && o.PeerID != 0 { // the name is free for another account
			c.nameGone(o.Peer)
		}
		return platform.Receipt{}, &failure{err: e, cure: cure, peer: o.Peer}
	}
	if d.target.username != "" && renamed(updates, o.Peer) { // the next post asks who has the name now
		c.nameGone(o.Peer)
	}
	return receipt(updates, o.Peer, o.randomIDs()), nil
}

// nameGone stores that a chat does not have its name any more.
func (c *connection) nameGone(peer store.Peer) {
	peer.Username = ""
	if err := c.network.storePeers([]store.Peer{peer}); err != nil {
		c.log.Warn().Err(err).Str("chat", peer.Title).Msg("that a chat has another name could not be stored")
	}
}

// prescribe finds the cure for a failed call.
func prescribe(err error, e *platform.Error, at place) cure {
	switch e.Code {
	case "CHANNEL_INVALID", "PEER_ID_INVALID", "CHANNEL_PRIVATE":
		if at.PeerID != 0 && !at.fresh && !at.self { // it came from the store
			return resolveAgain
		}
	case "FILE_REFERENCE_EXPIRED", "FILE_REFERENCE_INVALID", "FILE_REFERENCE_EMPTY", "FILE_PART_MISSING",
		"FILE_ID_INVALID":
		return uploadAgain
	}
	if e.Kind == platform.Login {
		return logInAgain
	}
	if _, sorted := errors.AsType[*platform.Error](err); !sorted && e.Code == "" {
		return sendAgain
	}
	return none
}

// outgoing is a post on its way to a peer.
type outgoing struct {
	api        *tg.Client
	connection *connection
	place
	draft
	uploads []*upload // of the media, in order
}

// randomIDs are the random ids of the post's messages, in order.
func (o *outgoing) randomIDs() []int64 {
	ids := make([]int64, max(len(o.Media), 1))
	for i := range ids {
		ids[i] = RandomID(o.Key, i)
	}
	return ids
}

// mention adds to the mentions of users the access hashes, without which only bots may name them. What becomes of a user
// whom the account does not know is for Telegram to say.
func (o *outgoing) mention(ctx context.Context) error {
	o.connection.mu.Lock()
	self := o.connection.self
	o.connection.mu.Unlock()
	if self == nil || self.Bot {
		return nil
	}
	for _, e := range o.entities {
		m, ok := e.(*tg.InputMessageEntityMentionName)
		if !ok {
			continue
		}
		user := m.UserID.(*tg.InputUser) // [parse] makes no other
		if user.UserID == self.ID {
			user.AccessHash = self.AccessHash
			continue
		}
		who, err := o.connection.network.place(ctx, o.connection, o.api, target{typ: store.PeerUser, id: user.UserID})
		if err != nil && sortError(err, false).Kind != platform.Refused {
			return err
		}
		user.AccessHash = who.AccessHash
	}
	return nil
}

// send makes the messages. sent is false as long as no call has been made that could make one.
func (o *outgoing) send(ctx context.Context) (u tg.UpdatesClass, sent bool, err error) {
	ids := o.randomIDs()
	if err := o.upload(ctx); err != nil {
		return nil, false, err
	}
	switch len(o.Media) {
	case 0:
		u, err = o.api.MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{
			Peer: o.input(), Message: o.text, Entities: o.entities, RandomID: ids[0],
			Silent: o.Silent, NoWebpage: o.NoLinkPreview, ReplyMarkup: inlineMarkup(o.Buttons),
		})
		return u, true, wrap("send the message", err)
	case 1:
		media, err := o.uploads[0].file, error(nil)
		if o.MediaKey != 0 {
			media, err = o.keep(ctx, 0)
		}
		if err != nil {
			return nil, false, err
		}
		u, err = o.api.MessagesSendMedia(ctx, &tg.MessagesSendMediaRequest{
			Peer: o.input(), Media: media, Message: o.text, Entities: o.entities, RandomID: ids[0],
			Silent: o.Silent, ReplyMarkup: inlineMarkup(o.Buttons),
		})
		return u, true, wrap("send the media", err)
	}
	album := make([]tg.InputSingleMedia, len(o.Media))
	for i := range o.Media {
		media, err := o.keep(ctx, i)
		if err != nil {
			return nil, false, err
		}
		album[i] = tg.InputSingleMedia{Media: media, RandomID: ids[i]}
	}
	album[0].Message, album[0].Entities = o.text, o.entities // the text of an album is its first item's
	u, err = o.api.MessagesSendMultiMedia(ctx, &tg.MessagesSendMultiMediaRequest{
		Peer: o.input(), MultiMedia: album, Silent: o.Silent,
	})
	return u, true, wrap("send the album", err)
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// upload waits until the media are at Telegram.
func (o *outgoing) upload(ctx context.Context) error {
	us := o.connection.uploads
	for _, m := range o.Media {
		o.uploads = append(o.uploads, us.start(o.connection, cmp.Or(o.MediaKey, o.Key), m))
	}
	patience := time.NewTimer(o.connection.network.uploading.patience)
	defer patience.Stop()
	for i, u := range o.uploads {
		err := us.await(ctx, u, patience.C)
		if errors.Is(err, errUnderWay) {
			return underWay(o.uploads)
		}
		if err != nil {
			return o.blame(i, err)
		}
	}
	return nil
}

// blame names attachment number i as the one that an error of the content is about. No call has
// been made yet that could make a message. A file that did not get here or to Telegram is such an error:
// there is a connection.
func (o *outgoing) blame(i int, err error) error {
	e := *sortError(err, false)
	if _, sorted := errors.AsType[*platform.Error](err); e.Kind == platform.Transient && !sorted {
		e.Scope = platform.ScopeContent
	}
	if e.Scope == platform.ScopeContent {
		e.Field = fieldOf(i, o.Media[i])
	}
	return &e
}

// keep has Telegram keep attachment number i, as it must for the members of an album and for what is sent
// to several chats.
func (o *outgoing) keep(ctx context.Context, i int) (tg.InputMediaClass, error) {
	u, us := o.uploads[i], o.connection.uploads
	us.mu.Lock()
	kept := u.kept
	us.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	stored, err := o.api.MessagesUploadMedia(ctx, &tg.MessagesUploadMediaRequest{Peer: o.input(), Media: u.file})
	if err != nil {
		return nil, o.blame(i, fmt.Errorf("store: %w", err))
	}
	switch stored := stored.(type) {
	case *tg.MessageMediaPhoto:
		if photo, ok := stored.Photo.(*tg.Photo); ok {
			kept = &tg.InputMediaPhoto{ID: photo.AsInput()}
		}
	case *tg.MessageMediaDocument:
		if document, ok := stored.Document.(*tg.Document); ok {
			kept = &tg.InputMediaDocument{ID: document.AsInput()}
		}
	}
	if kept == nil {
		return nil, o.blame(i, fmt.Errorf("store the media: the answer is a %T", stored))
	}
	us.mu.Lock()
	defer us.mu.Unlock()
	u.kept = kept
	return kept, nil
}
