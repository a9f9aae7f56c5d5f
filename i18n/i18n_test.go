package i18n

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLanguagesHaveTheSameMessages(t *testing.T) {
	first := messagesOf(t, Languages[0])
	for _, lang := range Languages[1:] {
		other := messagesOf(t, lang)
		for key, args := range first {
			switch theirs, ok := other[key]; {
			case !ok:
				t.Errorf("%s: no message %s", lang, key)
			case !maps.Equal(args, theirs):
				t.Errorf("%s: %s is filled with %v, in %s with %v", lang, key, theirs, Languages[0], args)
			}
		}
		for key := range other {
			if _, ok := first[key]; !ok {
				t.Errorf("%s: a message %s that %s does not have", lang, key, Languages[0])
			}
		}
	}
}

// messagesOf returns the verbs of a language's messages, by key and number of the argument.
func messagesOf(t *testing.T, lang string) map[string]map[int]string {
	t.Helper()
	all, err := read(lang)
	if err != nil {
		t.Fatal(err)
	}
	messages := make(map[string]map[int]string)
	for key, said := range all {
		args := make(map[int]string)
		for form, text := range said {
			if text == "" {
				t.Errorf("%s: %s (%s) is empty", lang, key, form)
			}
			maps.Copy(args, verbs(text))
		}
		if _, only := said[""]; !only && said["other"] == "" {
			t.Errorf("%s: %s has no form for other numbers", lang, key)
		}
		messages[key] = args
	}
	return messages
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?([-+#0-9.]*)([a-z%])`)

// verbs returns the verbs of a text by the number of their argument, the first being 1.
func verbs(text string) map[int]string {
	all, next := make(map[int]string), 1
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[3] == "%" {
			continue
		}
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		all[next] = m[3]
		next++
	}
	return all
}

func TestNumbersAndTimesAreSaidAsTheReaderHasThem(t *testing.T) {
	moscow := time.FixedZone("Moscow", 3*60*60)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, each := range []struct {
		lang, want string
		say        func(Printer) string
	}{
		{"en", "1,234 files", func(p Printer) string { return p.T("posts.album", 1234) }},
		{"ru", "1\u00a0234 файла", func(p Printer) string { return p.T("posts.album", 1234) }},
		{"ru", "21 файл", func(p Printer) string { return p.T("posts.album", 21) }},
		{"en", "tomorrow, 02:30", func(p Printer) string { return p.Exact(now.Add(11*time.Hour + 30*time.Minute)) }},
		{"ru", "вт 24 ноября, 15:00", func(p Printer) string { return p.Exact(now.Add(48 * time.Hour)) }},
		{"en", "Saturday 2 January 2027", func(p Printer) string { return p.Day(time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)) }},
		{"ru", "через 3 часа", func(p Printer) string { return p.Relative(now.Add(3 * time.Hour)) }},
		{"en", "1 minute ago", func(p Printer) string { return p.Relative(now.Add(-time.Minute)) }},
		{"en", "Skip it if it is more than 15 minutes late", func(p Printer) string { return p.T("compose.late_skip", 15*time.Minute) }},
		{"en", "told", func(p Printer) string { return p.Say(M("nothing.of.the.kind", "told")) }},
	} {
		t.Run(fmt.Sprint(each.lang, " ", each.want), func(t *testing.T) {
			p := For(each.lang, moscow)
			p.Now = now
			if said := each.say(p); said != each.want {
				t.Errorf("said %q, want %q", said, each.want)
			}
		})
	}
}

type refused struct{ field, key string }

func (r refused) Error() string { return r.key }

func (r refused) Refusal() (field, key string, args []any) { return r.field, r.key, nil }

func TestARefusalIsASentenceWithItsCure(t *testing.T) {
	for _, lang := range Languages {
		said := For(lang, time.UTC).Error(fmt.Errorf("wrapped: %w", refused{"text", "invalid.empty"}))
		if want := map[string]string{"en": "The text is empty: write something.", "ru": "Текст: пусто. Напишите что-нибудь."}[lang]; said != want {
			t.Errorf("%s: said %q, want %q", lang, said, want)
		}
	}
	if !slices.Equal(Languages, []string{"en", "ru"}) {
		t.Error("a language is not tried here")
	}
}

func TestWhatIsInvalidComesWithACure(t *testing.T) {
	for _, lang := range Languages {
		all, err := read(lang)
		if err != nil {
			t.Fatal(err)
		}
		for key, forms := range all {
			for _, text := range forms {
				if strings.HasPrefix(key, "invalid.") && key != "invalid.refused" && !strings.Contains(text, " | ") {
					t.Errorf("%s: %s does not say what to do: %s", lang, key, text)
				}
			}
		}
	}
}

func TestLengthsOfTimeInWords(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d      time.Duration
		en, ru string
	}{
		{time.Second, "in 1 second", "через 1 секунду"},
		{50 * time.Second, "in 50 seconds", "через 50 секунд"},
		{time.Minute, "in 1 minute", "через 1 минуту"},
		{2 * time.Minute, "in 2 minutes", "через 2 минуты"},
		{11 * time.Minute, "in 11 minutes", "через 11 минут"},
		{21 * time.Minute, "in 21 minutes", "через 21 минуту"},
		{time.Hour, "in 1 hour", "через 1 час"},
		{23 * time.Hour, "in 23 hours", "через 23 часа"},
		{41 * time.Hour, "in 41 hours", "через 41 час"},
		{2 * day, "in 2 days", "через 2 дня"},
		{5 * day, "in 5 days", "через 5 дней"},
		{90 * day, "in 3 months", "через 3 месяца"},
		{5 * 365 * day, "in 5 years", "через 5 лет"},
	} {
		if en, ru := For("en", time.UTC).T("time.in", c.d), For("ru", time.UTC).T("time.in", c.d); en != c.en || ru != c.ru {
			t.Errorf("%s: %q, %q", c.d, en, ru)
		}
	}
}

func TestALengthOfTimeThatSomebodyHasSetIsNotRounded(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		15 * time.Minute: {"15 minutes", "15 минут"},
		90 * time.Minute: {"1 hour 30 minutes", "1 час 30 минут"},
		2 * time.Hour:    {"2 hours", "2 часа"},
		26*time.Hour + 3*time.Minute + time.Second: {"1 day 2 hours 3 minutes 1 second", "1 день 2 часа 3 минуты 1 секунду"},
	} {
		if got := [2]string{For("en", nil).ExactLength(d), For("ru", nil).ExactLength(d)}; got != want {
			t.Errorf("%v is said as %q", d, got)
		}
	}
}

func TestADayBeginsWithinItselfWhereTheClockIsChangedAtMidnight(t *testing.T) {
	for _, name := range []string{"America/Santiago", "America/Havana", "Atlantic/Azores", "Asia/Beirut", "Africa/Cairo", "Europe/London", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for day := range 30 * 366 {
			want := time.Date(2000, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			at := StartOfDay(2000, 1, 1+day, zone)
			if at.Format(time.DateOnly) != want || at.Add(-1).Format(time.DateOnly) == want {
				t.Errorf("%s in %s begins at %v", want, name, at)
			}
		}
	}
}
