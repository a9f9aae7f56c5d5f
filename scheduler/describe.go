package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"belfry/store"
)

// Describe says in lang, "en" or "ru", when a trigger runs.
func Describe(t store.Trigger, lang string) string {
	russian := lang == "ru"
	pick := func(en, ru string) string {
		if russian {
			return ru
		}
		return en
	}
	zone := ""
	if t.Zone != "" && t.Zone != "UTC" {
		zone = " (" + t.Zone + ")"
	}
	switch {
	case t.Once():
		return pick("once", "один раз")
	case t.Every > 0:
		return pick("every ", "раз в ") + interval(t.Every, russian)
	case t.Cron != "":
		return "cron " + t.Cron + zone
	case len(t.Weekdays) == 0 || len(t.Weekdays) == 7:
		return pick("daily at ", "ежедневно в ") + strings.Join(t.Times, ", ") + zone
	}
	days := slices.Sorted(slices.Values(t.Weekdays))
	names := make([]string, 0, len(days))
	for _, day := range days {
		if day >= 1 && day <= 7 {
			names = append(names, weekday(day, russian))
		}
	}
	return strings.Join(names, ", ") + pick(" at ", " в ") + strings.Join(t.Times, ", ") + zone
}

func weekday(day int, russian bool) string {
	if russian {
		return [...]string{"пн", "вт", "ср", "чт", "пт", "сб", "вс"}[day-1]
	}
	return time.Weekday(day % 7).String()[:3]
}

// interval says a duration in its largest whole unit.
func interval(d time.Duration, russian bool) string {
	units := []struct {
		size           time.Duration
		en             string
		one, few, many string
	}{
		{24 * time.Hour, "day", "день", "дня", "дней"},
		{time.Hour, "hour", "час", "часа", "часов"},
		{time.Minute, "minute", "минуту", "минуты", "минут"},
		{time.Second, "second", "секунду", "секунды", "секунд"},
	}
	for _, u := range units {
		if d%u.size != 0 {
			continue
		}
		n := int64(d / u.size)
		if russian && n == 1 {
			return u.one
		}
		if russian {
			return fmt.Sprintf("%d %s", n, plural(n, u.one, u.few, u.many))
		}
		if n == 1 {
			return u.en
		}
		return fmt.Sprintf("%d %ss", n, u.en)
	}
	return d.String()
}

// plural chooses the Russian form for a number.
func plural(n int64, one, few, many string) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return one
	case n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return few
	}
	return many
}
