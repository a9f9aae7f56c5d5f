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
			NothingLogin: "Belfry has no login to post with yet.", NothingLoginLink: "Add a Telegram bot",
			NoRuns: "Nothing is planned.", AllJobs: "All jobs", NothingHappened: "What Belfry has published will be listed here.",
			Open: "Open", NewTab: "(in a new tab)",
			FailedPost: "A post has failed", FailedCure: "Look at the reason, change the post and try again.",
			UnknownPost: "Nobody knows whether a post is out", UnknownCure: "Look in the channel first, then decide.", Look: "Look at it",
			FailedTask: "A broadcast has failed", FailedTaskCure: "Look at the reason; the chats that did not get it can be tried again.",
			LoginOut: "A login cannot act", LoginOutCure: "Its posts and broadcasts wait until it can.", LoginsLink: "To the logins",
			NotConnected: "No connection", NotConnectedCure: "Belfry keeps trying; check this server's network if it lasts.",
			SetAside: "A job was set aside", SetAsideCure: "It will not run as it is.", SetAsideLink: "Look at the job",
			SiteAlone: "A site does not answer the account check", SiteAloneCure: "Belfry asks it again by itself; nothing is believed meanwhile.", AccountsLink: "To the accounts",
			Overdue: "A job is late and has not started", OverdueCure: "Look into Belfry's log: journalctl -u belfry",
			Stopped: "Nothing is being run", StoppedCure: "The scheduler has not started. Look into Belfry's log: journalctl -u belfry",
			Paused: "Everything is paused", PausedCure: "Nothing goes out until it goes on. If this file was restored, make sure first that the old system is off: one login must not be used by two.",
			Idle: "Belfry was told to run nothing", IdleCure: "DISABLE_WORKERS is set: nothing goes out until it is taken away.",
			StoreTrouble: "The database cannot be used", StoreCure: "Check that the disk is neither full nor read-only. Belfry goes on by itself.",
			Clock: "The clock of this server looks wrong", ClockCure: "Check date and time. Nothing is started until they are plausible.",
			NoPassword: "The page has no password yet", NoPasswordCure: "Without one you need a new link each time you sign in.", NoPasswordLink: "Choose a password",
			MoreFailed: func(n int) string { return fmt.Sprintf("and %s more this week", counted(n, "post", "posts")) },
			Unseen: func(n int, more bool) string {
				if more {
					return fmt.Sprintf("More than %d alerts nobody has looked at", n)
				}
				return counted(n, "alert", "alerts") + " nobody has looked at"
			},
		},
		Posts: postsWords{
			Title: "Posts", Filter: "Status", All: "All", When: "When", What: "Post", Where: "Where", Status: "Status",
			Pages: "More of the list", Newest: "To the latest", Older: "Older posts", Soonest: "To the next", Later: "Later posts", Empty: "There are no posts yet.",
			EmptyOf: map[store.PostStatus]string{
				store.PostScheduled: "No post is scheduled.", store.PostPublishing: "No post is on its way right now.",
				store.PostPublished: "Nothing has been published yet.", store.PostFailed: "No post has failed. Good.",
				store.PostUnknown: "There is no post of which nobody knows whether it is out.", store.PostCancelled: "No post was cancelled.",
				store.PostSkipped: "No post was skipped.", heldPosts: "No post waits for approval.",
			},
			Album:  func(n int) string { return counted(n, "file", "files") },
			NoText: "(without text)",
		},
		Post: postWords{
			Title: "Post", Preview: "As readers see it", State: "State", History: "What happened", When: "Scheduled for",
			NextTry: "Next try", Published: "Published", Where: "Where", Login: "Login", Lateness: "If late", Options: "Options", Link: "Link",
			LateSend: "It goes out anyway", LateSkip: "It is skipped if later than",
			Silent: "without a sound", NoPreview: "without link preview", Removed: "a login that was removed",
			Cancel: "Cancel post", Change: "Change", PublishNow: "Publish now", Retry: "Try again", Again: "Use as a new post",
			Attempt:   func(n string) string { return "attempt " + n },
			NextRun:   func(when string) string { return "next try " + when },
			CancelAsk: "Cancel this post?", CancelMeans: "It will not go out. It stays in the list, and you can use it again.",
			RetryAsk: "Try this post again?", RetryMeans: "It goes out now, as it is.",
			RetryUnknown: "Look in the channel first. If the post is there, do nothing. If not, try again: Telegram recognises a post that it has already.",
			PublishAsk:   "Publish this post now?", PublishMeans: "It goes out at once instead of at its time.",
		},
		Confirm: confirmWords{Back: "Back"},
		Compose: composeWords{
			New: "New post", Change: "Change post", Login: "Post as", Target: "Channel or chat",
			Text: "Text", Format: "Formatting", FormatHint: "HTML: <b>, <i>, <u>, <s>, <a href>, <code>, <pre>, <blockquote>, <tg-spoiler>. Markdown: **bold**, *italic*, ~~struck~~, ||spoiler||, `code`, [link](https://…).",
			Media: "Pictures and files", AddMedia: "Add a picture or file", MediaKind: "Shown as", MediaSource: "Address or file",
			MediaHint: "https://… or a path in Belfry's media folder", When: "When", At: "At a time", Now: "As soon as possible", Time: "Date and time",
			TimeHint: "Time zone:", Lateness: "If it is not out at that time", LateSend: "Publish as soon as possible",
			LateSkip: func(d time.Duration) string { return "Skip it if it is more than " + lengthEN(d) + " late" },
			Options:  "Options", Silent: "Deliver without a sound", NoLinkPreview: "Show no preview of links",
			Schedule: "Schedule post", Save: "Save changes", Preview: "Preview", PreviewEmpty: "What you write appears here as readers will see it.",
			NoLogin: "Belfry needs a login to post with.", Fix: "The post was not saved. See below what to change.",
			Changed: "The post was not saved: it was changed after this form was opened. What you see here is yours. Save it to replace the other change, or go back and look at the post.",
			BadTime: "is not complete", BadTimeCure: "choose day and time", GapTime: "does not exist: the clock jumps over it",
			GapCure: "choose an hour later",
			Count:   func(n, limit int) string { return fmt.Sprintf("%s of %s characters", group(n, ","), group(limit, ",")) },
			Over: func(n int) string {
				return counted(n, "character", "characters") + " too many"
			},
			SignedOut: "You are signed out. Sign in in another tab; what you typed stays here.",
		},
		Tasks: tasksWords{
			Title: "Broadcasts", Lead: "One post to many chats, as a user account, one chat after the other.", New: "New broadcast", Chats: "Chats",
			What: "Broadcast", Progress: "Progress", Next: "Next chat", Status: "Status", Account: "Account", Older: "Earlier broadcasts", Newest: "To the latest",
			Empty: "There are no broadcasts yet.", NoAccount: "Broadcasts are sent by a user account, and none is logged in.", NoAccountLink: "Log one in",
			EmptyOf: map[store.TaskStatus]string{
				store.TaskPreparing: "No broadcast is being prepared.",
				store.TaskPending:   "No broadcast waits to begin.", store.TaskProcessing: "No broadcast is being sent.", store.TaskDone: "No broadcast has ended yet.",
				store.TaskFailed: "No broadcast has failed. Good.", store.TaskCancelled: "No broadcast was cancelled.",
			},
			Of: func(done, total int) string { return group(done, ",") + " of " + group(total, ",") },
		},
		Task: taskWords{
			Title: "Broadcast", Progress: "Progress", Chats: "Chats", NextChat: "Next chat", Now: "now", Ends: "Ends about", Started: "Began", Ended: "Ended",
			Created: "Made", StartAt: "Begins", Account: "Account", Pauses: "Pause between chats", Quiet: "Quiet hours", Cap: "At most", TakenUp: "Taken up", Options: "Options",
			Sent: "sent", Failed: "failed", Skipped: "skipped", Left: "left", NotSent: "not sent",
			Pause: "Pause", Resume: "Go on", Begin: "Start", Cancel: "Cancel broadcast", Retry: "Try the others again", Preview: "Send to me", DryRun: "Check who can be reached",
			Again: "Use as a new broadcast", Paused: "paused", PausedMeans: "Nothing is sent until it goes on.", LastError: "Last trouble",
			CancelAsk: "Cancel this broadcast?", CancelMeans: "No further chat gets it. What was sent stays, here and in the chats.",
			RetryAsk: "Try the chats again that did not get it?", RetryMeans: "Those that failed, refused or were left get it now, one after the other. A chat that has it already does not get it twice.",
			Check: "Who can be reached", CheckRunning: "Belfry is looking at the chats one by one; nothing is sent.", CheckDone: "All chats were looked at.",
			Reachable: "can be reached", Unreachable: "cannot be reached", Unseen: "not looked at yet", CannotReach: "cannot be reached",
			Deliveries: "Chats", Filter: "Show", All: "all", CSV: "Download as CSV", Target: "Chat", Attempts: "What happened",
			NoRows: "No chat is in this state.", NoUnreachable: "Among these chats each can be reached, as far as was looked.", More: "More chats", First: "To the first",
			Seconds: "s", NoAttempt: "not tried yet",
			Looked:  func(n, total int) string { return group(n, ",") + " of " + group(total, ",") + " looked at" },
			OfFirst: func(n int) string { return "of the first " + group(n, ",") },
			Earlier: func(n int) string { return counted(n, "earlier attempt", "earlier attempts") },
			Waited:  func(n int) string { return fmt.Sprintf("told to wait %d s", n) },
			Range:   func(from, to string) string { return "from " + from + " to " + to },
			PerDay:  func(n int) string { return counted(n, "message", "messages") + " a day from this account" },
		},
		Send: sendWords{
			New: "New broadcast", Account: "Send as", Targets: "To these chats", TargetsHint: "One in a line, or with commas: -1001234567890, @name or https://t.me/name. They get it in this order.",
			Choose: "Choose from the account's chats", NoChats: "Belfry has not read this account's list of chats yet.", NoChatsLink: "Read it", MoreChats: "These are the first 500; write others into the field above.",
			Off: "switched off", ReadOnly: "may not write there",
			Pace: "Pace", Min: "Shortest pause, seconds", Max: "Longest pause, seconds", PauseHint: "Empty: as the settings say, 20 to 40 unless changed.",
			QuietFrom: "Quiet from", QuietTo: "Quiet until", QuietHint: "Nothing is sent in these hours.", Cap: "Messages in a day at most", CapHint: "Of this account, whichever broadcast sends them. Empty: no limit.",
			Attempts: "Attempts", AttemptsHint: "How often it is taken up after a failure of its own. Empty: as the settings say, 3 unless changed.",
			Start: "Start", At: "At a time", Now: "As soon as possible", Time: "Date and time", Preview: "Send to me first", Check: "Check who can be reached", Send: "Start",
			ButtonsHint: "“Send to me first” puts the post into the account's saved messages. “Check” makes the broadcast and sends nothing until you start it.",
			Previewed:   "The post is in the account's saved messages.", NotNumber: "is not a number", NotNumberCure: "write it as 20",
			Fix:    "The broadcast was not made. See below what to change.",
			Sure:   "Start the broadcast",
			Chosen: func(n int) string { return counted(n, "chat", "chats") + " ticked" },
			Ask: func(chats int, ends, in string) string {
				return "Send this to " + counted(chats, "chat", "chats") + "? The last one gets it about: " + ends + " (" + in + ")."
			},
		},
		Chats: chatsWords{
			Title: "Chats", Lead: "Where this account can send to, and how it went.", Account: "Account", Chat: "Chat", Last: "Last success", Seen: "Messages since", Slow: "Slow mode",
			Error: "Last trouble", State: "Broadcasts", SwitchOff: "Switch off", SwitchOn: "Switch on", IsOff: "off", IsOn: "on", ReadOnly: "may not write there",
			Refresh: "Read the list again", Reading: "Belfry is reading the list.", Never: "nothing sent yet", Empty: "The list of this account's chats has not been read yet.",
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
			Title: "Jobs", Lead: "Everything that waits for its time, in order.", Kind: "Kind", AllKinds: "All kinds", Show: "Show",
			Next: "Next run", What: "Job", Last: "Last run", Actions: "Actions", Never: "never", Resume: "Resume", Pause: "Pause", RunNow: "Run now",
			Earliest: "To the earliest", Later: "Later jobs", Empty: "No job is waiting. A post that you schedule makes one.",
			Runs: "Last runs", NoRuns: "It has not run yet.", Name: "Name", Lane: "Lane", About: "About",
			PauseAll: "Pause everything", ResumeAll: "Let everything go on",
			Gone:    "This job has done its work and is no longer in the schedule.",
			Webhook: "Call of your webhook",
		},
		Logins: loginsWords{
			Title: "Logins", Lead: "What Belfry posts as.", AddBot: "Add a Telegram bot",
			AddHow: "Make a bot with @BotFather, add it to your channel as an administrator who may post, and paste its token here.",
			Name:   "Name", NameHint: "What you call it: small letters and digits. Empty means main.", Token: "Token",
			TokenHint: "Such as 123456789:AAE… It is not shown again.", Target: "Posts go to", TargetHint: "@channel or a numeric id, unless a post says otherwise.",
			NewTokenHint: "Leave it empty to keep the present one.", Add: "Add bot", Save: "Save", Change: "Change", Remove: "Remove",
			PostsTo: "Posts go to", NoTarget: "no default: each post must say where", Empty: "There is no login yet. Add a Telegram bot below.",
			ChangeTitle: "Change login", RemoveAsk: "Remove this login?", RemoveMeans: "Belfry forgets it and its session. Posts that wait for it must be cancelled or changed first.",
			LoginCure:   "Get a new token from @BotFather and enter it under Change.",
			StoppedCure: "Ask @SpamBot, and wait; nothing is sent until you say that it is over.",
			NewCure:     "Belfry is logging it in.", Connected: "connected", NotConnected: "not connected",
		},
		LogIn: logInWords{
			Add: "Add a Telegram account", AddHow: "A user account sends broadcasts. Give it a name here; then log it in with its phone, with a QR code, or with a Telethon session.",
			NameHint: "What you call it: small letters and digits, such as anna. Empty means user.", Begin: "Go on", Title: "Log in", ByPhone: "With the phone", ByQR: "With a QR code",
			BySession: "With a Telethon session", Way: "How to log in",
			Phone: "Phone number", PhoneHint: "With the country's code, as +79991234567.", SendCode: "Send me a code",
			Code: "Code", CodeSent: "Telegram has sent a code:", EnterCode: "Go on", Password: "Two-step password",
			PasswordHow: "This account has a password of its own beside the code.", Hint: "Its hint:", EnterPassword: "Log in",
			QRHow: "In Telegram on a phone that is logged in: Settings, Devices, Link Desktop Device. Point it at this code; the page goes on by itself.",
			QRAlt: "QR code for logging in to Telegram", QRWait: "The code is being fetched.", QRFailed: "The code could not be fetched:",
			Session: "StringSession", SessionHint: "What StringSession.save() printed, in one line. It is not shown again.", File: "Or a .session file", FileHint: "Of Telethon, up to 1 MB.",
			SessionHow: "Nobody else may use the session any more: stop the old program first.", UseSession: "Use this session",
			Over: "Start over", LogIn: "Log in", LogOut: "Log out", Resume: "The restriction is over", LogOutAsk: "Log this account out?",
			LogOutMeans: "Telegram ends its session, and Belfry forgets it. Its broadcasts wait until it is logged in again.",
			UserCure:    "Log it in; what waits for it then goes on.", NewCure: "Belfry is connecting it.",
		},
		SignIn: signInWords{
			Title: "Sign in", Password: "Password", Button: "Sign in",
			Forgot:     "Forgotten? Belfry gives a one-time link to whoever may use its socket on the server; the README says how.",
			NoPassword: "No password has been chosen yet. Use the one-time link that Belfry wrote to its log when it started: journalctl -u belfry",
			Wrong:      "That is not the password.", LinkReady: "This link signs you in on this browser, once.",
			LinkOver: "This link has been used or is too old.", LinkAgain: "Restart Belfry to get a new one in its log.",
			WithPassword: "Sign in with the password", Choose: "Save password", ChooseTitle: "Choose a password", ChangeTitle: "Change the password",
			ChooseHow: "At least 8 characters; several words are easy to remember. All other browsers are signed out.",
			Old:       "Present password", New: "New password", Later: "Later",
			Wait: func(d time.Duration) string { return "Too many wrong passwords. Try again in " + lengthEN(d) + "." },
		},
		Errors: errorWords{
			Title: "That did not work", NotFound: "There is nothing here", NotFoundHow: "It may have been removed, or the address is not complete.",
			Own: "Something went wrong in Belfry. Its log says more: journalctl -u belfry", Unavailable: "The database cannot be used at the moment. Look whether your change is there, and try again in a few seconds.",
			Full:      "The disk of the database is full and nothing can be saved. Free some space on the server, then try again.",
			Forbidden: "The page was too old. Open it again and repeat what you did.", Back: "To the first page",
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
			store.PostScheduled:  {"scheduled", "It goes out at its time."},
			store.PostPublishing: {"publishing", "It is on its way, or is tried again."},
			store.PostPublished:  {"published", "It is out."},
			store.PostFailed:     {"failed", "It did not go out and is not tried again by itself."},
			store.PostUnknown:    {"unknown", "Telegram did not answer: it may be out or not."},
			store.PostCancelled:  {"cancelled", "Somebody cancelled it; it will not go out."},
			store.PostSkipped:    {"skipped", "Its time passed, and it was not to be sent late."},
			heldPosts:            {"waits for approval", "It goes out when somebody has approved it, and not before its time."},
		},
		TaskStatus: map[store.TaskStatus]statusWords{
			store.TaskPreparing:  {"preparing", "Its list of chats is being written. Then it starts."},
			store.TaskPending:    {"waiting", "It has not begun, or begins again."},
			store.TaskProcessing: {"sending", "It goes from chat to chat."},
			store.TaskDone:       {"done", "No chat is left."},
			store.TaskFailed:     {"failed", "It has ended, and no chat is tried by itself."},
			store.TaskCancelled:  {"cancelled", "Somebody cancelled it; no further chat gets it."},
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
			store.ResultDone: "done", store.ResultAgain: "again", store.ResultFailed: "failed", store.ResultSkipped: "skipped",
			store.ResultInterrupted: "interrupted",
		},
		IdentityStates: map[store.IdentityState]string{
			store.IdentityNew: "new", store.IdentityReady: "ready", store.IdentityLogin: "must log in", store.IdentityStopped: "restricted",
		},
		Platforms:     map[string]string{"telegram": "Telegram", "instagram": "Instagram", "twitter": "X"},
		IdentityKinds: map[store.IdentityKind]string{store.IdentityBot: "bot", store.IdentityUser: "account"},
		JobKinds:      map[string]string{"post": "Post", "rule": "Rule", "task": "Broadcast", "task_check": "Check of a broadcast", "chat_list": "List of chats", "reminder": "Reminder", "feedback": "Feedback", "channel": "Channel", "autocheck": "Account check", "notice": "Message to an admin", "alerts": "Look for what is wrong", "heartbeat": "Sign that all is well", "backup": "Backup to Telegram"},
		MediaKinds:    map[string]string{"photo": "Photo", "video": "Video", "document": "File"},
		Formats:       map[string]string{"plain": "None: the text as it is", "html": "HTML", "markdown": "Markdown"},
		Done: map[string]string{
			"scheduled": "The post is scheduled.", "changed": "The post was changed.", "cancelled": "The post was cancelled.",
			"held": "The post is saved and waits for approval.", "approved": "The post is approved.",
			"retried": "The post goes out now.", "published": "The post goes out now.", "paused": "The job is paused.",
			"resumed": "The job goes on.", "run": "The job runs now.", "all-paused": "Everything is paused.", "all-resumed": "Everything goes on.", "login-added": "The bot was added; Belfry is logging it in.",
			"login-changed": "The login was changed.", "login-removed": "The login was removed.", "password": "The password is saved.",
			"task-made": "The broadcast is made.", "task-paused": "The broadcast is paused.", "task-resumed": "The broadcast goes on.", "task-cancelled": "The broadcast was cancelled.",
			"task-retried": "The chats that did not get it are tried again.", "task-previewed": "The post is in the account's saved messages.", "task-checked": "Belfry is finding out which chats can be reached.",
			"chat-off": "The chat is switched off; broadcasts skip it.", "chat-on": "The chat is switched on.", "chats-read": "Belfry is reading the list of chats.",
			"logged-in": "The account is logged in.", "logged-out": "The account is logged out.", "login-resumed": "The login may act again.", "session-used": "The session was taken; Belfry is connecting with it.",
			"accounts-added": "The accounts are added; the next check looks at them.", "account-changed": "The account was changed.", "account-removed": "The account was removed.",
			"check-begun": "The check begins now.", "check-set": "The setting is saved, and holds from now on.", "sites-added": "The rules were taken.", "site-removed": "The rule was removed.",
			"alert-seen": "Marked as seen.", "alerts-seen": "All are marked as seen.",
		},
		Fields: map[string]string{
			"text": "The text", "target": "The channel or chat", "scheduled_time": "The time", "format": "The formatting",
			"identity_id": "The login", "platform": "The network", "lateness": "What happens if late", "name": "The name", "token": "The token",
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
