package web

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"belfry/platform/ai/aitest"
)

// A post is written for two accounts: each is previewed with its own text while it is written, and both are made.
func aPostIsWrittenForTwoAccounts(t *testing.T, chromium context.Context) {
	h := start(t)
	h.second()
	b := browse(t, chromium, h)
	b.signIn()
	b.open("/posts/new")
	b.do(chromedp.SendKeys(chromedp.ID("text"), "for all"))
	b.until(`getComputedStyle(document.querySelector(".also-more")).display === "none"`)
	b.do(chromedp.Click(chromedp.ID("also-2")))
	b.until(`document.querySelectorAll("#preview .message-text").length === 2`)
	b.do(chromedp.Click(chromedp.CSS(".also:nth-of-type(2) summary")), chromedp.SendKeys(chromedp.ID("text-2"), "its own"))
	b.until(`document.querySelectorAll("#preview .message-text")[1]?.innerText === "its own"`)
	b.do(chromedp.Click(chromedp.ID("save")))
	b.until(`location.pathname === "/posts/1" && document.querySelector(".siblings a")?.innerText === "@weather"`)
	b.do(chromedp.Click(chromedp.ID("do-cancel-all")))
	b.until(`location.pathname === "/posts/1/cancel-all"`)
	b.quiet()
}

// While the AI writes, nothing can be written over or saved, and the rest of the form can be filled in. Text and picture
// stand in the form and in the preview then.
func theAIWritesAndThePageWaits(t *testing.T, chromium context.Context) {
	mayAnswer := make(chan struct{})
	h, server := startWithAI(t, mayAnswer)
	b := browse(t, chromium, h)
	b.signIn()
	b.open("/contents/new")
	b.do(chromedp.SendKeys(chromedp.ID("title"), "Spring"), chromedp.SendKeys(chromedp.ID("text"), "Mine"), chromedp.Click(chromedp.ID("write")))
	b.until(`["write", "draw", "save", "text"].every(id => document.getElementById(id).disabled) && document.getElementById("ai-waits").checkVisibility()`)
	b.do(chromedp.SendKeys(chromedp.ID("description"), "Trams"))
	mayAnswer <- struct{}{}
	b.until(`document.getElementById("text").value === "Mine\n\nText 1" && document.getElementById("description").value === "Trams"`)
	b.until(`!document.getElementById("ai-waits").checkVisibility() && !document.getElementById("save").disabled && document.querySelector("#preview .message-text").innerText === "Mine\n\nText 1"`)
	b.do(chromedp.Click(chromedp.ID("draw")))
	b.until(mediaNames + ` === "ai.jpg" && document.querySelectorAll("#preview img.media-picture").length > 0`)
	server.Fail(aitest.Unsafe)
	b.do(chromedp.Click(chromedp.ID("write")))
	mayAnswer <- struct{}{}
	b.until(`document.querySelector("#written .wrong")?.innerText.includes("can't help") && document.getElementById("text").value === "Mine\n\nText 1"`)
	b.do(chromedp.Click(chromedp.ID("save")))
	b.until(`location.pathname === "/contents/1"`)
	if got := eval[string](b, mediaNames+` + " " + document.getElementById("description").value`); got != "ai.jpg Trams" {
		t.Errorf("saved with %q", got)
	}
	b.quiet()
}
