// Package adminbottest brings the admin bot into the simulation: admins who write to it and press its buttons, also
// those of messages that they were shown days ago, strangers, and judges of what the bot does then.
package adminbottest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/accounts/accountstest"
	"belfry/worker/adminbot"
	"belfry/worker/alerts/alertstest"
	"belfry/worker/notices/noticestest"
	"belfry/worker/posts/poststest"
	"belfry/worker/simulation"
	"belfry/worker/tasks/taskstest"
)

// Parts are those whose workers the bot acts through. They come before it.
type Parts struct {
	Posts    *poststest.Part
	Tasks    *taskstest.Part
	Accounts *accountstest.Part
	Alerts   *alertstest.Part
	Notices  *noticestest.Part
}

// Part is the admin bot of one world.
type Part struct {
	Parts
	bot   *adminbot.Bot // of the process that runs
	world *simulation.World

	texts   []update // all that were ever written, as the network keeps them
	presses []update // that wait to be heard; the process alone knows them
	queries int64
	polling bool

	mu      sync.Mutex
	screens []screen // that admins have before them; the newest last
}

// update is something that somebody has written or pressed.
type update struct {
	platform.Heard
	pressed *button
	name    string // of the account that the text names
}

// screen is a message with buttons.
type screen struct {
	chat    int64
	buttons []button
}

// button is one with what its message said.
type button struct {
	id, data string
	post     *store.Post // that it is about, as it was when it was shown
}

// keptScreens is how many messages people scroll back.
const keptScreens = 200

// New returns the part of a world.
func New(parts Parts) *Part { return &Part{Parts: parts} }

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "admin bot",
		Actions: []simulation.Action{
			{Name: "admin bot: command", Rate: 2, Do: p.command},
			{Name: "admin bot: visit", Rate: 2, Do: p.visit},
			{Name: "admin bot: press", Rate: 3, Do: func(w *simulation.World, r *rand.Rand) { p.press(w, r, p.shown(anyone(r), keptScreens)) }},
			{Name: "admin bot: text", Rate: 1, Do: p.text},
			{Name: "admin bot: stranger", Rate: .5, Do: p.stranger},
		},
		Start: p.start,
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	if p.world == nil {
		p.world = process.World
		p.world.Network.OnMessage(p.told)
	}
	p.presses = nil
	p.bot = adminbot.New(process.DB, adminbot.Workers{
		Posts: p.Posts.Worker, Tasks: p.Tasks.Worker, Accounts: p.Accounts.Worker, Alerts: p.Alerts.Worker, Notices: p.Notices.Worker,
	}, adminbot.Config{Lang: "en", Zone: time.UTC})
	p.Posts.Worker.OnHeld(p.bot.TellHeld)
	p.Tasks.Worker.OnEnd(p.bot.TellEnded)
	return p.bot.Module()
}

// told takes in a message with buttons that no answer is, such as one about an alert.
func (p *Part) told(m simulation.Message) {
	chat, err := strconv.ParseInt(m.Target, 10, 64)
	if err != nil || len(m.Post.Buttons) == 0 {
		return
	}
	var rows [][]store.Button
	for _, row := range m.Post.Buttons {
		var buttons []store.Button
		for _, b := range row {
			buttons = append(buttons, store.Button(b))
		}
		rows = append(rows, buttons)
	}
	p.show(chat, fmt.Sprint("message ", m.ID), rows, nil)
}

// show notes which buttons a chat has, and the post that they are about.
func (p *Part) show(chat int64, id string, rows [][]store.Button, post *store.Post) {
	s := screen{chat: chat}
	for _, b := range slices.Concat(rows...) {
		s.buttons = append(s.buttons, button{fmt.Sprint(id, " ", b.Data), b.Data, post})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screens = append(p.screens, s)
	p.screens = p.screens[max(0, len(p.screens)-2*keptScreens):]
}

// shown returns the buttons under the last messages of a chat.
func (p *Part) shown(chat int64, messages int) (all []button) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range slices.Backward(p.screens) {
		if s.chat == chat && messages > 0 {
			all = append(all, s.buttons...)
			messages--
		}
	}
	return all
}

func anyone(r *rand.Rand) int64 {
	admins := noticestest.Admins()
	return admins[r.IntN(len(admins))]
}
