// Package ai asks any server with OpenAI's interface for texts and pictures, and for what texts mean.
//
// It promises that a text is whole: an answer that is empty, was cut off or cannot be read is an error that says so.
// It repeats nothing itself; its errors are of type [*platform.Error] and say whether and when a repetition may help.
package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // pictures that are decoded
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	_ "golang.org/x/image/webp"

	"belfry/platform"
)

const (
	defaultBase       = "https://api.openai.com/v1"
	defaultModel      = "gpt-4o-mini"
	defaultImageModel = "gpt-image-1"
	// Deadline is how long a text may take, and DrawDeadline a picture.
	Deadline     = 90 * time.Second
	DrawDeadline = 3 * time.Minute
	// longestWait bounds what a server may ask for. One that says that it was asked too often, and no more, is left alone for
	// defaultWait: such limits count by the minute.
	longestWait = time.Hour
	defaultWait = time.Minute
	maxAnswer   = 8 << 20  // bytes
	maxPicture  = 32 << 20 // bytes of an answer
	quality     = 92       // of the JPEGs that are made here
)

// Config names a server.
type Config struct {
	Base       string // where the paths begin, such as http://127.0.0.1:11434/v1; empty means OpenAI's
	Key        string // empty where the server wants none
	Model      string // of texts; empty means gpt-4o-mini
	ImageModel string // of pictures; empty means gpt-image-1
	EmbedModel string // that makes vectors of texts
	Dimensions int    // of the vectors; 0 means the model's own
}

// Client asks one server. Make it with [New].
type Client struct {
	cfg  Config
	http *http.Client
}

// New returns a client of a server.
func New(cfg Config) (*Client, error) {
	cfg.Base = strings.TrimRight(cmp.Or(cfg.Base, defaultBase), "/")
	cfg.Model, cfg.ImageModel = cmp.Or(cfg.Model, defaultModel), cmp.Or(cfg.ImageModel, defaultImageModel)
	if u, err := url.Parse(cfg.Base); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("is not an http or https address: write it as https://api.openai.com/v1") // it may hold a password
	}
	return &Client{cfg, &http.Client{Timeout: DrawDeadline}}, nil
}

// Message is a part of a conversation.
type Message struct {
	Role      string // system or user
	Content   string
	Image     []byte // shown beside the text; nil: none
	ImageType string // such as image/jpeg
}

// part is one of several parts of a message.
type part struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// MarshalJSON writes a message as the interface wants it.
func (m Message) MarshalJSON() ([]byte, error) {
	var content any = m.Content
	if m.Image != nil {
		content = []part{
			{Type: "text", Text: m.Content},
			{Type: "image_url", Image: &imageURL{"data:" + m.ImageType + ";base64," + base64.StdEncoding.EncodeToString(m.Image)}},
		}
	}
	return json.Marshal(map[string]any{"role": m.Role, "content": content})
}

// Text is what the server wrote.
type Text struct {
	Text   string
	Tokens int // that the question and the answer took; 0 if the server does not say
	Prompt int // those of them that the question took; likewise
}

// answer is what a server answers, as far as it is read.
type answer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage usage `json:"usage"`
}

// problem is what a server answers that refuses.
type problem struct {
	Error struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	} `json:"error"`
}

// usage is how many tokens a question took.
type usage struct {
	TotalTokens  int `json:"total_tokens"`
	PromptTokens int `json:"prompt_tokens"`
	InputTokens  int `json:"input_tokens"` // what they are called where pictures are made
}

// Write has the server answer messages with a text. Beside an error the tokens are those that it took all the same.
func (c *Client) Write(ctx context.Context, messages []Message) (Text, error) {
	var given answer
	if err := c.ask(ctx, "/chat/completions", map[string]any{"model": c.cfg.Model, "messages": messages}, maxAnswer, &given); err != nil {
		return Text{}, err
	}
	return given.text()
}

// Picture is what the server drew.
type Picture struct {
	JPEG   []byte
	Tokens int // as of [Text]
	Prompt int
}

// Draw has the server draw a picture. Beside an error the tokens are those that it took all the same.
func (c *Client) Draw(ctx context.Context, prompt string) (out Picture, err error) {
	question := map[string]any{"model": c.cfg.ImageModel, "prompt": prompt, "n": 1}
	if !strings.HasPrefix(c.cfg.ImageModel, "gpt-image") { // those answer so without being asked, and refuse the question
		question["response_format"] = "b64_json"
	}
	var given struct {
		Data []struct {
			Picture []byte `json:"b64_json"`
		} `json:"data"`
		Usage usage `json:"usage"`
	}
	if err := c.ask(ctx, "/images/generations", question, maxPicture, &given); err != nil {
		return out, err
	}
	out.Tokens, out.Prompt = given.Usage.TotalTokens, max(0, given.Usage.InputTokens)
	if len(given.Data) == 0 {
		return out, failed(platform.Transient, 0, "the AI answered without a picture")
	}
	picture, _, err := image.Decode(bytes.NewReader(given.Data[0].Picture))
	var made bytes.Buffer
	if err == nil {
		err = jpeg.Encode(&made, picture, &jpeg.Options{Quality: quality}) // the format that all networks take
	}
	if err != nil {
		return out, failed(platform.Transient, 0, "the picture of the AI cannot be read: %w", err)
	}
	out.JPEG = made.Bytes()
	return out, nil
}

// ask puts a question and reads its answer, of most bytes, into given.
func (c *Client) ask(ctx context.Context, path string, question any, most int64, given any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encode the question: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.Base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the AI: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.cfg.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	response, err := c.http.Do(request)
	if lost, ok := errors.AsType[*net.OpError](err); ok && lost.Op == "dial" { // the question has reached nobody
		return failed(platform.Wait, defaultWait, "the AI did not answer: %w", platform.WithoutURL(err))
	}
	if err != nil {
		return failed(platform.Transient, 0, "the AI did not answer: %w", platform.WithoutURL(err))
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return failed(platform.Transient, 0, "the answer of the AI was not complete: %w", err)
	}
	var said problem
	_ = json.Unmarshal(data, &said) // without words, the status says it
	if response.StatusCode != http.StatusOK || said.Error.Message != "" {
		return refused(response, said)
	}
	if err := json.Unmarshal(data, given); err != nil {
		return failed(platform.Transient, 0, "the answer of the AI cannot be read: %w", err)
	}
	return nil
}

// Vectors are what the server made of texts.
type Vectors struct {
	Values [][]float32 // one for each text, in their order, all of one length
	Tokens int         // that the texts took; 0 if the server does not say
}

// maxDimensions bounds the length of a vector.
const maxDimensions = 4096

// Embed has the server make vectors of texts: what means the same has about the same direction.
func (c *Client) Embed(ctx context.Context, texts []string) (out Vectors, err error) {
	question := map[string]any{"model": c.cfg.EmbedModel, "input": texts, "encoding_format": "float"}
	if c.cfg.Dimensions > 0 {
		question["dimensions"] = c.cfg.Dimensions
	}
	var given struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage usage `json:"usage"`
	}
	if err := c.ask(ctx, "/embeddings", question, maxAnswer, &given); err != nil {
		return out, err
	}
	out.Tokens = max(given.Usage.TotalTokens, given.Usage.PromptTokens)
	values := make([][]float32, len(texts))
	for _, d := range given.Data {
		if d.Index >= 0 && d.Index < len(values) {
			values[d.Index] = d.Embedding
		}
	}
	for _, v := range values {
		if len(v) == 0 || len(v) > maxDimensions || len(v) != len(values[0]) {
			return out, failed(platform.Transient, 0, "the AI answered without a vector for each text")
		}
	}
	out.Values = values
	return out, nil
}

// text returns the text of an answer if it is one. What a local model has thought before it is left out; the server may
// have kept the beginning of that.
func (a answer) text() (Text, error) {
	out := Text{Tokens: a.Usage.TotalTokens, Prompt: max(0, a.Usage.PromptTokens)}
	if len(a.Choices) == 0 {
		return out, failed(platform.Transient, 0, "the AI answered without a text")
	}
	choice := a.Choices[0]
	text := strings.TrimSpace(choice.Message.Content)
	if _, after, thought := strings.Cut(text, "</think>"); thought {
		text = strings.TrimSpace(after)
	}
	switch {
	case choice.FinishReason == "length":
		return out, failed(platform.Transient, 0, "the answer of the AI was cut off: ask for a shorter text, or let the model write longer ones")
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return out, failed(platform.Refused, 0, "the AI refused to write it: %s", cmp.Or(choice.Message.Refusal, "content filter"))
	case strings.HasPrefix(text, "<think>"):
		return out, failed(platform.Transient, 0, "the AI thought and wrote no text: let the model write longer ones")
	case text == "" || strings.ContainsAny(text, "\x00\uFFFD"):
		return out, failed(platform.Transient, 0, "the AI answered with an empty or damaged text")
	}
	out.Text = text
	return out, nil
}

// refused sorts an answer that is no success.
func refused(response *http.Response, given problem) *platform.Error {
	why := cmp.Or(given.Error.Message, http.StatusText(response.StatusCode))
	kind, scope, wait := platform.Refused, platform.ScopeContent, retryAfter(response)
	switch status := response.StatusCode; {
	case given.Error.Code == "insufficient_quota", status == http.StatusPaymentRequired: // waiting does not help
		scope = platform.ScopeIdentity
	case status == http.StatusTooManyRequests, status == http.StatusBadGateway, status == http.StatusServiceUnavailable:
		kind, wait = platform.Wait, cmp.Or(wait, defaultWait)
	case status == http.StatusRequestTimeout || status >= http.StatusInternalServerError, status == http.StatusOK: // of a model behind it
		kind = platform.Transient
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why += " (check OPENAI_API_KEY)"
		if status == http.StatusUnauthorized { // the other may be about what was asked
			scope = platform.ScopeIdentity
		}
	}
	e := failed(kind, wait, "the AI answered %d: %s", response.StatusCode, why)
	e.Scope = scope
	return e
}

// retryAfter is how long a server asks to wait, in seconds or until a date.
func retryAfter(response *http.Response) time.Duration {
	text := response.Header.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		wait = time.Duration(min(max(seconds, 0), longestWait.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), longestWait)
}

func failed(kind platform.Kind, wait time.Duration, format string, args ...any) *platform.Error {
	return &platform.Error{Kind: kind, Scope: platform.ScopeContent, Wait: wait, Err: fmt.Errorf(format, args...)}
}
