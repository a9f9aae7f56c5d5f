package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newAudit returns the command that lists who did what.
func newAudit() *cobra.Command {
	type entry struct {
		At                                 time.Time
		Actor, Door, Action, About, Result string
	}
	return newList("audit", "List who did what through the page, the API, the bot and the commands, the latest first.", "/audit", [][2]string{
		{"actor", "Only what this actor did: a token's name, page, a Telegram id, a user."},
		{"door", "Only page, api, bot or cli."},
		{"action", "Only this action, such as posts.create, or all of posts."},
		{"since", "Not before this time, such as 2026-11-23T00:00:00Z."},
		{"until", "Before this time."},
	}, "TIME (UTC)|WHO|DOOR|ACTION|ABOUT|RESULT", func(e entry) []any {
		return []any{moment(e.At), e.Actor, e.Door, e.Action, e.About, e.Result}
	})
}

// audit puts on record what a command has done to a file that no service has open.
func audit(path string, key []byte, action string) (err error) {
	db, err := store.Open(path, store.Options{Key: key, Verifier: verifier()})
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	actor := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		actor = u.Username
	}
	return db.Update(func(tx *store.Tx) error {
		return tx.Audit.Add(store.AuditEntry{Actor: actor, Door: store.DoorCLI, Action: action, Result: store.AuditDone})
	})
}
