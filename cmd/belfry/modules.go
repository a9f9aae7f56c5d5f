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
	return moving.New(db, moving.Workers{Posts: w.posts, Rules: w.rules, Tasks: w.tasks, Accounts: w.accounts, Channels: w.channels})
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

// workers makes the workers. Each gets those that it needs.
func (s *settings) workers(db *store.DB, choices *setup.Worker, log zerolog.Logger) (w workers, err error) {
	w.setup = choices
	lang, zone := choices.Now()
	apps := identities.Applications{DB: db, Fixed: identities.Application{ID: s.TelegramAPIID, Hash: s.TelegramAPIHash}}
	if err := s.mustHaveApplication(apps); err != nil {
		return w, err
	}
	notify, err := s.configureBots(db)
	if err != nil {
		return w, err
	}
	w.media = media.New(db, s.Uploads)
	w.free = func() (int64, error) {
		d, err := disk(s.DB)
		return d.Free, err
	}
	network, err := telegram.New(db, telegram.Config{
		Application: apps.Telegram, Server: s.TelegramDC, Key: s.TelegramKey,
		MediaDir: s.Media, Media: w.media.Open, Private: s.AllowPrivate, Version: version(), Log: part(log, "telegram"),
		Seen: func(identityID uint64, counts map[platform.ChatRef]int) {
			if err := w.tasks.Seen(identityID, counts); err != nil {
				log.Warn().Err(err).Msg("messages in chats were not counted")
			}
		},
	})
	if err != nil {
		return w, err
	}
	public, err := s.publicURL()
	if err != nil {
		return w, err
	}
	w.public = public
	gram, err := instagram.New(instagram.Config{URL: s.InstagramURL, Keys: identities.Vault{DB: db}, Share: s.share(w.media, public)})
	if err != nil {
		return w, wrong("BELFRY_INSTAGRAM_URL", err)
	}
	onX, err := x.New(x.Config{URL: s.XURL, Keys: identities.Vault{DB: db}, MediaDir: s.Media, Media: w.media.Open, Private: s.AllowPrivate, Redirect: public + page.XCallback})
	if err != nil {
		return w, wrong("BELFRY_X_URL", err)
	}
	w.identities = identities.New(db, network, identities.Config{
		LoggedIn: tasks.ListChats, Log: part(log, "logins"), Applications: apps, TryApplication: network.TryApplication,
		Connectors: map[string]identities.Connector{instagram.Platform: gram, x.Platform: onX},
	})
	if err := s.adopt(db, w.identities, log); err != nil {
		return w, err
	}
	w.posts = posts.New(db, map[string]posts.Network{telegram.Platform: network, instagram.Platform: gram, x.Platform: onX}, s.Posts)
	sources, err := s.Rules.Sources(s.AllowPrivate)
	if err != nil {
		return w, wrong("OPENAI_BASE_URL", err)
	}
	sources.Keep = w.media.Add
	recipes := s.Rules
	recipes.Zone, recipes.Lang = zone, lang
	w.rules = rules.New(db, w.posts, sources, recipes)
	sends := s.Tasks
	sends.Backoff, sends.Deadline, sends.Zone = s.Posts.Backoff, s.Posts.Deadline, zone
	w.tasks = tasks.New(db, network, sends)
	choices.OnChange(func(lang string, zone *time.Location) {
		w.rules.SetLocale(lang, zone)
		w.tasks.SetZone(zone)
	})
	told := notices.Config{
		Login: notify, Zone: zone, Log: part(log, "notices"), Connect: network.Connect,
		BotOf: func(login uint64) notices.Bot { return bot{network.Publisher(login), network, login} },
	}
	if s.AlertWebhook != "" {
		if told.Webhook, err = hook("BELFRY_ALERT_WEBHOOK", s.AlertWebhook, s.AlertSecret); err != nil {
			return w, err
		}
	}
	for _, id := range s.Admins {
		told.Admins = append(told.Admins, strconv.FormatInt(id, 10))
	}
	w.notices = notices.New(db, told)
	find, stages := search.Config{Zone: zone, Lang: lang, Private: s.AllowPrivate}, s.Pipeline
	if sources.Embed != nil {
		find.Embed, find.Model = w.rules.Embed, fmt.Sprint(s.Rules.Embed, s.Rules.Dimensions)
	}
	w.search = search.New(db, w.notices, w.posts, find)
	if w.search.HasMeaning() {
		stages.Vectors = w.search.Vectors
	}
	stages.Index, stages.Read = w.search.Add, article.New(s.AllowPrivate).Read
	if w.rules.HasAI() {
		stages.Ask = w.rules.Ask
	}
	if w.pipeline, err = pipeline.New(db, stages); err != nil {
		return w, err
	}
	sites, err := s.sites()
	if err != nil {
		return w, err
	}
	checks := s.Accounts
	checks.Identity, checks.Lang, checks.Zone, checks.Log = accounts.NewNameProber(db, network), lang, zone, part(log, "accounts")
	w.accounts = accounts.New(db, sites, w.notices, checks)
	w.channels = channels.New(db, network, channels.Config{Photos: w.pipeline.Sees()})
	own := s.Jobs
	own.Zone, own.Lang, own.Private = zone, lang, s.AllowPrivate
	w.jobs = jobs.New(db, jobs.Workers{Posts: w.posts, Rules: w.rules, Accounts: w.accounts, Messages: network}, own)
	watch := alerts.Config{
		Disk: func() (alerts.Disk, error) { return disk(s.DB) }, Lang: lang, Zone: zone, Log: part(log, "alerts"),
		Wrong: worker.Join(w.identities.Module(), w.notices.Module(), w.channels.Module(), w.pipeline.Module()).Wrong,
	}
	if s.Heartbeat != "" {
		beat, err := hook("BELFRY_HEARTBEAT_URL", s.Heartbeat, "")
		if err != nil {
			return w, err
		}
		watch.Heartbeat = beat.Call
	}
	w.alerts = alerts.New(db, w.notices, watch)
	w.adminBot = adminbot.New(db, adminbot.Workers{
		Posts: w.posts, Tasks: w.tasks, Accounts: w.accounts, Alerts: w.alerts, Notices: w.notices,
	}, adminbot.Config{
		Lang: lang, Zone: zone, Passphrase: s.BackupPassphrase, Folder: s.Media, Log: part(log, "admin bot"),
	})
	if err := s.warnWithoutBot(db, w.notices, log); err != nil {
		return w, err
	}
	w.bookings = bookings.New(db, network.Publisher, w.notices, bookings.Config{Lang: lang, Zone: zone, Plain: w.posts.Plain})
	network.Listen(telegram.Listener{Hear: hearFirst(w.bookings.Module(), w.adminBot.Module()), Commands: func(identityID uint64) []platform.Command {
		if !w.notices.Listens(identityID) {
			return nil
		}
		return w.adminBot.Commands()
	}})
	return w, nil
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
func (s *settings) share(w *media.Worker, public string) func(uint64) (string, string, error) {
	if s.PublicURL == "" {
		return nil
	}
	return func(id uint64) (string, string, error) {
		path, kind, err := w.Share(id)
		return public + path, kind, err
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
