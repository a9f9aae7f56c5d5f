package web

import (
	"fmt"
	"time"

	"belfry/store"
)

func englishWords() *words {
	return &words{
		Nav: navWords{
			Skip: "To the content", Label: "Pages", Next: "Next", Posts: "Posts", Compose: "New post", Jobs: "Jobs",
			Logins: "Logins", SignOut: "Sign out", OtherLanguage: "Русский", TimesIn: "Times in", Password: "Password",
		},
		Next: nextWords{
			Title: "What happens next", NextPost: "Next post", Coming: "Coming up", Happened: "Just happened",
			Attention: "Needs your attention", NothingTitle: "Nothing is waiting",
			Nothing: "No post is scheduled.", NothingLink: "Write one",
			NothingLogin: "Belfry has no login to post with yet.", NothingLoginLink: "Add a Telegram bot",
			NoRuns: "Nothing is planned.", AllJobs: "All jobs", NothingHappened: "What Belfry has published will be listed here.",
			Open: "Open", NewTab: "(in a new tab)",
			FailedPost: "A post has failed", FailedCure: "Look at the reason, change the post and try again.",
			UnknownPost: "Nobody knows whether a post is out", UnknownCure: "Look in the channel first, then decide.", Look: "Look at it",
			LoginOut: "A login cannot act", LoginOutCure: "Its posts wait until it can.", LoginsLink: "To the logins",
			NotConnected: "No connection", NotConnectedCure: "Belfry keeps trying; check this server's network if it lasts.",
			SetAside: "A job was set aside", SetAsideCure: "It will not run as it is.", SetAsideLink: "Look at the job",
			Overdue: "A job is late and has not started", OverdueCure: "Look into Belfry's log: journalctl -u belfry",
			Stopped: "Nothing is being run", StoppedCure: "The scheduler has not started. Look into Belfry's log: journalctl -u belfry",
			Paused: "Everything is paused", PausedCure: "Nothing goes out until it goes on. If this file was restored, make sure first that the old system is off: one login must not be used by two.",
			Idle: "Belfry was told to run nothing", IdleCure: "DISABLE_WORKERS is set: nothing goes out until it is taken away.",
			StoreTrouble: "The database cannot be used", StoreCure: "Check that the disk is neither full nor read-only. Belfry goes on by itself.",
			Clock: "The clock of this server looks wrong", ClockCure: "Check date and time. Nothing is started until they are plausible.",
			NoPassword: "The page has no password yet", NoPasswordCure: "Without one you need a new link each time you sign in.", NoPasswordLink: "Choose a password",
			MoreFailed: func(n int) string { return fmt.Sprintf("and %s more this week", counted(n, "post", "posts")) },
		},
		Posts: postsWords{
			Title: "Posts", Filter: "Status", All: "All", When: "When", What: "Post", Where: "Where", Status: "Status",
			Pages: "More of the list", Newest: "To the latest", Older: "Older posts", Soonest: "To the next", Later: "Later posts", Empty: "There are no posts yet.",
			EmptyOf: map[store.PostStatus]string{
				store.PostScheduled: "No post is scheduled.", store.PostPublishing: "No post is on its way right now.",
				store.PostPublished: "Nothing has been published yet.", store.PostFailed: "No post has failed. Good.",
				store.PostUnknown: "There is no post of which nobody knows whether it is out.", store.PostCancelled: "No post was cancelled.",
				store.PostSkipped: "No post was skipped.",
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
			TimeHint: "Time zone:", Lateness: "If Belfry is not running at that time", LateSend: "Publish as soon as it runs again",
			LateSkip: func(d time.Duration) string { return "Skip it if it is more than " + lengthEN(d) + " late" },
			Options:  "Options", Silent: "Deliver without a sound", NoLinkPreview: "Show no preview of links",
			Schedule: "Schedule post", Save: "Save changes", Preview: "Preview", PreviewEmpty: "What you write appears here as readers will see it.",
			NoLogin: "Belfry needs a login to post with.", Fix: "The post was not saved. See below what to change.",
			BadTime: "is not complete", BadTimeCure: "choose day and time", GapTime: "does not exist: the clock jumps over it",
			GapCure: "choose an hour later",
			Count:   func(n, limit int) string { return fmt.Sprintf("%s of %s characters", group(n, ","), group(limit, ",")) },
			Over: func(n int) string {
				return counted(n, "character", "characters") + " too many"
			},
			SignedOut: "You are signed out. Sign in in another tab; what you typed stays here.",
		},
		Jobs: jobsWords{
			Title: "Jobs", Lead: "Everything that waits for its time, in order.", Kind: "Kind", AllKinds: "All kinds", Show: "Show",
			Next: "Next run", What: "Job", Last: "Last run", Actions: "Actions", Never: "never", Resume: "Resume", Pause: "Pause", RunNow: "Run now",
			Earliest: "To the earliest", Later: "Later jobs", Empty: "No job is waiting. A post that you schedule makes one.",
			Runs: "Last runs", NoRuns: "It has not run yet.", Name: "Name", Lane: "Lane", About: "About",
			PauseAll: "Pause everything", ResumeAll: "Let everything go on",
			Gone: "This job has done its work and is no longer in the schedule.",
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
			StoppedCure: "Wait, and see what Telegram says about it; then log in again.",
			NewCure:     "Belfry is logging it in.", Connected: "connected", NotConnected: "not connected",
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
		JobKinds:      map[string]string{"post": "Post", "rule": "Rule", "task": "Broadcast", "reminder": "Reminder", "feedback": "Feedback", "channel": "Channel", "autocheck": "Account check"},
		MediaKinds:    map[string]string{"photo": "Photo", "video": "Video", "document": "File"},
		Formats:       map[string]string{"plain": "None: the text as it is", "html": "HTML", "markdown": "Markdown"},
		Done: map[string]string{
			"scheduled": "The post is scheduled.", "changed": "The post was changed.", "cancelled": "The post was cancelled.",
			"retried": "The post goes out now.", "published": "The post goes out now.", "paused": "The job is paused.",
			"resumed": "The job goes on.", "run": "The job runs now.", "all-paused": "Everything is paused.", "all-resumed": "Everything goes on.", "login-added": "The bot was added; Belfry is logging it in.",
			"login-changed": "The login was changed.", "login-removed": "The login was removed.", "password": "The password is saved.",
		},
		Fields: map[string]string{
			"text": "The text", "target": "The channel or chat", "scheduled_time": "The time", "format": "The formatting",
			"identity_id": "The login", "platform": "The network", "lateness": "What happens if late", "name": "The name", "token": "The token",
			"password": "The password", "media": "The picture or file", "id": "The job",
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
