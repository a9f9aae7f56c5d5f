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
	"syscall"
	"time"
	_ "time/tzdata" // a small server may have no time zones

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// commit is the commit that this program was made of, as far as the Go command knows it.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	understood := false
	root := &cobra.Command{
		Use: "belfry", Short: "Keeps posts, broadcasts, checks and reminders on time. One binary, one file.",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			err := readEnvironment(c.Flags())
			understood = err == nil
			return err
		},
	}
	cobra.EnableCommandSorting = false
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Service:", []*cobra.Command{newServe(), newDemo(), newDoctor()}},
		{"Work:", []*cobra.Command{newPosts(), newRules(), newTasks(), newChannels(), newSearch(), newPipeline(), newAccounts(), newJobs(), newAlerts()}},
		{"Access:", []*cobra.Command{newLogin(), newToken(), newPage(), newAudit()}},
		{"File:", []*cobra.Command{newBackup(), newRestore(), newCheck(), newCompact(), newImport(), newExport()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(), newVerifyFile())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			return fmt.Errorf("--%s: %w", e.GetFlag().Name, e.Unwrap())
		}
		return err
	})
	root.InitDefaultCompletionCmd(args...)
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = checkArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	root.SetArgs(args)
	root.SetOut(visible{stdout})
	root.SetErr(stderr)

	c, err := root.ExecuteContextC(ctx)
	if err == nil && len(args) > 0 {
		return exitDone
	}
	if err == nil { // without a command, help is printed
		return exitUsage
	}
	fmt.Fprintf(visible{stderr}, "belfry: %s\n", said(err))
	if !understood {
		fmt.Fprintf(stderr, "Run %s --help to see what there is.\n", c.CommandPath())
	}
	_, field := errors.AsType[*store.FieldError](err)
	if _, refused := errors.AsType[usageError](err); !understood || refused || field {
		return exitUsage
	}
	return exitFailed
}

// said is an error as a command prints it.
func said(err error) string { return i18n.For("en", time.UTC).Error(err) }

// usageError is a refusal by the service of what a command was given.
type usageError string

func (e usageError) Error() string { return string(e) }

// newVersion returns the command that prints the version.
func newVersion() *cobra.Command {
	return newCommand("version", "Print the version.", func(c *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(c.OutOrStdout(), "belfry", version())
		return err
	})
}
