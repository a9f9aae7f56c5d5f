package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/web/api"
)

// otherJob puts a job into the schedule that no owner has made.
func (h *harness) otherJob() {
	h.update(func(tx *store.Tx) error {
		return scheduler.Put(tx, store.Job{Name: "alerts", Kind: "alerts", Lane: "alerts", Trigger: store.Trigger{Every: time.Hour}})
	})
}

func TestJobsAreMadeCountedAndSteeredOverTheAPI(t *testing.T) {
	h := start(t)
	ask := func(status int, method, path, body string, to any) {
		t.Helper()
		a := h.api(method, path, body)
		if a.status != status {
			t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
		}
		if to != nil {
			a.decode(t, to)
		}
	}
	hook := `{"title":"Hook","trigger":{"times":["10:00"],"days_of_week":[1,2,3,4,5],"zone":"Europe/Moscow"},"action":{"type":"webhook","url":"https://hook.example/in","payload":{"n":1}},"tags":["money"],"max_attempts":5,"backoff":"2m"}`
	first := h.api("POST", "/jobs", hook, "Idempotency-Key", "one")
	var job api.Job
	first.decode(t, &job)
	if first.status != http.StatusCreated || job.ID != "job_1" || job.Kind != "job" || job.Trigger.Text != "every weekday at 10:00, Moscow" ||
		!strings.HasPrefix(job.Action.Secret, "whsec_") || job.Attempts != 5 || job.Backoff != "2m0s" || fmt.Sprint(job.Tags) != "[money]" {
		t.Fatal(first.status, first.body)
	}
	if again := h.api("POST", "/jobs", hook, "Idempotency-Key", "one"); again.status != http.StatusCreated || strings.Contains(again.body, "whsec_") || !strings.Contains(again.body, "job_1") {
		t.Error("repeated:", again.status, again.body)
	}
	if a := h.api("GET", "/jobs/job_1", ""); strings.Contains(a.body, "whsec_") {
		t.Error("the secret is shown again:", a.body)
	}
	for n := range 3 {
		ask(http.StatusCreated, "POST", "/jobs", fmt.Sprintf(`{"title":"Message %d","trigger":{"every":"%dh"},"action":{"type":"message","identity_id":1,"target":"@news","text":"hello"}}`, n, n+1), nil)
	}
	var patched api.Job
	ask(http.StatusOK, "PATCH", "/jobs/job_1", `{"title":"Other","action":{"type":"webhook","url":"https://hook.example/other"}}`, &patched)
	if patched.Title != "Other" || patched.Action.URL != "https://hook.example/other" || patched.Trigger.Text != job.Trigger.Text {
		t.Errorf("changed: %+v", patched)
	}
	h.view(func(tx *store.Tx) error {
		own, err := tx.OwnJobs.Get(1)
		if own.Action.Secret != job.Action.Secret {
			t.Error("a change has taken the secret away")
		}
		return err
	})
	ask(http.StatusOK, "POST", "/jobs/job_1/reschedule", `{"trigger":{"cron":"0 9 * * 1","zone":"UTC"}}`, &patched)
	if patched.Trigger.Cron != "0 9 * * 1" {
		t.Errorf("rescheduled: %+v", patched.Trigger)
	}
	var list api.List[api.Job]
	if ask(http.StatusOK, "GET", "/jobs?tag=money&sort=next_run", "", &list); len(list.Items) != 1 || list.Items[0].ID != "job_1" {
		t.Errorf("by tag: %+v", list.Items)
	}
	var done api.BulkDone
	ask(http.StatusOK, "POST", "/jobs/bulk", `{"action":"pause","ids":["job_1","job_2","job_99"]}`, &done)
	if done.Done != 2 || len(done.Refused) != 1 || done.Refused[0].Job != "job_99" {
		t.Errorf("bulk: %+v", done)
	}
	if ask(http.StatusOK, "GET", "/jobs?kind=job&state=paused", "", &list); len(list.Items) != 2 {
		t.Errorf("paused: %+v", list.Items)
	}
	var counts api.JobCounts
	ask(http.StatusOK, "GET", "/jobs/counts", "", &counts)
	h.view(func(tx *store.Tx) error {
		kinds, states, total := map[string]int{}, map[string]int{}, 0
		for j := range tx.Jobs.All() {
			total++
			kinds[j.Kind]++
			states[string(j.State)]++
		}
		if counts.Total != total || counts.Active != states["waiting"]+states["running"] || fmt.Sprint(counts.ByKind) != fmt.Sprint(kinds) || counts.ByState["paused"] != states["paused"] || counts.NextRun.IsZero() {
			t.Errorf("counted %+v, there are %v and %v", counts, kinds, states)
		}
		return nil
	})
	ask(http.StatusNoContent, "DELETE", "/jobs/job_2", "", nil)
	ask(http.StatusNotFound, "GET", "/jobs/job_2", "", nil)
	h.otherJob()
	ask(http.StatusConflict, "DELETE", "/jobs/alerts", "", nil)
	for body, field := range map[string]string{
		`{"title":"x","trigger":{"every":"1h","cron":"* * * * *"},"action":{"type":"backup"}}`:                        "trigger",
		`{"title":"x","trigger":{"cron":"0 9 * * *","from":"2037-01-01T00:00:00Z"},"action":{"type":"backup"}}`:       "trigger",
		`{"title":"x","trigger":{"every":"0s"},"action":{"type":"backup"}}`:                                           "trigger.every",
		`{"title":"x","trigger":{"cron":"often"},"action":{"type":"backup"}}`:                                         "trigger.cron",
		`{"title":"x","trigger":{"every":"1h"},"action":{"type":"webhook","url":"http://10.0.0.1/"}}`:                 "action.url",
		`{"title":"x","trigger":{"every":"1h"},"action":{"type":"backup"},"backoff":"soon"}`:                          "backoff",
		`{"title":"x","trigger":{"every":"1h"},"action":{"type":"message","identity_id":9,"target":"@n","text":"x"}}`: "action.identity_id",
	} {
		if a := h.api("POST", "/jobs", body); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"`+field+`"`) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestTheHistoryOfAJobStaysWhenItHasEnded(t *testing.T) {
	h := start(t)
	at := h.now().Add(time.Second).Format(time.RFC3339Nano)
	if a := h.api("POST", "/jobs", `{"title":"Once","trigger":{"at":"`+at+`"},"action":{"type":"message","identity_id":1,"target":"@news","text":"hello"}}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	var runs api.List[api.Run]
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if h.api("GET", "/jobs/job_1/runs", "").decode(t, &runs); len(runs.Items) > 0 && h.api("GET", "/jobs/job_1", "").status == http.StatusNotFound {
			break
		}
	}
	if len(runs.Items) != 1 || runs.Items[0].Result != "done" {
		t.Errorf("%+v", runs)
	}
	if a := h.api("GET", "/jobs/job_77/runs", ""); a.status != http.StatusNotFound {
		t.Error(a.status, a.body)
	}
}

func TestAPreviewMarksClockChangesAndWhyNotNamesReasons(t *testing.T) {
	h := start(t)
	var shown api.Preview
	h.api("POST", "/jobs/preview", `{"trigger":{"times":["02:30"],"zone":"Europe/Berlin"},"count":2,"after":"2027-03-27T12:00:00Z"}`).decode(t, &shown)
	if shown.Text != "daily at 02:30, Berlin" || len(shown.Items) != 2 || shown.Items[0].Local != "2027-03-28T03:00:00+02:00" || !strings.Contains(shown.Items[0].Note, "jumps") || shown.Items[1].Note != "" {
		t.Errorf("%+v", shown)
	}
	if a := h.api("POST", "/jobs", `{"title":"Late","trigger":{"every":"1h","from":"`+h.now().Add(time.Minute).Format(time.RFC3339)+`"},"action":{"type":"backup"}}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	if a := h.api("POST", "/jobs/job_1/pause", ""); a.status != http.StatusOK {
		t.Fatal(a.status, a.body)
	}
	h.advance(time.Hour)
	var list api.List[api.NotRun]
	h.api("GET", "/jobs/why-not", "").decode(t, &list)
	found := false
	for _, n := range list.Items {
		found = found || n.Job == "job_1" && n.Code == "paused" && n.Text == "Paused" && !n.Since.IsZero()
	}
	if !found {
		t.Errorf("%+v", list.Items)
	}
}

func TestAJobOfOneTimeKeepsItWhenAnotherFieldIsChanged(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Timezone = berlin })
	h.signIn()
	const at = "2090-10-29T02:30:20+01:00" // the clock shows it twice
	if a := h.api("POST", "/jobs", `{"title":"One","trigger":{"at":"`+at+`"},"action":{"type":"message","text":"hello","target":"@news"}}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	for _, c := range [][2]string{{"2090-10-29T02:30", "2090-10-29T01:30:20Z"}, {"2090-10-29T03:30", "2090-10-29T02:30:00Z"}} {
		typed, want := c[0], c[1]
		if a := h.submit("/jobs/job_1/change", "title", "Another", "type", "at", "at", typed, "action", "message", "target", "@news", "text", "hello", "late", "run_once"); a.status != http.StatusSeeOther {
			t.Fatal(a.status, a.body)
		}
		h.view(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName("job_1")
			if got := job.Due.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%s is due at %s", typed, got)
			}
			return err
		})
	}
}

func TestOwnersMakeAndSteerJobsOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	if a := h.get("/jobs/new"); a.status != http.StatusOK || !strings.Contains(a.body, "Next times") || !strings.Contains(a.body, "daily at 09:00") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/jobs/preview", "type", "cron", "cron", "often"); !strings.Contains(a.body, "cannot be read") {
		t.Error(a.status, a.body)
	}
	form := []string{"form", "one", "title", "Morning", "type", "times", "times", "10:00", "days", "1", "days", "2", "days", "3", "days", "4", "days", "5", "zone", "Europe/Moscow",
		"action", "message", "identity_id", "1", "target", "@news", "text", "hello", "tags", "news, money", "late", "run_once"}
	if a := h.submit("/jobs/new", append(form, "max_attempts", "many")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "many") || !strings.Contains(a.body, "Morning") {
		t.Error(a.status, a.body)
	}
	for range 2 { // a second click makes no second job
		if a := h.submit("/jobs/new", form...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/jobs/job_1?done=job-added" {
			t.Fatal(a.status, a.header, a.body)
		}
	}
	if a := h.get("/jobs/job_1"); !strings.Contains(a.body, "every weekday at 10:00, Moscow") || !strings.Contains(a.body, "MSK") || !strings.Contains(a.body, "@news") {
		t.Error(a.body)
	}
	if a := h.get("/jobs/job_1/change"); a.status != http.StatusOK || !strings.Contains(a.body, "hello") || !strings.Contains(a.body, "money, news") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/jobs/job_1/change", append(form, "max_attempts", "7")...); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	hook := h.submit("/jobs/new", "form", "two", "title", "Hook", "type", "every", "every", "1h", "action", "webhook", "url", "https://hook.example/in", "late", "run_once")
	if hook.status != http.StatusOK || !strings.Contains(hook.body, "whsec_") {
		t.Error(hook.status, hook.body)
	}
	h.submit("/jobs/new", "form", "three", "title", "No text", "action", "message", "target", "@news", "type", "every", "every", "1h").has(t, "The text is missing")
	h.submit("/jobs/new", "form", "four", "title", "Copy", "action", "backup", "type", "every", "every", "1h", "late", "run_once")
	h.get("/jobs/job_3").has(t, "/backups (files kept: 7)")
	if a := h.get("/jobs?tag=money"); !strings.Contains(a.body, "Morning") || strings.Contains(a.body, ">Hook<") {
		t.Error(a.body)
	}
	if a := h.submit("/jobs/bulk", "do", "pause", "job", "job_1", "job", "job_2", "back", "/jobs?kind=job"); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/jobs?done=jobs-done") {
		t.Error(a.status, a.header)
	}
	if a := h.get("/jobs?state=paused"); !strings.Contains(a.body, "Morning") || !strings.Contains(a.body, "Hook") {
		t.Error(a.body)
	}
	if a := h.submit("/jobs/bulk", "do", "pause", "back", "/jobs"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "No job is chosen") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/jobs/bulk", "do", "pause", "back", "/jobs?tag=money"); !strings.Contains(a.body, "Morning") || strings.Contains(a.body, ">Hook<") || !strings.Contains(a.body, `name="tag" value="money"`) {
		t.Error("the list is not filtered any more: ", a.body)
	}
	h.otherJob()
	if a := h.submit("/jobs/bulk", "do", "delete", "job", "alerts", "sure", "yes", "back", "/jobs"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "belongs to another part") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/jobs/bulk", "do", "delete", "job", "job_1", "back", "/jobs"); a.status != http.StatusOK || !strings.Contains(a.body, "Delete this job?") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/jobs/bulk", "do", "delete", "job", "job_1", "sure", "yes", "back", "/jobs"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/jobs/job_1"); a.status != http.StatusNotFound {
		t.Error(a.status)
	}
	if a := h.get("/jobs/why-not"); a.status != http.StatusOK || !strings.Contains(a.body, "did not run") {
		t.Error(a.status, a.body)
	}
}
