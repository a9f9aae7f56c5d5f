package scheduler

import (
	"errors"

	"belfry/store"
)

// ByHand is why everything is paused when a person has asked for that.
const ByHand = "paused by hand"

// PauseAll keeps everything from being started until [ResumeAll]; runs under way are not disturbed.
// why is for people to read and must not be empty.
func PauseAll(tx *store.Tx, why string) error { return tx.Settings.Set(settingPaused, why) }

// ResumeAll ends [PauseAll], and the pause with which a restored file starts: then its logins connect.
// Jobs that were paused one by one stay so.
func ResumeAll(tx *store.Tx) error {
	return errors.Join(tx.Settings.Set(settingPaused, ""), tx.Settings.Set(store.Restored, ""), tx.Holds.End(store.ReasonPaused))
}
