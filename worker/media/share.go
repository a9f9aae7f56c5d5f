package media

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
)

const (
	// shareTime is how long a shared file may be fetched: as long as Instagram keeps what it has not published.
	shareTime = 24 * time.Hour
	// SharePath is where the paths of shared files begin.
	SharePath = "/shared/"
	// settingShareKey is the setting with the key that the paths are signed with.
	settingShareKey = "media_share_key"
)

// makeShareKey makes the key that paths are signed with, unless there is one.
func (w *Worker) makeShareKey() error {
	return w.db.Update(func(tx *store.Tx) error {
		key, err := tx.Settings.Value(settingShareKey)
		if err != nil || key != "" {
			return err
		}
		return tx.Settings.Set(settingShareKey, rand.Text()+rand.Text())
	})
}

// Share returns the path under which anybody who knows it may fetch a file for a day, and the file, closed. Networks
// that fetch media themselves are given it.
func (w *Worker) Share(id uint64) (path string, f platform.MediaFile, err error) {
	if f, err = w.Open(id); err != nil {
		return "", f, err
	}
	if err := f.Close(); err != nil {
		return "", f, err
	}
	until := strconv.FormatInt(w.db.Now().Add(shareTime).Unix(), 10)
	mac, err := w.sign(id, until)
	ending := map[string]string{"image/jpeg": ".jpg", "video/mp4": ".mp4"}[f.Type] // some look at the name
	return fmt.Sprintf("%s%d/%s/%s%s", SharePath, id, until, mac, ending), f, err
}

// IsShared reports whether [Worker.Share] has made a path of these parts, and its time has not passed.
func (w *Worker) IsShared(id uint64, until, mac string) bool {
	end, err := strconv.ParseInt(until, 10, 64)
	if err != nil || w.db.Now().Unix() >= end {
		return false
	}
	mac, _, _ = strings.Cut(mac, ".")
	want, err := w.sign(id, until)
	return err == nil && hmac.Equal([]byte(mac), []byte(want))
}

func (w *Worker) sign(id uint64, until string) (mac string, err error) {
	err = w.db.View(func(tx *store.Tx) error {
		key, err := tx.Settings.Value(settingShareKey)
		if err == nil && key == "" {
			err = errors.New("the key of shared files was not made")
		}
		h := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(h, "%d %s", id, until)
		mac = hex.EncodeToString(h.Sum(nil))
		return err
	})
	return mac, err
}
