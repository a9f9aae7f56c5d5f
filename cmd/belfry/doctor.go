package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/sys/unix"

	"belfry/store"
)

type doctorCommand struct {
	fileSetting
	JSON bool `name:"json" help:"Print JSON."`
}

// finding is what the doctor has looked at.
type finding struct {
	What string `json:"what"`
	Good bool   `json:"good"`
	Says string `json:"says"` // what was found and, if it is not good, what helps
}

// Run looks at the service, the file, the disk and the clock, and fails if anything is not as it
// should be.
func (c *doctorCommand) Run(ctx context.Context, o output) error {
	findings := []finding{c.service(ctx)}
	findings = append(findings, c.file(ctx)...)
	findings = append(findings, c.disk(), clock())
	bad := 0
	for _, f := range findings {
		if !f.Good {
			bad++
		}
	}
	if c.JSON {
		if err := json.NewEncoder(o.out).Encode(map[string]any{"findings": findings}); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			mark := "ok "
			if !f.Good {
				mark = "!! "
			}
			fmt.Fprintf(o.out, "%s %-8s %s\n", mark, f.What, f.Says)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d are not as they should be", bad, len(findings))
	}
	return nil
}

// service asks the running service how it is.
func (c *doctorCommand) service(ctx context.Context) finding {
	f := finding{What: "service"}
	conn, err := net.Dial("unix", c.socket())
	if err != nil {
		f.Says = "does not run on this file: start it with systemctl start belfry, or belfry serve"
		return f
	}
	defer conn.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://belfry/health", nil)
	if err != nil {
		f.Says = said(err)
		return f
	}
	resp, err := client(c.socket()).Do(req)
	if err != nil {
		f.Says = fmt.Sprintf("does not answer (%v): see its log, and restart it", err)
		return f
	}
	defer resp.Body.Close()
	var health struct {
		Reasons []struct{ Text string } `json:"reasons"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		f.Says = fmt.Sprintf("does not answer as it should (%v): see its log", err)
		return f
	}
	f.Good, f.Says = true, "runs, and finds nothing wrong with itself"
	for _, r := range health.Reasons {
		if f.Good {
			f.Good, f.Says = false, ""
		}
		f.Says += r.Text + " "
	}
	return f
}

// file verifies the file and finds out whether a plain copy of it is good.
func (c *doctorCommand) file(ctx context.Context) []finding {
	file, copies := finding{What: "file"}, finding{What: "copies"}
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		file.Says = said(err)
		return []finding{file}
	}
	var result struct {
		Problems []store.Problem `json:"problems"`
		Copyable bool            `json:"copyable"`
		Why      string          `json:"why"`
	}
	err = l.call(ctx, http.MethodPost, "/check", nil, &result)
	if err := errors.Join(err, l.close()); err != nil {
		file.Says = said(err)
		return []finding{file}
	}
	file.Good, file.Says = true, c.DB+" was verified"
	if len(result.Problems) > 0 {
		file.Good = false
		file.Says = fmt.Sprintf("%s has %d problems, the first: %s: run belfry check for all, and restore a backup",
			c.DB, len(result.Problems), result.Problems[0])
	}
	copies.Good, copies.Says = true, "a plain copy (cp, rsync, tar) is good at any time"
	if !result.Copyable {
		copies.Good, copies.Says = false, result.Why+": make copies with belfry backup"
	} else if onOverlay(c.DB) {
		copies.Good, copies.Says = false, "the file is in an overlay, as in a container without a volume: copies of it from outside "+
			"(the upper folder) can be bad: keep the file in a volume, or make copies with belfry backup"
	}
	return []finding{file, copies}
}

// disk looks for room.
func (c *doctorCommand) disk() finding {
	f := finding{What: "disk"}
	d, err := disk(c.DB)
	if err != nil {
		f.Says = said(err)
		return f
	}
	f.Good = d.Free > d.Need
	f.Says = fmt.Sprintf("%.0f MiB are free, and %.0f are needed for a backup", mebibytes(d.Free), mebibytes(d.Need))
	if !f.Good {
		f.Says += ": make room, or run belfry compact"
	}
	return f
}

// clock asks the kernel whether the time comes from somewhere.
func clock() finding {
	f := finding{What: "clock"}
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	const unsynchronised = 5 // TIME_ERROR
	switch {
	case err != nil:
		f.Good, f.Says = true, "could not be asked: "+said(err)
	case state == unsynchronised || t.Status&unix.STA_UNSYNC != 0:
		f.Says = "is not synchronised: posts go out by it, so turn on time synchronisation (timedatectl set-ntp true)"
	default:
		f.Good, f.Says = true, "is synchronised"
	}
	return f
}

// onOverlay reports whether a file is on overlayfs. There it can be opened without our being told: by
// its name in the layer below.
func onOverlay(file string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(file, &fs) == nil && fs.Type == unix.OVERLAYFS_SUPER_MAGIC
}
