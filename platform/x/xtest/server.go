// Package xtest is a small X for tests and demonstrations, in the manner of net/http/httptest: users with the keys
// of OAuth 1.0a or an application of OAuth 2, posts, and media that are uploaded in parts.
//
// It is strict: a signature that is wrong, a parameter that it does not know, a part out of order, media of another
// user are refused as X does. It recognises no repetition but that of a text, which it refuses. It takes faults,
// also ones that carry a call out and lose the answer.
package xtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The calls, by which faults name them.
const (
	Me         = "me"
	Create     = "create"
	Timeline   = "timeline"
	Initialize = "initialize"
	Append     = "append"
	Finalize   = "finalize"
	Status     = "status"
	Token      = "token"
)

// Fault is what happens to one call.
type Fault struct {
	Call   string
	Status int         // of the answer; 0: the call is lost
	Header http.Header // of the answer
	Body   string
	// Carried says that the call has its effect all the same.
	Carried bool
}

// User is one that posts.
type User struct {
	ID       int64
	Username string
	// The keys of OAuth 1.0a.
	ConsumerKey, ConsumerSecret, AccessToken, AccessSecret string
	// The application of OAuth 2.
	ClientID, ClientSecret string
}

// Post is one that is out.
type Post struct {
	ID       int64
	UserID   int64
	Text     string
	MediaIDs []string
	At       time.Time
}

type medium struct {
	owner    int64
	total    int64
	mime     string
	data     []byte
	segments int
	final    bool
	checks   int // that are answered with in_progress
}

// Options are the settings of a server. The zero value is good.
type Options struct {
	// Processing is how often the state of a video is said to be in progress.
	Processing int
	Now        func() time.Time // nil means time.Now
}

// Server is a running X. Its methods may be called at any time from any goroutine.
type Server struct {
	URL string // http://host:port

	http    *httptest.Server
	options Options

	mu     sync.Mutex
	users  []User
	posts  []Post
	media  map[string]*medium
	faults []Fault
	grants grants
	last   int64
}

// NewServer starts a server without users.
func NewServer(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{options: o, media: map[string]*medium{}, last: 1_700_000_000_000_000_000}
	s.grants = grants{codes: map[string]code{}, access: map[string]access{}, refresh: map[string]int64{}}
	mux := http.NewServeMux()
	handle := func(pattern, call string, do func(*http.Request, User) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, call, do) })
	}
	handle("GET /2/users/me", Me, s.me)
	handle("POST /2/tweets", Create, s.create)
	handle("GET /2/users/{id}/tweets", Timeline, s.timeline)
	handle("POST /2/media/upload/initialize", Initialize, s.initialize)
	handle("POST /2/media/upload/{id}/append", Append, s.append)
	handle("POST /2/media/upload/{id}/finalize", Finalize, s.finalize)
	handle("GET /2/media/upload", Status, s.status)
	mux.HandleFunc("POST /2/oauth2/token", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, Token, func() (int, any) { return s.token(r) })
	})
	mux.HandleFunc("GET /i/oauth2/authorize", s.authorize)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// AddUser adds a user; an id is given to one that has none.
func (s *Server) AddUser(u User) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == 0 {
		u.ID = int64(1000 + len(s.users))
	}
	s.users = append(s.users, u)
	return u
}

// Fail has each fault happen to the next call that it names.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Posts returns what is out, the oldest first.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posts)
}

// Media returns the bytes of an upload.
func (s *Server) Media(id string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.media[id]; m != nil {
		return slices.Clone(m.data)
	}
	return nil
}

// problem is an error as X answers it.
func problem(status int, title, detail string) (int, any) {
	return status, map[string]any{"title": title, "detail": detail, "status": status, "type": "about:blank"}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, call string, do func(*http.Request, User) (int, any)) {
	s.answer(w, r, call, func() (int, any) {
		u, ok := s.caller(r)
		if !ok {
			return problem(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
		}
		return do(r, u)
	})
}

// answer carries a call out, unless a fault is in its way.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, call string, do func() (int, any)) {
	s.mu.Lock()
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Call == call })
	var f Fault
	if i >= 0 {
		f = s.faults[i]
		s.faults = slices.Delete(s.faults, i, i+1)
	}
	status, body := 0, any(nil)
	if i < 0 || f.Carried {
		status, body = do()
	}
	s.mu.Unlock()
	if i >= 0 {
		if f.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		for name, values := range f.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(f.Status)
		fmt.Fprint(w, f.Body)
		return
	}
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// nextID returns a number that was not given before. The caller holds mu.
func (s *Server) nextID() int64 {
	s.last++
	return s.last
}

func text(id int64) string { return strconv.FormatInt(id, 10) }
