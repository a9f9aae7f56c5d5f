package web

import (
	"strings"
	"testing"
)

func TestEverythingCanBePausedAndGoesOn(t *testing.T) {
	h := start(t)
	for _, step := range []struct{ path, want string }{
		{"/pause", `"paused":true`}, {"/resume", `"paused":false`},
	} {
		if got := h.api("POST", step.path, ""); got.status != 200 || !strings.Contains(got.body, step.want) {
			t.Errorf("POST %s: %d %s", step.path, got.status, got.body)
		}
	}
}
