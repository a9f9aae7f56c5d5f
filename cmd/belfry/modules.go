package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/article"
	"belfry/platform/instagram"
	"belfry/platform/profile"
	"belfry/platform/rest"
	"belfry/platform/telegram"
	"belfry/platform/webhook"
	"belfry/platform/x"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web"
	"belfry/web/api"
	"belfry/web/metrics"
	"belfry/web/page"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/adminbot"
	"belfry/worker/alerts"
	"belfry/worker/bookings"
	"belfry/worker/channels"
	"belfry/worker/identities"
	"belfry/worker/jobs"
	"belfry/worker/media"
	"belfry/worker/moving"
	"belfry/worker/notices"
	"belfry/worker/pipeline"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/search"
	"belfry/worker/setup"
	"belfry/worker/tasks"
)

// workers are the workers of the program.
type workers struct {
	identities *identities.Worker
	posts      *posts.Worker
	rules      *rules.Worker
	pipeline   *pipeline.Worker
	tasks      *tasks.Worker
	media      *media.Worker
	free       func() (int64, error) // bytes on the disk of the file
	public     string                // where people reach the page
	accounts   *accounts.Worker
	channels   *channels.Worker
	search     *search.Worker
	notices    *notices.Worker
	alerts     *alerts.Worker
	jobs       *jobs.Worker
	adminBot   *adminbot.Bot
	bookings   *bookings.Worker
	setup      *setup.Worker
}

// module is a worker with its doors.
type module struct {
	worker.Module
	api   api.Door
	pages page.Door
}

// modules lists the workers with their doors, in the order of the navigation. A worker is added here.
func (w workers) modules() []module {
	return []module{
		{pages: page.Today},
		{w.posts.Module(), api.Posts(w.posts), page.Posts(w.posts)},
		{w.rules.Module(), api.Rules(w.rules), page.Rules(w.rules)},
		{w.tasks.Module(), api.Tasks(w.tasks), page.Tasks(w.tasks, api.SendDeliveries)},
		{w.media.Module(), api.Uploads(w.media), page.Media(w.media, page.MediaConfig{Send: api.MediaAnswer, Free: w.free})},
		{w.bookings.Module(), api.Bookings(w.bookings, w.public), page.Bookings(w.bookings, w.public)},
		{w.channels.Module(), api.Channels(w.channels), page.Channels(w.channels)},
		{w.search.Module(), api.Search(w.search), page.Search(w.search)},
		{w.pipeline.Module(), api.Pipeline(w.pipeline), page.Pipeline(w.pipeline)},
		{w.accounts.Module(), api.Accounts(w.accounts), page.Accounts(w.accounts)},
		{w.alerts.Module(), api.Alerts(w.alerts), page.Alerts(w.alerts)},
		{w.jobs.Module(), api.Jobs(w.jobs), page.Jobs(w.jobs)},
		{w.identities.Module(), api.Identities(w.identities), page.Identities(w.identities)},
		{worker.Module{}, api.Audit, page.Audit(api.SendAudit)},
		{worker.Module{}, api.SettingsOf(w.setup, w.identities, w.notices), page.Setup(w.setup, w.identities, w.posts, w.notices)},
		{Module: w.notices.Module()},
		{Module: w.adminBot.Module()},
	}
}

// moving returns what imports, for those who own what is made.
func (w workers) moving(db *store.DB) *moving.Worker {
	return moving.New(db, moving.Workers{Posts: w.posts, Rules: w.rules, Tasks: w.tasks, Accounts: w.accounts, Channels: w.channels, Setup: w.setup, Keep: w.pipeline.Keeps()})
}

// open opens the file and puts the parts together.
func (s *settings) open(log zerolog.Logger, key []byte) (svc *service, err error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Media, 0o700); err != nil {
		return nil, fmt.Errorf("make the media folder: %w", err)
	}
	svc = &service{log: log}
	measured := metrics.New(version(), commit(), part(log, "metrics"))
	svc.db, err = store.Open(s.DB, store.Options{Key: key, Verifier: verifier(), Committed: measured.Committed, Note: func(note string) {
		log.Warn().Str("part", "store").Msg(note)
	}})
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w (the file and its folder must belong to the user that belfry runs as, such as after: sudo chown belfry: %s)", err, s.DB)
	}
	if err != nil {
		return nil, err
	}
	defer func(db *store.DB) {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}(svc.db)
	choices := setup.New(svc.db, setup.Locale{Timezone: s.Timezone, Lang: s.Lang})
	if svc.workers, err = s.workers(svc.db, choices, log); err != nil {
		return nil, err
	}
	var parts []worker.Module
	doors := web.Doors{Wrong: svc.workers.alerts.Wrong, Local: api.Import(svc.workers.moving(svc.db))}
	for _, m := range svc.workers.modules() {
		parts = append(parts, m.Module)
		if m.api != nil {
			doors.API = append(doors.API, m.api)
		}
		if m.pages != nil {
			doors.Pages = append(doors.Pages, m.pages)
		}
	}
	svc.module = worker.Join(parts...)
	svc.workers.adminBot.SetKinds(svc.module.Kinds)
	svc.scheduler = scheduler.New(svc.db, scheduler.Config{
		Kinds: svc.module.Kinds, EvenPaused: svc.module.EvenPaused, Plausible: clockFloor(), Observe: measured.Ran,
		Log: part(log, "schedule"),
	})
	measured.Watch(svc.db, svc.scheduler, svc.module.Metrics)
	svc.web, err = web.New(web.Config{
		Hosts: append(slices.Clone(s.Hosts), s.publicHost()...), Locale: choices.Now, Token: s.APIToken, Password: s.AdminPassword,
		Version: version(), Idle: s.DisableWorkers, Metrics: measured.Handler(), Log: part(log, "web"),
	}, svc.db, svc.scheduler, doors)
	return svc, err
}

// part returns the log of a part of the program.
func part(log zerolog.Logger, name string) zerolog.Logger {
	return log.With().Str("part", name).Logger()
}

// wiring makes the workers from the settings. Each gets those that it needs, so they are made in the order of make.
type wiring struct {
	*settings
	db   *store.DB
	lang string
	zone *time.Location
	log  zerolog.Logger

	made      workers
	telegram  *telegram.Network
	instagram *instagram.Network
	x         *x.Network
	notify    uint64 // the bot that the settings name for telling the admins; 0: none
	sources   rules.Sources
}

// workers makes the workers.
func (s *settings) workers(db *store.DB, choices *setup.Worker, log zerolog.Logger) (workers, error) {
	w := &wiring{settings: s, db: db, log: log, made: workers{setup: choices}}
	w.lang, w.zone = choices.Now()
	for _, step := range []func() error{w.connecting, w.publishing, w.telling, w.reading, w.watching, w.listening} {
		if err := step(); err != nil {
			return workers{}, err
		}
	}
	return w.made, nil
}

// connecting makes the networks, the media that they send, and what logs in to them.
func (w *wiring) connecting() (err error) {
	apps := identities.Applications{DB: w.db, Fixed: identities.Application{ID: w.TelegramAPIID, Hash: w.TelegramAPIHash}}
	if err := w.mustHaveApplication(apps); err != nil {
		return err
	}
	if w.notify, err = w.configureBots(w.db); err != nil {
		return err
	}
	w.made.media = media.New(w.db, w.Uploads)
	w.made.free = func() (int64, error) {
		d, err := disk(w.DB)
		return d.Free, err
	}
	w.telegram, err = telegram.New(w.db, telegram.Config{
		Application: apps.Telegram, Server: w.TelegramDC, Key: w.TelegramKey,
		MediaDir: w.Media, Media: w.made.media.Open, Private: w.AllowPrivate, Version: version(), Log: part(w.log, "telegram"),
		Seen: func(identityID uint64, counts map[platform.ChatRef]int) {
			if err := w.made.tasks.Seen(identityID, counts); err != nil {
				w.log.Warn().Err(err).Msg("messages in chats were not counted")
			}
		},
	})
	if err != nil {
		return err
	}
	if w.made.public, err = w.publicURL(); err != nil {
		return err
	}
	keys := identities.Vault{DB: w.db}
	w.instagram, err = instagram.New(instagram.Config{URL: w.InstagramURL, Keys: keys, Share: w.share(w.made.media, w.made.public)})
	if err != nil {
		return wrong("BELFRY_INSTAGRAM_URL", err)
	}
	w.x, err = x.New(x.Config{
		URL: w.XURL, Keys: keys, MediaDir: w.Media, Media: w.made.media.Open, Private: w.AllowPrivate, Redirect: w.made.public + page.XCallback,
	})
	if err != nil {
		return wrong("BELFRY_X_URL", err)
	}
	w.made.identities = identities.New(w.db, w.telegram, identities.Config{
		LoggedIn: tasks.ListChats, Log: part(w.log, "logins"), Applications: apps, TryApplication: w.telegram.TryApplication, Connected: w.telegram.Connected(),
		Connectors: map[string]identities.Connector{instagram.Platform: w.instagram, x.Platform: w.x},
	})
	return w.adopt(w.db, w.made.identities, w.log)
}

// publishing makes what sends: posts, the rules that write them, and broadcasts.
func (w *wiring) publishing() (err error) {
	w.made.posts = posts.New(w.db, map[string]posts.Network{telegram.Platform: w.telegram, instagram.Platform: w.instagram, x.Platform: w.x}, w.Posts)
	if w.sources, err = w.Rules.Sources(w.AllowPrivate); err != nil {
		return wrong("OPENAI_BASE_URL", err)
	}
	w.sources.Keep = w.made.media.Add
	recipes := w.Rules
	recipes.Zone, recipes.Lang = w.zone, w.lang
	w.made.rules = rules.New(w.db, w.made.posts, w.sources, recipes)
	sends := w.Tasks
	sends.Backoff, sends.Deadline, sends.Zone = w.Posts.Backoff, w.Posts.Deadline, w.zone
	w.made.tasks = tasks.New(w.db, w.telegram, sends)
	w.made.setup.OnChange(func(lang string, zone *time.Location) {
		for _, live := range []interface{ SetLocale(string, *time.Location) }{
			w.made.rules, w.made.jobs, w.made.notices, w.made.search, w.made.accounts, w.made.alerts, w.made.adminBot,
		} {
			live.SetLocale(lang, zone)
		}
		w.made.tasks.SetZone(zone)
		if err := w.made.bookings.SetLocale(lang, zone); err != nil {
			w.log.Error().Err(err).Msg("digests of bookings keep their zone until the next start")
		}
	})
	return nil
}

// telling makes what tells the admins.
func (w *wiring) telling() (err error) {
	told := notices.Config{
		Login: w.notify, Zone: w.zone, Log: part(w.log, "notices"), Connect: w.telegram.Connect,
		BotOf: func(login uint64) notices.Bot { return bot{w.telegram.Publisher(login), w.telegram, login} },
	}
	if w.AlertWebhook != "" {
		if told.Webhook, err = hook("BELFRY_ALERT_WEBHOOK", w.AlertWebhook, w.AlertSecret); err != nil {
			return err
		}
	}
	for _, id := range w.Admins {
		told.Admins = append(told.Admins, strconv.FormatInt(id, 10))
	}
	w.made.notices = notices.New(w.db, told)
	return w.warnWithoutBot(w.db, w.made.notices, w.log)
}

// reading makes what reads channels, and what becomes of their messages.
func (w *wiring) reading() (err error) {
	find, stages := search.Config{Zone: w.zone, Lang: w.lang, Private: w.AllowPrivate}, w.Pipeline
	if w.sources.Embed != nil {
		find.Embed, find.Model = w.made.rules.Embed, fmt.Sprint(w.Rules.Embed, w.Rules.Dimensions)
	}
	w.made.search = search.New(w.db, w.made.notices, w.made.posts, find)
	if w.made.search.HasMeaning() {
		stages.Vectors = w.made.search.Vectors
	}
	stages.Index, stages.Read = w.made.search.Add, article.New(w.AllowPrivate).Read
	if w.made.rules.HasAI() {
		stages.Ask = w.made.rules.Ask
	}
	if w.made.pipeline, err = pipeline.New(w.db, stages); err != nil {
		return err
	}
	w.made.channels = channels.New(w.db, w.telegram, channels.Config{Photos: w.made.pipeline.Sees()})
	return nil
}

// watching makes what looks after accounts, the owner's own jobs, and the program itself.
func (w *wiring) watching() error {
	sites, err := w.sites()
	if err != nil {
		return err
	}
	checks := w.Accounts
	checks.Identity, checks.Lang, checks.Zone, checks.Log = accounts.NewNameProber(w.db, w.telegram), w.lang, w.zone, part(w.log, "accounts")
	w.made.accounts = accounts.New(w.db, sites, w.made.notices, checks)
	own := w.Jobs
	own.Zone, own.Lang, own.Private = w.zone, w.lang, w.AllowPrivate
	w.made.jobs = jobs.New(w.db, jobs.Workers{Posts: w.made.posts, Rules: w.made.rules, Accounts: w.made.accounts, Messages: w.telegram}, own)
	watch := alerts.Config{
		Disk: func() (alerts.Disk, error) { return disk(w.DB) }, Lang: w.lang, Zone: w.zone, Log: part(w.log, "alerts"),
		Wrong: worker.Join(w.made.identities.Module(), w.made.notices.Module(), w.made.channels.Module(), w.made.pipeline.Module()).Wrong,
	}
	if w.Heartbeat != "" {
		beat, err := hook("BELFRY_HEARTBEAT_URL", w.Heartbeat, "")
		if err != nil {
			return err
		}
		watch.Heartbeat = beat.Call
	}
	w.made.alerts = alerts.New(w.db, w.made.notices, watch)
	return nil
}

// listening makes what people talk to in Telegram.
func (w *wiring) listening() error {
	w.made.adminBot = adminbot.New(w.db, adminbot.Workers{
		Posts: w.made.posts, Tasks: w.made.tasks, Accounts: w.made.accounts, Alerts: w.made.alerts, Notices: w.made.notices,
	}, adminbot.Config{
		Lang: w.lang, Zone: w.zone, Passphrase: w.BackupPassphrase, Folder: w.Media, Log: part(w.log, "admin bot"),
	})
	w.made.posts.OnHeld(w.made.adminBot.TellHeld)
	w.made.tasks.OnEnd(w.made.adminBot.TellEnded)
	w.made.bookings = bookings.New(w.db, w.telegram.Publisher, w.made.notices, bookings.Config{Lang: w.lang, Zone: w.zone, Plain: w.made.posts.Plain})
	w.telegram.Listen(telegram.Listener{
		Hear: hearFirst(w.made.bookings.Module(), w.made.adminBot.Module()),
		Commands: func(identityID uint64) []platform.Command {
			if !w.made.notices.Listens(identityID) {
				return nil
			}
			return w.made.adminBot.Commands()
		},
	})
	return nil
}

// publicURL returns where people reach the page, without a slash at its end.
func (s *settings) publicURL() (string, error) {
	if s.PublicURL == "" {
		return "http://" + s.Listen, nil
	}
	base, err := rest.Base(s.PublicURL)
	if err != nil {
		return "", wrong("BELFRY_PUBLIC_URL", err)
	}
	return base, nil
}

// publicHost is the name under which Instagram asks for media, if there is one.
func (s *settings) publicHost() []string {
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return []string{u.Hostname()}
}

// share returns what gives Instagram the addresses of uploaded files; nil without a public address.
func (s *settings) share(w *media.Worker, public string) func(uint64) (string, platform.MediaFile, error) {
	if s.PublicURL == "" {
		return nil
	}
	return func(id uint64) (string, platform.MediaFile, error) {
		path, f, err := w.Share(id)
		return public + path, f, err
	}
}

// sites returns what asks sites whether accounts exist.
func (s *settings) sites() (*profile.Client, error) {
	asked := profile.Settings{Proxy: s.Proxy, Private: s.AllowPrivate}
	if s.InstagramWeb != "" {
		asked.Base = map[string]string{"instagram": s.InstagramWeb}
	}
	client, err := profile.NewClient(asked)
	if err != nil {
		names := map[string]string{"proxy": "BELFRY_PROXY", "base": "BELFRY_INSTAGRAM_WEB_URL"}
		return nil, wrong(names[platform.AsError(err).Field], err)
	}
	return client, nil
}

// hook returns what calls the address of a setting, signing with a secret unless that is empty.
func hook(setting, address, secret string) (*webhook.Hook, error) {
	h, err := webhook.New(address, webhook.With{Secret: secret})
	if err != nil {
		return nil, wrong(setting, err)
	}
	return h, nil
}
