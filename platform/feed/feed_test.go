package feed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
)

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>Second &amp;amp; last</title><link>https://news.example/2</link><guid>b</guid><pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate><description><![CDATA[<p>Two <b>bold</b></p><p>lines &amp; more</p>]]></description></item>
<item><title>First</title><link>https://news.example/1</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>
</channel></rss>`

func TestItemsComeWithTheOldestFirstAndWithoutMarkup(t *testing.T) {
	items, err := Parse([]byte(rss))
	if err != nil || len(items) != 2 {
		t.Fatal(items, err)
	}
	if i := items[0]; i.Title != "First" || i.Link != "https://news.example/1" {
		t.Errorf("%+v", i)
	}
	if i := items[1]; i.Title != "Second & last" || i.Summary != "Two bold lines & more" || i.Mark == items[0].Mark {
		t.Errorf("%+v", i)
	}
	changed, err := Parse([]byte(strings.ReplaceAll(rss, "Second", "Changed")))
	if err != nil || changed[1].Mark != items[1].Mark {
		t.Errorf("%+v, %v: a changed item is another one", changed, err)
	}
}

func TestTheNewestOfALongFeedAreRead(t *testing.T) {
	var text strings.Builder
	text.WriteString(`<rss version="2.0"><channel>`)
	first := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range maxItems + 100 { // the oldest first
		fmt.Fprintf(&text, "<item><title>%d</title><pubDate>%s</pubDate></item>", i, first.AddDate(0, 0, i).Format(time.RFC1123Z))
	}
	text.WriteString(`</channel></rss>`)
	items, err := Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(items) != maxItems || items[0].Title != "100" || items[maxItems-1].Title != "4099" {
		t.Errorf("%d items from %s to %s", len(items), items[0].Title, items[len(items)-1].Title)
	}
}

func TestASummaryIsWhatAReaderSees(t *testing.T) {
	for _, c := range []struct{ feed, want string }{
		{`<rss version="2.0"><channel><item><description><![CDATA[<style>p{color:red}</style><h2>Head</h2><div>One.</div><div>Two.</div><script>var x=1</script>]]></description></item></channel></rss>`, "Head One. Two."},
		{`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>v1.0</title><content type="html">&lt;p&gt;New&lt;/p&gt;</content></entry></feed>`, "New"}, // as GitHub's
		{`{"version":"https://jsonfeed.org/version/1.1","title":"c","items":[{"id":"1","url":"https://m.example/1","content_text":"a < b & c"}]}`, "a < b & c"},
	} {
		if items, err := Parse([]byte(c.feed)); err != nil || items[0].Summary != c.want {
			t.Errorf("%+v, %v, not %q", items, err, c.want)
		}
	}
}

func TestALinkWithoutAHostLeadsToThatOfTheFeed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/blog/feed.xml?key=secret", http.StatusPermanentRedirect)
			return
		}
		_, _ = w.Write([]byte(`<rss version="2.0"><channel><item><link>https://n.example/путь?a=1</link></item><item><link>/2</link></item><item><link>3</link></item><item><link>#top</link></item><item><title>No link</title></item></channel></rss>`))
	}))
	defer server.Close()
	var local fetch.Allowed
	if err := local.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	items, err := New(local).Read(t.Context(), strings.Replace(server.URL, "//", "//user:secret@", 1)+"/old")
	var got []string
	for _, i := range items {
		got = append(got, i.Link)
	}
	if want := []string{"", server.URL + "/blog/feed.xml#top", server.URL + "/blog/3", server.URL + "/2", "https://n.example/путь?a=1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatAFeedAnswersIsSorted(t *testing.T) {
	status, body := http.StatusOK, rss
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	var local fetch.Allowed
	if err := local.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	if items, err := New(local).Read(t.Context(), server.URL); err != nil || len(items) != 2 {
		t.Error(items, err)
	}
	_, err := New(fetch.Allowed{}).Read(t.Context(), server.URL)
	if e := platform.AsError(err); err == nil || e.Kind != platform.Refused || !strings.Contains(e.Error(), "not public") {
		t.Errorf("a private address: %v", err)
	}
	for _, c := range []struct {
		status int
		body   string
		kind   platform.Kind
	}{
		{http.StatusServiceUnavailable, "", platform.Transient}, {http.StatusTooManyRequests, "", platform.Transient},
		{http.StatusNotFound, "", platform.Refused}, {http.StatusOK, "<html><p>Hello", platform.Refused},
		{http.StatusOK, strings.Repeat(" ", maxFeed+1), platform.Refused},
	} {
		status, body = c.status, c.body
		_, err := New(local).Read(t.Context(), server.URL)
		if e := platform.AsError(err); err == nil || e.Kind != c.kind {
			t.Errorf("%d %.20q: %v", c.status, c.body, err)
		}
	}
}

func TestTheTextsOfAFeedTakeLittleMemory(t *testing.T) {
	var open strings.Builder
	for i := range 400 {
		fmt.Fprintf(&open, "<b id=%d>", i)
	}
	text := "<![CDATA[<p>" + open.String() + "</p>" + strings.Repeat("<p>x</p>", 1000) + "]]>"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	items, err := Parse([]byte("<rss version='2.0'><channel><title>x</title><description>" + text + "</description><item><title>a</title><description>" + text + "</description></item></channel></rss>"))
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || len(items) != 1 || !strings.HasPrefix(items[0].Summary, "x x x") || mb > 5 {
		t.Errorf("%d MB for %d KB: %v, %v", mb, 2*len(text)>>10, items, err)
	}
}
