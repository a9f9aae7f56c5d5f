package adminbot

import (
	"fmt"
	"strings"
	"time"

	"belfry/store"
)

// The pages, which are also the commands.
const (
	pageMenu   = "menu"
	pageStatus = "status"
	pageCheck  = "check"
	pagePosts  = "posts"
	pageTasks  = "tasks"
	pageAlerts = "alerts"
	pageBackup = "backup"
)

func pages() []string {
	return []string{pageStatus, pageCheck, pagePosts, pageTasks, pageAlerts, pageBackup, pageMenu}
}

// maxLine is what is shown of a text in a list, in characters.
const maxLine = 60

// screen is a message with buttons. It takes the place of the message whose button was pressed.
type screen struct {
	text    string
	buttons [][]store.Button
}

// button leads to the page with this path.
func button(text string, path ...any) store.Button {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = fmt.Sprint(p)
	}
	return store.Button{Text: text, Data: strings.Join(parts, "/")}
}

// page is a screen with a row of buttons at its end that lead back and to the menu.
func (r request) page(text string, rows [][]store.Button, last ...store.Button) screen {
	return screen{text: strings.TrimSpace(text), buttons: append(rows, append(last, button(r.bot.say.menu, pageMenu)))}
}

// hint says what was wrong, and shows the ways on.
func (r request) hint(text string) screen {
	s := r.menu()
	s.text = text
	return s
}

func (r request) menu() screen {
	say := r.bot.say
	return screen{text: say.greeting, buttons: [][]store.Button{
		{button(say.titles[pageStatus], pageStatus), button(say.titles[pageCheck], pageCheck)},
		{button(say.titles[pagePosts], pagePosts), button(say.titles[pageTasks], pageTasks)},
		{button(say.titles[pageAlerts], pageAlerts), button(say.titles[pageBackup], pageBackup)},
	}}
}

// confirm asks before what cannot be taken back. The button that does it adds yes to the path.
func (r request) confirm(question, yes string, path ...any) screen {
	back := path[:len(path)-1]
	return screen{text: question, buttons: [][]store.Button{
		{button(yes, append(path, confirmed)...), button(r.bot.say.no, back...)},
	}}
}

// confirmed ends the path of what was asked about.
const confirmed = "yes"

// clock is a time of this day, or with its day.
func (r request) clock(t time.Time) string {
	local, now := t.In(r.bot.cfg.Zone), r.tx.Now().In(r.bot.cfg.Zone)
	if local.YearDay() == now.YearDay() && local.Year() == now.Year() {
		return local.Format("15:04")
	}
	return local.Format("02.01 15:04")
}

// short is the first line of a text, as far as it fits into a list.
func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return line
}
