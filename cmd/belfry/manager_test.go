package main

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"
)

func TestSystemdIsAskedForTimeWhileTheFileIsOpened(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	opened := askForTime(zerolog.Nop())
	defer opened()
	said := make([]byte, 100)
	n, err := notify.Read(said)
	if got := string(said[:n]); err != nil || got != "EXTEND_TIMEOUT_USEC=120000000" {
		t.Errorf("systemd was told %q, %v", got, err)
	}
}
