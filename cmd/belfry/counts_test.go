package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// jobCounts are how many jobs a door shows. A door leaves out what it does not show, and what is zero.
type jobCounts struct {
	byKind, byState map[string]int
	next            []string // the names of the next ten jobs, where the door lists them
}

func (c jobCounts) total() (n int) {
	for _, of := range c.byState {
		n += of
	}
	return n
}

// How many jobs are active, how many there are of each type, and which are next: over each door the same.
func TestEachDoorCountsTheSameJobs(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("newsroom_bot", "news")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_ADMIN_PASSWORD="+pagePassword)
	_, address := m.start()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	send := func(path string, body any) {
		t.Helper()
		if err := callAPI(ctx, "POST", address+"/api/v1"+path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	hook := map[string]any{"type": "webhook", "url": "https://hook.example/in"}
	for n := range 12 {
		send("/jobs", map[string]any{"title": fmt.Sprint("Job ", n), "trigger": map[string]any{"every": fmt.Sprint(n+1, "h")}, "action": hook})
	}
	for n := range 5 {
		send("/jobs/job_"+fmt.Sprint(n+1)+"/pause", nil)
	}
	send("/scheduled-posts", map[string]any{"platform": "telegram", "text": "Hello", "target": "@news", "scheduled_time": time.Now().Add(24 * time.Hour)})

	page := m.pageClient(ctx, address)
	doors := map[string]func() (jobCounts, error){
		"API": func() (jobCounts, error) { return m.countsOfAPI(ctx, address) },
		"CLI": m.countsOfCommands,
		"page": func() (jobCounts, error) {
			body, err := fetchText(ctx, page, address+"/jobs")
			return countsOfPage(body), err
		},
		"metrics": func() (jobCounts, error) {
			body, err := fetchText(ctx, http.DefaultClient, address+"/metrics")
			return countsOfMetrics(body), err
		},
	}
	// What runs by itself meanwhile changes the counts, so each door is asked until nothing has changed around it.
	for name, ask := range doors {
		for {
			before, err := doors["API"]()
			if err != nil {
				t.Fatal(err)
			}
			shown, err := ask()
			if err != nil {
				t.Fatal(name, err)
			}
			after, err := doors["API"]()
			if err != nil {
				t.Fatal(err)
			}
			if ctx.Err() != nil {
				t.Fatal("the counts never stand still")
			}
			if !maps.Equal(before.byKind, after.byKind) || !maps.Equal(before.byState, after.byState) || !slices.Equal(before.next, after.next) {
				continue
			}
			// Three digests of bookings are paused until they are switched on.
			if before.byState["paused"] != 8 || before.byKind["job"] != 12 || before.byKind["post"] != 1 || len(before.next) != 10 {
				t.Fatalf("the API counts %+v", before)
			}
			if !maps.Equal(shown.byKind, before.byKind) || !maps.Equal(shown.byState, before.byState) || shown.total() != before.total() ||
				name != "metrics" && !slices.Equal(shown.next, before.next) {
				t.Errorf("%s: %+v, the API: %+v", name, shown, before)
			}
			break
		}
	}
}

func (m *machine) countsOfAPI(ctx context.Context, address string) (jobCounts, error) {
	var counts struct {
		ByKind  map[string]int `json:"by_kind"`
		ByState map[string]int `json:"by_state"`
	}
	var list struct{ Items []struct{ ID string } }
	if err := callAPI(ctx, "GET", address+"/api/v1/jobs/counts", nil, &counts); err != nil {
		return jobCounts{}, err
	}
	err := callAPI(ctx, "GET", address+"/api/v1/jobs?sort=next_run&limit=10", nil, &list)
	out := jobCounts{byKind: counts.ByKind, byState: counts.ByState}
	for _, job := range list.Items {
		out.next = append(out.next, job.ID)
	}
	return out.clean(), err
}

func (m *machine) countsOfCommands() (out jobCounts, err error) {
	text, err := m.output("jobs", "counts")
	if err != nil {
		return out, err
	}
	out = jobCounts{byKind: map[string]int{}, byState: map[string]int{}}
	for _, found := range regexp.MustCompile(`(?m)^(kind|state) (\S+)\s+(\d+)`).FindAllStringSubmatch(text, -1) {
		of := map[string]map[string]int{"kind": out.byKind, "state": out.byState}[found[1]]
		of[found[2]], _ = strconv.Atoi(found[3])
	}
	text, err = m.output("jobs", "--limit", "10", "--json")
	if err != nil {
		return out, err
	}
	var list struct{ Items []struct{ ID string } }
	err = json.Unmarshal([]byte(text), &list)
	for _, job := range list.Items {
		out.next = append(out.next, job.ID)
	}
	return out.clean(), err
}

// countsOfPage reads the tabs of the states, the kinds by which the list is filtered, and the first rows.
func countsOfPage(body string) jobCounts {
	out := jobCounts{byKind: map[string]int{}, byState: map[string]int{}}
	for _, found := range regexp.MustCompile(`(?s)id="tab-(waiting|running|paused|set_aside)".*?class="count">(\d+)`).FindAllStringSubmatch(body, -1) {
		out.byState[found[1]], _ = strconv.Atoi(found[2])
	}
	for _, found := range regexp.MustCompile(`<option value="(\w+)"[^>]*>[^<]* · (\d+)</option>`).FindAllStringSubmatch(body, -1) {
		out.byKind[found[1]], _ = strconv.Atoi(found[2])
	}
	for _, found := range regexp.MustCompile(`id="job-([^"]+)"`).FindAllStringSubmatch(body, 10) {
		out.next = append(out.next, found[1])
	}
	return out.clean()
}

func countsOfMetrics(body string) jobCounts {
	out := jobCounts{byKind: map[string]int{}, byState: map[string]int{}}
	for _, found := range regexp.MustCompile(`(?m)^belfry_jobs\{kind="(\w+)",state="(\w+)"\} (\d+)`).FindAllStringSubmatch(body, -1) {
		n, _ := strconv.Atoi(found[3])
		out.byKind[found[1]] += n
		out.byState[found[2]] += n
	}
	return out.clean()
}

func (c jobCounts) clean() jobCounts {
	none := func(_ string, n int) bool { return n == 0 }
	maps.DeleteFunc(c.byKind, none)
	maps.DeleteFunc(c.byState, none)
	return c
}

const pagePassword = "a password for tests"

// pageClient is a browser without a window that is signed in.
func (m *machine) pageClient(ctx context.Context, address string) *http.Client {
	m.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		m.t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/sign-in", strings.NewReader(url.Values{"password": {pagePassword}}.Encode()))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", address)
	resp, err := client.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	resp.Body.Close()
	return client
}

func fetchText(ctx context.Context, client *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, resp.Status)
	}
	return string(body), err
}
