package accounts

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"belfry/platform/profile"
	"belfry/store"
)

func TestQuietModeTellsOnlyWhatHasChanged(t *testing.T) {
	inBubble(t, Config{Refusals: 2}, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return b.worker.SetQuiet(tx, true) })
		b.watch(Request{KeepWatching: true}, "alice", "bob")
		b.start()
		b.untilChecked(2)
		if said := b.told("admin"); len(said) != 0 {
			t.Errorf("nothing changed, and told was %q", said)
		}
		b.sites.set(true, DefaultSite, "alice")
		b.untilChecked(4)
		b.Pass(time.Second)
		if said := b.told("admin"); len(said) != 2 || !strings.Contains(said[0], "@alice") || !strings.Contains(said[1], "finished") {
			t.Errorf("alice was found, and told was %q", said)
		}
		no := refused("no")
		b.sites.alwaysSay(&no)
		b.Pass(24 * time.Hour)
		if said := b.told("admin"); len(said) != 3 || !strings.Contains(said[2], "stopped") {
			t.Errorf("the site refused, and told was %q", said)
		}
	})
}

// Instagram is well, GitHub refuses, and TikTok finds nobody.
func TestOfEachSiteThatIsGivenUpTheAdminsAreToldWhy(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "⚠️ Account check finished, but not on all sites\n\n" +
			"• github: The site does not answer the check (2 refusals in a row); it is paused until 2000-01-01 00:1x: please wait\n" +
			"• tiktok: The site does not find a profile that exists; its answers are not used until 2000-01-01 00:1x\n\n" +
			"📊 Results:\n• Checked: 1 of 3\n• Found: 1\n• Not found: 0\n• Errors: 0\n\n⏰ Finished: 00:00:",
		"ru": "⚠️ Автопроверка завершена, но не на всех сайтах\n\n" +
			"• github: Сайт не отвечает на проверку (отказов подряд: 2); пауза до 01.01.2000 00:1x: please wait\n" +
			"• tiktok: Сайт не находит профиль, который существует; его ответы не учитываются до 01.01.2000 00:1x\n\n" +
			"📊 Результаты:\n• Проверено: 1 из 3\n• Найдено: 1\n• Не найдено: 0\n• Ошибок: 0\n\n⏰ Завершено: 00:00:",
	} {
		inBubble(t, Config{Refusals: 2, Lang: lang}, func(b *bench) {
			for _, site := range []string{"github", DefaultSite, "tiktok"} {
				b.watch(Request{Site: site}, "alice")
			}
			b.worker.pause = func(from, _ time.Duration) time.Duration { return from }
			b.sites.set(true, DefaultSite, "alice")
			b.sites.say("github", refused("please wait"))
			b.sites.say("tiktok", profile.Result{Outcome: profile.Absent})
			b.start()
			c := b.untilChecked(1)[0]
			if len(c.GivenUp) != 2 || c.Reason.Code != store.ReasonSitesGivenUp || c.Reason.Detail != "github, tiktok" || c.Reason.Of != 3 {
				t.Errorf("the check was %+v", c)
			}
			said := b.told("admin")
			got := regexp.MustCompile(`00:(0[89]|1\d):\d\d`).ReplaceAllString(said[len(said)-1], "00:1x") // the wait has a jitter
			if !strings.HasPrefix(got, want) {
				t.Errorf("the admins were told\n%s\nnot\n%s", got, want)
			}
		})
	}
}

func TestAMessageAboutManySitesIsNotLong(t *testing.T) {
	var c store.AccountCheck
	for i := range 300 {
		c.GiveUp(strings.Repeat("s", 97)+fmt.Sprint(i), store.Reason{Code: store.ReasonNoAnswers, N: 5, Until: time.Now(), Detail: strings.Repeat("ы", 200)})
	}
	c.Of = 300
	for _, lang := range []string{"en", "ru"} {
		w := New(nil, nil, nil, Config{Lang: lang})
		text := w.aboutCheck(noticeStopped, c, time.Now())
		if n := utf8.RuneCountInString(text); n > 4000 || !strings.Contains(text, ": 292\n") || strings.Contains(text, "%!") {
			t.Errorf("%d characters: %s", n, text)
		}
	}
	if w := New(nil, nil, nil, Config{}); !strings.HasPrefix(w.aboutCheck(noticeStopped, c, time.Now()), "⚠️ Account check stopped\n") {
		t.Error("no site was well, and it reads as if")
	}
}
