package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"belfry/store"
)

func TestEachErrorHasItsStatus(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("while trying: %w", err) }
	for _, c := range []struct {
		err    error
		status int
		retry  string
	}{
		{store.Invalid("text", "invalid.no_text"), http.StatusUnprocessableEntity, ""},
		{store.Conflict("conflict.post_published", uint64(1)), http.StatusConflict, ""},
		{store.ErrNotFound, http.StatusNotFound, ""},
		{store.ErrExists, http.StatusConflict, ""},
		{fmt.Errorf("commit: %w: %w", store.ErrUnavailable, errors.New("no space left on device")), http.StatusServiceUnavailable, "2"},
		{&store.CorruptError{Table: "posts", ID: 3, Err: errors.New("checksum")}, http.StatusInternalServerError, ""},
		{errors.New("something with a path: /var/lib/belfry"), http.StatusInternalServerError, ""},
	} {
		p := ProblemOf(wrap(c.err))
		if p.Status != c.status || p.Detail == "" || p.GetHeaders().Get("Retry-After") != c.retry {
			t.Errorf("%v: %+v", c.err, p)
		}
	}
	full := fmt.Errorf("commit: %w: %w", store.ErrUnavailable, syscall.ENOSPC)
	if p := ProblemOf(wrap(full)); p.Status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, "full") {
		t.Errorf("that the disk is full is not said: %+v", p)
	}
	if p := ProblemOf(errors.New("secret detail")); p.Detail != ProblemOf(errors.New("another")).Detail {
		t.Errorf("an error that nobody sorted is shown: %s", p.Detail)
	}
}
