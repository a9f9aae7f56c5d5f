package store

import (
	"fmt"
	"time"
)

// Reason says why something waits, was skipped, or failed. It is stored as a code with its
// particulars, so that each door can say it in its reader's language.
type Reason struct {
	Code   ReasonCode `json:"code"`
	About  string     `json:"about,omitempty"`  // what it is about where nothing else says so, such as a site
	Detail string     `json:"detail,omitempty"` // the words of whoever gave the reason, such as Telegram's
	Until  time.Time  `json:"until,omitzero"`   // when the wait ends
	N      int        `json:"n,omitempty"`      // which attempt, or how many
	Of     int        `json:"of,omitempty"`     // of how many attempts
}

// ReasonCode names a reason.
type ReasonCode string

// The reasons.
const (
	ReasonRetry         ReasonCode = "retry"          // a transient failure; tried again
	ReasonFlood         ReasonCode = "flood_wait"     // the network made the identity wait
	ReasonSlowmode      ReasonCode = "slow_mode"      // the network made the chat wait
	ReasonRefused       ReasonCode = "refused"        // the network will not take it
	ReasonGaveUp        ReasonCode = "gave_up"        // all attempts were used
	ReasonLate          ReasonCode = "late"           // its time had passed by more than the grace
	ReasonMerged        ReasonCode = "merged"         // several missed runs became one
	ReasonOverlap       ReasonCode = "overlap"        // the run before has not ended
	ReasonInterrupted   ReasonCode = "interrupted"    // the program ended during the run
	ReasonTimeout       ReasonCode = "timeout"        // the run took longer than allowed
	ReasonPanic         ReasonCode = "panic"          // the run met a mistake in the program
	ReasonError         ReasonCode = "error"          // the run failed
	ReasonStore         ReasonCode = "store"          // the file could not be read or written
	ReasonUnknownKind   ReasonCode = "unknown_kind"   // this version has no worker for it
	ReasonBadTrigger    ReasonCode = "bad_trigger"    // its schedule cannot be read
	ReasonLogin         ReasonCode = "login"          // the identity must be logged in again
	ReasonStopped       ReasonCode = "stopped"        // the network restricted the identity
	ReasonUnknown       ReasonCode = "unknown"        // nobody knows whether it went out
	ReasonCancelled     ReasonCode = "cancelled"      // a person cancelled it
	ReasonPaused        ReasonCode = "paused"         // a person paused it
	ReasonRequested     ReasonCode = "requested"      // a person asked for it now
	ReasonNotConnected  ReasonCode = "not_connected"  // there is no connection to the network
	ReasonIdentityGone  ReasonCode = "identity_gone"  // the login that it needs was removed
	ReasonShuttingDown  ReasonCode = "shutting_down"  // the program is ending
	ReasonIsCatchingUp  ReasonCode = "catching_up"    // a missed run that is made up for
	ReasonScheduleEnded ReasonCode = "schedule_ended" // the trigger names no later time
	ReasonPreparing     ReasonCode = "preparing"      // the list of chats of a task is being written
	ReasonPacing        ReasonCode = "pacing"         // the pause between two chats
	ReasonQuiet         ReasonCode = "quiet_hours"    // nothing is sent at this time of the day
	ReasonDailyCap      ReasonCode = "daily_cap"      // the identity has sent enough for this day
	ReasonChatOff       ReasonCode = "chat_off"       // the owner wants nothing sent to the chat
	ReasonSameChat      ReasonCode = "same_chat"      // the chat was named twice
	ReasonReadOnly      ReasonCode = "read_only"      // the identity may not send to the chat
	ReasonNobody        ReasonCode = "nobody"         // no chat of a task has it
	ReasonChecking      ReasonCode = "checking"       // the pause between two accounts
	ReasonSiteWait      ReasonCode = "site_wait"      // a site asked the check to wait
	ReasonNoAnswers     ReasonCode = "no_answers"     // a site refused to say whether accounts exist
	ReasonNoCanary      ReasonCode = "no_canary"      // a site does not find a profile that surely exists
	ReasonNoRule        ReasonCode = "no_rule"        // nothing says how a site is asked
	ReasonSitesGivenUp  ReasonCode = "sites_given_up" // a check gave up several sites, each for a reason of its own
	ReasonBackingOff    ReasonCode = "backing_off"    // a site that refused is left alone
	ReasonResting       ReasonCode = "resting"        // a site that is to be asked seldom is left in peace
	ReasonAlertsOpen    ReasonCode = "alerts_open"    // somebody has to look at an alert
	ReasonUploading     ReasonCode = "uploading"      // the media are being uploaded
)

// Zero reports whether there is no reason.
func (r Reason) Zero() bool { return r.Code == "" }

// IsZero makes an empty reason disappear from JSON under omitzero.
func (r Reason) IsZero() bool { return r.Zero() }

// Text says the reason in plain words in lang, "en" or "ru"; times are shown in zone.
func (r Reason) Text(lang string, zone *time.Location) string {
	words, ok := reasonWords()[r.Code]
	if !ok {
		return r.Detail
	}
	text, join := words.en, ": "
	if lang == "ru" {
		text = words.ru
	}
	if r.N > 0 && words.counted != nil {
		text = words.counted(lang, r.N, r.Of)
	}
	if r.About != "" {
		text = r.About + join + text
	}
	if !r.Until.IsZero() {
		text += until(lang, r.Until.In(zone))
	}
	if r.Detail != "" {
		text += join + r.Detail
	}
	return text
}

func until(lang string, t time.Time) string {
	if lang == "ru" {
		return " до " + t.Format("02.01.2006 15:04:05")
	}
	return " until " + t.Format("2006-01-02 15:04:05")
}

// words are a reason in both languages; counted says it with numbers.
type words struct {
	en, ru  string
	counted func(lang string, n, of int) string
}

func count(en, ru string) func(string, int, int) string {
	return func(lang string, n, of int) string {
		if lang == "ru" {
			return fmt.Sprintf(ru, n, of)
		}
		return fmt.Sprintf(en, n, of)
	}
}

func reasonWords() map[ReasonCode]words {
	return map[ReasonCode]words{
		ReasonRetry:         {"Trying again", "Новая попытка", count("Trying again (attempt %d of %d failed)", "Новая попытка (не удалась %d из %d)")},
		ReasonFlood:         {en: "Telegram asked this login to wait", ru: "Telegram попросил подождать"},
		ReasonSlowmode:      {en: "The chat is in slow mode: waiting", ru: "В чате медленный режим: ждём"},
		ReasonRefused:       {en: "Refused", ru: "Отказано"},
		ReasonGaveUp:        {"Gave up after the last attempt", "Попытки исчерпаны", count("Gave up after attempt %d of %d", "Попытки исчерпаны: %d из %d")},
		ReasonLate:          {en: "Its time had passed and it was not to be sent late", ru: "Время прошло, а отправлять с опозданием было нельзя"},
		ReasonMerged:        {"Several missed runs were merged into one", "Пропущенные запуски объединены в один", count("%d missed runs were merged into this one%.0d", "Объединено пропущенных запусков: %d%.0d")},
		ReasonOverlap:       {en: "Skipped because the run before had not ended", ru: "Пропущено: предыдущий запуск ещё не закончился"},
		ReasonInterrupted:   {en: "Belfry stopped during the run; it is done again", ru: "Belfry остановился во время выполнения; запуск повторится"},
		ReasonTimeout:       {en: "Cut off: it took longer than its time limit", ru: "Прервано: превышено отведённое время"},
		ReasonPanic:         {en: "A mistake in Belfry stopped the run; please report it", ru: "Запуск остановила ошибка в Belfry; сообщите о ней"},
		ReasonError:         {en: "The run failed", ru: "Запуск не удался"},
		ReasonStore:         {en: "The database file could not be read or written; the run is repeated", ru: "Файл базы не читается или не пишется; запуск повторится"},
		ReasonUnknownKind:   {en: "Set aside: this version of Belfry does not know this kind of job; it runs again with a version that does", ru: "Отложено: эта версия Belfry не знает такого вида задач; запустится с версией, которая знает"},
		ReasonBadTrigger:    {en: "Set aside: its schedule cannot be read; change the schedule", ru: "Отложено: расписание не читается; измените его"},
		ReasonLogin:         {en: "The login has ended; log in again", ru: "Вход больше не действует; войдите снова"},
		ReasonStopped:       {en: "The network has restricted this login", ru: "Сеть ограничила этот аккаунт"},
		ReasonUnknown:       {en: "No answer came: look whether it is there before sending it again", ru: "Ответа не было: проверьте, вышла ли публикация, прежде чем отправлять снова"},
		ReasonCancelled:     {en: "Cancelled", ru: "Отменено"},
		ReasonPaused:        {en: "Paused", ru: "На паузе"},
		ReasonRequested:     {en: "Asked for by hand", ru: "Запущено вручную"},
		ReasonNotConnected:  {en: "No connection to Telegram", ru: "Нет связи с Telegram"},
		ReasonIdentityGone:  {en: "The login that it needs was removed; choose another one", ru: "Нужный вход удалён; выберите другой"},
		ReasonShuttingDown:  {en: "Belfry was stopping; it is done again after the start", ru: "Belfry завершал работу; повтор после запуска"},
		ReasonIsCatchingUp:  {"Making up for a missed run", "Выполнение пропущенного запуска", count("Making up for missed runs, %d left%.0d", "Выполнение пропущенных запусков, осталось: %d%.0d")},
		ReasonPreparing:     {"Preparing the list of chats", "Готовится список чатов", count("Preparing the list of chats (%d of %d)", "Готовится список чатов (%d из %d)")},
		ReasonPacing:        {en: "Pausing between two chats", ru: "Пауза между чатами"},
		ReasonQuiet:         {en: "Quiet hours: nothing is sent", ru: "Тихие часы: ничего не отправляется"},
		ReasonDailyCap:      {"The login has sent enough for today", "Дневной лимит аккаунта исчерпан", count("The login has sent enough for today (%d of %d)", "Дневной лимит аккаунта исчерпан (%d из %d)")},
		ReasonChatOff:       {en: "The chat is switched off", ru: "Чат выключен"},
		ReasonSameChat:      {en: "The same chat was named twice", ru: "Этот чат назван дважды"},
		ReasonReadOnly:      {en: "This login may not send to the chat", ru: "Этому аккаунту нельзя писать в чат"},
		ReasonNobody:        {en: "No chat has it", ru: "Ни в один чат не отправлено"},
		ReasonChecking:      {"Checking accounts", "Проверка аккаунтов", count("Checking accounts (%d of %d)", "Проверка аккаунтов (%d из %d)")},
		ReasonSiteWait:      {"The site asked to wait", "Сайт просит подождать", count("The site asked to wait (%d of %d accounts are done)", "Сайт просит подождать (проверено %d из %d)")},
		ReasonNoAnswers:     {"The site would not say whether accounts exist", "Сайт не говорит, существуют ли аккаунты", count("The site would not say whether accounts exist (%d refusals in a row%.0d)", "Сайт не говорит, существуют ли аккаунты (отказов подряд: %d%.0d)")},
		ReasonNoCanary:      {en: "The site does not find a profile that surely exists, so it is not believed", ru: "Сайт не находит профиль, который точно существует, поэтому ему нельзя верить"},
		ReasonNoRule:        {en: "No rule says how this site is asked; import one", ru: "Нет правила для этого сайта; импортируйте его"},
		ReasonSitesGivenUp:  {"Sites would not say whether accounts exist", "Сайты не говорят, существуют ли аккаунты", count("%d of %d sites would not say whether accounts exist", "Сайты не говорят, существуют ли аккаунты: %d из %d")},
		ReasonBackingOff:    {en: "The site refused to answer and is left alone", ru: "Сайт отказался отвечать, и его пока не спрашивают"},
		ReasonResting:       {en: "Names are looked up there seldom, and it is left in peace", ru: "Имена там ищутся редко, и сайт не спрашивают"},
		ReasonAlertsOpen:    {en: "Not called: somebody has to look at an alert", ru: "Не вызвано: есть непросмотренное оповещение"},
		ReasonUploading:     {en: "Uploading the media", ru: "Загружаем медиафайлы"},
		ReasonScheduleEnded: {en: "The schedule names no later time", ru: "В расписании больше нет запусков"},
	}
}
