package web

import (
	"fmt"
	"time"

	"belfry/store"
)

func englishWords() *words {
	return &words{
		Nav: navWords{
			Skip: "To the content", Label: "Pages", Next: "Next", Posts: "Posts", Compose: "New post", Tasks: "Broadcasts", Accounts: "Accounts", Alerts: "Alerts", Jobs: "Jobs",
			Logins: "Logins", SignOut: "Sign out", OtherLanguage: "Русский", TimesIn: "Times in", Password: "Password",
		},
		Next: nextWords{
			Title: "What happens next", NextPost: "Next post", NextChat: "Next chat of a broadcast", Coming: "Coming up", Happened: "Just happened",
			Attention: "Needs your attention", NothingTitle: "Nothing is waiting",
			Nothing: "No post is scheduled.", NothingLink: "Write one",
			NothingLogin: "No account is connected yet.", NothingLoginLink: "Add a Telegram bot",
			NoRuns: "Nothing is planned.", AllJobs: "All jobs", NothingHappened: "Published posts appear here.",
			Open: "Open", NewTab: "(in a new tab)",
			LoginsLink: "Connected accounts", SetAsideLink: "Look at the job",
			NotConnected: "No connection", NotConnectedCure: "Belfry keeps trying. If it lasts, check this server's network.",
			SiteAlone: "A site does not answer the account check", SiteAloneCure: "Belfry retries; results of this site are not used until it answers.", AccountsLink: "To the accounts",
			Stopped: "Nothing is being run", StoppedCure: "The scheduler has not started. Check Belfry's log: journalctl -u belfry",
			Paused: "Everything is paused", PausedCure: "Nothing is sent until you resume. If this file was restored, first make sure that the old server is off: two servers must not use one account.",
			Idle: "Workers are disabled", IdleCure: "DISABLE_WORKERS is set: nothing is sent until you remove it.",
			StoreTrouble: "The database cannot be used", StoreCure: "Check that the disk is not full or read-only. Belfry resumes by itself.",
			Clock: "The clock of this server looks wrong", ClockCure: "Check date and time. Nothing runs until they are plausible.",
			NoPassword: "The page has no password yet", NoPasswordCure: "Without a password you need a new link for each sign-in.", NoPasswordLink: "Choose a password",
			Unseen: func(n int, more bool) string {
				if more {
					return fmt.Sprintf("More than %d new alerts", n)
				}
				return counted(n, "new alert", "new alerts")
			},
		},
		Posts: postsWords{
			Title: "Posts", Filter: "Status", All: "All", When: "When", What: "Post", Where: "Where", Status: "Status",
			Pages: "More of the list", Newest: "To the latest", Older: "Older posts", Soonest: "To the next", Later: "Later posts", Empty: "There are no posts yet.",
			EmptyOf: map[store.PostStatus]string{
				store.PostScheduled: "No post is scheduled.", store.PostPublishing: "No post is being published.",
				store.PostPublished: "Nothing has been published yet.", store.PostFailed: "No post has failed.",
				store.PostUnknown: "No post has an unknown result.", store.PostCancelled: "No post was cancelled.",
				store.PostSkipped: "No post was skipped.", heldPosts: "No post needs approval.",
			},
			Album:  func(n int) string { return counted(n, "file", "files") },
			NoText: "(without text)",
		},
		Post: postWords{
			Title: "Post", Preview: "Preview", State: "State", History: "What happened", When: "Scheduled for",
			NextTry: "Next try", Published: "Published", Where: "Where", Login: "Account", Lateness: "If late", Options: "Options", Link: "Link",
			LateSend: "Publish anyway", LateSkip: "Skip if later than",
			Silent: "without a sound", NoPreview: "without link preview", Removed: "a login that was removed",
			Cancel: "Cancel post", Change: "Change", PublishNow: "Publish now", Retry: "Retry", Again: "Use as a new post",
			Attempt:   func(n string) string { return "attempt " + n },
			NextRun:   func(when string) string { return "next try " + when },
			CancelAsk: "Cancel this post?", CancelMeans: "It will not be published. It stays in the list, and you can reuse it.",
			RetryAsk: "Try this post again?", RetryMeans: "It is published now, unchanged.",
			RetryUnknown: "Check the channel first. If the post is there, do nothing. If not, retry: Telegram recognises a post that it already has.",
			PublishAsk:   "Publish this post now?", PublishMeans: "It is published now instead of at its scheduled time.",
		},
		Confirm: confirmWords{Back: "Back"},
		Compose: composeWords{
			New: "New post", Change: "Change post", Login: "Post as", Target: "Channel or chat",
			Text: "Text", Format: "Formatting", FormatHint: "HTML: <b>, <i>, <u>, <s>, <a href>, <code>, <pre>, <blockquote>, <tg-spoiler>. Markdown: **bold**, *italic*, ~~struck~~, ||spoiler||, `code`, [link](https://…).",
			Media: "Pictures and files", AddMedia: "Add a picture or file", MediaKind: "Shown as", MediaSource: "Address or file",
			MediaHint: "https://… or a path in Belfry's media folder", When: "When", At: "At a time", Now: "As soon as possible", Time: "Date and time",
			TimeHint: "Time zone:", Lateness: "If it cannot be published on time", LateSend: "Publish as soon as possible",
			LateSkip: func(d time.Duration) string { return "Skip it if it is more than " + lengthEN(d) + " late" },
			Options:  "Options", Silent: "Deliver without a sound", NoLinkPreview: "Show no preview of links",
			Schedule: "Schedule post", Save: "Save changes", Preview: "Preview", PreviewEmpty: "The preview of your post appears here.",
			NoLogin: "Connect an account to post with.", Fix: "The post was not saved. Fix the fields marked below.",
			Changed: "The post was not saved: someone changed it after you opened this form. Your version is below. Save it to replace the other change, or go back to the post.",
			BadTime: "is not complete", BadTimeCure: "choose day and time", GapTime: "does not exist: the clock jumps over it",
			GapCure: "choose an hour later",
			Count:   func(n, limit int) string { return fmt.Sprintf("%s of %s characters", group(n, ","), group(limit, ",")) },
			Over: func(n int) string {
				return counted(n, "character", "characters") + " too many"
			},
			SignedOut: "You are signed out. Sign in in another tab; your text stays here.",
		},
		Tasks: tasksWords{
			Title: "Broadcasts", Lead: "Send one post to many chats from a user account, one chat at a time.", New: "New broadcast", Chats: "Chats",
			What: "Broadcast", Progress: "Progress", Next: "Next chat", Status: "Status", Account: "Account", Older: "Earlier broadcasts", Newest: "To the latest",
			Empty: "There are no broadcasts yet.", NoAccount: "Broadcasts need a user account, and none is logged in.", NoAccountLink: "Log one in",
			EmptyOf: map[store.TaskStatus]string{
				store.TaskPreparing: "No broadcast is being prepared.",
				store.TaskPending:   "No broadcast is waiting.", store.TaskProcessing: "No broadcast is being sent.", store.TaskDone: "No broadcast has finished yet.",
				store.TaskFailed: "No broadcast has failed.", store.TaskCancelled: "No broadcast was cancelled.",
			},
			Of: func(done, total int) string { return group(done, ",") + " of " + group(total, ",") },
		},
		Task: taskWords{
			Title: "Broadcast", Progress: "Progress", Chats: "Chats", NextChat: "Next chat", Now: "now", Ends: "Ends about", Started: "Started", Ended: "Ended",
			Created: "Created", StartAt: "Starts", Account: "Account", Pauses: "Pause between chats", Quiet: "Quiet hours", Cap: "At most", TakenUp: "Attempts", Options: "Options",
			Sent: "sent", Failed: "failed", Skipped: "skipped", Left: "left", NotSent: "not sent",
			Pause: "Pause", Resume: "Resume", Begin: "Start", Cancel: "Cancel broadcast", Retry: "Retry unsent chats", Preview: "Send to me", DryRun: "Dry run: who can be reached",
			Again: "Use as a new broadcast", Paused: "paused", PausedMeans: "Nothing is sent until you resume.", LastError: "Last error",
			CancelAsk: "Cancel this broadcast?", CancelMeans: "Nothing more is sent. Messages already sent stay in the chats.",
			RetryAsk: "Retry the unsent chats?", RetryMeans: "Chats that failed, refused or were not reached get it now, one at a time. No chat gets it twice.",
			Check: "Who can be reached", CheckRunning: "Belfry checks the chats one by one; nothing is sent.", CheckDone: "All chats were checked.",
			Reachable: "can be reached", Unreachable: "cannot be reached", Unseen: "not checked yet", CannotReach: "cannot be reached",
			Deliveries: "Chats", Filter: "Show", All: "all", CSV: "Download as CSV", Target: "Chat", Attempts: "What happened",
			NoRows: "No chats in this state.", NoUnreachable: "All checked chats can be reached.", More: "More chats", First: "To the first",
			Seconds: "s", NoAttempt: "not tried yet",
			Looked:  func(n, total int) string { return group(n, ",") + " of " + group(total, ",") + " checked" },
			OfFirst: func(n int) string { return "of the first " + group(n, ",") },
			Earlier: func(n int) string { return counted(n, "earlier attempt", "earlier attempts") },
			Waited:  func(n int) string { return fmt.Sprintf("Telegram asked to wait %d s", n) },
			Range:   func(from, to string) string { return "from " + from + " to " + to },
			PerDay:  func(n int) string { return counted(n, "message", "messages") + " a day from this account" },
		},
		Send: sendWords{
			New: "New broadcast", Account: "Send as", Targets: "To these chats", TargetsHint: "One per line, or separated by commas: -1001234567890, @name or https://t.me/name. Sent in this order.",
			Choose: "Choose from the account's chats", NoChats: "The chats of this account have not been loaded yet.", NoChatsLink: "Load them", MoreChats: "These are the first 500; type others into the field above.",
			Off: "switched off", ReadOnly: "may not write there",
			Pace: "Pace", Min: "Shortest pause, seconds", Max: "Longest pause, seconds", PauseHint: "Empty: the default from the settings, usually 20 to 40.",
			QuietFrom: "Quiet from", QuietTo: "Quiet until", QuietHint: "Nothing is sent in these hours.", Cap: "Daily limit", CapHint: "Messages per day from this account, over all broadcasts. Empty: no limit.",
			Attempts: "Attempts", AttemptsHint: "Retries after an error. Empty: the default from the settings, usually 3.",
			Start: "Start", At: "At a time", Now: "As soon as possible", Time: "Date and time", Preview: "Send to me first", Check: "Dry run", Send: "Start",
			ButtonsHint: "“Send to me first” puts the post into the account's saved messages. “Dry run” creates the broadcast and sends nothing until you start it.",
			Previewed:   "The post is in the account's saved messages.", NotNumber: "is not a number", NotNumberCure: "write it as 20",
			Fix:    "The broadcast was not created. Fix the fields marked below.",
			Sure:   "Start the broadcast",
			Chosen: func(n int) string { return counted(n, "chat", "chats") + " ticked" },
			Ask: func(chats int, ends, in string) string {
				return "Send this to " + counted(chats, "chat", "chats") + "? The last one gets it about: " + ends + " (" + in + ")."
			},
		},
		Chats: chatsWords{
			Title: "Chats", Lead: "Chats of this account, with the last result of each.", Account: "Account", Chat: "Chat", Last: "Last success", Seen: "Messages since", Slow: "Slow mode",
			Error: "Last error", State: "Broadcasts", SwitchOff: "Switch off", SwitchOn: "Switch on", IsOff: "off", IsOn: "on", ReadOnly: "may not write there",
			Refresh: "Refresh", Reading: "Loading the chats.", Never: "nothing sent yet", Empty: "The chats of this account have not been loaded yet.",
			More: "More chats", First: "To the first",
			Types:     map[store.PeerType]string{store.PeerUser: "person", store.PeerChat: "group", store.PeerChannel: "channel or group"},
			SeenSince: func(n int) string { return group(n, ",") },
			SlowMode:  func(d time.Duration) string { return "one message in " + lengthEN(d) },
		},
		Accounts: englishAccounts(),
		Sites:    englishSites(),
		Alerts:   englishAlerts(),
		Approval: englishApproval(),
		Jobs: jobsWords{
			Title: "Jobs", Lead: "Everything scheduled, by time.", Kind: "Kind", AllKinds: "All kinds", Show: "Show",
			Next: "Next run", What: "Job", Last: "Last run", Actions: "Actions", Never: "never", Resume: "Resume", Pause: "Pause", RunNow: "Run now",
			Earliest: "To the earliest", Later: "Later jobs", Empty: "No jobs yet. Schedule a post to create one.",
			Runs: "Last runs", NoRuns: "It has not run yet.", Name: "Name", Lane: "Lane", About: "About",
			PauseAll: "Pause all", ResumeAll: "Resume all",
			Gone:    "This job is done and no longer scheduled.",
			Webhook: "Call of your webhook",
		},
		Logins: loginsWords{
			Title: "Connected accounts", Lead: "Accounts that Belfry posts from.", AddBot: "Add a Telegram bot",
			AddHow: "Make a bot with @BotFather, add it to your channel as an administrator who may post, and paste its token here.",
			Name:   "Name", NameHint: "Lower-case letters and digits. Empty: main.", Token: "Token",
			TokenHint: "Such as 123456789:AAE… It is not shown again.", Target: "Posts go to", TargetHint: "@channel or a numeric id, unless a post says otherwise.",
			NewTokenHint: "Leave it empty to keep the current one.", Add: "Add bot", Save: "Save", Change: "Change", Remove: "Remove",
			PostsTo: "Posts go to", NoTarget: "No default channel; choose one in each post", Empty: "No account is connected yet. Add a Telegram bot below.",
			ChangeTitle: "Change connected account", RemoveAsk: "Remove this connected account?", RemoveMeans: "Belfry deletes it and its session. First cancel or change the posts that wait for it.",
			LoginCure:   "Get a new token from @BotFather and enter it under Change.",
			StoppedCure: "Ask @SpamBot and wait. Nothing is sent until you confirm that the restriction is over.",
			NewCure:     "Belfry is logging it in.", Connected: "connected", NotConnected: "not connected",
		},
		LogIn: logInWords{
			Add: "Add a Telegram account", AddHow: "A user account sends broadcasts. Give it a name here; then log it in with its phone, with a QR code, or with a Telethon session.",
			NameHint: "Lower-case letters and digits, such as anna. Empty: user.", Begin: "Continue", Title: "Log in", ByPhone: "With the phone", ByQR: "With a QR code",
			BySession: "With a Telethon session", Way: "How to log in",
			Phone: "Phone number", PhoneHint: "With the country code, such as +79991234567.", SendCode: "Send me a code",
			Code: "Code", CodeSent: "Telegram has sent a code:", EnterCode: "Continue", Password: "Two-step password",
			PasswordHow: "This account also has a two-step password.", Hint: "Its hint:", EnterPassword: "Log in",
			QRHow: "In Telegram on a phone that is logged in: Settings, Devices, Link Desktop Device. Point it at this code; the page goes on by itself.",
			QRAlt: "QR code for logging in to Telegram", QRWait: "The code is being fetched.", QRFailed: "The code could not be fetched:",
			Session: "StringSession", SessionHint: "The output of StringSession.save(), on one line. It is not shown again.", File: "Or a .session file", FileHint: "Of Telethon, up to 1 MB.",
			SessionHow: "Stop the old program first: only one program may use a session.", UseSession: "Use this session",
			Over: "Start over", LogIn: "Log in", LogOut: "Log out", Resume: "The restriction is over", LogOutAsk: "Log this account out?",
			LogOutMeans: "Telegram ends the session and Belfry deletes it. Its broadcasts wait until you log in again.",
			UserCure:    "Log in; waiting posts and broadcasts then resume.", NewCure: "Belfry is connecting it.",
		},
		SignIn: signInWords{
			Title: "Sign in", Password: "Password", Button: "Sign in",
			Forgot:     "Forgot it? Get a one-time link on the server; the README says how.",
			NoPassword: "No password has been chosen yet. Use the one-time link that Belfry wrote to its log when it started: journalctl -u belfry",
			Wrong:      "Wrong password.", LinkReady: "This link signs you in once, in this browser.",
			LinkOver: "This link has been used or is too old.", LinkAgain: "Restart Belfry to get a new one in its log.",
			WithPassword: "Sign in with the password", Choose: "Save password", ChooseTitle: "Choose a password", ChangeTitle: "Change the password",
			ChooseHow: "At least 8 characters; several words are easy to remember. All other browsers are signed out.",
			Old:       "Current password", New: "New password", Later: "Later",
			Wait: func(d time.Duration) string { return "Too many wrong passwords. Try again in " + lengthEN(d) + "." },
		},
		Errors: errorWords{
			Title: "Something went wrong", NotFound: "Page not found", NotFoundHow: "It may have been removed, or the address is incomplete.",
			Own: "Something went wrong in Belfry. Its log says more: journalctl -u belfry", Unavailable: "The database is unavailable. Check whether your change was saved, and retry in a few seconds.",
			Full:      "The disk of the database is full and nothing can be saved. Free some space on the server, then try again.",
			Forbidden: "This page has expired. Reload it and try again.", Back: "Home",
		},
		Time: timeWords{
			Today: "today", Tomorrow: "tomorrow", Yesterday: "yesterday", Moment: "in a moment", JustNow: "just now", Now: "now",
			In:       func(d time.Duration) string { return "in " + lengthEN(d) },
			Ago:      func(d time.Duration) string { return lengthEN(d) + " ago" },
			Length:   lengthEN,
			Day:      func(t time.Time) string { return t.Format("Monday 2 January") },
			ShortDay: func(t time.Time) string { return t.Format("Mon 2 Jan") },
		},
		Status: map[store.PostStatus]statusWords{
			store.PostScheduled:  {"scheduled", "Will be published at its time."},
			store.PostPublishing: {"publishing", "Sending; retries if it fails."},
			store.PostPublished:  {"published", "Published."},
			store.PostFailed:     {"failed", "Not published. Retry it yourself when the cause is fixed."},
			store.PostUnknown:    {"unknown", "Telegram did not answer: it may or may not be published."},
			store.PostCancelled:  {"cancelled", "Cancelled; it will not be published."},
			store.PostSkipped:    {"skipped", "Not published: it was too late."},
			heldPosts:            {"needs approval", "Published after approval, not before its time."},
		},
		TaskStatus: map[store.TaskStatus]statusWords{
			store.TaskPreparing:  {"preparing", "The list of chats is being prepared. Then it starts."},
			store.TaskPending:    {"waiting", "Not started yet, or starts again."},
			store.TaskProcessing: {"sending", "Sending to one chat at a time."},
			store.TaskDone:       {"done", "All chats processed."},
			store.TaskFailed:     {"failed", "Ended with an error. Retry it yourself."},
			store.TaskCancelled:  {"cancelled", "Cancelled; nothing more is sent."},
		},
		Deliveries: map[store.DeliveryStatus]string{
			store.DeliveryPending: "waiting", store.DeliverySent: "sent", store.DeliveryFailed: "failed", store.DeliverySkipped: "skipped",
		},
		Outcomes: map[store.TryOutcome]string{
			store.TryBegun: "under way", store.TrySent: "sent", store.TryWaits: "has to wait", store.TryFailed: "failed", store.TryRefused: "refused", store.TryUnknown: "no answer",
		},
		AccountStates: englishAccountStates(),
		AccountOutcomes: map[store.AccountOutcome]string{
			store.OutcomeFound: "found", store.OutcomeNotFound: "not found", store.OutcomeError: "no answer",
		},
		Vias: map[string]string{
			"app": "to the Telegram app of this account", "sms": "by SMS", "call": "by a call", "flash_call": "by a flash call", "missed_call": "by a missed call: its last digits are the code",
			"email": "by e-mail", "fragment": "through fragment.com",
		},
		JobStates: map[store.JobState]string{
			store.JobWaiting: "waiting", store.JobRunning: "running", store.JobPaused: "paused", store.JobSetAside: "set aside",
		},
		Results: map[store.Result]string{
			store.ResultDone: "done", store.ResultAgain: "OK, runs again", store.ResultFailed: "failed", store.ResultSkipped: "skipped",
			store.ResultInterrupted: "interrupted",
		},
		IdentityStates: map[store.IdentityState]string{
			store.IdentityNew: "new", store.IdentityReady: "ready", store.IdentityLogin: "must log in", store.IdentityStopped: "restricted",
		},
		Platforms:     map[string]string{"telegram": "Telegram", "instagram": "Instagram", "twitter": "X"},
		IdentityKinds: map[store.IdentityKind]string{store.IdentityBot: "bot", store.IdentityUser: "account"},
		JobKinds:      map[string]string{"post": "Post", "rule": "Rule", "task": "Broadcast", "task_check": "Check of a broadcast", "chat_list": "List of chats", "reminder": "Reminder", "feedback": "Feedback", "channel": "Channel", "autocheck": "Account check", "notice": "Message to an admin", "alerts": "Health check", "heartbeat": "Heartbeat", "backup": "Backup to Telegram"},
		MediaKinds:    map[string]string{"photo": "Photo", "video": "Video", "document": "File"},
		Formats:       map[string]string{"plain": "None: the text as it is", "html": "HTML", "markdown": "Markdown"},
		Done: map[string]string{
			"scheduled": "The post is scheduled.", "changed": "The post was changed.", "cancelled": "The post was cancelled.",
			"held": "The post is saved and needs approval.", "approved": "The post is approved.",
			"retried": "The post is being published.", "published": "The post is being published.", "paused": "The job is paused.",
			"resumed": "The job is resumed.", "run": "The job runs now.", "all-paused": "Everything is paused.", "all-resumed": "Everything is resumed.", "login-added": "The bot was added; Belfry is logging it in.",
			"login-changed": "The connected account was changed.", "login-removed": "The connected account was removed.", "password": "The password is saved.",
			"task-made": "The broadcast is created.", "task-paused": "The broadcast is paused.", "task-resumed": "The broadcast is resumed.", "task-cancelled": "The broadcast was cancelled.",
			"task-retried": "Retrying the unsent chats.", "task-previewed": "The post is in the account's saved messages.", "task-checked": "The dry run has started.",
			"chat-off": "The chat is switched off; broadcasts skip it.", "chat-on": "The chat is switched on.", "chats-read": "Loading the chats.",
			"logged-in": "The account is logged in.", "logged-out": "The account is logged out.", "login-resumed": "The connected account is active again.", "session-used": "The session was accepted; Belfry is connecting.",
			"accounts-added": "The accounts were added; the next check includes them.", "account-changed": "The account was changed.", "account-removed": "The account was removed.",
			"check-begun": "The check has started.", "check-set": "Saved.", "sites-added": "The rules were saved.", "site-removed": "The rule was removed.",
			"alert-seen": "Acknowledged.", "alerts-seen": "All acknowledged.",
		},
		Fields: map[string]string{
			"text": "The text", "target": "The channel or chat", "scheduled_time": "The time", "format": "The formatting",
			"identity_id": "The account", "platform": "The network", "lateness": "What happens if late", "name": "The name", "token": "The token",
			"password": "The password", "media": "The picture or file", "id": "The job",
			"target_chat_ids": "The chats", "min_seconds_between_chats": "The shortest pause", "max_seconds_between_chats": "The longest pause", "max_attempts": "The number of attempts",
			"start_at": "The time", "quiet_from": "The beginning of the quiet hours", "quiet_to": "The end of the quiet hours", "daily_cap": "The number of messages in a day",
			"content_id": "The content", "phone": "The phone number", "code": "The code", "session": "The session",
			"list": "The list", "site": "The site", "username": "The name", "note": "The note", "tag": "The tag", "owner_chat": "The chat", "interval": "The time between two checks", "rules": "The rules",
		},
	}
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(n, ",") + " " + many
}

// lengthEN says a length of time in its largest unit.
func lengthEN(d time.Duration) string {
	n, unit := largest(d)
	names := [...][2]string{{"second", "seconds"}, {"minute", "minutes"}, {"hour", "hours"}, {"day", "days"}, {"month", "months"}, {"year", "years"}}
	return counted(n, names[unit][0], names[unit][1])
}
