package platform

// Button is one of the buttons under a message. Whoever presses it tells the bot its Data.
type Button struct {
	Text string
	Data string // 1 to 64 bytes
}

// Heard is what a person tells a bot in private: a text, or that a button was pressed.
type Heard struct {
	IdentityID uint64 // the bot that was told
	From       int64  // the person's id, which is also that of the chat
	Name       string // of the person, for people to read
	MessageID  int64  // of the text, or of the message whose button was pressed; as the bot counts
	Text       string // as written, or what is written under a photo or file; empty for a press
	QueryID    int64  // of a press: by which it is answered; 0 for a text
	Data       string // of a press: the button's
}

// Command is one that a bot understands, as Telegram lists it to people.
type Command struct {
	Name  string // such as status, without the slash
	About string // what it does, in a line
}
