package adminbottest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/worker/simulation"
)

var commands = []string{"/start", "/status", "/check", "/posts", "/posts", "/tasks", "/alerts", "/backup", "/STATUS@bot", "/what"}

func (p *Part) command(w *simulation.World, r *rand.Rand) {
	p.write(w, anyone(r), commands[r.IntN(len(commands))], "")
}

// text answers a question that the bot has asked, or none.
func (p *Part) text(w *simulation.World, r *rand.Rand) {
	name := fmt.Sprintf("q%08x", r.Uint32())
	switch chat := anyone(r); r.IntN(3) {
	case 0:
		minutes := strconv.Itoa(60 + r.IntN(300))
		p.write(w, chat, minutes, minutes) // if it is asked for accounts, it is one
	case 1:
		p.write(w, chat, "¿?!", "")
	default:
		p.write(w, chat, name, name)
	}
}

// visit is a command, and presses under what the bot answers.
func (p *Part) visit(w *simulation.World, r *rand.Rand) {
	chat := anyone(r)
	p.write(w, chat, []string{"/posts", "/posts", "/tasks", "/check", "/alerts"}[r.IntN(5)], "")
	for n := range 4 {
		presses := rand.New(rand.NewPCG(r.Uint64(), 0))
		w.After(time.Duration(n+1)*20*time.Second, func() { p.press(w, presses, p.shown(chat, 1)) })
	}
	if r.IntN(3) == 0 { // what it may ask for
		name := fmt.Sprintf("q%08x", r.Uint32())
		w.After(2*time.Minute, func() { p.write(w, chat, name, name) })
	}
}

func (p *Part) stranger(w *simulation.World, r *rand.Rand) {
	chat := 5000 + r.Int64N(1000)
	if r.IntN(2) == 0 {
		p.write(w, chat, commands[r.IntN(len(commands))], "")
		return
	}
	if all := p.shown(anyone(r), keptScreens); len(all) > 0 { // a press that is not theirs
		p.tap(w, chat, simulation.Pick(r, all, func(b button) string { return b.id }))
	}
}

// press presses one of the buttons, sometimes twice.
func (p *Part) press(w *simulation.World, r *rand.Rand, all []button) {
	all = slices.DeleteFunc(all, func(b button) bool { // checks each minute are for short tests
		minutes, is := strings.CutPrefix(b.data, "check/interval/")
		n, _ := strconv.Atoi(minutes)
		return is && n < 60
	})
	if len(all) == 0 {
		return
	}
	b, chat, twice := simulation.Pick(r, all, func(b button) string { return b.id }), anyone(r), r.IntN(10) == 0
	p.tap(w, chat, b)
	if twice {
		p.tap(w, chat, b)
	}
}

// tap presses a button. While no process runs the network does not keep that.
func (p *Part) tap(w *simulation.World, chat int64, b button) {
	if w.Process() == nil {
		return
	}
	p.queries++
	w.Note("%d presses %q", chat, b.data)
	p.presses = append(p.presses, update{Heard: platform.Heard{From: chat, Name: "Anna", MessageID: p.queries, QueryID: p.queries, Data: b.data}, pressed: &b})
	p.poll(w)
}

// write writes a text, which the network keeps until it is heard.
func (p *Part) write(w *simulation.World, chat int64, text, name string) {
	w.Note("%d writes %q", chat, text)
	p.texts = append(p.texts, update{Heard: platform.Heard{From: chat, Name: "Anna", MessageID: int64(len(p.texts) + 1), Text: text}, name: name})
	p.poll(w)
}
