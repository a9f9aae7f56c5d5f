package web

import (
	"reflect"
	"strings"
	"time"

	"belfry/store"
)

// The languages of the page.
const (
	english = "en"
	russian = "ru"
)

// words is all that the page says in one language.
type words struct {
	Nav      navWords
	Next     nextWords
	Posts    postsWords
	Post     postWords
	Confirm  confirmWords
	Compose  composeWords
	Tasks    tasksWords
	Task     taskWords
	Send     sendWords
	Chats    chatsWords
	Accounts accountsWords
	Sites    sitesWords
	Alerts   alertsWords
	Approval approvalWords
	Jobs     jobsWords
	Logins   loginsWords
	LogIn    logInWords
	SignIn   signInWords
	Errors   errorWords
	Time     timeWords

	Status          map[store.PostStatus]statusWords
	TaskStatus      map[store.TaskStatus]statusWords
	Deliveries      map[store.DeliveryStatus]string
	Outcomes        map[store.TryOutcome]string
	AccountStates   map[store.AccountState]statusWords
	AccountOutcomes map[store.AccountOutcome]string
	Vias            map[string]string // where a code was sent
	JobStates       map[store.JobState]string
	Results         map[store.Result]string
	IdentityStates  map[store.IdentityState]string
	Platforms       map[string]string
	IdentityKinds   map[store.IdentityKind]string
	JobKinds        map[string]string
	MediaKinds      map[string]string
	Formats         map[string]string
	Done            map[string]string // sentences about what was just done
	Fields          map[string]string // what the fields of forms are called in a sentence
}

type navWords struct {
	Skip, Label, Next, Posts, Compose, Tasks, Accounts, Alerts, Jobs, Logins string
	SignOut, OtherLanguage, TimesIn, Password                                string
}

type nextWords struct {
	Title, NextPost, NextChat, Coming, Happened    string
	Attention                                      string
	NothingTitle, Nothing, NothingLink             string
	NothingLogin, NothingLoginLink                 string
	NoRuns, AllJobs, NothingHappened, Open, NewTab string

	LoginsLink, SetAsideLink, NotConnected, NotConnectedCure string
	SiteAlone, SiteAloneCure, AccountsLink                   string
	Stopped, StoppedCure, Idle, IdleCure                     string
	Paused, PausedCure                                       string
	StoreTrouble, StoreCure, Clock, ClockCure                string
	NoPassword, NoPasswordCure, NoPasswordLink               string
	Unseen                                                   func(n int, more bool) string
}

type postsWords struct {
	Title, Filter, All, When, What, Where, Status, Pages, Newest, Older, Soonest, Later string
	Empty                                                                               string
	EmptyOf                                                                             map[store.PostStatus]string
	Album                                                                               func(n int) string
	NoText                                                                              string
}

type statusWords struct{ Name, Means string }

type postWords struct {
	Title, Preview, State, History                                                       string
	When, NextTry, Published, Where, Login, Lateness, Options, Link                      string
	LateSend, LateSkip                                                                   string
	Silent, NoPreview, Removed                                                           string
	Cancel, Change, PublishNow, Retry, Again                                             string
	Attempt, NextRun                                                                     func(string) string
	CancelAsk, CancelMeans, RetryAsk, RetryMeans, RetryUnknown, PublishAsk, PublishMeans string
}

type confirmWords struct{ Back string }

type composeWords struct {
	New, Change, Login, Target, Text, Format, FormatHint                        string
	Media, AddMedia, MediaKind, MediaSource, MediaHint                          string
	When, At, Now, Time, TimeHint, Lateness, LateSend                           string
	LateSkip                                                                    func(time.Duration) string
	Options, Silent, NoLinkPreview, Schedule, Save                              string
	Preview, PreviewEmpty, NoLogin, Fix, BadTime, BadTimeCure, GapTime, GapCure string
	Changed                                                                     string
	Count                                                                       func(n, limit int) string
	Over                                                                        func(n int) string
	SignedOut                                                                   string
}

type tasksWords struct {
	Title, Lead, New, Chats, What, Progress, Next, Status, Account, Older, Newest, Empty, NoAccount, NoAccountLink string
	EmptyOf                                                                                                        map[store.TaskStatus]string
	Of                                                                                                             func(done, total int) string
}

type taskWords struct {
	Title, Progress, Chats, NextChat, Now, Ends, Started, Ended, Created, StartAt, Account, Pauses, Quiet, Cap, TakenUp, Options string
	Sent, Failed, Skipped, Left, NotSent                                                                                         string
	Pause, Resume, Begin, Cancel, Retry, Preview, DryRun, Again, Paused, PausedMeans, LastError                                  string
	CancelAsk, CancelMeans, RetryAsk, RetryMeans                                                                                 string
	Check, CheckRunning, CheckDone, Reachable, Unreachable, Unseen, CannotReach                                                  string
	Deliveries, Filter, All, CSV, Target, Attempts, NoRows, NoUnreachable, More, First, Seconds, NoAttempt                       string
	Looked                                                                                                                       func(n, total int) string
	OfFirst                                                                                                                      func(n int) string
	Earlier                                                                                                                      func(n int) string
	Waited                                                                                                                       func(seconds int) string
	Range                                                                                                                        func(from, to string) string
	PerDay                                                                                                                       func(n int) string
}

type sendWords struct {
	New, Account, Targets, TargetsHint, Choose, NoChats, NoChatsLink, MoreChats, Off, ReadOnly        string
	Pace, Min, Max, PauseHint, QuietFrom, QuietTo, QuietHint, Cap, CapHint, Attempts, AttemptsHint    string
	Start, At, Now, Time, Preview, Check, Send, ButtonsHint, Previewed, NotNumber, NotNumberCure, Fix string
	Sure                                                                                              string
	Chosen                                                                                            func(n int) string
	Ask                                                                                               func(chats int, ends, in string) string
}

type chatsWords struct {
	Title, Lead, Account, Chat, Last, Seen, Slow, Error, State, SwitchOff, SwitchOn, IsOff, IsOn, ReadOnly string
	Refresh, Reading, Never, Empty, More, First                                                            string
	Types                                                                                                  map[store.PeerType]string
	SeenSince                                                                                              func(n int) string
	SlowMode                                                                                               func(time.Duration) string
}

type jobsWords struct {
	Title, Lead, Kind, AllKinds, Show, Next, What, Last, Actions, Never string
	Resume, Pause, RunNow, Earliest, Later, Empty, Runs, NoRuns         string
	Name, Lane, About, Gone, PauseAll, ResumeAll, Webhook               string
}

type loginsWords struct {
	Title, Lead, AddBot, AddHow, Name, NameHint, Token, TokenHint, Target, TargetHint string
	NewTokenHint, Add, Save, Change, Remove, PostsTo, NoTarget, Empty                 string
	ChangeTitle, RemoveAsk, RemoveMeans, LoginCure, StoppedCure, NewCure              string
	Connected, NotConnected                                                           string
}

type logInWords struct {
	Add, AddHow, NameHint, Begin, Title, ByPhone, ByQR, BySession, Way                                string
	Phone, PhoneHint, SendCode, Code, CodeSent, EnterCode, Password, PasswordHow, Hint, EnterPassword string
	QRHow, QRAlt, QRWait, QRFailed, Session, SessionHint, File, FileHint, UseSession, SessionHow      string
	Over, LogIn, LogOut, LogOutAsk, LogOutMeans, Resume, UserCure, NewCure                            string
}

type signInWords struct {
	Title, Password, Button, Forgot, NoPassword, Wrong           string
	LinkReady, LinkOver, LinkAgain, WithPassword                 string
	Choose, ChooseTitle, ChangeTitle, ChooseHow, Old, New, Later string
	Wait                                                         func(time.Duration) string
}

type errorWords struct {
	Title, NotFound, NotFoundHow, Own, Unavailable, Full, Forbidden, Back string
}

type timeWords struct {
	Today, Tomorrow, Yesterday, Moment, JustNow, Now string
	In, Ago                                          func(time.Duration) string
	Length                                           func(time.Duration) string
	Day                                              func(time.Time) string // Tuesday 24 November
	ShortDay                                         func(time.Time) string // Tue 24 Nov
}

// wordsIn returns the page's words in a language.
func wordsIn(lang string) *words {
	if lang == russian {
		return russianWords()
	}
	return englishWords()
}

// done is the sentence about what was just done; an unknown code is none.
func (w *words) done(code string) string { return w.Done[code] }

// missing names the words that are not there, for the test that both languages have all.
func (w *words) missing() []string {
	var names []string
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Map:
			if v.Len() == 0 {
				names = append(names, path)
			}
			for _, key := range v.MapKeys() {
				walk(path+"["+key.String()+"]", v.MapIndex(key))
			}
		case reflect.String:
			if strings.TrimSpace(v.String()) == "" {
				names = append(names, path)
			}
		case reflect.Func:
			if v.IsNil() {
				names = append(names, path)
			}
		}
	}
	walk("words", reflect.ValueOf(w).Elem())
	return names
}
