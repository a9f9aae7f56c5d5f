package moving

import (
	"encoding/json"
	"slices"
	"time"

	"belfry/store"
	"belfry/worker/notices"
)

const settingTold = "notices.told"

// settings are what an owner has chosen and what is neither a secret nor this machine's. They take the place of those that
// are there.
func settings() table {
	names := []string{store.Paused, "accounts.rules", "accounts.rules_mark", "accounts.interval", "accounts.quiet",
		"bookings.settings", "setup.timezone", "setup.lang", settingTold}
	read := func(tx *store.Tx, name string) (string, error) {
		value, err := tx.Settings.Value(name)
		if name == settingTold {
			value = withoutCode(value)
		}
		return value, err
	}
	return table{"settings",
		func(tx *store.Tx, write func(line) error) error {
			for _, name := range names {
				value, err := read(tx, name)
				if err == nil && value != "" {
					err = write(line{Row: store.Setting{Name: name, Value: value}})
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *store.Tx, data []byte, _ []store.Job) (result, error) {
			var s store.Setting
			if json.Unmarshal(data, &s) != nil || !slices.Contains(names, s.Name) {
				return same, unreadable()
			}
			old, err := read(tx, s.Name)
			if err != nil || old == s.Value {
				return same, err
			}
			return made, tx.Settings.Set(s.Name, s.Value)
		},
	}
}

// withoutCode is who is told, without the code that makes a person an admin.
func withoutCode(told string) string {
	var t notices.Told
	if json.Unmarshal([]byte(told), &t) != nil { // it was not chosen, or has to be chosen anew
		return ""
	}
	t.Code, t.Until = "", time.Time{}
	bare, _ := json.Marshal(t) // of strings and numbers
	return string(bare)
}
