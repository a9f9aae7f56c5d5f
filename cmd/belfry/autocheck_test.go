package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform/profile/profiletest"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// Forty accounts are checked as in the example of the system that this replaces, and the admin is
// told in its words; the program is killed in the middle, and nothing is told twice.
func TestTheDocumentedCheckOfFortyAccounts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	sites := profiletest.NewServer()
	t.Cleanup(sites.Close)
	admin := m.tg.AddUser(telegramtest.User{Phone: "+79990004455", Username: "the_admin", FirstName: "Admin"})
	token, _ := m.bot("notify_bot")
	bot := m.tg.AddBot(token, "notify_bot")
	m.tg.Write(admin.ID, bot, "/start")
	m.env = append(m.env, "ADMIN_NOTIFY_BOT_TOKEN="+token, fmt.Sprint("ADMIN_ID=", admin.ID), "BELFRY_LANG=ru",
		"BELFRY_INSTAGRAM_WEB_URL="+sites.URL, "BELFRY_CHECK_MIN_PAUSE=20ms", "BELFRY_CHECK_MAX_PAUSE=40ms")
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("account_%02d", i))
	}
	sites.Set(profiletest.Exists, names[3], names[9], names[17], names[25], names[38])

	p, url := m.start()
	m.waitForLogin(url)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var report struct{ Added, Duplicates, Invalid int }
	err := callAPI(ctx, "POST", url+"/api/v1/accounts/import",
		map[string]any{"site": "instagram", "text": strings.Join(names, "\n") + "\naccount_07\nno such name!"}, &report)
	if err != nil {
		t.Fatal(err)
	}
	told := func() (texts []string) {
		for _, message := range m.tg.PrivateMessages(bot, admin.ID) {
			texts = append(texts, message.Text)
		}
		return texts
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for !ok() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%s; told %q\n%s", what, told(), p.log)
			}
		}
	}
	has := func(part string) func() bool {
		return func() bool {
			return slices.ContainsFunc(told(), func(text string) bool { return strings.Contains(text, part) })
		}
	}
	until("no account was found", has("@account_09"))
	week := []string{"accounts", "check", "--interval", "168h"} // no second check comes due
	if out, err := m.output(week...); err != nil {
		t.Fatalf("accounts check: %q, %v", out, err)
	}
	p.kill() // in the middle
	p = m.launch()
	select {
	case <-p.url:
	case err := <-p.done:
		t.Fatalf("the service ended: %v\n%s", err, p.log)
	}
	until("the check does not end", has("Автопроверка завершена"))
	until("not all were told", func() bool { return len(told()) >= 7 })
	if out, err := m.output(week...); err != nil || !strings.Contains(out, "every 168h0m0s; 5 found, 35 not found yet, 0 vanished") {
		t.Errorf("accounts check: %q, %v", out, err)
	}
	if out, err := m.output("accounts", "--state", "found"); err != nil || strings.Count(out, "account_") != 5 {
		t.Errorf("accounts: %q, %v", out, err)
	}
	if out, err := m.output("accounts", "add", "account_01", "somebody.else"); err != nil || !strings.Contains(out, "1 added, 1 already watched, 0 invalid") {
		t.Errorf("accounts add: %q, %v", out, err)
	}
	if out, err := m.output("accounts", "add", "Анна"); exitCode(err) != exitFailed || !strings.Contains(out, "line 1: Анна: username") {
		t.Errorf("a name that is none: exit code %d, %s", exitCode(err), out)
	}
	list := filepath.Join(m.dir, "cp1251.csv")
	if err := os.WriteFile(list, []byte("username,note\ncp_one,\xf2\xe5\xf1\xf2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.output("accounts", "import", list); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "is not UTF-8: save it as UTF-8") {
		t.Errorf("a list in another encoding: %v", err)
	}
	if _, err := m.output("accounts", "remove", "41"); err != nil {
		t.Errorf("accounts remove: %v", err)
	}
	p.stop()
	m.mustCheck()

	clock := regexp.MustCompile(`\d\d:\d\d:\d\d`)
	var said []string
	for _, text := range told() {
		said = append(said, clock.ReplaceAllString(text, "17:30:00"))
	}
	for _, want := range []string{
		"🔄 Автопроверка запущена\n\n📊 Аккаунтов к проверке: 40\n⏰ Время: 17:30:00",
		"✅ Автопроверка завершена\n\n📊 Результаты:\n• Проверено: 40\n• Найдено: 5\n• Не найдено: 35\n• Ошибок: 0\n\n⏰ Завершено: 17:30:00",
	} {
		if n := slices.Index(said, want); n < 0 {
			t.Errorf("the admin was not told %q, but %q", want, said)
		}
	}
	slices.Sort(said)
	if len(said) != 7 || len(slices.Compact(slices.Clone(said))) != 7 {
		t.Errorf("%d messages, want a start, five finds and an end: %q", len(said), said)
	}
	if rude := sites.Rude(); len(rude) > 0 {
		t.Errorf("Instagram was asked in a way that it does not answer: %q", rude)
	}
	states := map[store.AccountState]int{}
	m.inStore(func(tx *store.Tx) error {
		for a := range tx.Accounts.All() {
			states[a.State]++
		}
		return nil
	})
	if states[store.AccountFound] != 5 || len(states) != 2 {
		t.Errorf("states %v", states)
	}
	if len(names) != 40 || report.Added != 40 {
		t.Errorf("import: %+v", report)
	}
}

func TestTelegramNamesAreAskedThroughALogin(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for i, name := range []string{"telegram", "durov", "somebody_real"} {
		m.tg.AddUser(telegramtest.User{Phone: fmt.Sprintf("+799900077%02d", i), Username: name, FirstName: name})
	}
	token, _ := m.bot("asking_bot")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_CHECK_MIN_PAUSE=20ms", "BELFRY_CHECK_MAX_PAUSE=40ms")
	p, url := m.start()
	m.waitForLogin(url)
	if out, err := m.output("accounts", "add", "--site", "telegram", "somebody_real", "nobody_has_it"); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	type account struct {
		Username string
		State    string
		Outcome  string `json:"last_outcome"`
	}
	var all struct{ Items []account }
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); ; <-tick.C {
		if err := callAPI(context.Background(), "GET", url+"/api/v1/accounts", nil, &all); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all.Items, func(a account) bool { return a.Outcome == "" }) {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("not checked: %+v\n%s", all, p.log)
		}
	}
	p.stop()
	for _, a := range all.Items {
		if want := map[string]account{
			"somebody_real": {"somebody_real", "found", "found"}, "nobody_has_it": {"nobody_has_it", "pending", "not_found"},
		}[a.Username]; a != want {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
}

func TestAdminsWithoutABotAreNoSecret(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env = append(m.env, "ADMIN_ID=1234567")
	p, _ := m.start()
	p.stop()
	if !strings.Contains(p.log.String(), "set ADMIN_NOTIFY_BOT_TOKEN") {
		t.Errorf("nobody is told anything, and the log does not say so:\n%s", p.log)
	}
}
