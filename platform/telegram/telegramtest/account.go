package telegramtest

import (
	"strconv"
	"strings"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
)

// User is a person's account.
type User struct {
	ID                            int64  // 0: the next free one
	Phone                         string // such as +79990000001
	Username, FirstName, LastName string // the user name without @
	Password                      string // of two-step verification; empty: none
	PasswordHint                  string
	Email                         bool // codes are sent by e-mail
}

// account is a user or a bot.
type account struct {
	User
	bot      bool
	token    string // of a bot
	verifier *verifier
	sent     map[sentKey][]*stored // random ids that have made messages
	keys     map[[8]byte]struct{}  // logged in as this account
	private  map[int64]*chat       // by the id of the other
	box      int                   // the last message id in private chats and basic groups
	log      []event               // what happened there, each of which took one pts
	forgot   int                   // how many of these getDifference does not know any more
	commands map[string][]Command  // of a bot, by language
	listed   []*chat               // its chats as getDialogs lists them; nil: not sorted yet
}

// firstUser is the lowest id that is given out: like that of new accounts, above 32 bits.
const firstUser = 6_000_000_001

// AddBot makes a bot that logs in with the token, and returns its id: the number before the
// token's colon, or the next free one.
func (s *Server) AddBot(token, username string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(strings.SplitN(token, ":", 2)[0], 10, 64)
	if err != nil {
		id = s.freeUser()
	}
	a := newAccount(User{ID: id, Username: username, FirstName: username})
	a.bot, a.token = true, token
	s.addAccount(a)
	return id
}

// AddUser makes a user account and returns it with its id.
func (s *Server) AddUser(u User) User {
	v := newVerifier(u.Password) // takes a while
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == 0 {
		u.ID = s.freeUser()
	}
	a := newAccount(u)
	a.verifier = v
	s.addAccount(a)
	return u
}

// newStranger is the account in whose name [Server.Say] speaks.
func newStranger() *account { return newAccount(User{ID: firstUser - 1, FirstName: "Somebody"}) }

func newAccount(u User) *account {
	return &account{User: u, sent: map[sentKey][]*stored{}, keys: map[[8]byte]struct{}{}, private: map[int64]*chat{}, commands: map[string][]Command{}}
}

func (s *Server) addAccount(a *account) {
	s.accounts[a.ID] = a
	for _, h := range a.handles() {
		s.names[h] = named{account: a}
	}
	if a.bot {
		s.tokens[a.token] = a
	}
}

func (s *Server) freeUser() int64 {
	for {
		s.lastUser++
		if _, taken := s.accounts[s.lastUser]; !taken {
			return s.lastUser
		}
	}
}

// SetToken gives a bot another token, as BotFather's /revoke does: its logins end.
func (s *Server) SetToken(botID int64, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[botID]
	delete(s.tokens, a.token)
	a.token = token
	s.tokens[token] = a
	s.logOut(a)
}

// handle is what a user name or a phone number is looked up by.
func handle(name string) string {
	if number := digits(name); number != "" {
		return number
	}
	return strings.ToLower(name)
}

// handles are the names under which an account is found.
func (a *account) handles() []string {
	var list []string
	for _, name := range []string{a.Username, a.Phone} {
		if name != "" {
			list = append(list, handle(name))
		}
	}
	return list
}

// called is the name under which tests know the account.
func (a *account) called() string {
	if a.Username == "" {
		return a.Phone
	}
	return a.Username
}

// tl is the account as the viewer sees it.
func (a *account) tl(viewer *account) *tg.User {
	u := &tg.User{ID: a.ID, Self: a == viewer, Bot: a.bot,
		FirstName: a.FirstName, LastName: a.LastName, Username: a.Username}
	u.SetAccessHash(accessHash(viewer.ID, a.ID))
	if a.bot {
		u.SetBotInfoVersion(1)
	} else if a == viewer {
		u.Phone = digits(a.Phone)
	}
	u.SetFlags()
	return u
}

// account finds an account by id and access hash. A bot may leave the hash out for a user who has
// written to it.
func (c *call) account(id, hash int64) (*account, bool) {
	a, ok := c.srv.accounts[id]
	switch {
	case !ok:
		return nil, false
	case hash == accessHash(c.by.ID, id):
		return a, true
	}
	return a, hash == 0 && c.by.bot && (a.bot || a.wroteTo(c.by))
}

// wroteTo reports whether a has sent the other a message.
func (a *account) wroteTo(other *account) bool {
	ch, ok := a.private[other.ID]
	if !ok {
		return false
	}
	for _, m := range ch.posts {
		if m.from == a {
			return true
		}
	}
	return false
}

func (c *call) getConfig(*tg.HelpGetConfigRequest) (bin.Encoder, error) { return c.srv.config(), nil }

func (c *call) getUsers(req *tg.UsersGetUsersRequest) (bin.Encoder, error) {
	var found []tg.UserClass
	for _, id := range req.ID {
		switch u := id.(type) {
		case *tg.InputUserSelf:
			found = append(found, c.by.tl(c.by))
		case *tg.InputUser:
			if a, ok := c.account(u.UserID, u.AccessHash); ok {
				found = append(found, a.tl(c.by))
			}
		}
	}
	return &tg.UserClassVector{Elems: found}, nil
}
