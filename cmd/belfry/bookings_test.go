package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
)

// shownBooking is a booking as the API shows it.
type shownBooking struct {
	ID         uint64 `json:"id"`
	Status     string `json:"status"`
	ClientLink string `json:"client_link"`
	Reminders  []struct {
		State string `json:"state"`
	} `json:"reminders"`
	Feedback struct {
		State  string `json:"state"`
		Rating int    `json:"rating"`
	} `json:"feedback"`
}

// salon is a machine whose bot serves a client.
type salon struct {
	*machine
	ctx         context.Context
	bot, client int64
	url         string
}

// booking reads a booking until it is as it should be.
func (s *salon) booking(id uint64, what string, is func(shownBooking) bool) (b shownBooking) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		b = shownBooking{}
		if err := callAPI(s.ctx, "GET", fmt.Sprint(s.url, "/api/v1/bookings/", id), nil, &b); err != nil {
			s.t.Fatal(err)
		}
		if is(b) {
			return b
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			s.t.Fatalf("the booking is not %s: %+v", what, b)
		}
	}
}

func (s *salon) run(job string) {
	s.t.Helper()
	if _, err := s.output("jobs", "run", job); err != nil {
		s.t.Fatal(err)
	}
}

// press presses a button under the last message that says something, and waits for the answer.
func (s *salon) press(text, button string) {
	s.t.Helper()
	m, err := s.tg.AwaitMessage(s.ctx, s.bot, s.client, func(m telegramtest.Message) bool { return strings.Contains(m.Text, text) && len(m.Buttons) > 0 })
	if err != nil {
		s.t.Fatal(err)
	}
	for _, later := range s.tg.PrivateMessages(s.bot, s.client) {
		if strings.Contains(later.Text, text) && len(later.Buttons) > 0 {
			m = later
		}
	}
	query, err := s.tg.Press(s.client, s.bot, m.ID, button)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.tg.AwaitAnswer(s.ctx, query); err != nil {
		s.t.Fatalf("%q is not answered: %v", button, err)
	}
}

// A booking is made, opened by its client, reminded, confirmed, moved, reminded again and asked about, and another one is
// cancelled, while the program is killed and started again: each message arrives once.
func TestABookingsLifeAcrossRestartsAndKills(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("salon_bot")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	s := &salon{machine: m, ctx: ctx, bot: m.tg.AddBot(token, "salon_bot")}
	s.client = m.tg.AddUser(telegramtest.User{Phone: "+79990007777", Username: "anna", FirstName: "Anna"}).ID
	stranger := m.tg.AddUser(telegramtest.User{Phone: "+79990008888", Username: "eve", FirstName: "Eve"}).ID
	start := func() (p *process) {
		t.Helper()
		p, s.url = m.start()
		m.waitForLogin(s.url)
		return p
	}
	sent := func(b shownBooking) bool { return b.Reminders[0].State == "sent" }
	p := start()
	if err := m.tg.AwaitDone(ctx, "updates.getState", 1); err != nil {
		t.Fatal(err)
	}

	request := map[string]any{"client": "@anna", "service": "Haircut", "start": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339), "reminders": []string{"24h"}}
	var made shownBooking
	if err := callAPI(ctx, "POST", s.url+"/api/v1/bookings", request, &made); err != nil {
		t.Fatal(err)
	}
	_, code, linked := strings.Cut(made.ClientLink, "https://t.me/salon_bot?start=")
	if !linked {
		t.Fatalf("the link is %q", made.ClientLink)
	}
	m.tg.Write(stranger, s.bot, "/start")
	m.tg.Write(stranger, s.bot, "/start "+code)
	m.tg.Write(s.client, s.bot, "/start "+code)
	if err := m.tg.AwaitPrivate(ctx, s.bot, s.client, 1); err != nil {
		t.Fatal(err)
	}
	s.booking(1, "linked", func(b shownBooking) bool { return b.ClientLink == "" })

	m.tg.Mute("messages.sendMessage", 1) // the reminder is out, and nobody has heard of it when the program is killed
	s.run("reminder_1")
	if err := m.tg.AwaitPrivate(ctx, s.bot, s.client, 2); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p = start()
	s.booking(1, "reminded", sent)
	s.press("Reminder: Haircut", "✅ I will come")
	s.booking(1, "confirmed", func(b shownBooking) bool { return b.Status == "confirmed" })
	p.stop()

	p = start()
	move := map[string]any{"start": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)}
	if err := callAPI(ctx, "PATCH", s.url+"/api/v1/bookings/1", move, &made); err != nil || made.Status != "booked" {
		t.Fatal(err, made)
	}
	s.run("reminder_1")
	s.booking(1, "reminded again", sent)
	s.press("Reminder: Haircut", "✅ I will come")
	p.kill()
	p = start()
	s.booking(1, "still confirmed", func(b shownBooking) bool { return b.Status == "confirmed" })
	s.run("feedback_1")
	s.booking(1, "asked about", func(b shownBooking) bool { return b.Feedback.State == "sent" })
	s.press("How was it", "5")
	s.booking(1, "rated", func(b shownBooking) bool { return b.Feedback.Rating == 5 && b.Status == "done" })

	request["service"], made = "Shave", shownBooking{}
	if err := callAPI(ctx, "POST", s.url+"/api/v1/bookings", request, &made); err != nil || made.ClientLink != "" {
		t.Fatal(err, made)
	}
	s.run("reminder_2")
	s.booking(2, "reminded", sent)
	s.press("Reminder: Shave", "❌ Cancel")
	s.booking(2, "cancelled", func(b shownBooking) bool { return b.Status == "cancelled" })
	p.stop()
	m.mustCheck()

	ids := map[int64]int{}
	for _, message := range m.tg.PrivateMessages(s.bot, s.client) {
		t.Logf("%s", message.Text)
		ids[message.RandomID]++
	}
	if len(ids) != 5 { // the greeting, two reminders, the question, the reminder of the second booking
		t.Errorf("%d messages, not 5", len(ids))
	}
	if n := len(m.tg.PrivateMessages(s.bot, stranger)); n != 0 {
		t.Errorf("a stranger got %d messages", n)
	}
}
