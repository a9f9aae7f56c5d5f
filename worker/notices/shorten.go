package notices

import (
	"unicode/utf16"

	"belfry/store"
)

// What Telegram takes of a text, in UTF-16 units: message_length_max and caption_length_max of its config.
const (
	maxText    = 4096
	maxCaption = 1024 // of one that stands under a file
)

// fitting returns the text of a notice as its chat takes it. A webhook takes any.
func fitting(n store.Notice) string {
	switch {
	case n.Chat == store.WebhookChat:
		return n.Text
	case n.File != "":
		return shorten(n.Text, maxCaption)
	}
	return shorten(n.Text, maxText)
}

// shorten cuts a text that has more UTF-16 units than limit, and shows that with an ellipsis: at the
// end of a line if there is one in the last eighth, and else between two characters.
func shorten(text string, limit int) string {
	const mark = 2 // units of a line break and an ellipsis
	units, end, line := 0, 0, 0
	for i, char := range text {
		if units <= limit-mark {
			end = i
			if char == '\n' && units >= limit-limit/8 {
				line = i
			}
		}
		if units += utf16.RuneLen(char); units > limit {
			if line > 0 {
				return text[:line] + "\n…"
			}
			return text[:end] + "…"
		}
	}
	return text
}
