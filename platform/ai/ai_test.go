package ai

import (
	"context"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai/aitest"
)

func TestAnswersAreTextsOrSortedErrors(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	c, err := New(Config{Base: server.Base() + "/", Key: aitest.Key})
	if err != nil {
		t.Fatal(err)
	}
	ask := []Message{{"system", "You write posts."}, {"user", "Spring"}}
	if text, err := c.Write(t.Context(), ask); err != nil || text.Text != "Text 1" || text.Tokens != 100 {
		t.Errorf("%+v, %v", text, err)
	}
	if call := server.Calls()[0]; call.Model != "gpt-4o-mini" || call.Messages[1].Content != "Spring" {
		t.Errorf("asked %+v", call)
	}
	for _, c2 := range []struct {
		fault  aitest.Fault
		kind   platform.Kind
		wait   time.Duration
		says   string
		tokens int
	}{
		{aitest.Limited, platform.Wait, 20 * time.Second, "429", 0},
		{aitest.Quota, platform.Refused, 0, "quota", 0},
		{aitest.Down, platform.Transient, 0, "503", 0},
		{aitest.Slow, platform.Transient, 0, "did not answer", 0},
		{aitest.Nonsense, platform.Transient, 0, "cannot be read", 0},
		{aitest.Broken, platform.Transient, 0, "not complete", 0},
		{aitest.Cut, platform.Transient, 0, "cut off", 100},
		{aitest.Empty, platform.Transient, 0, "empty", 100},
		{aitest.Nothing, platform.Transient, 0, "without a text", 7},
		{aitest.Unsafe, platform.Refused, 0, "can't help", 100},
	} {
		server.Fail(c2.fault)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		text, err := c.Write(ctx, ask)
		cancel()
		e := platform.AsError(err)
		if err == nil || text.Text != "" || e.Kind != c2.kind || e.Wait != c2.wait || !strings.Contains(e.Error(), c2.says) || text.Tokens != c2.tokens {
			t.Errorf("%s: %+v, %v (%s, %s)", c2.fault, text, err, e.Kind, e.Wait)
		}
	}
}

func TestAKeyThatIsWrongIsSaid(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	c, err := New(Config{Base: server.Base(), Key: "sk-other"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Write(t.Context(), []Message{{"user", "Spring"}})
	if e := platform.AsError(err); err == nil || e.Kind != platform.Refused || !strings.Contains(e.Error(), "OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{Base: "ftp://example.com"}); err == nil {
		t.Error("an address that is no web address was taken")
	}
}
