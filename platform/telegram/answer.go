package telegram

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
)

// readHistory reads an answer with messages of a channel.
func readHistory(answer tg.MessagesMessagesClass, channel int64) (h platform.History, err error) {
	switch a := answer.(type) {
	case *tg.MessagesChannelMessages:
		h.Pts = a.Pts
	case *tg.MessagesMessages, *tg.MessagesMessagesSlice:
	default:
		return h, &malformed{fmt.Errorf("messages came as %T", answer)}
	}
	page, _ := answer.AsModified()
	names := describeAll(page.GetChats(), page.GetUsers())
	h.Chat = names.chat(channel)
	h.Messages = names.messages(page.GetMessages(), channel)
	return h, nil
}

// readDifference reads what has happened in a channel. A message that was edited after it came is told once.
func readDifference(answer tg.UpdatesChannelDifferenceClass, channel int64) (d platform.Difference, err error) {
	switch a := answer.(type) {
	case *tg.UpdatesChannelDifferenceEmpty:
		d.Pts, d.More = a.Pts, !a.Final
	case *tg.UpdatesChannelDifferenceTooLong:
		d.TooLong = true
		d.Chat = describeAll(a.Chats, a.Users).chat(channel)
		if dialog, ok := a.Dialog.(*tg.Dialog); ok {
			d.Pts, _ = dialog.GetPts()
		}
	case *tg.UpdatesChannelDifference:
		d.Pts, d.More = a.Pts, !a.Final
		names := describeAll(a.Chats, a.Users)
		d.Chat = names.chat(channel)
		all := a.NewMessages
		for _, u := range a.OtherUpdates {
			switch u := u.(type) {
			case *tg.UpdateNewChannelMessage:
				all = append(all, u.Message)
			case *tg.UpdateEditChannelMessage:
				all = append(all, u.Message)
			case *tg.UpdateDeleteChannelMessages:
				d.Deleted = append(d.Deleted, u.Messages...)
			}
		}
		d.Messages = names.messages(all, channel)
	default:
		return d, &malformed{fmt.Errorf("a difference came as %T", answer)}
	}
	return d, nil
}

// names are the chats and users that an answer mentions.
type names map[platform.ChatRef]place

func (n names) chat(channel int64) platform.Chat {
	p, ok := n[platform.ChatRef{Type: platform.ChatChannel, ID: channel}]
	if !ok || p.gone {
		return platform.Chat{}
	}
	return p.chat()
}

// messages reads messages of a channel; of several with the same id it keeps the last one.
func (n names) messages(all []tg.MessageClass, channel int64) (list []platform.Message) {
	at := make(map[int]int)
	for _, m := range all {
		if full, ok := m.AsNotEmpty(); ok && peerRef(full.GetPeerID()) != (platform.ChatRef{Type: platform.ChatChannel, ID: channel}) {
			continue
		}
		read := n.message(m)
		if i, known := at[read.ID]; known {
			list[i] = read
			continue
		}
		at[read.ID] = len(list)
		list = append(list, read)
	}
	slices.SortFunc(list, func(a, b platform.Message) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// message reads one message. What it cannot read must not keep the others from being read.
func (n names) message(in tg.MessageClass) (m platform.Message) {
	m.ID = in.GetID()
	defer func() {
		if r := recover(); r != nil {
			m = platform.Message{ID: m.ID, Date: m.Date, Unreadable: fmt.Sprint(r)}
		}
	}()
	switch in := in.(type) {
	case *tg.MessageEmpty:
		m.Deleted = true
	case *tg.MessageService:
		m.Date, m.Service = unix(in.Date), actionName(in.Action)
		m.ReplyTo = replyTo(in.ReplyTo)
	case *tg.Message:
		m.Date, m.Text, m.GroupedID = unix(in.Date), in.Message, in.GroupedID
		m.Entities = readEntities(in.Entities)
		if in.EditDate != 0 && !in.EditHide {
			m.EditedAt = unix(in.EditDate)
		}
		m.Media, m.Photo = readMedia(in.Media)
		m.Forward = n.forward(in)
		m.ReplyTo, m.Views, m.Forwards = replyTo(in.ReplyTo), in.Views, in.Forwards
		m.Reactions = readReactions(in.Reactions)
	}
	return m
}

func unix(seconds int) time.Time { return time.Unix(int64(seconds), 0).UTC() }

func actionName(a tg.MessageActionClass) string {
	const prefix = "messageAction"
	name := a.TypeName()
	if len(name) <= len(prefix) {
		return name
	}
	return lowerFirst(name[len(prefix):])
}

func replyTo(r tg.MessageReplyHeaderClass) int {
	if h, ok := r.(*tg.MessageReplyHeader); ok && h.ReplyToPeerID == nil {
		return h.ReplyToMsgID
	}
	return 0
}

func (n names) forward(in *tg.Message) *platform.Forward {
	from, ok := in.GetFwdFrom()
	if !ok {
		return nil
	}
	f := &platform.Forward{Name: from.FromName, MessageID: from.ChannelPost, Date: unix(from.Date)}
	if from.FromID == nil {
		return f
	}
	ref := peerRef(from.FromID)
	switch ref.Type {
	case platform.ChatChannel:
		f.ChannelID = ref.ID
	case platform.ChatUser:
		f.UserID = ref.ID
	}
	if p, known := n[ref]; known {
		f.Username, f.Name = p.Username, cmp.Or(f.Name, p.Title)
	}
	return f
}

func readReactions(r tg.MessageReactions) (list []platform.Reaction) {
	for _, c := range r.Results {
		one := platform.Reaction{Count: c.Count}
		switch e := c.Reaction.(type) {
		case *tg.ReactionEmoji:
			one.Emoji = e.Emoticon
		case *tg.ReactionCustomEmoji:
			one.Emoji = fmt.Sprint(e.DocumentID)
		case *tg.ReactionPaid:
			one.Emoji = "star"
		default:
			continue
		}
		list = append(list, one)
	}
	return list
}
