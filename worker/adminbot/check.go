package adminbot

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
)

// listed is how many accounts a page of the list has.
const listed = 20

// intervals are those that have a button, in minutes.
func intervals() []int { return []int{1, 3, 5, 10, 15, 30, 60, 180} }

// check is the page of the account check, and what its buttons do.
func (r request) check(path []string) (screen, error) {
	if len(path) == 0 {
		return r.checkPage("")
	}
	switch path[0] {
	case "run":
		r.does("autocheck.run", "")
		if _, err := r.bot.workers.Accounts.CheckNow(r.tx); err != nil {
			return screen{}, err
		}
		return r.checkPage(r.T("bot.check_begins"))
	case "quiet":
		r.does("autocheck.change", "")
		if err := r.bot.workers.Accounts.SetQuiet(r.tx, len(path) > 1 && path[1] == "on"); err != nil {
			return screen{}, err
		}
		return r.checkPage("")
	case "interval":
		if len(path) > 1 {
			return r.takeInterval(path[1])
		}
		return r.intervalPage()
	case "list":
		return r.list(strings.Join(path[1:], "/"))
	case "add":
		if err := r.ask(askNames, answerTime); err != nil {
			return screen{}, err
		}
		return r.page(r.T("bot.send_names"), nil, button(r.T("bot.back"), pageCheck)), nil
	}
	return r.hint(r.T("bot.not_understood")), nil
}

func (r request) checkPage(first string) (screen, error) {
	s, err := r.bot.workers.Accounts.Status(r.tx)
	if err != nil {
		return screen{}, err
	}
	lines := []string{"🔎 " + r.T("bot.title.check")}
	if first != "" {
		lines = append(lines, first)
	}
	lines = append(lines, "", i18n.UpperFirst(r.Say(scheduler.Describe(store.Trigger{Every: s.Interval}, r.Zone))))
	switch {
	case s.Running != nil:
		lines = append(lines, r.T("bot.checking", s.Running.Checked, s.Running.Total))
		if s.Job.Reason.Code == store.ReasonSiteWait {
			lines = append(lines, r.Say(s.Job.Reason))
		}
	case s.Job.State == store.JobPaused:
		lines = append(lines, r.T("bot.check_paused"))
	case s.Job.ID != 0:
		lines = append(lines, r.T("bot.next_check", s.Job.Due))
	default:
		lines = append(lines, r.T("bot.no_accounts"))
	}
	lines = append(lines, r.T("bot.counts", s.Counts[store.AccountPending], s.Counts[store.AccountFound], s.Counts[store.AccountNotFound]))
	if s.Last != nil {
		lines = append(lines, r.T("bot.last_check", s.Last.Ended, s.Last.Checked, s.Last.Found, s.Last.NotFound, s.Last.Errors))
	}
	for _, site := range s.Alone {
		lines = append(lines, "⚠️ "+site.Site+": "+r.Say(site.Reason))
	}
	quiet := button(r.T("bot.quiet_on"), pageCheck, "quiet", "on")
	if s.Quiet {
		lines = append(lines, r.T("bot.is_quiet"))
		quiet = button(r.T("bot.quiet_off"), pageCheck, "quiet", "off")
	}
	rows := [][]store.Button{
		{button(r.T("bot.check_now"), pageCheck, "run"), button(r.T("bot.interval"), pageCheck, "interval")},
		{button(r.T("bot.list"), pageCheck, "list"), button(r.T("bot.add"), pageCheck, "add")},
		{quiet},
	}
	return r.page(strings.Join(lines, "\n"), rows, button(r.T("bot.refresh"), pageCheck)), nil
}

// intervalPage offers intervals and takes another one as a text.
func (r request) intervalPage() (screen, error) {
	if err := r.ask(askInterval, answerTime); err != nil {
		return screen{}, err
	}
	var rows [][]store.Button
	for i, n := range intervals() {
		if i%4 == 0 {
			rows = append(rows, nil)
		}
		rows[i/4] = append(rows[i/4], button(r.T("bot.minutes", n), pageCheck, "interval", n))
	}
	return r.page(r.T("bot.choose_interval"), rows, button(r.T("bot.back"), pageCheck)), nil
}

// takeInterval sets the interval, which is written in minutes.
func (r request) takeInterval(text string) (screen, error) {
	n, ok := minutesIn(text)
	if !ok {
		s, err := r.intervalPage() // the question stands
		s.text = r.T("bot.no_number") + "\n\n" + s.text
		return s, err
	}
	job, err := r.bot.workers.Accounts.SetInterval(r.tx, time.Duration(n)*time.Minute)
	if _, wrong := errors.AsType[*store.FieldError](err); wrong {
		s, again := r.intervalPage()
		s.text = "⚠️ " + r.Error(err) + "\n\n" + s.text
		return s, again
	}
	if err != nil {
		return screen{}, err
	}
	r.does("autocheck.change", "")
	if err := r.forget(); err != nil {
		return screen{}, err
	}
	return r.checkPage(r.T("bot.interval_set", scheduler.Describe(job.Trigger, r.Zone)))
}

// minutesIn reads a number of minutes, with its unit or without. It takes no other unit: who writes "1
// hour" does not mean a minute.
func minutesIn(text string) (n int, ok bool) {
	found := regexp.MustCompile(`^(\d{1,6})\s*(m|min|mins|minute|minutes|м|мин|минута|минуту|минуты|минут)?\.?$`).
		FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

// takeNames has the accounts watched whose names are in a text.
func (r request) takeNames(said string) (screen, error) {
	// In a chat a comma stands between names, and not before a note.
	text := strings.NewReplacer(",", "\n", ";", "\n").Replace(said)
	r.does("accounts.create", "")
	list, err := r.bot.workers.Accounts.AddList(r.tx, text, accounts.Request{})
	if err != nil {
		return screen{}, err
	}
	lines := []string{r.T("bot.added", list.Added, list.Duplicates, list.Invalid)}
	for _, line := range list.Lines {
		if line.Result == accounts.LineInvalid && len(lines) < listed {
			lines = append(lines, r.T("bot.line", short(line.Text)))
		}
	}
	if list.Added > 0 {
		if err := r.forget(); err != nil {
			return screen{}, err
		}
	}
	if len(utf16.Encode([]rune(said))) >= splitText {
		if err := r.ask(askNames, restTime); err != nil {
			return screen{}, err
		}
	}
	return r.checkPage(strings.Join(lines, "\n"))
}

// list shows the accounts behind one, in the order in which they were added.
func (r request) list(after string) (screen, error) {
	from, _ := strconv.ParseUint(after, 10, 64) // 0 for the first page
	lines := []string{"🔎 " + r.T("bot.list"), ""}
	last := button(r.T("bot.back"), pageCheck)
	var buttons []store.Button
	var shown, id uint64
	for a := range r.tx.Accounts.From(from + 1) {
		if shown == listed {
			buttons = append(buttons, button(r.T("bot.more"), pageCheck, "list", id))
			break
		}
		shown, id = shown+1, a.ID
		lines = append(lines, accountLine(r.T("bot.account_mark."+string(a.State)), a))
	}
	if shown == 0 {
		lines = append(lines, r.T("bot.no_accounts"))
	}
	lines = append(lines, "", r.T("bot.marks"))
	return r.page(strings.Join(lines, "\n"), nil, append(buttons, last)...), nil
}

func accountLine(mark string, a store.Account) string {
	line := mark + " @" + a.Username
	if a.Site != accounts.DefaultSite {
		line += " (" + a.Site + ")"
	}
	if a.Note != "" {
		line += " — " + short(a.Note)
	}
	return line
}
