package accounts

import (
	"fmt"
	"strings"
	"time"

	"belfry/store"
)

// Text is what a notice says in lang, "en" or "ru", with times in zone.
func Text(n store.Notice, lang string, zone *time.Location) string {
	d, say := n.Data, english
	if lang == "ru" {
		say = russian
	}
	at := d.At.In(zone).Format(time.TimeOnly)
	switch n.Kind {
	case NoticeStarted:
		return fmt.Sprintf(say.started, d.Total, at)
	case NoticeFinished:
		return fmt.Sprintf(say.finished, d.Checked, d.Found, d.NotFound, d.Errors, at)
	case NoticeStopped:
		return fmt.Sprintf(say.stopped, d.Reason.Text(lang, zone), d.Checked, d.Total, d.Found, d.NotFound, d.Errors, at)
	case NoticeFound:
		return about(fmt.Sprintf(say.found, d.Username), say.time, d, at)
	case NoticeVanished:
		return about(fmt.Sprintf(say.vanished, d.Username), say.time, d, at)
	case NoticeReturned:
		return about(fmt.Sprintf(say.returned, d.Username), say.time, d, at)
	}
	return n.Kind
}

// about is a text about an account.
func about(first, when string, d store.NoticeData, at string) string {
	var b strings.Builder
	b.WriteString(first + "\n")
	if d.Link != "" {
		b.WriteString("\n🔗 " + d.Link)
	}
	if d.Note != "" {
		b.WriteString("\n📝 " + d.Note)
	}
	b.WriteString("\n" + fmt.Sprintf(when, at))
	return b.String()
}

// language is how notices are worded.
type language struct {
	started, finished, stopped string
	found, vanished, returned  string
	time                       string
}

// The Russian texts of the first two are those of the system that this package replaces.
var russian = language{
	started:  "🔄 Автопроверка запущена\n\n📊 Аккаунтов к проверке: %d\n⏰ Время: %s",
	finished: "✅ Автопроверка завершена\n\n📊 Результаты:\n• Проверено: %d\n• Найдено: %d\n• Не найдено: %d\n• Ошибок: %d\n\n⏰ Завершено: %s",
	stopped:  "⚠️ Автопроверка остановлена\n\n%s\n\n📊 Результаты:\n• Проверено: %d из %d\n• Найдено: %d\n• Не найдено: %d\n• Ошибок: %d\n\n⏰ Остановлено: %s",
	found:    "✅ @%s найден",
	vanished: "❌ @%s больше не найден",
	returned: "↩️ @%s снова найден",
	time:     "⏰ Время: %s",
}

var english = language{
	started:  "🔄 Account check started\n\n📊 Accounts to check: %d\n⏰ Time: %s",
	finished: "✅ Account check finished\n\n📊 Results:\n• Checked: %d\n• Found: %d\n• Not found: %d\n• Errors: %d\n\n⏰ Finished: %s",
	stopped:  "⚠️ Account check stopped\n\n%s\n\n📊 Results:\n• Checked: %d of %d\n• Found: %d\n• Not found: %d\n• Errors: %d\n\n⏰ Stopped: %s",
	found:    "✅ @%s was found",
	vanished: "❌ @%s is not found any more",
	returned: "↩️ @%s is found again",
	time:     "⏰ Time: %s",
}
