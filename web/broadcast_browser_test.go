// gotd's generated code takes minutes and gigabytes to build with -race, and without this file these
// tests do not link it.

//go:build !race

package web

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/worker/tasks"
)

// A whole broadcast with a real Chromium against a Telegram: an account is logged in on the page, its
// chats are read, the broadcast is written, looked at, started, paused and taken up again, and each
// chat has it once.
func TestABroadcastInABrowser(t *testing.T) {
	chromium := chromium(t)
	tg := telegramtest.NewServer(telegramtest.Options{})
	t.Cleanup(tg.Close)
	tg.AddBot("123456789:AAEexampleexampleexampleexample", "evening_news_bot")
	tg.AddUser(telegramtest.User{Phone: "+79990000001", Username: "anna_sender", FirstName: "Anna", LastName: "Sender", Password: "two-step-secret", PasswordHint: "the usual one"})
	boris := tg.AddUser(telegramtest.User{Phone: "+79990000002", Username: "boris_sender", FirstName: "Boris"})
	var groups []telegramtest.Group
	for i := range 12 {
		groups = append(groups, tg.AddGroup(telegramtest.Group{Title: fmt.Sprintf("Quarter %02d", i+1), Username: fmt.Sprintf("quarter_%02d", i+1),
			Members: []string{"anna_sender"}, Forbidden: i == 7}))
	}
	var network *telegram.Network
	h := startWith(t, func(h *harness) (tasks.Network, platform.Logins) {
		var err error
		network, err = telegram.New(h.db, telegram.Config{Application: func() (int, string) { return telegramtest.AppID, telegramtest.AppHash }, Server: tg.DC(), Key: tg.PublicKeyPEM()})
		if err != nil {
			t.Fatal(err)
		}
		return network, network
	})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- network.Run(ctx) }()
	t.Cleanup(func() { // before the harness closes the file
		cancel()
		if err := <-ran; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("telegram: %v", err)
		}
	})

	h.skipSetup()
	b := browse(t, chromium, h)
	b.signIn()
	b.open("/logins")
	b.do(chromedp.SendKeys(chromedp.ID("account_name"), "anna"), chromedp.Click(chromedp.ID("add-account")))
	b.until(`location.pathname === "/logins/2/login" && !!document.getElementById("phone")`)
	b.do(chromedp.SendKeys(chromedp.ID("phone"), "+7 999 000-00-01"), chromedp.Click(chromedp.ID("step")))
	b.until(`!!document.getElementById("code")`)
	b.do(chromedp.SendKeys(chromedp.ID("code"), tg.LoginCode("+79990000001")), chromedp.Click(chromedp.ID("step")))
	b.until(`!!document.getElementById("password") && document.body.innerText.includes("the usual one")`)
	b.do(chromedp.SendKeys(chromedp.ID("password"), "not this one"), chromedp.Click(chromedp.ID("step")))
	b.until(`document.getElementById("password-error")?.innerText.includes("two-step password (PASSWORD_HASH_INVALID)")`)
	b.do(chromedp.SendKeys(chromedp.ID("password"), "two-step-secret"), chromedp.Click(chromedp.ID("step")))
	b.until(`location.pathname === "/logins" && document.getElementById("logins").innerText.includes("Anna Sender")`)

	b.open("/chats")
	b.do(chromedp.Click(chromedp.ID("refresh")))
	b.until(`document.querySelectorAll("#chats tbody tr").length >= 12`)

	b.open("/tasks/new")
	b.do(chromedp.SendKeys(chromedp.ID("text"), "Open evening on Friday"))
	b.until(`document.querySelector("#preview .message-text")?.innerText === "Open evening on Friday"`)
	b.do(chromedp.Click(chromedp.CSS(".chat-choice summary")))
	ticked := eval[int](b, `[...document.querySelectorAll(".chat-choice input")].filter(e => e.value.startsWith("@quarter_") && !e.disabled).map(e => e.click()).length`)
	b.do(chromedp.SendKeys(chromedp.ID("min_seconds_between_chats"), "0.3"), chromedp.SendKeys(chromedp.ID("max_seconds_between_chats"), "0.4"))
	b.do(chromedp.Click(chromedp.ID("preview-first")))
	b.until(`document.querySelector(".done")?.innerText.includes("saved messages")`)
	b.do(chromedp.Click(chromedp.ID("check-first")))
	b.until(`location.pathname === "/tasks/1" && document.getElementById("found").innerText.includes("All chats were checked.")`)
	if got := eval[int](b, `document.querySelector("#progress progress").max`); got != ticked || ticked < 11 {
		t.Errorf("%d chats were ticked, and the broadcast has %d", ticked, got)
	}
	b.do(chromedp.Click(chromedp.ID("do-resume")))
	b.until(`!!document.getElementById("do-pause")`)
	b.do(chromedp.Evaluate[chromedp.Void](`window.stayed = true`))
	b.until(`document.querySelector("#progress progress").value >= 3 && window.stayed`)
	b.do(chromedp.Click(chromedp.ID("do-pause")))
	b.until(`document.querySelector("#progress .chip").innerText === "paused"`)
	before := eval[int](b, `document.querySelector("#progress progress").value`)
	if before >= ticked {
		t.Errorf("it was paused after %d of %d", before, ticked)
	}
	b.do(chromedp.Click(chromedp.ID("do-resume")))
	b.until(`document.querySelector("#progress .chip").innerText === "sending"`)
	b.do(chromedp.Evaluate[chromedp.Void](`window.stayed = true`))
	b.until(`document.querySelector("#progress .chip").innerText === "done" && window.stayed`)
	for i, group := range groups {
		want := 1
		if group.Forbidden {
			want = 0
		}
		if got := len(tg.Messages(group.ID)); got != want {
			t.Errorf("group %d has %d messages", i+1, got)
		}
	}
	b.open("/")
	b.until(`document.getElementById("happened").innerText.includes("Open evening on Friday")`)

	b.open("/logins")
	b.do(chromedp.SendKeys(chromedp.ID("account_name"), "boris"), chromedp.Click(chromedp.ID("add-account")))
	b.until(`location.pathname === "/logins/3/login"`)
	b.do(chromedp.Click(chromedp.ID("way-qr")))
	b.until(`!!document.querySelector("svg.qr")`)
	if err := tg.AcceptQR(boris.ID, network.Login(3).URL); err != nil {
		t.Fatal(err)
	}
	b.until(`location.pathname === "/logins" && document.getElementById("logins").innerText.includes("Boris")`)
	b.do(chromedp.Click(chromedp.ID("log-out-3")))
	b.until(`location.pathname === "/logins/3/log-out"`)
	b.do(chromedp.Click(chromedp.CSS("button.danger")))
	b.until(`!!document.getElementById("done") && location.search === "" && !!document.getElementById("log-in-3")`)
	b.quiet("422 (Unprocessable Entity)") // the wrong password
}
