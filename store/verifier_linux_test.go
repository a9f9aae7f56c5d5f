package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAVerificationThatTakesTooMuchMemoryIsEnded(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector needs more memory than the limit")
	}
	problems, err := Verifier{os.Args[0], "hog"}.Verify(t.Context(), closedFile(t, 10))
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Problem, "ends the program") {
		t.Errorf("found %v, %v", problems, err)
	}
}

func TestAVerificationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Verifier{"sh", "-c", "exec sleep 600"}.Verify(ctx, closedFile(t, 10))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
