package adminbot

import (
	"fmt"
	"strings"

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
	return screen{text: strings.TrimSpace(text), buttons: append(rows, append(last, button(r.T("bot.menu"), pageMenu)))}
}

// hint says what was wrong, and shows the ways on.
func (r request) hint(text string) screen {
	s := r.menu()
	s.text = text
	return s
}

func (r request) menu() screen {
	return screen{text: r.T("bot.greeting"), buttons: [][]store.Button{
		{button(r.T("bot.title.status"), pageStatus), button(r.T("bot.title.check"), pageCheck)},
		{button(r.T("bot.title.posts"), pagePosts), button(r.T("bot.title.tasks"), pageTasks)},
		{button(r.T("bot.title.alerts"), pageAlerts), button(r.T("bot.title.backup"), pageBackup)},
	}}
}

// confirm asks before what cannot be taken back. The button that does it adds yes to the path.
func (r request) confirm(question, yes string, path ...any) screen {
	back := path[:len(path)-1]
	return screen{text: question, buttons: [][]store.Button{
		{button(yes, append(path, confirmed)...), button(r.T("bot.no"), back...)},
	}}
}

// confirmed ends the path of what was asked about.
const confirmed = "yes"

// short is the first line of a text, as far as it fits into a list.
func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return store.Shorten(line, maxLine)
}
