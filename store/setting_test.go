package store

import "testing"

func TestADamagedSettingIsSetAnew(t *testing.T) {
	db := damagedFirst(t, "settings", func(tx *Tx) error { return tx.Settings.Set("interval", "5m") })
	mustUpdate(t, db, func(tx *Tx) error {
		if _, err := tx.Settings.Value("interval"); !IsCorrupt(err) {
			t.Errorf("the damaged one: %v", err)
		}
		return nil
	})
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Set("interval", "10m") })
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Set("other", "x") })
	mustUpdate(t, db, func(tx *Tx) error {
		for name, want := range map[string]string{"interval": "10m", "other": "x"} {
			if value, err := tx.Settings.Value(name); value != want || err != nil {
				t.Errorf("%s is %q: %v", name, value, err)
			}
		}
		return nil
	})
	problems, err := db.Verify()
	if err != nil || len(problems) != 1 || problems[0].ID != 1 {
		t.Errorf("%v, %v", problems, err)
	}
	if _, _, err := db.repair(); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	mustUpdate(t, db, func(tx *Tx) error {
		value, err := tx.Settings.Value("interval")
		if value != "10m" {
			t.Errorf("after the repair it is %q", value)
		}
		return err
	})
}
