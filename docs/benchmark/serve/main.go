// Command serve measures `belfry serve` with one Telegram login connected and nothing due: its
// resident memory, and the processor's time of a minute. The Telegram is a fake one in this process.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"belfry/platform/telegram/telegramtest"
)

type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func main() {
	dir := flag.String("dir", ".", "directory for the file")
	belfry := flag.String("belfry", "belfry", "the program")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := measure(ctx, *dir, *belfry); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, dir, belfry string) error {
	const token = "424242424:benchmark-bot-of-this-machine"
	tg := telegramtest.NewServer(telegramtest.Options{})
	defer tg.Close()
	tg.AddBot(token, "benchmark_bot")
	tg.AddChannel(telegramtest.Channel{Title: "Benchmark", Username: "benchmark"}, "benchmark_bot")

	cmd := exec.CommandContext(ctx, belfry, "serve", "--db", filepath.Join(dir, "serve.db"), "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), fmt.Sprint("TELEGRAM_API_ID=", telegramtest.AppID), "TELEGRAM_API_HASH="+telegramtest.AppHash,
		"TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@benchmark", "BELFRY_TELEGRAM_DC="+tg.DC(), "BELFRY_TELEGRAM_KEY="+tg.PublicKeyPEM())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	<-time.After(15 * time.Second) // it has connected
	before, err := ticks(cmd.Process.Pid)
	if err != nil {
		return err
	}
	<-time.After(time.Minute)
	after, err := ticks(cmd.Process.Pid)
	if err != nil {
		return err
	}
	memory, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, of := range []struct{ name, field string }{
		{"resident memory of serve", "VmRSS:"}, {"of which is not the program or the file", "RssAnon:"},
	} {
		var kilobytes float64
		_, rest, _ := strings.Cut(string(memory), of.field)
		if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
			return fmt.Errorf("%s: %w", of.field, err)
		}
		if err := out.Encode(figure{of.name, kilobytes / 1024, "MB"}); err != nil {
			return err
		}
	}
	const perSecond = 100 // ticks, as Linux counts them for programs
	return out.Encode(figure{"idle of serve", 100 * (after - before) / perSecond / 60, "% of a core"})
}

// ticks is the time that a process has used of a processor.
func ticks(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, fields, _ := strings.Cut(string(text), ") ")
	var state string
	var skip, user, system float64
	_, err = fmt.Sscan(fields, &state, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &user, &system)
	return user + system, err
}
