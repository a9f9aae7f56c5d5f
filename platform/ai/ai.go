// Package ai asks any server with OpenAI's interface for texts.
//
// It promises that a text is whole: an answer that is empty, was cut off or cannot be read is an error that says so.
// It repeats nothing itself; its errors are of type [*platform.Error] and say whether and when a repetition may help.
package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
)

const (
	defaultBase  = "https://api.openai.com/v1"
	defaultModel = "gpt-4o-mini"
	// Deadline is how long an answer may take.
	Deadline = 90 * time.Second
	// longestWait bounds what a server may ask for.
	longestWait = time.Hour
	maxAnswer   = 1 << 20 // bytes
)

// Config names a server.
type Config struct {
	Base  string // where the paths begin, such as http://127.0.0.1:11434/v1; empty means OpenAI's
	Key   string // empty where the server wants none
	Model string // empty means gpt-4o-mini
}

// Client asks one server. Make it with [New].
type Client struct {
	cfg  Config
	http *http.Client
}

// New returns a client of a server.
func New(cfg Config) (*Client, error) {
	cfg.Base = strings.TrimRight(cmp.Or(cfg.Base, defaultBase), "/")
	cfg.Model = cmp.Or(cfg.Model, defaultModel)
	if u, err := url.Parse(cfg.Base); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an http or https address: write it as https://api.openai.com/v1", cfg.Base)
	}
	return &Client{cfg, &http.Client{Timeout: Deadline}}, nil
}

// Message is a part of a conversation.
type Message struct {
	Role    string `json:"role"` // system or user
	Content string `json:"content"`
}

// Text is what the server wrote.
type Text struct {
	Text   string
	Tokens int // that the question and the answer took; 0 if the server does not say
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
	Usage struct {
		TotalTokens int `json:"total_tokens"`
	} `json:"usage"`
	Error struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	} `json:"error"`
}

// Write has the server answer messages with a text. Beside an error the tokens are those that it took all the same.
func (c *Client) Write(ctx context.Context, messages []Message) (Text, error) {
	body, err := json.Marshal(map[string]any{"model": c.cfg.Model, "messages": messages})
	if err != nil {
		return Text{}, fmt.Errorf("encode the question: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.Base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return Text{}, fmt.Errorf("ask the AI: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.cfg.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address
		}
		return Text{}, failed(platform.Transient, 0, "the AI did not answer: %w", err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return Text{}, failed(platform.Transient, 0, "the answer of the AI was not complete: %w", err)
	}
	var given answer
	unread := json.Unmarshal(data, &given)
	if response.StatusCode != http.StatusOK {
		return Text{}, refused(response, given)
	}
	if unread != nil {
		return Text{}, failed(platform.Transient, 0, "the answer of the AI cannot be read: %w", unread)
	}
	return given.text()
}

// text returns the text of an answer if it is one.
func (a answer) text() (Text, error) {
	out := Text{Tokens: a.Usage.TotalTokens}
	if len(a.Choices) == 0 {
		return out, failed(platform.Transient, 0, "the AI answered without a text")
	}
	choice := a.Choices[0]
	text := strings.TrimSpace(choice.Message.Content)
	switch {
	case choice.FinishReason == "length":
		return out, failed(platform.Transient, 0, "the answer of the AI was cut off: ask for a shorter text, or let the model write longer ones")
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return out, failed(platform.Refused, 0, "the AI refused to write it: %s", cmp.Or(choice.Message.Refusal, "content filter"))
	case text == "" || strings.ContainsAny(text, "\x00\uFFFD"):
		return out, failed(platform.Transient, 0, "the AI answered with an empty or damaged text")
	}
	out.Text = text
	return out, nil
}

// refused sorts an answer that is no success.
func refused(response *http.Response, given answer) *platform.Error {
	why := cmp.Or(given.Error.Message, http.StatusText(response.StatusCode))
	kind := platform.Refused
	switch status := response.StatusCode; {
	case given.Error.Code == "insufficient_quota": // waiting does not help
	case status == http.StatusTooManyRequests:
		kind = platform.Wait
	case status == http.StatusRequestTimeout || status >= http.StatusInternalServerError:
		kind = platform.Transient
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why += " (check OPENAI_API_KEY)"
	}
	return failed(kind, retryAfter(response), "the AI answered %d: %s", response.StatusCode, why)
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
