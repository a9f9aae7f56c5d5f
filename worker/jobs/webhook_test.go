package jobs

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry/platform/fetch"
	"belfry/scheduler"
	"belfry/store"
)

type received struct{ id, at, signature, body string }

// proved reports whether the secret has made the signature, as Standard Webhooks says it.
func (r received) proved(secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.id + "." + r.at + "." + r.body))
	return err == nil && r.signature == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// A real server fails, leads elsewhere, is slow and at last takes the call.
func TestAWebhookIsSignedAndItsAnswersCount(t *testing.T) {
	const silent = 0
	var status atomic.Int64
	got := make(chan received, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), r.Header.Get("Webhook-Signature"), string(body)}
		if status.Load() == silent {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	}))
	defer srv.Close()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Key: make([]byte, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	action := store.Action{Type: store.ActionWebhook, URL: srv.URL + "/in"}
	if _, err := New(db, Workers{}, Config{}).Prepare(context.Background(), Request{Title: "Hook", Trigger: Schedule{Every: "1h"}, Action: action}); err == nil {
		t.Error("a private address was accepted")
	}
	var private fetch.Allowed
	if err := private.UnmarshalText([]byte("127.0.0.0/8")); err != nil {
		t.Fatal(err)
	}
	w := New(db, Workers{}, Config{Private: private})
	draft, err := w.Prepare(context.Background(), Request{Title: "Hook", Trigger: Schedule{Every: "1h"}, Timeout: time.Second, Action: action})
	if err != nil {
		t.Fatal(err)
	}
	update := func(fn func(*store.Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	var job store.Job
	update(func(tx *store.Tx) (err error) {
		job, err = w.Create(tx, draft)
		return err
	})
	run := func(answer int64) scheduler.Outcome {
		t.Helper()
		status.Store(answer)
		var begun scheduler.Worker
		update(func(tx *store.Tx) (err error) {
			begun, err = w.Begin(tx, job)
			return err
		})
		out, err := begun.Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		update(func(tx *store.Tx) error {
			if out.Write == nil {
				return nil
			}
			return out.Write(tx)
		})
		return out
	}
	if out := run(500); out.Reason.Code != store.ReasonRetry || out.Again.IsZero() {
		t.Errorf("after 500: %+v", out)
	}
	if out := run(silent); out.Reason.Code != store.ReasonRetry {
		t.Errorf("after no answer: %+v", out)
	}
	if out := run(204); out.Failed || !out.Again.IsZero() {
		t.Errorf("after 204: %+v", out)
	}
	if out := run(302); out.Reason.Code != store.ReasonRefused || !out.Failed {
		t.Errorf("after 302: %+v", out)
	}
	first, second, third, next := <-got, <-got, <-got, <-got
	if len(got) != 0 {
		t.Errorf("a redirect was followed: %+v", <-got)
	}
	for _, r := range []received{first, second, third, next} {
		if !r.proved(draft.Secret()) || !strings.Contains(r.body, `"job":"job_1"`) {
			t.Errorf("%+v", r)
		}
	}
	if first.id != second.id || second.id != third.id || first.body != third.body || next.id == third.id {
		t.Errorf("ids %s %s %s, then %s", first.id, second.id, third.id, next.id)
	}
	update(func(tx *store.Tx) error {
		return tx.OwnJobs.Change(1, func(own *store.OwnJob) { own.Action.Secret, own.Sealed = "", "with another key" })
	})
	if out := run(204); !out.Failed || !strings.Contains(out.Reason.Detail, "sealed with another key") || len(got) != 0 {
		t.Errorf("without the secret: %+v, %d calls", out, len(got))
	}
	title := func(r *Request) { r.Title = "Another title" }
	if draft, err := w.PrepareChange(t.Context(), job.Name, title); err != nil || draft.Secret() != "" {
		t.Errorf("with another title it has the secret %q: %v", draft.Secret(), err)
	}
}
