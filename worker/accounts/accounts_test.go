package accounts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform/profile"
	"belfry/store"
)

func TestFortyAccountsAreCheckedAndToldAsDocumented(t *testing.T) {
	var log bytes.Buffer
	inBubble(t, Config{Lang: "ru", Log: zerolog.New(&log)}, func(b *bench) {
		b.sites.took = 0
		b.worker.pause = func(_, _ time.Duration) time.Duration { return 3829787235 } // 47 of them are three minutes
		b.watch(Request{}, names(40)...)
		b.sites.set(true, DefaultSite, "user3", "user8", "USER20", "user21", "user40")
		b.Pass(17*time.Hour + 30*time.Minute)
		b.start()
		b.Pass(4 * time.Minute)

		said := b.told("admin")
		if len(said) != 7 {
			t.Fatalf("the admins were told %q", said)
		}
		if want := "🔄 Автопроверка запущена\n\n📊 Аккаунтов к проверке: 40\n⏰ Время: 17:30:00"; said[0] != want {
			t.Errorf("the first message is\n%s\nnot\n%s", said[0], want)
		}
		want := "✅ Автопроверка завершена\n\n📊 Результаты:\n• Проверено: 40\n• Найдено: 5\n• Не найдено: 35\n• Ошибок: 0\n\n⏰ Завершено: 17:33:00"
		if said[6] != want {
			t.Errorf("the last message is\n%s\nnot\n%s", said[6], want)
		}
		if !strings.HasPrefix(said[1], "✅ @user3 найден\n\n🔗 https://www.instagram.com/user3/\n⏰ Время: 17:30:") {
			t.Errorf("a find is told as\n%s", said[1])
		}
		for _, name := range names(40) {
			a := b.account(name)
			found := b.sites.exists[DefaultSite+" "+name]
			if a.State == store.AccountFound != found || (a.Outcome == store.OutcomeFound) != found || a.CheckedAt.IsZero() || a.FoundAt.IsZero() == found {
				t.Errorf("%s is %+v", name, a)
			}
		}
		if n := len(b.sites.questions()); n != 47 {
			t.Errorf("%d questions", n)
		}
	})
	var events []string
	for line := range strings.Lines(log.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		switch event["message"] {
		case "checking account", "account checked", "asked for the canary":
			continue
		case "found pending accounts to check":
			if event["pending"] != 40.0 {
				t.Error(line)
			}
		case "check completed":
			if event["checked"] != 40.0 || event["found"] != 5.0 || event["not_found"] != 35.0 || event["errors"] != 0.0 {
				t.Error(line)
			}
		}
		events = append(events, event["message"].(string))
	}
	if got := strings.Join(events, ", "); got != "autocheck initialised, next check scheduled, found pending accounts to check, check completed" {
		t.Errorf("the log tells %s", got)
	}
}

func TestWhatIsNotFoundIsLookedForAgainAndWhatIsFoundIsNot(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, "alice", "bob")
		b.sites.set(true, DefaultSite, "alice")
		b.start()
		b.untilChecked(1)
		b.sites.set(true, DefaultSite, "bob")
		checks := b.untilChecked(2)
		if checks[0].Total != 2 || checks[1].Total != 1 || checks[1].Found != 1 || checks[1].Changes != 1 {
			t.Errorf("the checks were %+v", checks)
		}
		if gap := checks[1].Began.Sub(checks[0].Began); gap > 5*time.Minute {
			t.Errorf("the second began %v after the first", gap)
		}
		b.Pass(time.Hour)
		if n := len(b.checks()); n != 2 {
			t.Errorf("there was nobody to check, and %d checks", n)
		}
	})
}

func TestVanishingAndReturningAreNoticed(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{KeepWatching: true, OwnerChat: "@owner", Note: "a friend"}, "alice")
		b.sites.set(true, DefaultSite, "alice")
		b.start()
		b.untilChecked(1)
		since := b.account("alice").FoundAt
		b.sites.set(false, DefaultSite, "alice")
		b.untilChecked(2)
		if a := b.account("alice"); a.State != store.AccountNotFound || !a.ChangedAt.After(since) {
			t.Errorf("vanished as %+v", a)
		}
		b.sites.set(true, DefaultSite, "alice")
		b.untilChecked(3)
		if a := b.account("alice"); a.State != store.AccountFound || !a.FoundAt.Equal(since) {
			t.Errorf("returned as %+v", a)
		}
		b.Pass(time.Second)
		var owner []string
		for _, text := range b.told("@owner") {
			owner = append(owner, strings.Split(text, "\n")[0])
		}
		if got := strings.Join(owner, ", "); got != "✅ @alice was found, ❌ @alice is not found any more, ↩️ @alice is found again" {
			t.Errorf("the owner was told %s", got)
		}
		b.View(func(tx *store.Tx) error {
			page, err := tx.AccountResults.Of(b.account("alice").ID, store.Query{})
			if len(page.Items) != 3 || !page.Items[0].Changed {
				t.Errorf("the history is %+v", page.Items)
			}
			return err
		})
	})
}

func TestAnAnswerThatIsNotRepeatedChangesNothing(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{KeepWatching: true}, "alice")
		b.sites.set(true, DefaultSite, "alice")
		b.watch(Request{}, "bob")
		b.start()
		b.untilChecked(1)
		found, gone := profile.Result{Outcome: profile.Found}, profile.Result{Outcome: profile.Absent}
		b.sites.fault(found, gone, found, found, found, gone) // canary; alice, canary, alice; bob twice
		checks := b.untilChecked(2)
		if a := b.account("alice"); a.State != store.AccountFound || a.Outcome != store.OutcomeFound {
			t.Errorf("alice is %+v", a)
		}
		if a := b.account("bob"); a.State != store.AccountPending || a.Outcome != store.OutcomeError || a.Failures != 1 {
			t.Errorf("bob is %+v", a)
		}
		if checks[1].Changes != 0 || checks[1].Errors != 1 {
			t.Errorf("the check is %+v", checks[1])
		}
	})
}

func TestRefusalsChangeNothingAndAreLeftAloneForLonger(t *testing.T) {
	inBubble(t, Config{Refusals: 4}, func(b *bench) {
		b.watch(Request{KeepWatching: true}, names(10)...)
		b.sites.set(true, DefaultSite, names(5)...)
		b.start()
		b.untilChecked(1)
		before := make(map[string]store.Account)
		for _, name := range names(10) {
			before[name] = b.account(name)
		}
		told := len(b.told("admin"))
		wait := refused("please wait a few minutes")
		found := profile.Result{Outcome: profile.Found}
		b.sites.fault(found) // the canary
		b.sites.alwaysSay(&wait)
		b.Pass(3 * 24 * time.Hour)
		for _, name := range names(10) {
			a := b.account(name)
			if a.State != before[name].State || !a.ChangedAt.Equal(before[name].ChangedAt) {
				t.Errorf("%s has become %+v", name, a)
			}
		}
		n := len(b.checks())
		checks := b.untilChecked(n + 1) // so that the site has just been left alone again
		first := checks[1]
		if first.Status != store.AccountCheckStopped || first.Checked != 4 || first.Errors != 4 || first.Total != 10 ||
			first.Reason.Code != store.ReasonNoAnswers || first.Reason.N != 4 {
			t.Errorf("the check was stopped as %+v", first)
		}
		if n < 12 || n > 25 {
			t.Errorf("%d checks in three days of refusals", n)
		}
		if gap := checks[len(checks)-1].Began.Sub(checks[len(checks)-2].Began); gap < 4*time.Hour {
			t.Errorf("the last two are %v apart", gap)
		}
		if s := b.status(); len(s.Alone) != 1 || s.Alone[0].Site != DefaultSite || s.Last == nil {
			t.Errorf("the status is %+v", s)
		}
		if said := b.told("admin")[told+1]; !strings.Contains(said, "4 refusals in a row") || !strings.Contains(said, "Checked: 4 of 10") {
			t.Errorf("the admins were told %q", said)
		}
		b.sites.alwaysSay(nil)
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.CheckNow(tx)
			return err
		})
		checks = b.untilChecked(len(checks) + 1)
		if last := checks[len(checks)-1]; last.Status != store.AccountCheckDone || last.Checked != 10 || last.Changes != 0 {
			t.Errorf("the check by hand was %+v", last)
		}
		if s := b.status(); len(s.Alone) != 0 {
			t.Errorf("left alone are %+v", s.Alone)
		}
	})
}

func TestASiteThatFindsNobodyIsNotBelieved(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{KeepWatching: true}, names(3)...)
		b.sites.set(true, DefaultSite, names(3)...)
		b.start()
		b.untilChecked(1)
		gone := profile.Result{Outcome: profile.Absent, Status: 404}
		b.sites.fault(profile.Result{Outcome: profile.Found}) // the canary, before the site goes bad
		b.sites.alwaysSay(&gone)
		checks := b.untilChecked(2)
		if c := checks[1]; c.Status != store.AccountCheckStopped || c.Checked != 0 || c.Reason.Code != store.ReasonNoCanary {
			t.Errorf("the check was %+v", c)
		}
		checks = b.untilChecked(3)
		if c := checks[2]; c.Status != store.AccountCheckStopped || c.Checked != 0 {
			t.Errorf("the check after it was %+v", c)
		}
		for _, name := range names(3) {
			if a := b.account(name); a.State != store.AccountFound || a.Outcome != store.OutcomeFound {
				t.Errorf("%s is %+v", name, a)
			}
		}
	})
}

func TestARefusingSiteDoesNotKeepTheOthersFromBeingChecked(t *testing.T) {
	inBubble(t, Config{Refusals: 2}, func(b *bench) {
		b.watch(Request{Site: "github"}, "gopher", "ghost")
		b.watch(Request{}, "alice")
		b.watch(Request{Site: "telegram"}, "durov")
		b.sites.set(true, DefaultSite, "alice")
		b.sites.say("github", refused("no"))
		b.start()
		c := b.untilChecked(1)[0]
		if c.Checked != 1 || c.Found != 1 || fmt.Sprint(c.Stopped) != "[telegram github]" {
			t.Errorf("the check was %+v", c)
		}
		b.Pass(6 * time.Minute)
		if n := len(b.checks()); n != 1 {
			t.Errorf("sites that are left alone were checked %d times", n)
		}
		b.sites.say("github", profile.Result{})
		b.worker.cfg.Identity = b.sites // an account is logged in
		c = b.untilChecked(2)[1]
		if c.Total == 0 || slices.Contains(c.Stopped, "github") {
			t.Errorf("the next was %+v", c)
		}
	})
}

// Three thousand accounts of one site take hours.
func TestASiteWithManyAccountsKeepsNoOtherWaiting(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(3000)...)
		b.watch(Request{Site: "tiktok"}, "user1")
		b.start()
		b.Pass(time.Hour)
		b.watch(Request{Site: "github"}, "user1")
		b.start() // as after a crash
		b.Pass(time.Hour)
		asked := make(map[string][]time.Time)
		for _, q := range b.sites.questions() {
			if q.name == "user1" {
				asked[q.site] = append(asked[q.site], q.at)
			}
		}
		for site, hours := range map[string]int{"tiktok": 2, "github": 1} {
			if n := len(asked[site]); n < hours*11 {
				t.Errorf("within %d h, %s was asked %d times", hours, site, n)
			}
		}
		checks := b.checks()
		if checks[0].Status != store.AccountCheckRunning || checks[0].Total != 3001 || checks[0].Checked < 1500 || checks[0].Checked > 2000 {
			t.Errorf("meanwhile the first check is %+v", checks[0])
		}
		started, finished := 0, 0
		for _, text := range b.told("admin") {
			started += strings.Count(text, "check started")
			finished += strings.Count(text, "check finished")
		}
		if started != len(checks) || finished < len(checks)-2 || finished > len(checks)-1 {
			t.Errorf("of %d checks %d were told to start and %d to end", len(checks), started, finished)
		}
	})
}

func TestASiteThatRefusesForDaysIsAFailureThatLasts(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, "alice")
		b.watch(Request{Site: "tiktok"}, "alice")
		b.sites.say(DefaultSite, refused("please wait"))
		b.start()
		most := 0
		for range 24 * 2 {
			b.Pass(time.Hour)
			if n := b.status().Job.Failures; n < most {
				t.Errorf("%d failures in a row were forgotten", most)
				return
			} else {
				most = n
			}
		}
		if most < 5 {
			t.Errorf("after two days of refusals there are %d failures in a row", most)
		}
		b.sites.say(DefaultSite, profile.Result{})
		b.Pass(8 * time.Hour)
		if n := b.status().Job.Failures; n != 0 {
			t.Errorf("the site answers again, and there are %d failures in a row", n)
		}
	})
}

func TestARestartNeitherRepeatsNorLoses(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(40)...)
		b.sites.set(true, DefaultSite, names(5)...)
		for i := range 60 {
			b.start()
			b.Pass(time.Duration(500+i*137) * time.Millisecond)
		}
		b.untilChecked(1)
		b.Pass(10 * time.Second)
		b.Stop()
		checks := b.checks()
		if c := checks[0]; len(checks) != 1 && checks[1].Status != store.AccountCheckRunning || c.Checked != 40 || c.Found != 5 || c.NotFound != 35 {
			t.Errorf("the checks were %+v", checks)
		}
		finds := 0
		for _, text := range b.told("admin") {
			if strings.Contains(text, "was found") {
				finds++
			}
		}
		if finds != 5 {
			t.Errorf("%d finds were told", finds)
		}
	})
}

func TestAnAccountThatIsRemovedDuringACheckIsGone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(5)...)
		b.sites.took = 2 * time.Second
		b.start()
		b.Pass(14 * time.Second)
		b.Update(func(tx *store.Tx) error {
			var err error
			for id := range uint64(4) {
				err = errors.Join(err, b.worker.Remove(tx, id+2))
			}
			return err
		})
		if c := b.untilChecked(1)[0]; c.Status != store.AccountCheckDone || c.Checked < 1 || c.Checked > 2 {
			t.Errorf("the check was %+v", c)
		}
		b.forgot = true
	})
}
