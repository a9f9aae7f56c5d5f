// Package aitest is a server with OpenAI's interface for tests, in the manner of net/http/httptest. It is as strict as
// the original: it wants its key, a model, and messages of known roles or texts.
package aitest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Key is the key that the server wants.
const Key = "sk-test"

// Fault is what happens to a call instead of a text.
type Fault string

// The faults.
const (
	Limited  Fault = "limited"  // 429 with Retry-After: 20
	Crowded  Fault = "crowded"  // 429 that does not say for how long
	Quota    Fault = "quota"    // 429 for an account without money
	Down     Fault = "down"     // 503
	Slow     Fault = "slow"     // no answer before the caller goes away
	Nonsense Fault = "nonsense" // 200 with what is not JSON
	Cut      Fault = "cut"      // finish_reason length
	Empty    Fault = "empty"    // a text of spaces
	Nothing  Fault = "nothing"  // no choices
	Inside   Fault = "inside"   // 200 with an error
	Broken   Fault = "broken"   // the connection ends within the answer
	Unsafe   Fault = "unsafe"   // the model refuses
)

// Call is a question that the server was asked.
type Call struct {
	Model    string `json:"model"`
	Prompt   string `json:"prompt"`          // of a picture
	Format   string `json:"response_format"` // likewise
	Messages []struct {
		Role    string  `json:"role"`
		Content Content `json:"content"`
	} `json:"messages"`
}

// Embedding is texts of which the server was asked to make vectors.
type Embedding struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`
}

// Dimensions is the length of the server's vectors, unless it is asked for another one.
const Dimensions = 256

// Content is what a message says and shows.
type Content struct {
	Text   string
	Images [][]byte
}

// UnmarshalJSON reads a text, or a list of texts and images.
func (c *Content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Text) == nil {
		return nil
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		_, encoded, inline := strings.Cut(p.Image.URL, ";base64,")
		image, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case p.Type == "text":
			c.Text += p.Text
		case p.Type != "image_url" || !strings.HasPrefix(p.Image.URL, "data:image/") || !inline || err != nil || len(image) == 0:
			return fmt.Errorf("no part of a message is like this: %s", p.Type)
		default:
			c.Images = append(c.Images, image)
		}
	}
	return nil
}

// Server is a fake server. Its texts are numbered.
type Server struct {
	*httptest.Server

	mu     sync.Mutex
	calls  []Call
	faults []Fault
	text   string

	embeddings []Embedding
	same       map[string]string
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

// Recover ends the faults that no question has met.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Say has the texts begin with these words.
func (s *Server) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// Same has words mean the same in vectors.
func (s *Server) Same(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.same == nil {
		s.same = make(map[string]string)
	}
	for _, w := range words {
		s.same[w] = words[0]
	}
}

// Embeddings returns what the server was asked to make vectors of, with its key.
func (s *Server) Embeddings() []Embedding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Embedding(nil), s.embeddings...)
}

// Calls returns the questions that the server was asked with its key.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var call Call
	var embedding Embedding
	var asked any = &call
	draws, embeds := r.URL.Path == "/v1/images/generations", r.URL.Path == "/v1/embeddings"
	if embeds {
		asked = &embedding
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" && !draws && !embeds:
		problem(w, http.StatusNotFound, "Invalid URL ("+r.Method+" "+r.URL.Path+")", "")
		return
	case r.Header.Get("Authorization") != "Bearer "+Key:
		problem(w, http.StatusUnauthorized, "Incorrect API key provided.", "invalid_api_key")
		return
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || json.NewDecoder(r.Body).Decode(asked) != nil:
		problem(w, http.StatusBadRequest, "We could not parse the JSON body of your request.", "")
		return
	case draws && (call.Model == "" || call.Prompt == ""):
		problem(w, http.StatusBadRequest, "you must provide a model and a prompt", "")
		return
	case draws && strings.HasPrefix(call.Model, "gpt-image") != (call.Format == ""):
		problem(w, http.StatusBadRequest, "Unknown parameter: 'response_format'.", "unknown_parameter")
		return
	case embeds && (embedding.Model == "" || len(embedding.Input) == 0 || slices.Contains(embedding.Input, "")):
		problem(w, http.StatusBadRequest, "'$.input' is invalid.", "")
		return
	case !draws && !embeds && (call.Model == "" || len(call.Messages) == 0):
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
	if embeds {
		s.embeddings = append(s.embeddings, embedding)
	} else {
		s.calls = append(s.calls, call)
	}
	text, fault := fmt.Sprintf("%s %d", s.text, len(s.calls)), Fault("")
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	switch {
	case fails(w, r, fault):
	case embeds:
		s.embed(w, embedding)
	case draws:
		draw(w, fault == Cut)
	default:
		answer(w, text, fault)
	}
}

// embed answers with vectors that have the words of the texts, each in a place of its own as far as there is room: texts
// with words in common, or with words that mean the same, are near each other.
func (s *Server) embed(w http.ResponseWriter, asked Embedding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var data []any
	tokens := 0
	for i, text := range asked.Input {
		vector := make([]float32, cmp.Or(asked.Dimensions, Dimensions))
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(cmp.Or(s.same[word], word))) // it cannot fail
			vector[int(h.Sum32())%len(vector)]++
			tokens++
		}
		data = append([]any{map[string]any{"object": "embedding", "index": i, "embedding": vector}}, data...) // the order is not promised
	}
	send(w, http.StatusOK, map[string]any{
		"object": "list", "model": asked.Model, "data": data, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// fails lets a call fail in ways that are the same for texts and vectors.
func fails(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case Limited, Crowded:
		if fault == Limited {
			w.Header().Set("Retry-After", "20")
		}
		problem(w, http.StatusTooManyRequests, "Rate limit reached.", "rate_limit_exceeded")
	case Quota:
		problem(w, http.StatusTooManyRequests, "You exceeded your current quota.", "insufficient_quota")
	case Down:
		problem(w, http.StatusServiceUnavailable, "The engine is currently overloaded.", "")
	case Slow:
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	case Nonsense:
		fmt.Fprint(w, "<html>Bad gateway</html>")
	case Broken:
		w.Header().Set("Content-Length", "500")
		fmt.Fprint(w, `{"choices":[{"message":`)
	case Inside:
		problem(w, http.StatusOK, "Provider returned error.", "")
	case Nothing:
		fmt.Fprint(w, `{"choices":[],"usage":{"total_tokens":7}}`)
	default:
		return false
	}
	return true
}

// answer answers with a text.
func answer(w http.ResponseWriter, text string, fault Fault) {
	finish, refusal := "stop", ""
	switch fault {
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

// draw answers with a picture of one colour, or with a half of it.
func draw(w http.ResponseWriter, half bool) {
	var picture bytes.Buffer
	_ = png.Encode(&picture, image.NewPaletted(image.Rect(0, 0, 640, 480), color.Palette{color.RGBA{23, 96, 90, 255}})) // into memory
	if half {
		picture.Truncate(picture.Len() / 2)
	}
	send(w, http.StatusOK, map[string]any{
		"created": 1, "data": []any{map[string]any{"b64_json": picture.Bytes()}},
		"usage": map[string]int{"input_tokens": 10, "output_tokens": 290, "total_tokens": 300},
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
