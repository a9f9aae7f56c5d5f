package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry/platform"
)

func TestAPostIsRecognisableAndSaysWhatItIs(t *testing.T) {
	var ids []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || string(body) != `{"text":"hello"}` || err != nil {
			t.Errorf("%s %v %s, %v", r.Method, r.Header, body, err)
		}
		ids = append(ids, r.Header.Get("Webhook-Id"))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	hook, err := New(srv.URL+"/in", With{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []int64{-7, -7, 8} {
		if _, err := hook.Publish(t.Context(), platform.Post{Key: key, Text: `{"text":"hello"}`}); err != nil {
			t.Error(err)
		}
	}
	if len(ids) != 3 || ids[0] == "" || ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("the ids were %q", ids)
	}
}

func TestAnswersAreSorted(t *testing.T) {
	answers := map[string]struct {
		status int
		header string
		want   platform.Kind
		wait   time.Duration
	}{
		"/fine":    {status: 200},
		"/slower":  {status: 429, header: "7", want: platform.Wait, wait: 7 * time.Second},
		"/never":   {status: 429, header: "999999", want: platform.Wait, wait: time.Hour},
		"/ever":    {status: 429, header: "9999999999", want: platform.Wait, wait: time.Hour}, // in nanoseconds more than fit
		"/before":  {status: 429, header: "-7", want: platform.Wait, wait: time.Minute},
		"/soon":    {status: 503, header: "Wed, 21 Oct 2026 07:28:00 GMT", want: platform.Wait, wait: time.Minute},
		"/broken":  {status: 500, want: platform.Transient},
		"/down":    {status: 503, want: platform.Transient},
		"/nobody":  {status: 404, want: platform.Refused},
		"/secret":  {status: 401, want: platform.Refused},
		"/another": {status: 302, want: platform.Refused},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[r.URL.Path]
		if a.header != "" {
			w.Header().Set("Retry-After", a.header)
		}
		w.Header().Set("Location", "/fine")
		w.WriteHeader(a.status)
	}))
	defer srv.Close()
	for path, want := range answers {
		hook, err := New(srv.URL+path, With{})
		if err != nil {
			t.Fatal(err)
		}
		err = hook.Call(t.Context())
		if want.want == "" {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		e, ok := errors.AsType[*platform.Error](err)
		if !ok || e.Kind != want.want || e.Wait != want.wait {
			t.Errorf("%s: %+v", path, err)
		}
	}
	srv.Close()
	hook, err := New(srv.URL+"/secret-word", With{})
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Call(t.Context()); platform.AsError(err).Kind != platform.Unknown || strings.Contains(err.Error(), "secret-word") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestTheStatusDecidesWhateverFollowsIt(t *testing.T) {
	rest := map[string]func(w http.ResponseWriter, r *http.Request){
		"/silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/endless": func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 4<<10))
			}
		},
		"/broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, status, _ := strings.Cut(r.URL.Path, ":")
		code, _ := strconv.Atoi(status)
		w.WriteHeader(code)
		w.(http.Flusher).Flush()
		rest[path](w, r)
	}))
	t.Cleanup(srv.Close)
	for path := range rest {
		for code, want := range map[int]platform.Kind{200: "", 500: platform.Transient, 404: platform.Refused} {
			t.Run(fmt.Sprint(path, code), func(t *testing.T) {
				t.Parallel()
				hook, err := New(fmt.Sprintf("%s%s:%d", srv.URL, path, code), With{})
				if err != nil {
					t.Fatal(err)
				}
				err = hook.Call(t.Context())
				if e, _ := errors.AsType[*platform.Error](err); (err == nil) != (want == "") || e != nil && e.Kind != want {
					t.Error(err)
				}
			})
		}
	}
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	for _, address := range []string{"", "example.org", "ftp://example.org", "https://", "http://[::1"} {
		if _, err := New(address, With{}); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}
