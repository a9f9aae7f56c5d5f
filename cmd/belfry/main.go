// Belfry keeps posts, broadcasts, checks and reminders on time. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // a small server may have no time zones of its own

	"github.com/alecthomas/kong"

	"belfry/i18n"
	"belfry/store"
)

// release is set by the linker when a release is built: -ldflags "-X main.release=1.2.3".
var release string

// version is the release, or what the Go command knows about where this program is from.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// commands are what the program can do.
type commands struct {
	Serve    serveCommand    `cmd:"" help:"Run the service: the schedule, the page and the API."`
	Demo     demoCommand     `cmd:"" help:"Try everything against a built-in fake Telegram; nothing to configure, nothing is kept."`
	Login    loginCommand    `cmd:"" help:"Log a Telegram user account in, for broadcasts."`
	Tasks    tasksCommand    `cmd:"" help:"Broadcasts: make, list, pause, resume and cancel them."`
	Accounts accountsCommand `cmd:"" help:"Accounts whose existence is watched: add, import, list and check them."`
	Alerts   alertsCommand   `cmd:"" help:"What is wrong, or was: list it, and say that you have seen it."`
	Token    tokenCommand    `cmd:"" help:"Make, list and revoke tokens for the API."`
	Page     pageCommand     `cmd:"" help:"Print a link that signs in to the page once, as when the password is forgotten."`
	Jobs     jobsCommand     `cmd:"" help:"List the jobs by their next run; pause, resume and run them."`
	Backup   backupCommand   `cmd:"" help:"Write a verified copy of the file."`
	Restore  restoreCommand  `cmd:"" help:"Put a backup in the place of the file. It starts paused."`
	Check    checkCommand    `cmd:"" help:"Verify a file: every page, row and index."`
	Compact  compactCommand  `cmd:"" help:"Give back the space that the file does not use."`
	Doctor   doctorCommand   `cmd:"" help:"Say what keeps belfry from working well here."`
	Version  versionCommand  `cmd:"" help:"Print the version."`

	VerifyFile verifyCommand `cmd:"" hidden:""`
}

func main() {
	dropEmptySettings()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// dropEmptySettings makes a setting that is there without a value, as lines of belfry.env that were
// not filled in are, the same as one that is not there.
func dropEmptySettings() {
	for _, setting := range os.Environ() {
		if name, value, _ := strings.Cut(setting, "="); value == "" {
			os.Unsetenv(name)
		}
	}
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code := -1 // not asked to exit
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("belfry"), kong.Description("Keeps posts on time. One binary, one file."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(output{stdout, stderr}))
	if err != nil {
		fmt.Fprintf(stderr, "belfry: %v\n", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	if code >= 0 { // help was asked for and given
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "belfry: %v\nRun belfry --help to see what there is.\n", err)
		return exitUsage
	}
	if err := command.Run(); err != nil {
		fmt.Fprintf(stderr, "belfry: %s\n", said(err))
		_, field := errors.AsType[*store.FieldError](err)
		if _, usage := errors.AsType[usageError](err); usage || field {
			return exitUsage
		}
		return exitFailed
	}
	return exitDone
}

// said is an error as a command prints it.
func said(err error) string { return i18n.For("en", time.UTC).Error(err) }

// usageError is a refusal by the service of what a command was given.
type usageError string

func (e usageError) Error() string { return string(e) }

// output is where a command writes: results to out, everything else to log.
type output struct{ out, log io.Writer }

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(o output) error {
	_, err := fmt.Fprintln(o.out, "belfry", version())
	return err
}
