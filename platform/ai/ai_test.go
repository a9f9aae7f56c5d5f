package ai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"slices"
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
	ask := []Message{{Role: "system", Content: "You write posts."}, {Role: "user", Content: "Spring"}}
	if text, err := c.Write(t.Context(), ask); err != nil || text.Text != "Text 1" || text.Tokens != 100 {
		t.Errorf("%+v, %v", text, err)
	}
	if call := server.Calls()[0]; call.Model != "gpt-4o-mini" || call.Messages[1].Content.Text != "Spring" {
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
		{aitest.Crowded, platform.Wait, time.Minute, "429", 0},
		{aitest.Quota, platform.Refused, 0, "quota", 0},
		{aitest.Down, platform.Wait, time.Minute, "503", 0},
		{aitest.Inside, platform.Transient, 0, "Provider returned error", 0},
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

func TestWhatAModelThinksIsNoText(t *testing.T) {
	for content, want := range map[string]string{"<think>\nA post.\n</think>\n\nSpring": "Spring", "A post.</think> Spring": "Spring", "<think>A post.": "", "<think>A post.</think>": ""} {
		var a answer
		body, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": content}}}})
		if err := errors.Join(err, json.Unmarshal(body, &a)); err != nil {
			t.Fatal(err)
		}
		if text, err := a.text(); text.Text != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", content, text.Text, err)
		}
	}
}

func TestPicturesAreJPEGsOrSortedErrors(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	for _, model := range []string{"", "dall-e-3"} {
		c, err := New(Config{Base: server.Base(), Key: aitest.Key, ImageModel: model})
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := c.Draw(t.Context(), "A tram")
		if err != nil || drawn.Tokens != 300 || drawn.Prompt != 10 {
			t.Fatalf("%q: %d tokens, %v", model, drawn.Tokens, err)
		}
		if size, format, err := image.DecodeConfig(bytes.NewReader(drawn.JPEG)); err != nil || format != "jpeg" || size.Width != 640 || size.Height != 480 {
			t.Errorf("%q: %s %+v, %v", model, format, size, err)
		}
		for fault, says := range map[aitest.Fault]string{aitest.Limited: "429", aitest.Nonsense: "cannot be read", aitest.Cut: "cannot be read", aitest.Nothing: "without a picture"} {
			server.Fail(fault)
			drawn, err := c.Draw(t.Context(), "A tram")
			if err == nil || drawn.JPEG != nil || platform.AsError(err).Kind == platform.Refused || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", fault, err)
			}
		}
	}
	if call := server.Calls()[0]; call.Model != "gpt-image-1" || call.Prompt != "A tram" {
		t.Errorf("asked %+v", call)
	}
}

func TestAKeyThatIsWrongAndAServerThatIsAwayAreSaid(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	c, err := New(Config{Base: server.Base(), Key: "sk-other"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Write(t.Context(), []Message{{Role: "user", Content: "Spring"}})
	if e := platform.AsError(err); err == nil || e.Kind != platform.Refused || e.Scope != platform.ScopeIdentity || !strings.Contains(e.Error(), "OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	server.Close()
	_, err = c.Write(t.Context(), []Message{{Role: "user", Content: "Spring"}})
	if e := platform.AsError(err); err == nil || e.Kind != platform.Wait || !strings.Contains(e.Error(), "did not answer") {
		t.Errorf("nobody is there: %v (%s)", err, e.Kind)
	}
	if _, err := New(Config{Base: "ftp://example.com"}); err == nil {
		t.Error("an address that is no web address was taken")
	}
}

func TestAPictureIsShownBesideTheText(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	c, err := New(Config{Base: server.Base(), Key: aitest.Key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context(), []Message{{Role: "user", Content: "Describe it.", Image: []byte("jpeg"), ImageType: "image/jpeg"}}); err != nil {
		t.Fatal(err)
	}
	if asked := server.Calls()[0].Messages[0].Content; asked.Text != "Describe it." || len(asked.Images) != 1 || string(asked.Images[0]) != "jpeg" {
		t.Errorf("%+v", asked)
	}
}

func TestTextsBecomeVectors(t *testing.T) {
	server := aitest.New()
	defer server.Close()
	c, err := New(Config{Base: server.Base(), Key: aitest.Key, EmbedModel: "small", Dimensions: 64})
	if err != nil {
		t.Fatal(err)
	}
	server.Same("market", "fair")
	out, err := c.Embed(t.Context(), []string{"the market", "tram timetable", "the fair"})
	if err != nil || len(out.Values) != 3 || len(out.Values[0]) != 64 || out.Tokens != 6 {
		t.Fatalf("%d vectors, %d tokens, %v", len(out.Values), out.Tokens, err)
	}
	if !slices.Equal(out.Values[0], out.Values[2]) || slices.Equal(out.Values[0], out.Values[1]) {
		t.Error("the vectors are not in the order of the texts")
	}
	if asked := server.Embeddings(); len(asked) != 1 || asked[0].Model != "small" || len(server.Calls()) != 0 {
		t.Errorf("asked %+v", asked)
	}
	for _, c2 := range []struct {
		fault aitest.Fault
		kind  platform.Kind
		says  string
	}{
		{aitest.Limited, platform.Wait, "429"}, {aitest.Quota, platform.Refused, "quota"}, {aitest.Nothing, platform.Transient, "without a vector"},
		{aitest.Nonsense, platform.Transient, "cannot be read"},
	} {
		server.Fail(c2.fault)
		_, err := c.Embed(t.Context(), []string{"text"})
		if e := platform.AsError(err); err == nil || e.Kind != c2.kind || !strings.Contains(e.Error(), c2.says) {
			t.Errorf("%s: %v", c2.fault, err)
		}
	}
}
