package platform

import "time"

// CodeMalformed is the [Error.Code] of an answer that could not be read. It says nothing about the connection.
const CodeMalformed = "MALFORMED"

// CodeUnmet is the [Error.Code] of a channel that the login has to find before it reads it.
const CodeUnmet = "UNMET"

// Message is a message of a channel as its network tells it.
type Message struct {
	ID        int
	Date      time.Time
	Text      string
	Entities  []Entity
	GroupedID int64     // the same for all messages of an album
	EditedAt  time.Time // zero: never, or only its reactions have changed
	Media     *Attachment
	Photo     *PhotoFile // where its picture is; nil: it has none
	Forward   *Forward
	ReplyTo   int // a message of the same channel
	Views     int
	Forwards  int
	Reactions []Reaction
	Service   string // what happened, of a service message
	// Deleted says that the network knows the id and has no message. Nothing else is set.
	Deleted bool
	// Unreadable is why nothing but the id and perhaps the date is known.
	Unreadable string
}

// Entity is a piece of formatting as the Bot API names it. Offset and Length are UTF-16 code units.
type Entity struct {
	Type     string
	Offset   int
	Length   int
	URL      string
	UserID   int64
	Language string
}

// Attachment describes what a message carries. Kind is as the Bot API names it, or web_page, or unknown with the
// network's Class.
type Attachment struct {
	Kind     string
	Class    string
	Type     string
	Name     string
	Size     int64
	Width    int
	Height   int
	Duration int
	Title    string
	URL      string
}

// Forward is where a message was forwarded from.
type Forward struct {
	ChannelID int64
	UserID    int64
	MessageID int
	Username  string
	Name      string
	Date      time.Time
}

// Reaction is how often a message has a reaction.
type Reaction struct {
	Emoji string
	Count int
}

// PhotoFile is where a picture can be fetched, for some hours.
type PhotoFile struct {
	ID         int64
	AccessHash int64
	Reference  []byte
	Size       string // which of its sizes
	Bytes      int    // of that size, as far as it is known
}

// History is messages of a channel in the order of their ids.
type History struct {
	Chat     Chat // as it is called now; zero if the answer does not say
	Messages []Message
	Pts      int // the state of the channel when it was asked; 0: not told
}

// Difference is what has happened in a channel since a state.
type Difference struct {
	Chat     Chat
	Messages []Message // new and edited ones
	Deleted  []int
	Pts      int // the state after it; with TooLong the present one, 0 if that is not told
	More     bool
	// TooLong says that the network does not tell what has happened: history has to be read.
	TooLong bool
}
