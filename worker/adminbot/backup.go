package adminbot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// BackupKind is the kind of the jobs that make a backup and send it to an admin.
const BackupKind = "backup"

const (
	// backupsFolder is below the media folder, from which files are sent.
	backupsFolder = "backups"
	// maxBackup is what Telegram takes from a bot, in bytes.
	maxBackup = 4000 * 512 << 10
	// sentPause is between two looks whether a backup was sent.
	sentPause = 30 * time.Second
)

// Module is what the worker brings to the program.
func (b *Bot) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{
			BackupKind: {Worker: backer{b}, Timeout: 30 * time.Minute, Retry: scheduler.Retry{Backoff: 30 * time.Second}, Routine: true},
		},
		EvenPaused: func(lane string) bool { return lane == BackupKind },
		Start:      b.start,
		HandleUpdate: func(tx *store.Tx, h platform.Heard) (bool, error) {
			told, err := b.workers.Notices.Told(tx)
			if err != nil || h.IdentityID != told.Login {
				return false, err
			}
			return true, b.Hear(tx, h)
		},
	}
}

// start removes what a process before has left of backups that it was making: the copies in it are not
// encrypted yet. It is called when the program starts, before the scheduler runs.
func (b *Bot) start() error {
	sent := make(map[string]bool) // folders whose backup is on its way
	err := b.db.View(func(tx *store.Tx) error {
		told, err := b.workers.Notices.Told(tx)
		if err != nil {
			return err
		}
		for _, admin := range told.Admins {
			job := store.Job{Name: BackupKind + "_" + admin.Chat}
			notice, err := tx.Settings.Value(noticeOf(job))
			if err != nil && !store.IsCorrupt(err) {
				return err
			}
			sent[job.Name] = notice != ""
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for backups that are sent: %w", err)
	}
	folders, err := os.ReadDir(filepath.Join(b.cfg.Folder, backupsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, folder := range folders {
		if !sent[folder.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.cfg.Folder, backupsFolder, folder.Name())))
		}
	}
	if err != nil { // no reason not to start
		b.cfg.Log.Error().Err(err).Msg("what is left of backups has to be removed by hand")
	}
	return nil
}

// backup is the page of the backup, and what its button does.
func (r request) backup(path []string) (screen, error) {
	title := "💾 " + r.T("bot.title.backup") + "\n\n"
	switch {
	case r.bot.cfg.Passphrase == "":
		return r.page(title+r.T("bot.no_passphrase"), nil), nil
	case len(path) == 0:
		text := title + r.T("bot.backup_means", float64(r.tx.Size())/(1<<20))
		return r.page(text, [][]store.Button{{button(r.T("bot.send_backup"), pageBackup, confirmed)}}), nil
	}
	job := store.Job{Name: fmt.Sprint(BackupKind, "_", r.chat), Kind: BackupKind, Subject: uint64(r.chat), Lane: BackupKind,
		Trigger: store.Trigger{At: r.tx.Now()}}
	if _, err := r.tx.Jobs.ByName(job.Name); err == nil {
		return r.page(title+r.T("bot.backup_runs"), nil), nil
	} else if !errors.Is(err, store.ErrNotFound) {
		return screen{}, err
	}
	r.does("backup.create", "")
	if err := scheduler.Put(r.tx, job); err != nil {
		return screen{}, err
	}
	return r.page(title+r.T("bot.backup_begins"), nil), nil
}

// backer makes backups. A job makes one, has it sent by a notice, and removes the file when that has
// been sent or given up.
type backer struct{ *Bot }

// noticeOf is the setting with the id of the notice that carries a job's backup.
func noticeOf(job store.Job) string { return "adminbot." + job.Name }

// Run takes the step that comes next.
func (b backer) Run(_ context.Context, job store.Job) (scheduler.Outcome, error) {
	var notice store.Notice
	err := b.db.View(func(tx *store.Tx) error {
		id, err := tx.Settings.Value(noticeOf(job))
		if err != nil || id == "" {
			return err
		}
		number, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return err
		}
		notice, err = tx.Notices.Get(number)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return scheduler.Outcome{}, fmt.Errorf("look for the backup that is sent: %w", err)
	case err == nil && notice.ID == 0:
		return b.make(job)
	case notice.Open() && err == nil:
		return b.later(nil), nil
	}
	if err := b.clear(job); err != nil {
		return scheduler.Outcome{}, err
	}
	out := scheduler.Outcome{Write: func(tx *store.Tx) error {
		if err := tx.Settings.Set(noticeOf(job), ""); err != nil || notice.FileSize == 0 { // it was too large to send
			return err
		}
		return tx.Settings.NoteBackup()
	}}
	if !notice.GivenUpAt.IsZero() {
		out.Failed, out.Reason = true, notice.Reason
		out.Write = func(tx *store.Tx) error {
			return errors.Join(tx.Settings.Set(noticeOf(job), ""), b.tellFailure(tx, job, notice.Reason))
		}
	}
	return out, nil
}

func (b backer) later(write func(*store.Tx) error) scheduler.Outcome {
	return scheduler.Outcome{Again: b.db.Now().Add(sentPause), Step: true, Write: write}
}

// make makes the backup and writes the notice that carries it.
func (b backer) make(job store.Job) (scheduler.Outcome, error) {
	if err := b.clear(job); err != nil { // what an attempt before has left
		return scheduler.Outcome{}, err
	}
	if err := os.MkdirAll(b.folder(job), 0o700); err != nil {
		return scheduler.Outcome{}, fmt.Errorf("make a folder for the backup: %w", err)
	}
	name := fmt.Sprintf("belfry-%s.db.age", job.Occurrence.In(b.Zone()).Format("2006-01-02-1504"))
	file := filepath.Join(b.folder(job), name)
	if err := b.db.BackupSealed(file, b.cfg.Passphrase); err != nil {
		return scheduler.Outcome{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	n := store.Notice{Kind: BackupKind, Chat: fmt.Sprint(job.Subject), File: path.Join(backupsFolder, job.Name, name), FileSize: info.Size(),
		Text: b.Printer().T("bot.backup", job.Occurrence)}
	if info.Size() > maxBackup {
		n.File, n.FileSize, n.Text = "", 0, b.Printer().T("bot.backup_too_large")
	}
	return b.later(func(tx *store.Tx) error {
		sent, err := b.workers.Notices.Send(tx, n)
		if err != nil {
			return err
		}
		return tx.Settings.Set(noticeOf(job), fmt.Sprint(sent.ID))
	}), nil
}

// End tells the admin that there is no backup. What there is of it is removed at the next start, or
// with the next one.
func (b backer) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return errors.Join(tx.Settings.Set(noticeOf(job), ""), b.tellFailure(tx, job, why))
}

func (b backer) tellFailure(tx *store.Tx, job store.Job, why store.Reason) error {
	_, err := b.workers.Notices.Send(tx, store.Notice{Kind: BackupKind, Chat: fmt.Sprint(job.Subject),
		Text: b.Printer().T("bot.backup_failed", why)})
	return err
}

func (b backer) folder(job store.Job) string {
	return filepath.Join(b.cfg.Folder, backupsFolder, job.Name)
}

func (b backer) clear(job store.Job) error {
	if err := os.RemoveAll(b.folder(job)); err != nil {
		return fmt.Errorf("remove a backup that was sent: %w", err)
	}
	return nil
}
