// Package telegramtest is a small Telegram for tests and demonstrations, in the manner of
// net/http/httptest: a real MTProto server on a real socket that knows users and bots, channels,
// groups and private chats, messages and uploads, refuses what Telegram refuses, and takes faults.
//
// It speaks MTProto with gotd's own key exchange, cipher and transport. The state (keys, logins,
// messages, random ids) belongs to the [Server] and outlives every connection, so that a client
// that comes back with a stored session is still logged in, and a repeated random id is
// recognised. It is lost when the process ends.
//
// Bots log in with a token; users with a code sent to a phone number, a QR code, and the password
// of two-step verification. Access hashes differ from account to account. Groups have members and
// slow mode; a repetition is recognised before slow mode is looked at. Bots put buttons under their
// messages, edit them, answer presses, and list their commands.
//
// An account's connections are pushed what others write in the account's chats. In private chats and
// basic groups each message and each edit also takes one pts of every account in the chat, its own
// included, and updates.getDifference gives later what a client missed while it was away. Of
// channels and supergroups it gives nothing later, and bots are pushed nothing. In basic groups bots
// hear everything, as without privacy mode. A press is pushed to the connections that the bot has
// open at that moment, and to nobody later.
//
// Simpler than in Telegram: all members of a group are equal, one has read everything at once, the
// first post of a broadcast channel has the number 1, and contacts, blocking and privacy do not
// exist. Of channels and supergroups a user account reads the history, messages by their ids, differences and photos;
// what happens there is made by [Server.Post], [Server.EditPost] and the like. It knows no other reading of history,
// buttons other than those that tell the bot something, joining or leaving, topics, signing up,
// temporary keys, or second data centre.
package telegramtest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/gotd/td/crypto"
	"github.com/gotd/td/exchange"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// The application that the server knows; any other is refused with API_ID_INVALID.
const (
	AppID   = 24430
	AppHash = "0123456789abcdef0123456789abcdef"
)

// Options of a [Server]. The zero value listens on a free port of the loopback interface.
type Options struct {
	Addr     string          // address to listen on; default 127.0.0.1:0
	Listener net.Listener    // used instead of Addr if set; the server closes it
	Key      *rsa.PrivateKey // identity of the server, 2048 bits; default: a new one
	DC       int             // number of the data centre that it plays; default 2
	PageSize int             // updates in one answer of updates.getDifference; default 100
}

// Server is a running Telegram. Its methods may be called at any time from any goroutine.
type Server struct {
	Addr string // host:port

	dc      int
	page    int // updates in one difference
	key     exchange.PrivateKey
	cipher  crypto.Cipher
	ids     *proto.MessageIDGen
	methods map[uint32]method

	net struct {
		sync.Mutex
		listener net.Listener
		release  func() // gives up the address that is kept during an outage; nil: none
		conns    map[*conn]struct{}
		running  sync.WaitGroup
	}

	// mu guards all that follows: what Telegram remembers.
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever something below changes
	keys     map[[8]byte]crypto.AuthKey
	logins   map[[8]byte]*account              // auth key to the account that it is logged in as
	halfway  map[[8]byte]*account              // auth key to the account whose password it has to show yet
	ended    map[[8]byte]*tgerr.Error          // what is answered to keys whose session was ended
	open     map[[8]byte]map[*session]struct{} // sessions that are connected, by auth key
	accepted map[[8]byte]*account              // auth key to the account that has scanned its QR code
	codes    map[string]code                   // login codes by phone number
	accounts map[int64]*account
	tokens   map[string]*account // bots by token
	names    map[string]named    // by handle
	chats    map[int64]*chat     // channels and groups
	invites  map[string]*chat
	memberOf map[string]map[*chat]struct{} // channels and groups by the handles of those inside
	stranger *account                      // who speaks in Say

	loginTokens map[string]*loginToken

	uploads  map[uploadKey]*upload
	media    map[int64]*storedMedia
	lastID   int64 // of media and of albums
	lastUser int64
	lastChat int64            // how many ids of chats were tried
	queries  map[int64]*query // presses of buttons
	running  map[sentKey]struct{}
	calls    map[string]int // that have arrived, by method
	done     map[string]int // that were carried out
	faults   map[faultKey][]*fault
	holds    []*fault
}

// NewServer starts a server. Like httptest.NewServer it panics if it cannot listen.
func NewServer(opts Options) *Server {
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	if opts.DC == 0 {
		opts.DC = 2
	}
	if opts.PageSize == 0 {
		opts.PageSize = 100
	}
	if opts.Key == nil {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(fmt.Sprintf("telegramtest: make a key: %v", err))
		}
		opts.Key = key
	}
	if opts.Listener == nil {
		l, err := net.Listen("tcp", opts.Addr)
		if err != nil {
			panic(fmt.Sprintf("telegramtest: listen on %s: %v", opts.Addr, err))
		}
		opts.Listener = l
	}
	s := &Server{
		Addr:     opts.Listener.Addr().String(),
		dc:       opts.DC,
		page:     opts.PageSize,
		key:      exchange.PrivateKey{RSA: opts.Key},
		cipher:   crypto.NewServerCipher(rand.Reader),
		ids:      proto.NewMessageIDGen(now),
		changed:  make(chan struct{}),
		keys:     map[[8]byte]crypto.AuthKey{},
		logins:   map[[8]byte]*account{},
		halfway:  map[[8]byte]*account{},
		ended:    map[[8]byte]*tgerr.Error{},
		open:     map[[8]byte]map[*session]struct{}{},
		accepted: map[[8]byte]*account{},
		codes:    map[string]code{},
		accounts: map[int64]*account{},
		tokens:   map[string]*account{},
		names:    map[string]named{},
		chats:    map[int64]*chat{},
		invites:  map[string]*chat{},
		memberOf: map[string]map[*chat]struct{}{},
		stranger: newStranger(),
		uploads:  map[uploadKey]*upload{},
		media:    map[int64]*storedMedia{},
		queries:  map[int64]*query{},
		running:  map[sentKey]struct{}{},
		calls:    map[string]int{},
		done:     map[string]int{},
		faults:   map[faultKey][]*fault{},
		lastUser: firstUser - 1,

		loginTokens: map[string]*loginToken{},
	}
	s.methods = methods()
	s.net.conns = map[*conn]struct{}{}
	s.listen(opts.Listener)
	return s
}

// DC is the server's address in the notation of BELFRY_TELEGRAM_DC, such as 2@127.0.0.1:24430.
func (s *Server) DC() string { return fmt.Sprintf("%d@%s", s.dc, s.Addr) }

// PublicKeyPEM is the server's public key, PKCS#1 in PEM.
func (s *Server) PublicKeyPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{
		Type:  "RSA PUBLIC KEY",
		Bytes: x509.MarshalPKCS1PublicKey(&s.key.RSA.PublicKey),
	}))
}

// PublicKey is the same key for a gotd client.
func (s *Server) PublicKey() exchange.PublicKey { return s.key.Public() }

// Close stops listening, cuts all connections and waits for their goroutines.
func (s *Server) Close() {
	s.Stop()
	s.net.Lock()
	s.unreserve()
	s.net.Unlock()
	s.ClearFaults() // a call that is held would never end
	s.net.running.Wait()
}

// CloseConnections cuts all connections. Clients may come back at once.
func (s *Server) CloseConnections() {
	s.net.Lock()
	defer s.net.Unlock()
	for c := range s.net.conns {
		c.close()
	}
}

// Stop is an outage: the server neither listens nor answers until [Server.Start]. Its state stays.
func (s *Server) Stop() {
	s.net.Lock()
	defer s.net.Unlock()
	if s.net.listener != nil {
		_ = s.net.listener.Close()
		s.net.listener = nil
		s.net.release = reserve(s.tcpAddr())
	}
	for c := range s.net.conns {
		c.close()
	}
}

// Start ends an outage on the same address. It panics if the address has been taken meanwhile.
func (s *Server) Start() {
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		panic(fmt.Sprintf("telegramtest: listen again on %s: %v", s.Addr, err))
	}
	s.net.Lock()
	s.unreserve()
	s.net.Unlock()
	s.listen(l)
}

func (s *Server) unreserve() {
	if s.net.release != nil {
		s.net.release()
		s.net.release = nil
	}
}

// Restart is a Stop and a Start: every connection and every MTProto session is gone, and
// everything else is as it was.
func (s *Server) Restart() {
	s.Stop()
	s.Start()
}

func (s *Server) listen(l net.Listener) {
	s.net.Lock()
	s.net.listener = l
	s.net.Unlock()
	s.net.running.Go(func() {
		for {
			raw, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			c := &conn{srv: s, raw: raw, sessions: map[int64]*session{},
				gone: make(chan struct{}), pushes: make(chan pushed, pushLimit)}
			s.net.Lock()
			if s.net.listener != l { // stopped between Accept and here
				s.net.Unlock()
				_ = raw.Close()
				return
			}
			s.net.conns[c] = struct{}{}
			s.net.running.Go(c.serve)
			s.net.Unlock()
		}
	})
}

func (s *Server) forget(c *conn) {
	s.net.Lock()
	defer s.net.Unlock()
	delete(s.net.conns, c)
}

// config is what help.getConfig answers. Without the data centres in it a client that has
// connected once could not connect again.
func (s *Server) config() *tg.Config {
	addr := s.tcpAddr()
	return &tg.Config{
		Date:    int(now().Unix()),
		Expires: int(now().Unix()) + 3600,
		ThisDC:  s.dc,
		DCOptions: []tg.DCOption{{
			ID: s.dc, IPAddress: addr.IP.String(), Port: addr.Port, Ipv6: addr.IP.To4() == nil, Static: true,
		}},
		CaptionLengthMax: captionLimit,
		MessageLengthMax: textLimit,
	}
}

func (s *Server) tcpAddr() *net.TCPAddr {
	addr, err := net.ResolveTCPAddr("tcp", s.Addr)
	if err != nil {
		return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	}
	return addr
}

// note tells whoever waits that something has changed. The caller holds mu.
func (s *Server) note() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until cond holds; cond runs with mu held.
func (s *Server) await(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := cond(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
