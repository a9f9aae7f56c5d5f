// Package profiletest is a small Instagram for tests and demonstrations, in the manner of
// net/http/httptest: it knows whether profiles exist and answers as web_profile_info does, strictly
// to callers that look like a browser. Beside it there are pages of a site of no particular kind
// under /page/, /message/ and /leads/.
//
// Simpler than in Instagram: a profile has a name and nothing else, and the server never tires.
package profiletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// AppID is what the page of Instagram sends as x-ig-app-id.
const AppID = "936619743392459"

// Behaviour is how a question is answered.
type Behaviour string

// The behaviours.
const (
	Exists     Behaviour = "exists"
	Gone       Behaviour = "gone"       // 404
	NullUser   Behaviour = "null"       // 200, and the user is null
	Other      Behaviour = "other"      // 200 with another user
	Wait       Behaviour = "wait"       // 401 with a page that says to wait a few minutes
	Forbidden  Behaviour = "forbidden"  // 403
	TooMany    Behaviour = "too_many"   // 429 with Retry-After
	LoginPage  Behaviour = "login_page" // 200 with the page for logging in
	LoginMove  Behaviour = "login_move" // 302 to the page for logging in
	Checkpoint Behaviour = "checkpoint" // 400 checkpoint_required
	Broken     Behaviour = "broken"     // 200 with half of the data
	Empty      Behaviour = "empty"      // 200 with nothing
	Huge       Behaviour = "huge"       // 200 with more than anybody wants
	Fault      Behaviour = "fault"      // 500
	Slow       Behaviour = "slow"       // no answer before the server is closed
	Hangup     Behaviour = "hangup"     // the connection ends
)

// RetryAfter is what [TooMany] asks for.
const RetryAfter = 90 * time.Second

// Server is a running site. Its methods may be called at any time from any goroutine.
type Server struct {
	URL string // http://host:port

	http   *httptest.Server
	closed chan struct{}

	mu       sync.Mutex
	accounts map[string]Behaviour // by name in lower case
	asked    map[string]int
	rude     []string
	total    int
}

// NewServer starts a site on which instagram, natgeo and nasa exist, and nobody else.
func NewServer() *Server {
	s := &Server{accounts: map[string]Behaviour{"instagram": Exists, "natgeo": Exists, "nasa": Exists},
		asked: make(map[string]int), closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/users/web_profile_info/{$}", s.webProfileInfo)
	mux.HandleFunc("GET /page/{name}", s.page)
	mux.HandleFunc("GET /message/{name}", s.message)
	mux.HandleFunc("GET /leads/{name}", s.leads)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Home</h1>") })
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Set says how questions about a name are answered from now on.
func (s *Server) Set(behaviour Behaviour, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.accounts[strings.ToLower(name)] = behaviour
	}
}

// Asked returns how often a name was asked for.
func (s *Server) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[strings.ToLower(name)]
}

// Questions returns how many questions were asked in all.
func (s *Server) Questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Rude returns what callers did that a browser does not do.
func (s *Server) Rude() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.rude...)
}

// meet counts a question and says how it is answered.
func (s *Server) meet(name string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	s.asked[strings.ToLower(name)]++
	if behaviour, known := s.accounts[strings.ToLower(name)]; known {
		return behaviour
	}
	return Gone
}

// manners returns what is wrong with a request to web_profile_info; empty if nothing.
func manners(r *http.Request, name string) string {
	switch {
	case r.Header.Get("X-Ig-App-Id") != AppID:
		return "x-ig-app-id is not that of the page"
	case !strings.HasPrefix(r.UserAgent(), "Mozilla/5.0 "):
		return "user-agent is not a browser's"
	case !strings.HasPrefix(r.Referer(), "https://www.instagram.com/"):
		return "referer is not a page of Instagram's"
	case len(r.Cookies()) > 0:
		return "a cookie was sent"
	case name == "":
		return "username is missing"
	}
	return ""
}

func (s *Server) webProfileInfo(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("username")
	if wrong := manners(r, name); wrong != "" {
		s.mu.Lock()
		s.rude = append(s.rude, wrong)
		s.mu.Unlock()
		answer(w, http.StatusBadRequest, `{"message":"useragent mismatch","status":"fail"}`)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: "x"})
	switch behaviour := s.meet(name); behaviour {
	case Exists:
		user(w, strings.ToLower(name))
	case Other:
		user(w, "somebody.else")
	case Gone:
		answer(w, http.StatusNotFound, `{"status":"fail"}`)
	case NullUser:
		answer(w, http.StatusOK, `{"data":{"user":null},"status":"ok"}`)
	default:
		s.refuse(w, r, behaviour)
	}
}

func user(w http.ResponseWriter, name string) {
	data, err := json.Marshal(map[string]any{"status": "ok",
		"data": map[string]any{"user": map[string]any{"username": name, "id": "1", "is_private": false}}})
	if err != nil {
		panic(err)
	}
	answer(w, http.StatusOK, string(data))
}

func answer(w http.ResponseWriter, status int, data string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, data)
}

func page(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!DOCTYPE html><html><body>%s</body></html>", body)
}

// refuse answers in a way that says nothing about the profile.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, behaviour Behaviour) {
	switch behaviour {
	case Wait:
		page(w, http.StatusUnauthorized, "Please wait a few minutes before you try again.")
	case Forbidden:
		page(w, http.StatusForbidden, "Forbidden")
	case TooMany:
		w.Header().Set("Retry-After", fmt.Sprint(int(RetryAfter/time.Second)))
		answer(w, http.StatusTooManyRequests, `{"message":"rate limited","status":"fail"}`)
	case LoginPage:
		page(w, http.StatusOK, "<form action=/accounts/login/>Log in to Instagram</form>")
	case LoginMove:
		http.Redirect(w, r, "/accounts/login/?next="+r.URL.Path, http.StatusFound)
	case Checkpoint:
		answer(w, http.StatusBadRequest, `{"message":"checkpoint_required","checkpoint_url":"/challenge/","status":"fail"}`)
	case Broken:
		answer(w, http.StatusOK, `{"data":{"user":{"userna`)
	case Empty:
		answer(w, http.StatusOK, "")
	case Huge:
		answer(w, http.StatusOK, `{"data":{"user":null},"more":"`+strings.Repeat("x", 2<<20)+`"}`)
	case Slow:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case Hangup:
		panic(http.ErrAbortHandler)
	default:
		page(w, http.StatusInternalServerError, "Something is broken")
	}
}

// page is a site that answers 404 for a profile that does not exist.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	switch behaviour := s.meet(r.PathValue("name")); behaviour {
	case Exists:
		page(w, http.StatusOK, "<h1>"+r.PathValue("name")+"</h1>")
	case Gone:
		page(w, http.StatusNotFound, "Nobody")
	default:
		s.refuse(w, r, behaviour)
	}
}

// message is a site that says with status 200 that a profile does not exist.
func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	switch behaviour := s.meet(r.PathValue("name")); behaviour {
	case Exists:
		page(w, http.StatusOK, "<h1>"+r.PathValue("name")+"</h1>")
	case Gone:
		page(w, http.StatusOK, "Sorry, nobody has this name")
	default:
		s.refuse(w, r, behaviour)
	}
}

// leads is a site that leads to its first page from a profile that does not exist.
func (s *Server) leads(w http.ResponseWriter, r *http.Request) {
	switch behaviour := s.meet(r.PathValue("name")); behaviour {
	case Exists:
		page(w, http.StatusOK, "<h1>"+r.PathValue("name")+"</h1>")
	case Gone:
		http.Redirect(w, r, "/", http.StatusFound)
	default:
		s.refuse(w, r, behaviour)
	}
}
