package session

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

func open(t *testing.T, cfg Config) *Sessions {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := New(cfg, db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestThePasswordOfTheSettingsIsTakenOnce(t *testing.T) {
	const chosen = "correct horse battery"
	s := open(t, Config{Password: chosen})
	if _, err := New(Config{Password: "something else"}, s.db); err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"something else": false, chosen: true} {
		c := echo.New().NewContext(httptest.NewRequest("POST", "/sign-in", nil), httptest.NewRecorder())
		if right, _, err := s.CheckPassword(c, password); err != nil || right != want {
			t.Errorf("%s: %v %v", password, right, err)
		}
	}
	for hash, password := range map[string]string{
		"": "", "plain": "plain", argonPrefix: "", argonPrefix + "AAAAAAAAAAAAAAAAAAAAAA$": "",
	} {
		if s.doorkeeper.matches(hash, password) {
			t.Errorf("%q lets %q in", hash, password)
		}
	}
}

func TestSlowReadersHoldFewAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Token: "one"})
		if err := s.db.Update(func(tx *store.Tx) error {
			return tx.Tokens.Put(&store.Token{Name: "another", Hash: Digest([]byte("another")), CreatedAt: tx.Now()})
		}); err != nil {
			t.Fatal(err)
		}
		entered, leave := 0, make(chan struct{})
		handler := s.Bearer(func(echo.Context) error {
			entered++
			<-leave
			return nil
		})
		ask := func(token string) <-chan error {
			r := httptest.NewRequest("GET", "/api/v1/jobs", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			ended := make(chan error, 1)
			go func() { ended <- handler(echo.New().NewContext(r, httptest.NewRecorder())) }()
			synctest.Wait()
			return ended
		}
		for range maxUnderWay {
			ask("one")
		}
		ask("one")
		if entered != maxUnderWay {
			t.Errorf("%d requests were under way", entered)
		}
		if ask("another"); entered != maxUnderWay+1 {
			t.Error("another token was kept waiting")
		}
		leave <- struct{}{}
		synctest.Wait()
		if entered != maxUnderWay+2 {
			t.Error("one more was kept waiting when an answer was taken")
		}
		late := ask("one")
		time.Sleep(maxTurnWait)
		var busy *Refusal
		if err := <-late; !errors.As(err, &busy) || busy.Status != http.StatusTooManyRequests || busy.RetryAfter == 0 {
			t.Errorf("one that waited for long: %v", err)
		}
		close(leave)
	})
}

func TestTheAuditNamesRecords(t *testing.T) {
	for resource, want := range map[string]string{"posts": "post_17", "identities": "identity_17", "watches": "watch_17", "media": "media_17"} {
		if got := recordName(resource, "17"); got != want {
			t.Errorf("%s: %s, want %s", resource, got, want)
		}
	}
}
