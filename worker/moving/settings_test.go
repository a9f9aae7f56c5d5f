package moving

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/worker"
	"belfry/worker/bookings"
	"belfry/worker/notices"
	"belfry/worker/setup"
)

// What an owner has chosen comes along, if it is neither a secret nor this machine's.
func TestWhatWasChosenIsExported(t *testing.T) {
	from, to := start(t), start(t)
	from.identities()
	defaults := bookings.Settings{
		Duration: "45m", Reminders: []string{"3h"}, FeedbackAfter: "off", Lang: "ru", Zone: "Europe/Moscow",
		Templates: map[string]map[string]string{"reminder": {"ru": "Ждём вас"}},
	}
	if err := from.Setup.SetLocale(setup.Locale{Timezone: "Asia/Tokyo", Lang: "ru"}); err != nil {
		t.Fatal(err)
	}
	told := notices.Told{Login: 1, Admins: []notices.Admin{{Chat: "5", Name: "Eve"}}, Code: "opensesame", Until: now.Add(time.Hour)}
	from.update(func(tx *store.Tx) error {
		_, err := from.Accounts.SetInterval(tx, 3*time.Hour)
		return errors.Join(err, from.Accounts.SetQuiet(tx, true), worker.SetSetting(tx, settingTold, told),
			bookings.New(from.db, nil, nil, bookings.Config{}).SetSettings(tx, defaults))
	})
	exported := from.export()
	if strings.Contains(exported, "opensesame") {
		t.Error("the code is exported that makes a person an admin")
	}
	locale := ""
	to.Setup.OnChange(func(lang string, zone *time.Location) { locale = lang + " " + zone.String() })
	to.give("", []byte(exported), false)
	if locale != "ru Asia/Tokyo" {
		t.Errorf("what runs was given %q", locale)
	}
	to.view(func(tx *store.Tx) error {
		got, err1 := bookings.New(to.db, nil, nil, bookings.Config{}).Settings(tx)
		every, err2 := to.Accounts.Interval(tx)
		admins, err3 := notices.New(to.db, notices.Config{}).Told(tx)
		if fmt.Sprint(got) != fmt.Sprint(defaults) || every != 3*time.Hour || !to.Accounts.Quiet(tx) || admins.Login != 1 || len(admins.Admins) != 1 || admins.Code != "" {
			t.Errorf("%+v, %s, %+v", got, every, admins)
		}
		return errors.Join(err1, err2, err3)
	})
	from.want(from.give("", []byte(exported), false), fmt.Sprintf("0 made, 0 changed, %d same", strings.Count(exported, "\n")))
}
