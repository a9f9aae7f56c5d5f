package store

import "fmt"

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
}

// schema is what the file holds: every table and index, and the buckets that they are kept in.
type schema struct {
	identities     *def[Identity]
	sessions       *def[Session]
	peers          *def[Peer]
	contents       *def[Content]
	posts          *def[Post]
	chats          *def[Chat]
	tasks          *def[Task]
	deliveries     *def[Delivery]
	paces          *def[Pace]
	jobs           *def[Job]
	runs           *def[Run]
	holds          *def[Hold]
	tokens         *def[Token]
	idempotency    *def[Answer]
	signIns        *def[SignIn]
	settings       *def[Setting]
	accounts       *def[Account]
	accountResults *def[AccountResult]
	accountChecks  *def[AccountCheck]
	accountSites   *def[AccountSite]
	notices        *def[Notice]
	alerts         *def[Alert]

	all     []anyTable
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
}

func newSchema() *schema {
	s := &schema{}
	s.identities = add(s, identityTable())
	s.sessions = add(s, sessionTable())
	s.peers = add(s, peerTable())
	s.contents = add(s, contentTable())
	s.posts = add(s, postTable())
	s.jobs = add(s, jobTable())
	s.runs = add(s, runTable())
	s.holds = add(s, holdTable())
	s.tokens = add(s, tokenTable())
	s.idempotency = add(s, answerTable())
	s.signIns = add(s, signInTable())
	s.settings = add(s, settingTable())
	s.chats = add(s, chatTable())
	s.tasks = add(s, taskTable())
	s.deliveries = add(s, deliveryTable())
	s.paces = add(s, paceTable())
	s.accounts = add(s, accountTable())
	s.accountResults = add(s, accountResultTable())
	s.accountChecks = add(s, accountCheckTable())
	s.accountSites = add(s, accountSiteTable())
	s.notices = add(s, noticeTable())
	s.alerts = add(s, alertTable())
	return s
}

func add[T any](s *schema, d def[T]) *def[T] {
	d.number, d.bucket = len(s.all), s.buckets
	s.all = append(s.all, &d)
	s.names = append(s.names, d.name)
	for _, index := range d.indexes {
		s.names = append(s.names, d.name+"."+index.Name)
	}
	s.buckets = len(s.names)
	return &d
}

func (d *def[T]) tableName() string { return d.name }

func (s *schema) bind(tx *Tx) {
	tx.tables = tables{
		Identities:     Identities{Table[Identity]{s.identities, tx}},
		Sessions:       Sessions{Table[Session]{s.sessions, tx}},
		Peers:          Peers{Table[Peer]{s.peers, tx}},
		Contents:       Contents{Table[Content]{s.contents, tx}},
		Posts:          Posts{Table[Post]{s.posts, tx}},
		Chats:          Chats{Table[Chat]{s.chats, tx}},
		Tasks:          Tasks{Table[Task]{s.tasks, tx}},
		Deliveries:     Deliveries{Table[Delivery]{s.deliveries, tx}},
		Paces:          Paces{Table[Pace]{s.paces, tx}},
		Jobs:           Jobs{Table[Job]{s.jobs, tx}},
		Runs:           Runs{Table[Run]{s.runs, tx}},
		Holds:          Holds{Table[Hold]{s.holds, tx}},
		Tokens:         Tokens{Table[Token]{s.tokens, tx}},
		Idempotency:    Idempotency{Table[Answer]{s.idempotency, tx}},
		SignIns:        SignIns{Table[SignIn]{s.signIns, tx}},
		Settings:       Settings{Table[Setting]{s.settings, tx}},
		Accounts:       Accounts{Table[Account]{s.accounts, tx}},
		AccountResults: AccountResults{Table[AccountResult]{s.accountResults, tx}},
		AccountChecks:  AccountChecks{Table[AccountCheck]{s.accountChecks, tx}},
		AccountSites:   AccountSites{Table[AccountSite]{s.accountSites, tx}},
		Notices:        Notices{Table[Notice]{s.notices, tx}},
		Alerts:         Alerts{Table[Alert]{s.alerts, tx}},
	}
}

// set returns the set with the named table alone. An unknown name is a mistake of the caller's.
func (s *schema) set(name string) tableSet {
	for i, t := range s.all {
		if t.tableName() == name {
			return 1 << i
		}
	}
	panic(fmt.Sprintf("store: no table is called %q", name))
}
