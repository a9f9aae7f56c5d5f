// Package aitest is a server with OpenAI's interface for tests, in the manner of net/http/httptest. It is as strict as
// the original: it wants its key, a model, and messages of known roles.
package aitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Key is the key that the server wants.
const Key = "sk-test"

// Fault is what happens to a call instead of a text.
type Fault string

// The faults.
const (
	Limited  Fault = "limited"  // 429 with Retry-After: 20
	Quota    Fault = "quota"    // 429 for an account without money
	Down     Fault = "down"     // 503
	Slow     Fault = "slow"     // no answer before the caller goes away
	Nonsense Fault = "nonsense" // 200 with what is not JSON
	Cut      Fault = "cut"      // finish_reason length
	Empty    Fault = "empty"    // a text of spaces
	Nothing  Fault = "nothing"  // no choices
	Broken   Fault = "broken"   // the connection ends within the answer
	Unsafe   Fault = "unsafe"   // the model refuses
)

// Call is a question that the server was asked.
type Call struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

// Server is a fake server. Its texts are numbered.
type Server struct {
	*httptest.Server

	mu     sync.Mutex
	calls  []Call
	faults []Fault
	text   string
}

// New starts a server, which the caller closes.
func New() *Server {
	s := &Server{text: "Text"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Base is the address that clients are given.
func (s *Server) Base() string { return s.URL + "/v1" }

// Fail has the next calls end with faults, one each.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Say has the texts begin with these words.
func (s *Server) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// Calls returns the questions that the server was asked with its key.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var call Call
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions":
		problem(w, http.StatusNotFound, "Invalid URL ("+r.Method+" "+r.URL.Path+")", "")
		return
	case r.Header.Get("Authorization") != "Bearer "+Key:
		problem(w, http.StatusUnauthorized, "Incorrect API key provided.", "invalid_api_key")
		return
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || json.NewDecoder(r.Body).Decode(&call) != nil:
		problem(w, http.StatusBadRequest, "We could not parse the JSON body of your request.", "")
		return
	case call.Model == "" || len(call.Messages) == 0:
		problem(w, http.StatusBadRequest, "you must provide a model parameter and messages", "")
		return
	}
	for i, m := range call.Messages {
		if m.Role != "system" && m.Role != "user" && m.Role != "assistant" {
			problem(w, http.StatusBadRequest, fmt.Sprintf("Invalid value: '%s' (messages[%d].role)", m.Role, i), "invalid_value")
			return
		}
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	text, fault := fmt.Sprintf("%s %d", s.text, len(s.calls)), Fault("")
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	s.answer(w, r, text, fault)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, text string, fault Fault) {
	finish, refusal := "stop", ""
	switch fault {
	case Limited:
		w.Header().Set("Retry-After", "20")
		problem(w, http.StatusTooManyRequests, "Rate limit reached.", "rate_limit_exceeded")
		return
	case Quota:
		problem(w, http.StatusTooManyRequests, "You exceeded your current quota.", "insufficient_quota")
		return
	case Down:
		problem(w, http.StatusServiceUnavailable, "The engine is currently overloaded.", "")
		return
	case Slow:
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		return
	case Nonsense:
		fmt.Fprint(w, "<html>Bad gateway</html>")
		return
	case Broken:
		w.Header().Set("Content-Length", "500")
		fmt.Fprint(w, `{"choices":[{"message":`)
		return
	case Nothing:
		fmt.Fprint(w, `{"choices":[],"usage":{"total_tokens":7}}`)
		return
	case Cut:
		finish = "length"
	case Empty:
		text = " \n"
	case Unsafe:
		text, refusal = "", "I can't help with that."
	}
	choice := map[string]any{
		"index": 0, "finish_reason": finish,
		"message": map[string]any{"role": "assistant", "content": text, "refusal": nil},
	}
	if refusal != "" {
		choice["message"] = map[string]any{"role": "assistant", "content": nil, "refusal": refusal}
	}
	send(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "choices": []any{choice},
		"usage": map[string]int{"prompt_tokens": 60, "completion_tokens": 40, "total_tokens": 100},
	})
}

func problem(w http.ResponseWriter, status int, message, code string) {
	given := map[string]any{"message": message, "type": "error", "param": nil, "code": nil}
	if code != "" {
		given["code"] = code
	}
	send(w, status, map[string]any{"error": given})
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked may have gone
}
