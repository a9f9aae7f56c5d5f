package article

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
)

const page = `<!doctype html><html><head><title>Весна пришла</title></head><body><nav>Меню Меню</nav><article><h1>Весна</h1>` +
	`<p>Сегодня в городе растаял последний снег, и реки вышли из берегов, сообщили в мэрии.</p><p>Жителям советуют не подходить к воде, а детям гулять в парке под присмотром взрослых, пока уровень не спадёт.</p></article></body></html>`

// site answers with pages, one for each case.
func site(t *testing.T) (*httptest.Server, *atomic.Int64) {
	var robots atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		robots.Add(1)
		fmt.Fprint(w, "User-agent: *\nDisallow: /closed\n")
	})
	write := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		})
	}
	write("/spring", "text/html; charset=utf-8", page)
	write("/bold", "text/html; charset=utf-8", strings.Replace(page, "растаял", "<B class=x>раста</b ><i>ял</i>", 1))
	write("/plain", "text/plain; charset=windows-1251", "\xc2\xe5\xf1\xed\xe0")
	write("/closed/page", "text/html", page)
	write("/film", "video/mp4", "film")
	mux.HandleFunc("/sent", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/spring", http.StatusFound) })
	mux.HandleFunc("/sent-closed", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/closed/page", http.StatusFound) })
	mux.HandleFunc("/sent-inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop?"+r.URL.RawQuery+"x", http.StatusFound)
	})
	mux.HandleFunc("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("<p>more</p>"), 1000)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(make([]byte, 64<<20))
		z.Close()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, &robots
}

func allow(t *testing.T, text string) (a fetch.Allowed) {
	if err := a.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPagesAreReadOrSaidWhyNot(t *testing.T) {
	server, robots := site(t)
	c := New(allow(t, "127.0.0.1"))
	for _, tc := range []struct {
		path, title, says string
		kind              platform.Kind
	}{
		{"/spring", "Весна пришла", "растаял последний снег", ""},
		{"/bold", "Весна пришла", "растаял последний снег", ""},
		{"/sent", "Весна пришла", "растаял последний снег", ""},
		{"/plain", "", "Весна", ""},
		{"/closed/page", "", "robots.txt", platform.Refused},
		{"/sent-closed", "", "robots.txt", platform.Refused},
		{"/sent-inside", "", "169.254.169.254", platform.Refused},
		{"/loop", "", "redirects more than", platform.Refused},
		{"/film", "", "video/mp4", platform.Refused},
		{"/gone", "", "404", platform.Refused},
		{"/down", "", "502", platform.Transient},
		{"/endless", "", "larger than", platform.Refused},
		{"/bomb", "", "larger than", platform.Refused},
	} {
		got, err := c.Read(t.Context(), server.URL+tc.path)
		if tc.kind == "" {
			if err != nil || got.Title != tc.title || !strings.Contains(got.Text, tc.says) || strings.Contains(got.Text, "Меню") {
				t.Errorf("%s: %+v, %v", tc.path, got, err)
			}
			continue
		}
		if e := platform.AsError(err); err == nil || e.Kind != tc.kind || !strings.Contains(e.Error(), tc.says) {
			t.Errorf("%s: %v (%s)", tc.path, err, platform.AsError(err).Kind)
		}
	}
	if n := robots.Load(); n != 1 {
		t.Errorf("robots.txt was read %d times", n)
	}
}

// Anybody can write a link into a channel that is read.
func TestAPageOfManyElementsTakesLittleMemory(t *testing.T) {
	at := &http.Response{Request: httptest.NewRequest(http.MethodGet, "http://n.example/", nil)}
	var open strings.Builder
	for i := range 100 {
		fmt.Fprintf(&open, "<b id=%d><FONT size=%[1]d><u\nid=%[1]d><i/id=%[1]d><a id=%[1]d>", i)
	}
	for name, source := range map[string]string{
		"repeated": "<p>" + open.String() + "</p>" + strings.Repeat("<p>x</p>", 4000),
		"many":     strings.Repeat("<p><a>", 500_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read([]byte(source), at, "text/html")
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 30 {
			t.Errorf("%s: %d MB for %d KB, %v", name, mb, len(source)>>10, err)
		}
	}
}

// everywhere answers for all sites.
type everywhere string

func (e everywhere) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader(string(e))), Request: r}, nil
}

func TestTheRulesOfSitesTakeLittleMemory(t *testing.T) {
	c := New(fetch.Allowed{})
	c.http.Transport = everywhere("User-agent: *\n" + strings.Repeat("Disallow: /a\n", 30_000))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range 60 {
		if _, err := c.Read(t.Context(), fmt.Sprintf("http://n%d.example/page", n)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if mb := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; mb > 45 {
		t.Errorf("%d MB are kept", mb)
	}
	c.http.Transport = everywhere("User-agent: *\nDisallow: /" + strings.Repeat("*a", 200_000))
	if _, err := c.Read(t.Context(), "http://patterns.example/page"); err == nil || platform.AsError(err).Kind != platform.Refused {
		t.Errorf("a pattern that takes 50 MB: %v", err)
	}
	runtime.KeepAlive(c)
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	server, _ := site(t)
	c := New(fetch.Allowed{})
	for _, address := range []string{server.URL + "/spring", "http://localhost/", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "ftp://example.com/"} {
		if _, err := c.Read(t.Context(), address); err == nil || platform.AsError(err).Kind != platform.Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestASilentSiteEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(fetch.Allowed{})
		c.http.Transport = silent{}
		began := time.Now()
		if _, err := c.Read(t.Context(), "https://example.com/"); err == nil || platform.AsError(err).Kind != platform.Transient {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != Deadline {
			t.Errorf("it took %s", took)
		}
	})
}

// silent never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}
