package telegram

import (
	"context"
	"fmt"
	"time"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
	"belfry/store"
)

const (
	pageSize = 100 // dialogs

	// listingPause is how long a list of chats stands in for another one when an id is looked for.
	listingPause = 10 * time.Minute
)

// listing is what was last done about the list of an identity's chats.
type listing struct {
	turn chan struct{} // held by who lists them; it guards what follows
	at   time.Time     // of the last whole list

	// The list that was begun and has not come to its end: what it has, and what is asked for next.
	list   []platform.Chat
	listed map[platform.ChatRef]bool
	next   *tg.MessagesGetDialogsRequest // nil: there is none
}

// Chats lists the chats of a user account and remembers how to address them. Its error is a
// [*platform.Error]; what it has learned until then is kept.
func (n *Network) Chats(ctx context.Context, identityID uint64) ([]platform.Chat, error) {
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return nil, err
	}
	if !c.isUser() {
		return nil, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity,
			Err: worded{words: "Telegram does not tell bots which chats they are in"}}
	}
	l, err := n.listing(ctx, identityID)
	if err != nil {
		return nil, err
	}
	defer func() { <-l.turn }()
	chats, err := n.listChats(ctx, c, api, l)
	if err != nil {
		return nil, c.sorted(api, err, false)
	}
	l.at = n.cfg.Now()
	return chats, nil
}

// learnChats makes the chats of an identity known, unless that has been done not long ago.
func (n *Network) learnChats(ctx context.Context, c *connection, api *tg.Client) error {
	l, err := n.listing(ctx, c.identity)
	if err != nil {
		return err
	}
	defer func() { <-l.turn }()
	if !l.at.IsZero() && n.cfg.Now().Sub(l.at).Abs() < listingPause {
		return nil
	}
	if _, err := n.listChats(ctx, c, api, l); err != nil {
		return err
	}
	l.at = n.cfg.Now()
	return nil
}

// listing takes the turn to list an identity's chats.
func (n *Network) listing(ctx context.Context, identityID uint64) (*listing, error) {
	n.mu.Lock()
	l := n.listings[identityID]
	if l == nil {
		l = &listing{turn: make(chan struct{}, 1)}
		n.listings[identityID] = l
	}
	n.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return l, nil
	case <-ctx.Done():
		return nil, notConnected("the list of chats takes longer than there is time")
	}
}

// listChats reads page by page until one has nothing new: a short page means nothing. After a wait or a
// lost connection it goes on with the page at which it stopped.
func (n *Network) listChats(ctx context.Context, c *connection, api *tg.Client, l *listing) ([]platform.Chat, error) {
	if l.next == nil {
		l.list, l.listed = nil, map[platform.ChatRef]bool{}
		l.next = &tg.MessagesGetDialogsRequest{OffsetPeer: &tg.InputPeerEmpty{}, Limit: pageSize}
	}
	for l.next != nil {
		answer, err := api.MessagesGetDialogs(ctx, l.next)
		if rpc, ok := tgerr.As(err); ok && rpc.Code != 420 && rpc.Code < 500 { // it may not like the page
			l.next = nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the chats: %w", err)
		}
		page, ok := answer.AsModified()
		if !ok {
			l.next = nil
			break
		}
		places := describeAll(page.GetChats(), page.GetUsers())
		var peers []store.Peer
		before, answers := len(l.listed), true
		for _, d := range page.GetDialogs() {
			d, ok := d.(*tg.Dialog)
			if !ok {
				continue
			}
			p, ok := places[peerRef(d.Peer)]
			if !ok || l.listed[p.ref()] {
				continue
			}
			l.listed[p.ref()] = true
			p.IdentityID = c.identity
			if p.moved {
				continue
			}
			answers = answers && askSlowmode(ctx, api, &p) == nil // if not, the rest of the page is left in peace
			peers = append(peers, p.Peer)
			l.list = append(l.list, p.chat())
		}
		if err := n.storePeers(peers); err != nil {
			l.next = nil // what it has is not in the store
			return nil, storeFailed("store the chats", err)
		}
		_, slice := answer.(*tg.MessagesDialogsSlice)
		if !slice || len(l.listed) == before || !follow(l.next, page, places) {
			l.next = nil
		}
	}
	return l.list, nil
}

// storePeers stores the peers of one page.
func (n *Network) storePeers(peers []store.Peer) error {
	if len(peers) == 0 {
		return nil
	}
	return n.db.Update(func(tx *store.Tx) error {
		for _, p := range peers {
			if err := putPeer(tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func describeAll(chats []tg.ChatClass, users []tg.UserClass) names {
	places := names{}
	for _, c := range chats {
		if p, ok := describeChat(c); ok {
			places[p.ref()] = p
		}
	}
	for _, u := range users {
		if p, ok := describeUser(u); ok {
			places[p.ref()] = p
		}
	}
	return places
}

// follow makes the request one for the page after this one: what comes after the last dialog whose
// last message is known.
func follow(request *tg.MessagesGetDialogsRequest, page tg.ModifiedMessagesDialogs, places names) bool {
	type top struct {
		chat platform.ChatRef
		id   int
	}
	dates := map[top]int{}
	for _, m := range page.GetMessages() {
		if m, ok := m.AsNotEmpty(); ok {
			dates[top{peerRef(m.GetPeerID()), m.GetID()}] = m.GetDate()
		}
	}
	dialogs := page.GetDialogs()
	for i := len(dialogs) - 1; i >= 0; i-- {
		d, ok := dialogs[i].(*tg.Dialog)
		if !ok {
			continue
		}
		ref := peerRef(d.Peer)
		date, dated := dates[top{ref, d.TopMessage}]
		p, known := places[ref]
		if dated && known {
			request.OffsetDate, request.OffsetID, request.OffsetPeer = date, d.TopMessage, p.input()
			return true
		}
	}
	return false
}
