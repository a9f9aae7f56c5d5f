package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"belfry/platform/fetch"
	"belfry/store"
	"belfry/worker/tasks"
)

// fileSetting is the setting that every command has.
type fileSetting struct {
	DB      string `name:"db" env:"BELFRY_DB" default:"belfry.db" type:"path" help:"The file in which everything is kept."`
	KeyFile string `env:"BELFRY_KEY_FILE" type:"path" help:"The key that seals the logins in that file; never beside it. By default /etc/belfry/belfry.key or, where nothing is installed, belfry/belfry.key in the user's configuration folder, made at the first start."`
}

// socket is where the service of this file listens for the other commands.
func (f fileSetting) socket() string { return filepath.Join(filepath.Dir(f.DB), "belfry.sock") }

// settings are the settings of the service. Each flag has an environment variable.
type settings struct {
	fileSetting
	Listen        string   `env:"BELFRY_LISTEN" default:"127.0.0.1:8080" help:"Address of the page and the API."`
	Hosts         []string `env:"BELFRY_HOSTS" help:"Further names under which the page may be opened, as behind a reverse proxy."`
	Timezone      string   `env:"BELFRY_TIMEZONE" default:"UTC" help:"Zone of the times on the page, such as Europe/Moscow."`
	Lang          string   `env:"BELFRY_LANG" default:"en" enum:"en,ru" help:"Language of the page: en or ru."`
	APIToken      string   `name:"api-token" env:"BELFRY_API_TOKEN" help:"A token for the API that is known from outside. Better: belfry token."`
	AdminPassword string   `env:"BELFRY_ADMIN_PASSWORD" help:"The page's password, set at the first start."`

	TelegramAPIID    int    `name:"telegram-api-id" env:"TELEGRAM_API_ID" help:"From my.telegram.org."`
	TelegramAPIHash  string `name:"telegram-api-hash" env:"TELEGRAM_API_HASH" help:"From my.telegram.org."`
	TelegramBotToken string `env:"TELEGRAM_BOT_TOKEN" help:"Token of the bot that posts, from @BotFather."`
	TelegramChat     string `env:"TELEGRAM_CHAT" help:"Where it posts unless a post says otherwise, such as @channel."`
	TelegramDC       string `name:"telegram-dc" env:"BELFRY_TELEGRAM_DC" help:"Another MTProto server, such as 2@127.0.0.1:24430."`
	TelegramKey      string `env:"BELFRY_TELEGRAM_KEY" help:"Public key of that server (PKCS#1 PEM)."`

	TelethonSession string   `env:"TELETHON_SESSION" help:"A user account: a Telethon StringSession or a .session file, taken over once."`
	MinPause        float64  `name:"min-seconds-between-chats" env:"MIN_SECONDS_BETWEEN_CHATS" default:"20" help:"Least pause between two chats of a broadcast."`
	MaxPause        float64  `name:"max-seconds-between-chats" env:"MAX_SECONDS_BETWEEN_CHATS" default:"40" help:"Longest pause between two chats of a broadcast."`
	TaskAttempts    int      `name:"max-task-attempts" env:"MAX_TASK_ATTEMPTS" default:"3" help:"How often a broadcast is taken up before a failure of its own ends it."`
	TaskRefusals    int      `env:"BELFRY_TASK_REFUSALS" default:"5" help:"How many chats in a row have to refuse a broadcast with the same words that Belfry does not know before it ends."`
	TargetChats     []string `name:"target-chat-ids" env:"TARGET_CHAT_IDS" help:"Chats of broadcasts that name none: ids, @names or links."`

	AdminBotToken string        `name:"admin-notify-bot-token" env:"ADMIN_NOTIFY_BOT_TOKEN" help:"Token of the bot that tells the admins; TELEGRAM_BOT_TOKEN's if it is not set."`
	Admins        people        `name:"admin-id" env:"ADMIN_ID" help:"Telegram ids of those who are told, separated by commas; each has to write to the bot once."`
	AlertWebhook  string        `env:"BELFRY_ALERT_WEBHOOK" help:"Address that is told in JSON, by POST, what has gone wrong and what has come right."`
	Heartbeat     string        `name:"heartbeat-url" env:"BELFRY_HEARTBEAT_URL" help:"Address that is called each minute while nothing needs looking at, so that a dead server is noticed elsewhere."`
	InstagramWeb  string        `name:"instagram-web-url" env:"BELFRY_INSTAGRAM_WEB_URL" help:"Another address of Instagram's web site."`
	Proxy         string        `env:"BELFRY_PROXY" help:"Proxy for looking whether accounts exist, such as socks5://127.0.0.1:1080."`
	AllowPrivate  fetch.Allowed `env:"BELFRY_ALLOW_PRIVATE" help:"Addresses that are not public from which media may be fetched and accounts checked, such as 10.0.0.0/8 or media.example."`

	CheckMinPause time.Duration `env:"BELFRY_CHECK_MIN_PAUSE" default:"3s" help:"Least pause between two questions whether an account exists."`
	CheckMaxPause time.Duration `env:"BELFRY_CHECK_MAX_PAUSE" default:"5s" help:"Longest pause between two such questions."`

	BackupPassphrase string `env:"BELFRY_BACKUP_PASSPHRASE" help:"What the admin bot encrypts backups with; without one it sends none. Keep it elsewhere, too."`

	Media          string        `env:"BELFRY_MEDIA" type:"path" help:"Folder of the media files of posts; by default media beside the file."`
	PostAttempts   int           `env:"BELFRY_POST_ATTEMPTS" default:"3" help:"Failed attempts that a post is allowed."`
	PostBackoff    time.Duration `env:"BELFRY_POST_BACKOFF" default:"60s" help:"Pause after the first failed attempt; it grows with each."`
	PostDeadline   time.Duration `env:"BELFRY_POST_DEADLINE" default:"30s" help:"How long one attempt to send a text may take; with media ten times as long."`
	DisableWorkers bool          `env:"DISABLE_WORKERS" help:"Serve page and API, run nothing."`

	LogLevel  string `env:"BELFRY_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"What is logged: debug, info, warn or error."`
	LogFormat string `env:"BELFRY_LOG_FORMAT" default:"auto" enum:"auto,console,json" help:"console, json, or auto: console on a terminal."`
}

// people are the Telegram ids of people.
type people []int64

// UnmarshalText reads ids that are separated by commas.
func (p *people) UnmarshalText(text []byte) error {
	*p = nil
	for _, word := range strings.FieldsFunc(string(text), func(c rune) bool { return c == ',' || c == ';' || unicode.IsSpace(c) }) {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil || id <= 0 {
			return fmt.Errorf("%q is not the id of a person: write a number such as 123456789; the apps of Telegram do not show it, and bots that show ids do", word)
		}
		*p = append(*p, id)
	}
	return nil
}

// wrong is a refusal of a setting.
func wrong(setting string, err error) error {
	problem, cure, _ := strings.Cut(err.Error(), ": ")
	return store.Invalid(setting, "invalid.setting", problem, cure)
}

// ofSetting gives a refusal of a field the name of the setting that has it.
func ofSetting(setting string, err error) error {
	if e, ok := errors.AsType[*store.FieldError](err); ok {
		return store.Invalid(setting, e.Key, e.Args...)
	}
	return err
}

// validate checks what the flags' types cannot, and fills in what depends on other settings.
func (s *settings) validate() (*time.Location, error) {
	zone, err := time.LoadLocation(s.Timezone)
	switch {
	case err != nil || s.Timezone == "Local":
		return nil, store.Invalid("BELFRY_TIMEZONE", "invalid.zone", s.Timezone)
	case s.TelegramBotToken != "" && (s.TelegramAPIID == 0 || s.TelegramAPIHash == ""):
		return nil, store.Invalid("TELEGRAM_API_ID and TELEGRAM_API_HASH", "invalid.api_missing", "TELEGRAM_BOT_TOKEN")
	case s.MinPause < 0:
		return nil, store.Invalid("MIN_SECONDS_BETWEEN_CHATS", "invalid.too_small", 0, 20)
	case s.MaxPause < s.MinPause:
		return nil, store.Invalid("MAX_SECONDS_BETWEEN_CHATS", "invalid.pause_order")
	case s.TaskAttempts < 1:
		return nil, store.Invalid("MAX_TASK_ATTEMPTS", "invalid.too_small", 1, 1)
	case s.TaskRefusals < 1:
		return nil, store.Invalid("BELFRY_TASK_REFUSALS", "invalid.too_small", 1, 1)
	case s.TelethonSession != "" && (s.TelegramAPIID == 0 || s.TelegramAPIHash == ""):
		return nil, store.Invalid("TELEGRAM_API_ID and TELEGRAM_API_HASH", "invalid.api_missing", "TELETHON_SESSION")
	case s.CheckMinPause <= 0 || s.CheckMaxPause < s.CheckMinPause:
		return nil, store.Invalid("BELFRY_CHECK_MAX_PAUSE", "invalid.check_pauses")
	case s.AdminBotToken != "" && len(s.Admins) == 0:
		return nil, store.Invalid("ADMIN_ID", "invalid.admin_missing")
	case s.AdminBotToken != "" && (s.TelegramAPIID == 0 || s.TelegramAPIHash == ""):
		return nil, store.Invalid("TELEGRAM_API_ID and TELEGRAM_API_HASH", "invalid.api_missing", "ADMIN_NOTIFY_BOT_TOKEN")
	case s.PostAttempts < 1:
		return nil, store.Invalid("BELFRY_POST_ATTEMPTS", "invalid.too_small", 1, 1)
	case s.PostBackoff <= 0:
		return nil, store.Invalid("BELFRY_POST_BACKOFF", "invalid.not_pause")
	case s.PostDeadline < time.Second:
		return nil, store.Invalid("BELFRY_POST_DEADLINE", "invalid.under_a_second")
	}
	if err := ofSetting("TARGET_CHAT_IDS", tasks.CheckTargets(s.TargetChats)); err != nil {
		return nil, err
	}
	if s.Media == "" {
		s.Media = filepath.Join(filepath.Dir(s.DB), "media")
	}
	return zone, nil
}

// logger writes to w as the settings say.
func (s *settings) logger(w io.Writer) zerolog.Logger {
	level, err := zerolog.ParseLevel(s.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	console := s.LogFormat == "console"
	if f, ok := w.(*os.File); ok && s.LogFormat == "auto" {
		info, err := f.Stat()
		console = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if console {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}
