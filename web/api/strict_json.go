package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// strictJSON reads the body of a request. What encoding/json would change in silence is refused, with the
// field's name: of two values of a name it takes the last, and of what is no text it makes replacement
// characters. The error's parts, for [plainField], are separated by NUL.
func strictJSON(data []byte, into any) error {
	refuse := func(at jsontext.Pointer, problem, cure string) error {
		return errors.New(strings.Join([]string{fieldAt(at), problem, cure}, "\x00"))
	}
	err := json.Unmarshal(data, into)
	if _, first := into.(*any); !first { // huma reads a body to check it, and then again
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its type has been checked
			return refuse(jsontext.Pointer(wrong.Field), "is out of range", "send a smaller number")
		}
		return err
	}
	if err != nil {
		return err
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	for decoder.InputOffset() < int64(len(bytes.TrimRight(data, " \t\r\n"))) {
		token, err := decoder.ReadToken()
		if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			if errors.Is(err, jsontext.ErrDuplicateName) {
				return refuse(wrong.JSONPointer, "is there twice", "give it once")
			}
			return refuse(wrong.JSONPointer, "is not valid UTF-8, or has half of a surrogate pair", "send text in UTF-8")
		}
		if err != nil {
			return err
		}
		if token.Kind() == '"' && strings.Contains(token.String(), "\x00") {
			return refuse(decoder.StackPointer(), "has a NUL character", "leave it out")
		}
	}
	return nil
}

// fieldAt writes a place in a body as problems do: media[0].url.
func fieldAt(at jsontext.Pointer) string {
	path := regexp.MustCompile(`/(\d+)`).ReplaceAllString(strings.ToValidUTF8(string(at), "\ufffd"), "[$1]")
	if path = strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."); path == "" {
		return "body"
	}
	return path
}
