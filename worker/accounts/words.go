package accounts

import (
	"fmt"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/store"
)

// aboutCheck is what the admins are told about a check.
func (w *Worker) aboutCheck(kind string, c store.AccountCheck, now time.Time) string {
	say := w.language()
	switch kind {
	case noticeStarted:
		return fmt.Sprintf(say.started, c.Total, w.clock(now))
	case noticeStopped:
		as := say.stopped
		if len(c.Stopped) < c.Of {
			as = say.partly
		}
		return fmt.Sprintf(as, w.givenUp(c), c.Checked, c.Total, c.Found, c.NotFound, c.Errors, w.clock(now))
	}
	return fmt.Sprintf(say.finished, c.Checked, c.Found, c.NotFound, c.Errors, w.clock(now))
}

const (
	// toldGivenUp is of how many sites a message says why they were given up.
	toldGivenUp    = 8
	maxGivenUpLine = 350 // characters
)

// givenUp says of each site that a check gave up why, and until when it is left alone.
func (w *Worker) givenUp(c store.AccountCheck) string {
	p := i18n.For(w.cfg.Lang, w.cfg.Zone)
	if len(c.GivenUp) == 0 { // it was begun before this was noted
		return p.Say(c.Reason)
	}
	var lines []string
	for _, site := range c.GivenUp[:min(len(c.GivenUp), toldGivenUp)] {
		lines = append(lines, cut("• "+site.Site+": "+p.Say(site.Reason), maxGivenUpLine))
	}
	if more := len(c.Stopped) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf(w.language().further, more))
	}
	return strings.Join(lines, "\n")
}

// aboutAccount is what is told about an account.
func (w *Worker) aboutAccount(kind string, a store.Account, link string, now time.Time) string {
	say := w.language()
	first := map[string]string{noticeFound: say.found, noticeVanished: say.vanished, noticeReturned: say.returned}[kind]
	var b strings.Builder
	fmt.Fprintf(&b, first+"\n", a.Username)
	if link != "" {
		b.WriteString("\n🔗 " + link)
	}
	if a.Note != "" {
		b.WriteString("\n📝 " + a.Note)
	}
	fmt.Fprintf(&b, "\n"+say.time, w.clock(now))
	return b.String()
}

func (w *Worker) language() language {
	if w.cfg.Lang == "ru" {
		return russian
	}
	return english
}

// language is how notices are worded.
type language struct {
	started, finished         string
	stopped, partly           string // of a check that gave up all of its sites, and some
	further                   string // how many more sites
	found, vanished, returned string
	time                      string
	onlyChanges               string // a button; with how many messages a day there are without it
}

// The Russian texts of the first two are those of the system that this package replaces.
var russian = language{
	started:  "🔄 Автопроверка запущена\n\n📊 Аккаунтов к проверке: %d\n⏰ Время: %s",
	finished: "✅ Автопроверка завершена\n\n📊 Результаты:\n• Проверено: %d\n• Найдено: %d\n• Не найдено: %d\n• Ошибок: %d\n\n⏰ Завершено: %s",
	stopped:  "⚠️ Автопроверка остановлена\n\n%s\n\n📊 Результаты:\n• Проверено: %d из %d\n• Найдено: %d\n• Не найдено: %d\n• Ошибок: %d\n\n⏰ Остановлено: %s",
	partly:   "⚠️ Автопроверка завершена, но не на всех сайтах\n\n%s\n\n📊 Результаты:\n• Проверено: %d из %d\n• Найдено: %d\n• Не найдено: %d\n• Ошибок: %d\n\n⏰ Завершено: %s",
	further:  "• и ещё сайтов: %d",
	found:    "✅ @%s найден",
	vanished: "❌ @%s больше не найден",
	returned: "↩️ @%s снова найден",
	time:     "⏰ Время: %s",

	onlyChanges: "🔕 Только изменения (сейчас до %d в день)",
}

var english = language{
	started:  "🔄 Account check started\n\n📊 Accounts to check: %d\n⏰ Time: %s",
	finished: "✅ Account check finished\n\n📊 Results:\n• Checked: %d\n• Found: %d\n• Not found: %d\n• Errors: %d\n\n⏰ Finished: %s",
	stopped:  "⚠️ Account check stopped\n\n%s\n\n📊 Results:\n• Checked: %d of %d\n• Found: %d\n• Not found: %d\n• Errors: %d\n\n⏰ Stopped: %s",
	partly:   "⚠️ Account check finished, but not on all sites\n\n%s\n\n📊 Results:\n• Checked: %d of %d\n• Found: %d\n• Not found: %d\n• Errors: %d\n\n⏰ Finished: %s",
	further:  "• further sites: %d",
	found:    "✅ @%s was found",
	vanished: "❌ @%s is not found any more",
	returned: "↩️ @%s is found again",
	time:     "⏰ Time: %s",

	onlyChanges: "🔕 Only changes (now up to %d a day)",
}
