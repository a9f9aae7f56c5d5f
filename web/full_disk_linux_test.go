package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry/store"
)

func TestHealthSaysThatNothingCanBeWritten(t *testing.T) {
	dir := filepath.Dir(t.TempDir()) // that of all folders of this test
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		if os.Getenv("BELFRY_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("needs the right to mount a small filesystem")
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	h := start(t)
	for strings.Contains(h.get("/health").body, "scheduler_stopped") { // it reads the jobs first, while there is room
	}
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 64<<10))
	}
	filler.Close()
	for _, size := range []int{100_000, 1000} { // until there is no room for a post either
		for i := 0; ; i++ {
			err := h.db.Update(func(tx *store.Tx) error {
				return tx.Settings.Put(&store.Setting{Name: fmt.Sprint("row ", i, " of ", size), Value: strings.Repeat("x", size)})
			})
			if store.IsFull(err) {
				break
			}
			if err != nil || i == 20_000 {
				t.Fatalf("after %d rows: %v", i, err)
			}
		}
	}
	if a := h.get("/health"); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, `"code":"store"`) || !strings.Contains(a.body, "no space left") {
		t.Errorf("%d %s", a.status, a.body)
	}
	body := fmt.Sprintf(`{"platform":"telegram","text":%q,"scheduled_time":%q}`, strings.Repeat("word ", 700), h.soon(time.Hour))
	a := h.api("POST", "/scheduled-posts", body)
	for n := 0; n < 100 && a.status == http.StatusCreated; n++ { // a row has needed more pages than a post does
		a = h.api("POST", "/scheduled-posts", body)
	}
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "disk of the database is full") {
		t.Errorf("a full disk is not named: %d %s", a.status, a.body)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
}
