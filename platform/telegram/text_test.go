package telegram_test

import (
	"fmt"
	"testing"

	"belfry/platform"
	"belfry/platform/telegram/telegramtest"
)

func TestTextArrivesFormatted(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	tests := []struct {
		format   platform.Format
		in, text string
		entities []string
	}{
		{platform.HTML, `<b>bold</b> <a href="https://example.com/">link</a> <tg-spoiler>hidden</tg-spoiler> <code>x := 1</code> 1 &lt; 2`,
			"bold link hidden x := 1 1 < 2",
			[]string{"bold:bold", "texturl:link:https://example.com/", "spoiler:hidden", "code:x := 1"}},
		{platform.HTML, "<pre><code class=\"language-go\">func main()</code></pre> <pre>plain</pre> <b><i>both </i></b>",
			"func main() plain both",
			[]string{"pre:func main():go", "pre:plain", "bold:both", "italic:both"}},
		{platform.Markdown, "**bold** *it* [link](https://example.com/) ||hidden|| `code` 😀 ~~gone~~",
			"bold it link hidden code 😀 gone",
			[]string{"bold:bold", "italic:it", "texturl:link:https://example.com/", "spoiler:hidden", "code:code", "strike:gone"}},
		{platform.Plain, " <b>not bold</b> **nor this**\n", "<b>not bold</b> **nor this**", nil},
	}
	for i, test := range tests {
		r.mustPublish(platform.Post{Key: int64(i + 1), Text: test.in, Format: test.format})
		m := r.messages()[i]
		if m.Text != test.text {
			t.Errorf("%s: text %q, want %q", test.format, m.Text, test.text)
		}
		if got, want := fmt.Sprint(spell(m.Entities)), fmt.Sprint(test.entities); got != want {
			t.Errorf("%s: entities\n%s, want\n%s", test.format, got, want)
		}
	}
}

func spell(entities []telegramtest.Entity) []string {
	var list []string
	for _, e := range entities {
		s := e.Type + ":" + e.Text
		if e.URL+e.Language != "" {
			s += ":" + e.URL + e.Language
		}
		list = append(list, s)
	}
	return list
}

func TestSilenceAndLinkPreviewAreAsAsked(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "loud https://example.com"})
	r.mustPublish(platform.Post{Key: 2, Text: "quiet https://example.com", Silent: true, NoLinkPreview: true})
	m := r.messages()
	if m[0].Silent || m[0].NoWebpage || !m[1].Silent || !m[1].NoWebpage {
		t.Errorf("got %+v", m)
	}
}

func TestReceiptNamesTheMessageAndItsAddress(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	public := r.mustPublish(platform.Post{Key: 1, Text: "public"})
	if public.Link != "https://t.me/bells_daily/2" || len(public.MessageIDs) != 1 || public.MessageIDs[0] != 2 {
		t.Errorf("public channel: %+v", public)
	}
	closed := r.srv.AddChannel(telegramtest.Channel{Title: "Closed", ID: 1234567890}, "bell_bot")
	for key, target := range []string{"-1001234567890", "https://t.me/c/1234567890/7", "t.me/c/1234567890"} {
		got := r.mustPublish(platform.Post{Key: int64(key + 10), Text: "private", Target: target})
		if want := fmt.Sprintf("https://t.me/c/%d/%d", closed.ID, key+2); got.Link != want {
			t.Errorf("%s: link %q, want %q", target, got.Link, want)
		}
	}
	if n := r.srv.Calls("channels.getChannels"); n != 1 {
		t.Errorf("the channel was resolved %d times, want 1", n)
	}
}
