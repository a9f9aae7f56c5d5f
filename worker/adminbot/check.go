package adminbot

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

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
		if _, err := r.bot.workers.Accounts.CheckNow(r.tx); err != nil {
			return screen{}, err
		}
		return r.checkPage(r.bot.say.checkBegins)
	case "quiet":
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
		return r.page(r.bot.say.sendNames, nil, button(r.bot.say.back, pageCheck)), nil
	}
	return r.hint(r.bot.say.notUnderstood), nil
}

func (r request) checkPage(first string) (screen, error) {
	say := r.bot.say
	s, err := r.bot.workers.Accounts.Status(r.tx)
	if err != nil {
		return screen{}, err
	}
	lines := []string{"🔎 " + say.titles[pageCheck]}
	if first != "" {
		lines = append(lines, first)
	}
	lines = append(lines, "", fmt.Sprintf(say.every, r.minutes(s.Interval)))
	switch {
	case s.Running != nil:
		lines = append(lines, fmt.Sprintf(say.checking, s.Running.Checked, s.Running.Total))
		if s.Job.Reason.Code == store.ReasonSiteWait {
			lines = append(lines, r.bot.printer.Say(s.Job.Reason))
		}
	case s.Job.State == store.JobPaused:
		lines = append(lines, say.checkPaused)
	case s.Job.ID != 0:
		lines = append(lines, fmt.Sprintf(say.nextCheck, r.clock(s.Job.Due)))
	default:
		lines = append(lines, say.noAccounts)
	}
	lines = append(lines, fmt.Sprintf(say.counts, s.Counts[store.AccountPending], s.Counts[store.AccountFound], s.Counts[store.AccountNotFound]))
	if s.Last != nil {
		lines = append(lines, fmt.Sprintf(say.lastCheck, r.clock(s.Last.Ended), s.Last.Checked, s.Last.Found, s.Last.NotFound, s.Last.Errors))
	}
	for _, site := range s.Alone {
		lines = append(lines, "⚠️ "+site.Site+": "+r.bot.printer.Say(site.Reason))
	}
	quiet := button(say.quietOn, pageCheck, "quiet", "on")
	if s.Quiet {
		lines = append(lines, say.isQuiet)
		quiet = button(say.quietOff, pageCheck, "quiet", "off")
	}
	rows := [][]store.Button{
		{button(say.checkNow, pageCheck, "run"), button(say.interval, pageCheck, "interval")},
		{button(say.list, pageCheck, "list"), button(say.add, pageCheck, "add")},
		{quiet},
	}
	return r.page(strings.Join(lines, "\n"), rows, button(say.refresh, pageCheck)), nil
}

func (r request) minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf(r.bot.say.minutes, d/time.Minute)
	}
	return d.String()
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
		rows[i/4] = append(rows[i/4], button(fmt.Sprintf(r.bot.say.minutes, n), pageCheck, "interval", n))
	}
	return r.page(r.bot.say.chooseInterval, rows, button(r.bot.say.back, pageCheck)), nil
}

// takeInterval sets the interval, which is written in minutes.
func (r request) takeInterval(text string) (screen, error) {
	n, ok := minutesIn(text)
	if !ok {
		s, err := r.intervalPage() // the question stands
		s.text = r.bot.say.noNumber + "\n\n" + s.text
		return s, err
	}
	job, err := r.bot.workers.Accounts.SetInterval(r.tx, time.Duration(n)*time.Minute)
	if _, wrong := errors.AsType[*store.FieldError](err); wrong {
		s, again := r.intervalPage()
		s.text = "⚠️ " + r.bot.printer.Error(err) + "\n\n" + s.text
		return s, again
	}
	if err != nil {
		return screen{}, err
	}
	if err := r.forget(); err != nil {
		return screen{}, err
	}
	return r.checkPage("✅ " + fmt.Sprintf(r.bot.say.intervalSet, r.minutes(job.Trigger.Every)))
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
	list, err := r.bot.workers.Accounts.AddList(r.tx, text, accounts.Request{})
	if err != nil {
		return screen{}, err
	}
	lines := []string{fmt.Sprintf(r.bot.say.added, list.Added, list.Duplicates, list.Nonsense)}
	for _, line := range list.Lines {
		if line.Result == accounts.LineNonsense && len(lines) < listed {
			lines = append(lines, fmt.Sprintf(r.bot.say.line, short(line.Text)))
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
	say := r.bot.say
	from, err := strconv.ParseUint(after, 10, 64)
	if err != nil {
		from = 0
	}
	lines := []string{"🔎 " + say.list, ""}
	last := button(say.back, pageCheck)
	var buttons []store.Button
	var shown, id uint64
	for a := range r.tx.Accounts.From(from + 1) {
		if shown == listed {
			buttons = append(buttons, button(say.more, pageCheck, "list", id))
			break
		}
		shown, id = shown+1, a.ID
		lines = append(lines, accountLine(say.stateMarks[a.State], a))
	}
	if shown == 0 {
		lines = append(lines, say.noAccounts)
	}
	lines = append(lines, "", say.marks)
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
