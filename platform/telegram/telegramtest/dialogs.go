package telegramtest

import (
	"cmp"
	"slices"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
)

// pageLimit is the most chats in one answer, whatever is asked for.
const pageLimit = 100

// listed are the chats of an account, the one with the newest message first.
func (s *Server) listed(a *account) []*chat {
	if a.listed != nil {
		return a.listed
	}
	list := []*chat{}
	for _, h := range a.handles() {
		for ch := range s.memberOf[h] {
			list = append(list, ch)
		}
	}
	for _, ch := range a.private {
		if len(ch.posts) > 0 {
			list = append(list, ch)
		}
	}
	slices.SortFunc(list, func(one, two *chat) int { return one.at(a).compare(two.at(a)) })
	a.listed = slices.Compact(list)
	return a.listed
}

// position is where a chat stands in the list: newer messages come first.
type position struct {
	date, id int
	chat     int64
}

func (p position) compare(q position) int {
	return cmp.Or(-cmp.Compare(p.date, q.date), -cmp.Compare(p.id, q.id), -cmp.Compare(p.chat, q.chat))
}

func (ch *chat) at(viewer *account) position {
	m := ch.top()
	return position{int(m.At.Unix()), m.id(viewer), ch.key(viewer)}
}

// key is the chat's id, or the other's in a private chat.
func (ch *chat) key(viewer *account) int64 {
	if ch.kind == private {
		return ch.other(viewer).ID
	}
	return ch.id
}

// getDialogs lists chats from the offset on: the date, id and peer of the last chat's newest
// message. A caller who leaves out the id and the peer misses chats of the same second.
func (c *call) getDialogs(req *tg.MessagesGetDialogsRequest) (bin.Encoder, error) {
	var list []*chat
	if req.FolderID == 0 {
		list = c.srv.listed(c.by)
	}
	limit := req.Limit
	if limit <= 0 || limit > pageLimit {
		limit = pageLimit
	}
	from := 0
	if offset := (position{req.OffsetDate, req.OffsetID, c.offsetPeer(req.OffsetPeer)}); offset.date != 0 {
		from, _ = slices.BinarySearchFunc(list, offset, func(ch *chat, p position) int {
			if ch.at(c.by).compare(p) <= 0 {
				return -1
			}
			return 1
		})
	}
	page := c.page(list[from:min(from+limit, len(list))])
	if from == 0 && len(list) <= limit {
		return &page, nil
	}
	return &tg.MessagesDialogsSlice{Count: len(list),
		Dialogs: page.Dialogs, Messages: page.Messages, Chats: page.Chats, Users: page.Users}, nil
}

func (c *call) offsetPeer(in tg.InputPeerClass) int64 {
	switch in := in.(type) {
	case *tg.InputPeerChannel:
		return in.ChannelID
	case *tg.InputPeerChat:
		return in.ChatID
	case *tg.InputPeerUser:
		return in.UserID
	case *tg.InputPeerSelf:
		return c.by.ID
	}
	return 0
}

// page describes chats, their newest messages, and whoever is mentioned.
func (c *call) page(list []*chat) tg.MessagesDialogs {
	var page tg.MessagesDialogs
	met := map[*account]bool{}
	meet := func(a *account) {
		if !met[a] {
			met[a] = true
			page.Users = append(page.Users, a.tl(c.by))
		}
	}
	for _, ch := range list {
		m := ch.top()
		d := &tg.Dialog{Peer: ch.peer(c.by), TopMessage: m.id(c.by), ReadInboxMaxID: m.id(c.by), ReadOutboxMaxID: m.id(c.by)}
		if ch.isChannel() {
			d.SetPts(ch.pts())
		}
		d.SetFlags()
		page.Dialogs = append(page.Dialogs, d)
		page.Messages = append(page.Messages, m.tl(c.by))
		if ch.kind == private {
			meet(ch.other(c.by))
		} else {
			page.Chats = append(page.Chats, ch.tl(c.by))
		}
		if ch.kind != broadcast {
			meet(m.from)
		}
	}
	return page
}
