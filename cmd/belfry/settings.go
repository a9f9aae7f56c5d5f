package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"belfry/i18n"
	"belfry/platform/fetch"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/jobs"
	"belfry/worker/media"
	"belfry/worker/pipeline"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/tasks"
)

// fileSetting names the file and its key.
type fileSetting struct {
	DB      string `flag:"db" env:"BELFRY_DB" default:"belfry.db" help:"The file that holds everything."`
	KeyFile string `flag:"key-file" env:"BELFRY_KEY_FILE" help:"The key that seals the logins in the file. It may not be in the file's folder.\nBy default /etc/belfry/belfry.key if it exists, else belfry/belfry.key in the\nuser's configuration folder. The first start makes it."`
}

// absolute returns the setting with absolute paths.
func (f fileSetting) absolute() fileSetting { return fileSetting{absolute(f.DB), absolute(f.KeyFile)} }

// socket is where the service of this file listens for the other commands.
func (f fileSetting) socket() string { return filepath.Join(filepath.Dir(f.DB), "belfry.sock") }

// absolute makes a path absolute that is not empty. It begins in the working directory or, with ~/, in the
// home folder.
func absolute(path string) string {
	if inHome, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(os.Getenv("HOME"), inHome)
	}
	if full, err := filepath.Abs(path); err == nil && path != "" {
		return full
	}
	return path
}

// settings are the settings of the service. Each flag has an environment variable.
type settings struct {
	fileSetting
	Listen        string   `flag:"listen" env:"BELFRY_LISTEN" default:"127.0.0.1:8080" help:"Address of the page and the API."`
	Hosts         []string `flag:"hosts" env:"BELFRY_HOSTS" help:"More host names under which the page opens, separated by commas,\nas behind a reverse proxy."`
	Timezone      string   `flag:"timezone" env:"BELFRY_TIMEZONE" help:"Time zone, such as Europe/Moscow. By default as chosen on the page, or UTC."`
	Lang          string   `flag:"lang" env:"BELFRY_LANG" help:"Language: en or ru. By default as chosen on the page, or en."`
	APIToken      string   `flag:"api-token" env:"BELFRY_API_TOKEN" help:"A fixed token for the API. Tokens of belfry token are safer."`
	AdminPassword string   `flag:"admin-password" env:"BELFRY_ADMIN_PASSWORD" help:"Password of the page, set at the first start."`

	TelegramAPIID    int    `flag:"telegram-api-id" env:"TELEGRAM_API_ID" help:"The application's id from my.telegram.org.\nBy default what was entered on the page."`
	TelegramAPIHash  string `flag:"telegram-api-hash" env:"TELEGRAM_API_HASH" help:"The application's hash from my.telegram.org."`
	TelegramBotToken string `flag:"telegram-bot-token" env:"TELEGRAM_BOT_TOKEN" help:"Token of the bot that posts, from @BotFather."`
	TelegramChat     string `flag:"telegram-chat" env:"TELEGRAM_CHAT" help:"The bot's default channel or chat, such as @channel."`
	TelegramDC       string `flag:"telegram-dc" env:"BELFRY_TELEGRAM_DC" help:"Another MTProto server, such as 2@127.0.0.1:24430."`
	TelegramKey      string `flag:"telegram-key" env:"BELFRY_TELEGRAM_KEY" help:"Public key of that server (PKCS#1 PEM)."`

	TelethonSession string `flag:"telethon-session" env:"TELETHON_SESSION" help:"A user account: a Telethon StringSession or .session file, imported once."`

	AdminBotToken    string        `flag:"admin-notify-bot-token" env:"ADMIN_NOTIFY_BOT_TOKEN" help:"Token of the bot that notifies the admins.\nBy default the one chosen on the page, or the bot of TELEGRAM_BOT_TOKEN."`
	Admins           people        `flag:"admin-id" env:"ADMIN_ID" help:"Telegram ids of the admins, separated by commas. Each admin has to write\nto the bot once. By default those who were added on the page."`
	AlertWebhook     string        `flag:"alert-webhook" env:"BELFRY_ALERT_WEBHOOK" help:"Address that gets each alert, new and resolved, as JSON by POST."`
	AlertSecret      string        `flag:"alert-webhook-secret" env:"BELFRY_ALERT_WEBHOOK_SECRET" help:"Signs the calls of that address, such as whsec_…: openssl rand -base64 32."`
	Heartbeat        string        `flag:"heartbeat-url" env:"BELFRY_HEARTBEAT_URL" help:"Address that is called each minute while there are no open alerts,\nso that another service notices a dead server."`
	InstagramWeb     string        `flag:"instagram-web-url" env:"BELFRY_INSTAGRAM_WEB_URL" help:"Another address of Instagram's web site."`
	InstagramURL     string        `flag:"instagram-url" env:"BELFRY_INSTAGRAM_URL" help:"Another address of the API through which Belfry posts on Instagram."`
	XURL             string        `flag:"x-url" env:"BELFRY_X_URL" help:"Another address of X."`
	PublicURL        string        `flag:"public-url" env:"BELFRY_PUBLIC_URL" help:"Where this page is reached from the internet, such as https://belfry.example."`
	Proxy            string        `flag:"proxy" env:"BELFRY_PROXY" help:"Proxy of account checks, such as socks5://127.0.0.1:1080."`
	AllowPrivate     fetch.Allowed `flag:"allow-private" env:"BELFRY_ALLOW_PRIVATE" help:"Private addresses that may be reached,\nsuch as 10.0.0.0/8, media.example or 127.0.0.1:8099."`
	BackupPassphrase string        `flag:"backup-passphrase" env:"BELFRY_BACKUP_PASSPHRASE" help:"Encrypts the backups of the admin bot, which sends none without it.\nKeep a copy elsewhere."`

	Posts    posts.Config    `settings:"of posts"`
	Rules    rules.Config    `settings:"of rules and their AI"`
	Pipeline pipeline.Config `settings:"of the stages that messages of channels pass"`
	Tasks    tasks.Config    `settings:"of broadcasts"`
	Accounts accounts.Config `settings:"of account checks"`
	Uploads  media.Config    `settings:"of uploaded media"`
	Jobs     jobs.Config     `settings:"of jobs"`

	Media          string `flag:"media" env:"BELFRY_MEDIA" help:"Folder of the media of posts. By default media beside the file."`
	DisableWorkers bool   `flag:"disable-workers" env:"DISABLE_WORKERS" help:"Serve page and API, but run no jobs."`
	LogLevel       string `flag:"log-level" env:"BELFRY_LOG_LEVEL" default:"info" help:"What is logged: debug, info, warn or error."`
	LogFormat      string `flag:"log-format" env:"BELFRY_LOG_FORMAT" default:"auto" help:"Format of the log: console, json, or auto: console on a terminal."`
}

// defaultSettings returns the settings as they are without flags and environment.
func defaultSettings() (s settings) {
	bind(pflag.NewFlagSet("", pflag.ContinueOnError), &s)
	return s
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

// unless refuses a setting if it is not good.
func unless(good bool, setting, key string, args ...any) *store.FieldError {
	if good {
		return nil
	}
	return store.Invalid(setting, key, args...)
}

// oneOf refuses a setting that is none of the known words.
func oneOf(setting, given string, known ...string) *store.FieldError {
	return unless(slices.Contains(known, given), setting, "invalid.not_one_of", given, strings.Join(known, ", "))
}

// validate checks what the flags' types cannot, and fills in what depends on other settings.
func (s *settings) validate() error {
	_, err := time.LoadLocation(s.Timezone)
	for _, refused := range []*store.FieldError{
		unless(s.Lang == "" || i18n.Known(s.Lang), "BELFRY_LANG", "invalid.not_one_of", s.Lang, strings.Join(i18n.Languages, ", ")),
		oneOf("BELFRY_LOG_LEVEL", s.LogLevel, "debug", "info", "warn", "error"),
		oneOf("BELFRY_LOG_FORMAT", s.LogFormat, "auto", "console", "json"),
		unless(err == nil && s.Timezone != "Local", "BELFRY_TIMEZONE", "invalid.zone", s.Timezone),
		unless(s.AdminBotToken == "" || len(s.Admins) > 0, "ADMIN_ID", "invalid.admin_missing"),
	} {
		if refused != nil {
			return refused
		}
	}
	if err := errors.Join(s.Posts.Validate(), s.Rules.Validate(), s.Tasks.Validate(), s.Accounts.Validate(), s.Uploads.Validate(), s.Jobs.Validate()); err != nil {
		return err
	}
	s.Jobs.BackupDir = absolute(s.Jobs.BackupDir)
	s.Media = absolute(cmp.Or(s.Media, filepath.Join(filepath.Dir(s.DB), "media")))
	return nil
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
