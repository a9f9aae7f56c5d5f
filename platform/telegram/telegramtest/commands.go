package telegramtest

import (
	"context"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// The limits of the list of a bot's commands.
const (
	commandLimit = 100
	aboutLimit   = 256 // characters
)

var (
	commandNames = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	languages    = regexp.MustCompile(`^([a-z]{2})?$`)
)

// Command is one that a bot lists to people.
type Command struct {
	Name  string // without the slash
	About string
}

// Commands are what a bot lists to people of a language, such as ru; "" is for those whose language
// has no list of its own.
func (s *Server) Commands(bot int64, language string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.accounts[bot].commands[language])
}

// AwaitCommands waits until a bot lists commands.
func (s *Server) AwaitCommands(ctx context.Context, bot int64, language string) (list []Command, err error) {
	err = s.await(ctx, func() bool {
		list = slices.Clone(s.accounts[bot].commands[language])
		return len(list) > 0
	})
	return list, err
}

// setBotCommands replaces the commands of one language, in all chats.
func (c *call) setBotCommands(req *tg.BotsSetBotCommandsRequest) (bin.Encoder, error) {
	if _, ok := req.Scope.(*tg.BotCommandScopeDefault); !ok {
		return nil, tgerr.New(400, "INPUT_METHOD_INVALID") // not known here
	}
	if !languages.MatchString(req.LangCode) {
		return nil, tgerr.New(400, "LANG_CODE_INVALID")
	}
	if len(req.Commands) > commandLimit {
		return nil, tgerr.New(400, "BOT_COMMANDS_TOO_MUCH")
	}
	var list []Command
	for _, cmd := range req.Commands {
		if !commandNames.MatchString(cmd.Command) {
			return nil, tgerr.New(400, "BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(cmd.Description); n < 1 || n > aboutLimit {
			return nil, tgerr.New(400, "BOT_COMMAND_DESCRIPTION_INVALID")
		}
		list = append(list, Command{cmd.Command, cmd.Description})
	}
	c.by.commands[req.LangCode] = list
	return &tg.BoolTrue{}, nil
}
