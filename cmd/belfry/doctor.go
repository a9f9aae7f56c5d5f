package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"belfry/store"
)

// finding is what the doctor has looked at.
type finding struct {
	What string `json:"what"`
	Good bool   `json:"good"`
	Says string `json:"says"` // what was found and, if it is not good, what helps
}

// newDoctor returns the command that looks at the service, the file, the disk and the clock, and fails if
// anything is wrong.
func newDoctor() *cobra.Command {
	return withJSON(newFileCommand("doctor", "Check the service, the file, the disk and the clock of this machine.", func(c *cobra.Command, f fileSetting, _ []string) (err error) {
		asJSON, _ := c.Flags().GetBool("json")
		findings := append([]finding{checkService(c.Context(), f.socket())}, checkFile(c.Context(), f)...)
		findings = append(findings, checkDisk(f.DB), checkClock())
		bad := 0
		for _, found := range findings {
			mark := "ok "
			if !found.Good {
				mark = "!! "
				bad++
			}
			if !asJSON {
				fmt.Fprintf(c.OutOrStdout(), "%s %-8s %s\n", mark, found.What, found.Says)
			}
		}
		if asJSON {
			err = json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"findings": findings})
		}
		if bad > 0 {
			return errors.Join(err, fmt.Errorf("%d of %d are not as they should be", bad, len(findings)))
		}
		return err
	}))
}

// checkService asks the running service for its health.
func checkService(ctx context.Context, socket string) finding {
	const what = "service"
	if running, err := serves(socket); err != nil {
		return finding{what, false, said(err)}
	} else if !running {
		return finding{what, false, "does not run on this file: start it with systemctl start belfry, or belfry serve"}
	}
	var health struct{ Reasons []struct{ Text string } }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://belfry/health", nil)
	if err != nil {
		return finding{what, false, err.Error()}
	}
	resp, err := client(socket).Do(req)
	if err == nil {
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&health), resp.Body.Close())
	}
	if err != nil {
		return finding{what, false, fmt.Sprintf("does not answer (%v): see its log, and restart it", err)}
	}
	says := ""
	for _, r := range health.Reasons {
		says += r.Text + " "
	}
	return finding{what, says == "", cmp.Or(says, "runs, and finds nothing wrong with itself")}
}

// checkFile verifies the file and finds out whether a plain copy of it is good.
func checkFile(ctx context.Context, f fileSetting) []finding {
	const what = "file"
	l, err := connect(ctx, f)
	if err != nil {
		return []finding{{what, false, said(err)}}
	}
	var result struct {
		Problems []store.Problem
		Copyable bool
		Why      string
	}
	err = l.call(ctx, http.MethodPost, "/check", nil, &result)
	if err := errors.Join(err, l.close()); err != nil {
		return []finding{{what, false, err.Error()}}
	}
	file, copies := finding{what, true, f.DB + " was verified"}, finding{"copies", true, "a plain copy (cp, rsync, tar) is good at any time"}
	if n := len(result.Problems); n > 0 {
		file = finding{what, false, fmt.Sprintf("%s has %d problems, the first: %s: run belfry check for all, and restore a backup", f.DB, n, result.Problems[0])}
	}
	if !result.Copyable {
		copies = finding{"copies", false, result.Why + ": make copies with belfry backup"}
	} else if onOverlay(f.DB) {
		copies = finding{"copies", false, "the file is in an overlay, as in a container without a volume: copies of it from outside " +
			"(the upper folder) can be bad: keep the file in a volume, or make copies with belfry backup"}
	}
	return []finding{file, copies}
}

// checkDisk looks for room.
func checkDisk(file string) finding {
	d, err := disk(file)
	if err != nil {
		return finding{"disk", false, err.Error()}
	}
	says := fmt.Sprintf("%.0f MiB are free, and %.0f are needed for a backup", mebibytes(d.Free), mebibytes(d.Need))
	if d.Free <= d.Need {
		return finding{"disk", false, says + ": make room, or run belfry compact"}
	}
	return finding{"disk", true, says}
}

// checkClock asks the kernel whether the clock is synchronised.
func checkClock() finding {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	const unsynchronised = 5 // TIME_ERROR
	switch {
	case err != nil:
		return finding{"clock", true, "could not be asked: " + err.Error()}
	case state == unsynchronised || t.Status&unix.STA_UNSYNC != 0:
		return finding{"clock", false, "is not synchronised: posts go out by it, so turn on time synchronisation (timedatectl set-ntp true)"}
	}
	return finding{"clock", true, "is synchronised"}
}

// onOverlay reports whether a file is on overlayfs. There it can be opened without our being told: by
// its name in the layer below.
func onOverlay(file string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(file, &fs) == nil && fs.Type == unix.OVERLAYFS_SUPER_MAGIC
}
