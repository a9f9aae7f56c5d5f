package store

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// tables are the tables as a transaction has them.
type tables struct {
	Identities     Identities
	Sessions       Sessions
	Peers          Peers
	Contents       Contents
	Posts          Posts
	Chats          Chats
	Tasks          Tasks
	Deliveries     Deliveries
	Paces          Paces
	Jobs           Jobs
	Runs           Runs
	Holds          Holds
	Tokens         Tokens
	Idempotency    Idempotency
	SignIns        SignIns
	Settings       Settings
	Accounts       Accounts
	AccountResults AccountResults
	AccountChecks  AccountChecks
	AccountSites   AccountSites
	Notices        Notices
	Alerts         Alerts
	Rules          Rules
	FeedMemories   FeedMemories
	Media          MediaFiles
	Channels       Channels
	Messages       Messages
	Photos         Photos
	Documents      Documents
	Vectors        Vectors
	TagRules       TagRules
	Watches        Watches
	WatchHits      WatchHits
	Audit          Audit
	Bookings       Bookings
	mediaChunks    Table[mediaChunk]
	Streams        Streams
	Moved          MovedRows
	OwnJobs        OwnJobs
}

// schema is what the file holds: every table and index, and the buckets that they are kept in.
type schema struct {
	all     []anyTable
	bind    []func(*Tx, *binding) // gives a transaction its table
	buckets int
	names   []string // of the buckets
}

// anyTable is what can be done with a table whose type is not known.
type anyTable interface {
	tableName() string
	verify(tx *Tx, report func(Problem))
	read(tx *Tx, id uint64) error
	verifyPart(tx *Tx, part int, from []byte, report func(Problem)) (next []byte)
	parts() int
	withoutJob(tx *Tx, visit func(Problem, Job) error) error
	rebuild(tx *Tx) error
	setAside(tx *Tx) ([]Problem, error)
	seal(tx *Tx, key []byte) error // writes rows with secrets anew, sealed with the key
	locked(tx *Tx) int             // rows whose secrets the key does not open
}

// newSchema registers each table. The order is that of the numbers of tables and buckets, which are not stored.
func newSchema() *schema {
	s := &schema{}
	add(s, identityTable(), func(t *tables) *Table[Identity] { return &t.Identities.Table })
	add(s, sessionTable(), func(t *tables) *Table[Session] { return &t.Sessions.Table })
	add(s, peerTable(), func(t *tables) *Table[Peer] { return &t.Peers.Table })
	add(s, contentTable(), func(t *tables) *Table[Content] { return &t.Contents.Table })
	add(s, postTable(), func(t *tables) *Table[Post] { return &t.Posts.Table })
	add(s, jobTable(), func(t *tables) *Table[Job] { return &t.Jobs.Table })
	add(s, runTable(), func(t *tables) *Table[Run] { return &t.Runs.Table })
	add(s, holdTable(), func(t *tables) *Table[Hold] { return &t.Holds.Table })
	add(s, tokenTable(), func(t *tables) *Table[Token] { return &t.Tokens.Table })
	add(s, answerTable(), func(t *tables) *Table[Answer] { return &t.Idempotency.Table })
	add(s, signInTable(), func(t *tables) *Table[SignIn] { return &t.SignIns.Table })
	add(s, settingTable(), func(t *tables) *Table[Setting] { return &t.Settings.Table })
	add(s, chatTable(), func(t *tables) *Table[Chat] { return &t.Chats.Table })
	add(s, taskTable(), func(t *tables) *Table[Task] { return &t.Tasks.Table })
	add(s, deliveryTable(), func(t *tables) *Table[Delivery] { return &t.Deliveries.Table })
	add(s, paceTable(), func(t *tables) *Table[Pace] { return &t.Paces.Table })
	add(s, accountTable(), func(t *tables) *Table[Account] { return &t.Accounts.Table })
	add(s, accountResultTable(), func(t *tables) *Table[AccountResult] { return &t.AccountResults.Table })
	add(s, accountCheckTable(), func(t *tables) *Table[AccountCheck] { return &t.AccountChecks.Table })
	add(s, accountSiteTable(), func(t *tables) *Table[AccountSite] { return &t.AccountSites.Table })
	add(s, noticeTable(), func(t *tables) *Table[Notice] { return &t.Notices.Table })
	add(s, alertTable(), func(t *tables) *Table[Alert] { return &t.Alerts.Table })
	add(s, ruleTable(), func(t *tables) *Table[Rule] { return &t.Rules.Table })
	add(s, feedMemoryTable(), func(t *tables) *Table[FeedMemory] { return &t.FeedMemories.Table })
	add(s, mediaTable(), func(t *tables) *Table[MediaFile] { return &t.Media.Table })
	add(s, mediaChunkTable(), func(t *tables) *Table[mediaChunk] { return &t.mediaChunks })
	for i, topic := range Topics {
		add(s, eventTable(topic), func(t *tables) *Table[Event] { return &t.Streams.logs[i] })
	}
	add(s, groupTable(), func(t *tables) *Table[Group] { return &t.Streams.Groups.Table })
	add(s, streamItemTable(), func(t *tables) *Table[StreamItem] { return &t.Streams.Items.Table })
	add(s, channelTable(), func(t *tables) *Table[Channel] { return &t.Channels.Table })
	add(s, messageTable(), func(t *tables) *Table[Message] { return &t.Messages.Table })
	add(s, photoTable(), func(t *tables) *Table[Photo] { return &t.Photos.Table })
	add(s, documentTable(), func(t *tables) *Table[Document] { return &t.Documents.Table })
	add(s, vectorTable(), func(t *tables) *Table[Vector] { return &t.Vectors.Table })
	add(s, tagRuleTable(), func(t *tables) *Table[TagRule] { return &t.TagRules.Table })
	add(s, watchTable(), func(t *tables) *Table[Watch] { return &t.Watches.Table })
	add(s, watchHitTable(), func(t *tables) *Table[WatchHit] { return &t.WatchHits.Table })
	add(s, auditTable(), func(t *tables) *Table[AuditEntry] { return &t.Audit.Table })
	add(s, movedTable(), func(t *tables) *Table[Moved] { return &t.Moved.Table })
	add(s, bookingTable(), func(t *tables) *Table[Booking] { return &t.Bookings.Table })
	add(s, ownJobTable(), func(t *tables) *Table[OwnJob] { return &t.OwnJobs.Table })
	return s
}

// add registers a table and where transactions have it.
func add[T any](s *schema, d def[T], in func(*tables) *Table[T]) {
	d.number, d.bucket = len(s.all), s.buckets
	s.all = append(s.all, &d)
	s.bind = append(s.bind, func(tx *Tx, b *binding) {
		*b = binding{&d, tx}
		*in(&tx.tables) = (*table[T])(b)
	})
	s.names = append(s.names, d.name)
	for _, index := range d.indexes {
		s.names = append(s.names, d.name+"."+index.Name)
	}
	s.buckets = len(s.names)
}

func (d *def[T]) tableName() string { return d.name }

// set returns the set with the named table alone. An unknown name is a mistake of the caller's.
func (s *schema) set(name string) tableSet {
	for i, t := range s.all {
		if t.tableName() == name {
			return 1 << i
		}
	}
	panic(fmt.Sprintf("store: no table is called %q", name))
}

// countedRows brings the counts of rows, and the index of jobs by state.
func countedRows(*bbolt.Tx) ([]string, error) {
	return []string{"jobs", "posts", "tasks", "accounts", "alerts"}, nil
}

// migration brings a file from one schema version to the next. It sees the buckets as they are and
// returns the names of the tables whose indexes must be built anew.
type migration func(*bbolt.Tx) (reindex []string, err error)

// migrations are the steps from the first schema on. A file's version is the number of steps that
// it has behind it, so steps are only ever added, at the end.
func migrations() []migration {
	return []migration{
		func(*bbolt.Tx) ([]string, error) { return nil, nil },                  // 1: the first release
		func(*bbolt.Tx) ([]string, error) { return []string{"contents"}, nil }, // 2: an index by time
		func(*bbolt.Tx) ([]string, error) { return nil, nil },                  // 3: broadcasts
		func(*bbolt.Tx) ([]string, error) { return nil, nil },                  // 4: accounts
		alertsAndNotices, // 5
		func(*bbolt.Tx) ([]string, error) { return []string{"notices"}, nil }, // 6: an index of undelivered notices
		markPlain, // 7: secrets are sealed
		func(*bbolt.Tx) ([]string, error) { return nil, nil }, // 8: jobs and runs may be packed
		func(*bbolt.Tx) ([]string, error) { return nil, nil }, // 9: rules and uploaded media
		countedRows, // 10: counts of rows, the audit, groups of posts, bookings, channels, streams and search
	}
}
