package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"belfry/store"
)

// targets are chats as callers name them: numbers, or strings with numbers, names or links in them.
// There may be 200,000, so they are read in one go and checked once, by the worker.
type targets struct {
	names []string
	odd   int // the place of the first that is neither number nor string, from 1; 0: there is none
}

// UnmarshalJSON reads both ways of writing.
func (t *targets) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return fmt.Errorf("target_chat_ids is not an array: %w", err)
	}
	t.names, t.odd = make([]string, 0, len(items)), 0
	for i, item := range items {
		name, ok := targetName(item)
		if !ok && t.odd == 0 {
			t.odd = i + 1
		}
		t.names = append(t.names, name)
	}
	return nil
}

func targetName(item []byte) (name string, ok bool) {
	if len(item) == 0 || item[0] != '"' {
		digits := bytes.TrimPrefix(item, []byte("-"))
		return string(item), len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
	}
	if inner := item[1 : len(item)-1]; !bytes.ContainsAny(inner, `\"`) {
		return string(inner), true
	}
	return name, json.Unmarshal(item, &name) == nil
}

// named returns the chats. The error is about the first that cannot be one.
func (t targets) named() ([]string, error) {
	if t.odd > 0 {
		return nil, store.Invalid(fmt.Sprintf("target_chat_ids[%d]", t.odd-1), "invalid.target_type")
	}
	return t.names, nil
}

// Schema describes both ways of writing, without having each item checked twice.
func (targets) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{
		Description: "An id as bots and Telethon write it, @name, or a link",
		Extensions:  map[string]any{"type": []string{huma.TypeInteger, huma.TypeString}},
		Examples:    []any{-1001234567890, "-1001234567890", "@evening_news", "https://t.me/evening_news"},
	}}
}
