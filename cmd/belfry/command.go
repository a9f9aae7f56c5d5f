package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// newCommand returns a command whose use names its arguments, as [checkArgs] reads them. Lists of commands show the first
// sentence of its help.
func newCommand(use, help string, run func(c *cobra.Command, args []string) error) *cobra.Command {
	short, _, _ := strings.Cut(help, ". ")
	c := &cobra.Command{Use: use, Short: strings.TrimSuffix(short, "."), Long: help, Args: checkArgs, RunE: run}
	c.Flags().SortFlags = false
	if !strings.Contains(use, "FILE") {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	return c
}

// newFileCommand returns a command that has the flags of the file.
func newFileCommand(use, help string, run func(c *cobra.Command, f fileSetting, args []string) error) *cobra.Command {
	var f fileSetting
	c := newCommand(use, help, func(c *cobra.Command, args []string) error { return run(c, f.absolute(), args) })
	bind(c.PersistentFlags(), &f) // help shows these last
	return c
}

// newAPICommand returns a command that uses the API of the file's service.
func newAPICommand(use, help string, run func(ctx context.Context, l *local, args []string) error) *cobra.Command {
	return newFileCommand(use, help, func(c *cobra.Command, f fileSetting, args []string) error {
		l, err := connect(c.Context(), f)
		if err != nil {
			return err
		}
		l.out = c.OutOrStdout()
		l.json, _ = c.Flags().GetBool("json") // false without the flag
		return errors.Join(run(c.Context(), l, args), l.close())
	})
}

// visible is an output in which what others have written cannot steer the terminal: it shows a control character as the
// escape that JSON has for it, so that JSON says the same as before.
type visible struct{ to io.Writer }

var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x9f]`)

// Write implements [io.Writer].
func (v visible) Write(p []byte) (int, error) {
	_, err := v.to.Write(control.ReplaceAllFunc(p, func(c []byte) []byte { return fmt.Appendf(nil, `\u%04x`, bytes.Runes(c)[0]) }))
	return len(p), err
}

// withJSON adds the flag with which a command prints JSON.
func withJSON(c *cobra.Command) *cobra.Command {
	c.Flags().Bool("json", false, "Print JSON.")
	return c
}

// newGroup returns a command with further commands. Without one of these it is the same as the first.
func newGroup(name, help string, first func() *cobra.Command, others ...*cobra.Command) *cobra.Command {
	group, same := first(), first()
	group.Use = strings.Replace(same.Use, same.Name(), name, 1)
	group.Short = strings.TrimSuffix(help, ".")
	group.Long = fmt.Sprintf("%s\nWithout a command it is the same as: belfry %s %s", help, name, same.Name())
	group.AddCommand(same)
	group.AddCommand(others...)
	return group
}

// checkArgs checks the arguments of a command against its use: [NAME] may be left out, NAME... repeated, and
// ID is a number.
func checkArgs(c *cobra.Command, args []string) error {
	names := strings.Fields(c.Use)[1:]
	if len(args) < len(names) && !strings.HasPrefix(names[len(args)], "[") {
		return fmt.Errorf("%s is missing: write %s", strings.TrimSuffix(names[len(args)], "..."), c.UseLine())
	}
	for i, arg := range args {
		if i >= len(names) && c.HasSubCommands() {
			return fmt.Errorf("unknown command %q for %q", arg, c.CommandPath())
		}
		if i >= len(names) && !strings.Contains(c.Use, "...") {
			return fmt.Errorf("unexpected argument %q", arg)
		}
		if _, err := strconv.ParseUint(arg, 10, 64); err != nil && strings.Contains(names[min(i, len(names)-1)], "ID") {
			return fmt.Errorf("ID: %q is not a whole number", arg)
		}
	}
	return nil
}

// readInput reads a file or, for -, standard input.
func readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}
