package adminbot

import "belfry/store"

// The kinds of the notices that show a page to all admins.
const (
	noticeHeld  = "posts_held"
	noticeEnded = "task_ended"
)

// TellHeld shows the admins posts that need approval: one as its page, several as the list.
func (b *Bot) TellHeld(tx *store.Tx, held []store.Post) error {
	r := b.request(tx)
	if len(held) == 1 {
		return r.tellAll(noticeHeld, r.postPage(held[0], ""), nil)
	}
	s, err := r.postsPage()
	return r.tellAll(noticeHeld, s, err)
}

// TellEnded shows the admins a broadcast that has been sent.
func (b *Bot) TellEnded(tx *store.Tx, task store.Task) error {
	r := b.request(tx)
	s, err := r.taskPage(task)
	return r.tellAll(noticeEnded, s, err)
}

func (r request) tellAll(kind string, s screen, err error) error {
	if err != nil {
		return err
	}
	return r.bot.workers.Notices.Tell(r.tx, store.Notice{Kind: kind, Text: s.text, Buttons: s.buttons})
}
