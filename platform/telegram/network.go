// Package telegram publishes posts on Telegram as bots and as user accounts, over MTProto.
//
// A [Network] keeps every Telegram identity of the store connected and logged in, remembers the
// chats that it has met, and turns what Telegram answers into the kinds of error of package
// platform. It needs the application's id and hash from my.telegram.org. A bot logs in by its
// token; a user account is logged in by a person, see [platform.Logins], or with a session of
// another program, see [Network.ParseSession].
//
// A message is sent at most once however often [platform.Publisher].Publish is called with the
// same key: the random id by which Telegram recognises a repetition is derived from the key alone,
// see [RandomID].
//
// What people write to a bot in private is heard exactly once, also what they write while this
// program does not run: see [Listener].
package telegram

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/store"
)

// Platform is the name of this network in the store.
const Platform = "telegram"

// Config is what a [Network] needs to know.
type Config struct {
	// Application returns the application's id and hash, from my.telegram.org. It is called whenever
	// a connection is made. While there is none posts can be checked but nothing is connected.
	Application func() (id int, hash string)

	// Server is the MTProto server, data centre and address, such as 2@127.0.0.1:24430; empty
	// means Telegram's own. Key is the RSA public key (PKCS#1 PEM) of such a server.
	Server string
	Key    string

	// MediaDir is the folder below which the media files of posts are; empty means that posts
	// have none.
	MediaDir string

	// Media opens uploaded files; nil means that there are none.
	Media platform.OpenMedia

	// Private is where media may be fetched from beside the public internet.
	Private fetch.Allowed

	// Patience is how long a call waits for a connection that is not there. Default 5 s.
	Patience time.Duration

	// Version is what Telegram shows as the version of the program in its list of sessions.
	Version string

	// Seen is told how many messages of others have come to the chats of a user account, while it
	// was connected, since it was told last: at most every 10 s, and when the connection ends. nil
	// means that nobody counts. It is called from one goroutine at a time for each identity.
	Seen func(identityID uint64, counts map[platform.ChatRef]int)

	Now func() time.Time // the clock; nil means time.Now
	Log zerolog.Logger
}

// dc is where to connect.
type dc struct {
	number int // 0: Telegram's own choice
	host   string
	port   int
	key    *rsa.PublicKey
}

func (c Config) dc() (dc, error) {
	if c.Server == "" {
		if c.Key != "" {
			return dc{}, store.Invalid("BELFRY_TELEGRAM_KEY", "invalid.key_without_dc")
		}
		return dc{}, nil
	}
	number, addr, ok := strings.Cut(c.Server, "@")
	host, port, err := net.SplitHostPort(addr)
	d := dc{host: host}
	if ok && err == nil {
		d.number, err = strconv.Atoi(number)
	}
	if ok && err == nil {
		d.port, err = strconv.Atoi(port)
	}
	if !ok || err != nil || d.number < 1 {
		return dc{}, store.Invalid("BELFRY_TELEGRAM_DC", "invalid.server", c.Server)
	}
	block, _ := pem.Decode([]byte(c.Key))
	if block == nil {
		return dc{}, store.Invalid("BELFRY_TELEGRAM_KEY", "invalid.not_pem")
	}
	if d.key, err = x509.ParsePKCS1PublicKey(block.Bytes); err != nil {
		return dc{}, store.Invalid("BELFRY_TELEGRAM_KEY", "invalid.not_pkcs1", err)
	}
	return d, nil
}

// Network is Telegram as this program sees it. Its methods may be called from any goroutine.
type Network struct {
	db   *store.DB
	cfg  Config
	dc   dc
	web  *http.Client
	root *os.Root // nil without a media folder

	seenPause time.Duration // between two reports of what was seen
	callTime  time.Duration // that Telegram has for an answer
	hearPause time.Duration // before what was not heard is tried a second time; it doubles
	loginTime time.Duration // that a login may take
	uploading uploadTimes
	reads     turns
	running   sync.WaitGroup // the logins

	mu          sync.Mutex
	run         context.Context // nil unless Run is running
	up          chan struct{}   // closed while Run is running
	connected   chan struct{}   // see Connected
	wanted      []uint64        // connections asked for before Run
	connections map[uint64]*connection
	listener    Listener // without Hear: bots are not listened to
	logins      map[uint64]*login
	listings    map[uint64]*listing
}

// New returns a network that works once [Network.Run] runs; [Network.Check] works at once. It
// fails if the configuration cannot be right.
func New(db *store.DB, cfg Config) (*Network, error) {
	where, err := cfg.dc()
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Application == nil {
		cfg.Application = func() (int, string) { return 0, "" }
	}
	cfg.Patience = cmp.Or(cfg.Patience, 5*time.Second)
	n := &Network{
		db: db, cfg: cfg, dc: where, web: webClient(cfg.Private), seenPause: 10 * time.Second, callTime: callTime, hearPause: shortestPause, loginTime: 10 * time.Minute,
		uploading: uploadTimes{patience: 2 * time.Second, part: 30 * time.Second, retry: time.Second},
		reads:     turns{next: map[uint64]time.Time{}},
		up:        make(chan struct{}), connected: make(chan struct{}, 1), connections: map[uint64]*connection{},
		logins: map[uint64]*login{}, listings: map[uint64]*listing{},
	}
	if cfg.MediaDir != "" {
		if n.root, err = os.OpenRoot(cfg.MediaDir); err != nil {
			return nil, fmt.Errorf("open the media folder: %w", err)
		}
	}
	return n, nil
}

// Run keeps every Telegram identity of the store connected until ctx ends, and returns when all
// are disconnected and the logins under way are ended. Identities that wait for a person to log
// them in are left alone until [Network.Connect] names them.
func (n *Network) Run(ctx context.Context) error {
	var ids []uint64
	err := n.db.View(func(tx *store.Tx) error {
		for _, identity := range tx.Identities.Of(Platform) {
			if identity.State != store.IdentityLogin { // a restricted one still tells its owner, and hears
				ids = append(ids, identity.ID)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("telegram: read the identities: %w", err)
	}
	n.mu.Lock()
	n.run = ctx
	close(n.up)
	for _, id := range n.wanted {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	n.wanted = nil
	n.mu.Unlock()
	for _, id := range ids {
		n.Connect(id)
	}
	<-ctx.Done()

	n.mu.Lock()
	n.run, n.up = nil, make(chan struct{})
	open := n.connections
	n.connections = map[uint64]*connection{}
	n.mu.Unlock()
	n.running.Wait()
	for _, c := range open {
		<-c.done
	}
	return nil
}

// awaitRun waits for Run, which may be about to begin.
func (n *Network) awaitRun(ctx context.Context) {
	n.mu.Lock()
	up := n.up
	n.mu.Unlock()
	patience := time.NewTimer(n.cfg.Patience)
	defer patience.Stop()
	select {
	case <-up:
	case <-ctx.Done():
	case <-patience.C:
	}
}

// Connect starts the connection of an identity that is new or has changed, or starts it again: its
// token is read anew. It returns at once. If the identity is gone its connection ends. Before
// [Network.Run] it is a request to Run.
func (n *Network) Connect(identityID uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil {
		n.wanted = append(n.wanted, identityID)
		return
	}
	ctx, cancel := context.WithCancel(n.run)
	c := newConnection(n, identityID, cancel)
	before := n.connections[identityID]
	n.connections[identityID] = c
	go func() {
		defer close(c.done)
		defer cancel()
		if before != nil { // two connections of one key end it for good
			before.cancel()
			<-before.done
		}
		c.keep(ctx)
	}()
}

// disconnect ends the connection of an identity and waits for its end.
func (n *Network) disconnect(identityID uint64) {
	n.mu.Lock()
	c := n.connections[identityID]
	delete(n.connections, identityID)
	n.mu.Unlock()
	if c != nil {
		c.cancel()
		<-c.done
	}
}

// Connected receives after an identity was connected; several at once may be told as one.
func (n *Network) Connected() <-chan struct{} { return n.connected }

// Connection returns the state of an identity's connection.
func (n *Network) Connection(identityID uint64) platform.Connection {
	if c := n.connection(identityID); c != nil {
		return c.currently()
	}
	return platform.Connection{State: platform.Off}
}

// Await waits for an identity to be connected, for as long as [Config.Patience] says. Its error is
// a [*platform.Error]: Login says that the identity was given up, Transient that it may yet connect.
func (n *Network) Await(ctx context.Context, identityID uint64) error {
	_, _, err := n.api(ctx, identityID)
	return err
}

// Publisher returns what sends posts as the identity.
func (n *Network) Publisher(identityID uint64) platform.Publisher {
	return publisher{network: n, identity: identityID}
}

func (n *Network) connection(identityID uint64) *connection {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.connections[identityID]
}
