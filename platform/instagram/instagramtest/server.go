// Package instagramtest is a small Instagram that publishes, for tests and demonstrations, in the manner of
// net/http/httptest: professional accounts with their tokens, containers, and what is out.
//
// It is strict: a wrong token, a parameter that it does not know, a container that is not ready or of another
// account are refused with the codes of the Content Publishing API. It takes faults, also ones that carry a call
// out and lose the answer. It fetches no media.
package instagramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The calls, by which faults name them.
const (
	Me        = "me"
	Container = "container"
	Status    = "status"
	Publish   = "publish"
	Limit     = "limit"
	Recent    = "recent"
	Permalink = "permalink"
	Refresh   = "refresh"
)

// Fault is what happens to one call.
type Fault struct {
	Call string
	// Status is of the answer; 0: the call is lost.
	Status int
	Body   string
	// Carried says that the call has its effect all the same.
	Carried bool
}

// Refusal is the fault with which Instagram refuses a call.
func Refusal(call string, code, subcode int) Fault {
	return Fault{Call: call, Status: http.StatusBadRequest, Body: fmt.Sprintf(`{"error":{"message":"refused","type":"OAuthException","code":%d,"error_subcode":%d}}`, code, subcode)}
}

// Lifetime is of a token.
const Lifetime = 60 * 24 * time.Hour

// Account is a professional account.
type Account struct {
	ID       int64
	Username string
	Token    string
	Made     time.Time // of the token; it is refreshed only when it is a day old
}

// Post is one that is out.
type Post struct {
	ID      int64
	Account int64
	Caption string
	Media   []string // addresses
	At      time.Time
}

type container struct {
	owner   int64
	child   bool
	caption string
	media   []string
	trouble string // the error that filling it ends with
	state   string // when it is filled
	made    time.Time
}

// Options are the settings of a server. The zero value is good.
type Options struct {
	Filling time.Duration    // how long it takes to fill a container
	Now     func() time.Time // nil means time.Now
}

// Server is a running Instagram. Its methods may be called at any time from any goroutine.
type Server struct {
	URL string // http://host:port

	http    *httptest.Server
	options Options

	mu         sync.Mutex
	accounts   []Account
	containers map[string]*container
	posts      []Post
	faults     []Fault
	troubles   []string
	last       int64
}

// NewServer starts a server without accounts.
func NewServer(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{options: o, containers: map[string]*container{}, last: 17_900_000_000_000_000}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// AddAccount adds an account; an id is given to one that has none.
func (s *Server) AddAccount(a Account) Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.ID == 0 {
		a.ID = int64(17841400000000000 + len(s.accounts))
	}
	s.accounts = append(s.accounts, a)
	return a
}

// Fail has each fault happen to the next call that it names.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Spoil has the next container that is made end with ERROR and this status.
func (s *Server) Spoil(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = append(s.troubles, status)
}

// Posts returns what is out, the oldest first.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posts)
}

// answer is what a call is answered with.
type answer struct {
	status int
	body   any
}

func ok(body map[string]any) answer { return answer{http.StatusOK, body} }

func refused(code, subcode int, message string) answer {
	status := http.StatusBadRequest
	return answer{status, map[string]any{"error": map[string]any{"message": message, "type": "OAuthException", "code": code, "error_subcode": subcode, "fbtrace_id": "A"}}}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	call, do := s.route(r)
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Call == call })
	var f Fault
	if i >= 0 {
		f = s.faults[i]
		s.faults = slices.Delete(s.faults, i, i+1)
	}
	var a answer
	if i < 0 || f.Carried {
		a = do()
	}
	s.mu.Unlock()
	if i >= 0 {
		if f.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(f.Status)
		fmt.Fprint(w, f.Body)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// route returns the name of a call and what it does. The caller holds mu.
func (s *Server) route(r *http.Request) (call string, do func() answer) {
	if r.Method == http.MethodGet && r.URL.Path == "/refresh_access_token" {
		return Refresh, func() answer { return s.refresh(r) }
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	i := slices.IndexFunc(s.accounts, func(a Account) bool { return bearer && a.Token == token })
	known := func(name string, do func(Account) answer, params ...string) (string, func() answer) {
		return name, func() answer {
			if i < 0 {
				return refused(190, 0, "Invalid OAuth access token - Cannot parse access token")
			}
			if len(parts) == 3 && parts[1] != strconv.FormatInt(s.accounts[i].ID, 10) {
				return refused(100, 33, "Unsupported request: the object does not exist")
			}
			for name := range r.Form {
				if !slices.Contains(params, name) {
					return refused(100, 0, fmt.Sprintf("Invalid parameter %s", name))
				}
			}
			return do(s.accounts[i])
		}
	}
	get, of := r.Method == http.MethodGet, strings.Join(parts[min(2, len(parts)):], "/")
	switch {
	case len(parts) < 2 || len(parts) > 3 || parts[0] != "v23.0":
	case get && len(parts) == 2 && parts[1] == "me":
		return known(Me, func(a Account) answer {
			return ok(map[string]any{"user_id": strconv.FormatInt(a.ID, 10), "username": a.Username, "id": "1"})
		}, "fields")
	case get && len(parts) == 2 && s.containers[parts[1]] != nil:
		return known(Status, func(a Account) answer { return s.status(a, parts[1]) }, "fields")
	case get && len(parts) == 2:
		return known(Permalink, func(a Account) answer { return s.permalink(a, parts[1]) }, "fields")
	case get && of == "content_publishing_limit":
		return known(Limit, func(a Account) answer {
			return ok(map[string]any{"data": []any{map[string]any{"quota_usage": len(s.today(a))}}})
		}, "fields")
	case get && of == "media":
		return known(Recent, s.recent, "fields", "limit")
	case !get && of == "media":
		return known(Container, func(a Account) answer { return s.container(a, r.PostForm) }, "image_url", "video_url", "media_type", "caption", "is_carousel_item", "children")
	case !get && of == "media_publish":
		return known(Publish, func(a Account) answer { return s.publish(a, r.PostForm.Get("creation_id")) }, "creation_id")
	}
	return "unknown", func() answer { return refused(100, 33, "Unsupported request") }
}

func (s *Server) nextID() string {
	s.last++
	return strconv.FormatInt(s.last, 10)
}

func (s *Server) container(a Account, form url.Values) answer {
	c := &container{owner: a.ID, child: form.Get("is_carousel_item") == "true", caption: form.Get("caption"), state: "FINISHED", made: s.options.Now()}
	picture, film, kind := form.Get("image_url"), form.Get("video_url"), form.Get("media_type")
	switch {
	case utf8.RuneCountInString(c.caption) > 2200 || strings.Count(c.caption, "#") > 30:
		return refused(36003, 2207010, "The caption is too long")
	case c.child && c.caption != "":
		return refused(100, 0, "An item of a carousel has no caption")
	case kind == "CAROUSEL":
		ids := strings.Split(form.Get("children"), ",")
		if len(ids) < 2 || len(ids) > 10 || picture+film != "" || c.child {
			return refused(36000, 2207028, "A carousel has 2 to 10 items")
		}
		for _, id := range ids {
			item := s.containers[id]
			if item == nil || item.owner != a.ID || !item.child {
				return refused(24, 2207006, "The media cannot be found")
			}
			if s.filling(item) || item.state != "FINISHED" {
				return refused(9007, 2207027, "The media is not ready")
			}
			c.media = append(c.media, item.media...)
		}
	case picture != "" && film == "" && kind == "":
		if !strings.HasPrefix(picture, "https://") {
			return refused(9004, 2207052, "The media could not be fetched")
		}
		if ending := path.Ext(picture); ending != ".jpg" && ending != ".jpeg" {
			return refused(36000, 2207005, "The image format is not supported")
		}
		c.media = []string{picture}
	case film != "" && picture == "" && (c.child && kind == "VIDEO" || !c.child && kind == "REELS"):
		c.media = []string{film}
	default:
		return refused(100, 0, "The parameter image_url is required")
	}
	if len(s.troubles) > 0 {
		c.state, c.trouble, s.troubles = "ERROR", s.troubles[0], s.troubles[1:]
	}
	id := s.nextID()
	s.containers[id] = c
	return ok(map[string]any{"id": id})
}

func (s *Server) status(a Account, id string) answer {
	c := s.containers[id]
	if c.owner != a.ID {
		return refused(100, 33, "Unsupported request: the object does not exist")
	}
	state, said := c.state, "Finished: Media has been uploaded and it is ready to be published."
	switch {
	case s.filling(c):
		state, said = "IN_PROGRESS", "In Progress: Media is still being processed."
	case state == "FINISHED" && s.options.Now().Sub(c.made) > 24*time.Hour:
		state = "EXPIRED"
	case state == "ERROR":
		said = c.trouble
	}
	return ok(map[string]any{"status_code": state, "status": said, "id": id})
}

func (s *Server) filling(c *container) bool { return s.options.Now().Sub(c.made) < s.options.Filling }

func (s *Server) publish(a Account, id string) answer {
	c := s.containers[id]
	switch {
	case c == nil || c.owner != a.ID || c.child:
		return refused(24, 2207006, "The media cannot be found")
	case c.state == "PUBLISHED":
		return refused(-1, 0, "The media was published already")
	case s.filling(c) || c.state != "FINISHED":
		return refused(9007, 2207027, "The media is not ready for publishing")
	case s.options.Now().Sub(c.made) > 24*time.Hour:
		return refused(24, 2207008, "The container has expired")
	case len(s.today(a)) >= 100:
		return refused(9, 2207042, "The account has reached the maximum of posts")
	}
	c.state = "PUBLISHED"
	number, _ := strconv.ParseInt(s.nextID(), 10, 64)
	s.posts = append(s.posts, Post{ID: number, Account: a.ID, Caption: c.caption, Media: c.media, At: s.options.Now()})
	return ok(map[string]any{"id": strconv.FormatInt(number, 10)})
}

// today returns what an account has published within 24 hours.
func (s *Server) today(a Account) (posts []Post) {
	for _, p := range s.posts {
		if p.Account == a.ID && s.options.Now().Sub(p.At) < 24*time.Hour {
			posts = append(posts, p)
		}
	}
	return posts
}

func (s *Server) permalink(a Account, id string) answer {
	for _, p := range s.posts {
		if strconv.FormatInt(p.ID, 10) == id && p.Account == a.ID {
			return ok(map[string]any{"id": id, "permalink": fmt.Sprintf("https://www.instagram.com/p/%x/", p.ID)})
		}
	}
	return refused(100, 33, "Unsupported request: the object does not exist")
}

func (s *Server) recent(a Account) answer {
	list := []any{}
	for _, p := range slices.Backward(s.posts) {
		if p.Account == a.ID {
			list = append(list, map[string]any{"id": strconv.FormatInt(p.ID, 10), "caption": p.Caption, "timestamp": p.At.UTC().Format("2006-01-02T15:04:05-0700")})
		}
	}
	return ok(map[string]any{"data": list})
}

func (s *Server) refresh(r *http.Request) answer {
	for i := range s.accounts {
		a := &s.accounts[i]
		if a.Token != r.Form.Get("access_token") || r.Form.Get("grant_type") != "ig_refresh_token" {
			continue
		}
		if s.options.Now().Sub(a.Made) < 24*time.Hour {
			return refused(100, 0, "The access token is too new")
		}
		a.Token, a.Made = a.Token+"+", s.options.Now()
		return ok(map[string]any{"access_token": a.Token, "token_type": "bearer", "expires_in": int(Lifetime / time.Second)})
	}
	return refused(190, 0, "Error validating access token")
}
