package platform

import "time"

// ChatType says what a chat is.
type ChatType string

// The types of chats.
const (
	ChatUser    ChatType = "user"
	ChatGroup   ChatType = "chat"    // a basic group of Telegram
	ChatChannel ChatType = "channel" // a channel or a supergroup
)

// ChatRef names a chat by its network's id, without a prefix.
type ChatRef struct {
	Type ChatType
	ID   int64
}

// Chat is a chat as an identity sees it.
type Chat struct {
	ChatRef
	Title    string
	Username string
	Slowmode time.Duration // between two messages of one sender; 0: none, or not known
	Writable bool          // false if it is certain that the identity may not send there
}
