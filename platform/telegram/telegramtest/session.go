package telegramtest

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/crypto"
	tdsession "github.com/gotd/td/session"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// LogOut ends the logins of an account: its keys stay known, and its next call is answered with
// 401 AUTH_KEY_UNREGISTERED.
func (s *Server) LogOut(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logOut(s.accounts[id])
}

// EndSession has every call with the account's keys answered with an error from now on, such as
// 406 AUTH_KEY_DUPLICATED, 401 SESSION_REVOKED or 401 USER_DEACTIVATED_BAN. The account may log in
// anew with another key.
func (s *Server) EndSession(id int64, code int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[id]
	for key := range a.keys {
		s.ended[key] = tgerr.New(code, message)
	}
	s.logOut(a)
}

// ForgetKeys makes the server forget all auth keys and logins.
func (s *Server) ForgetKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.logins {
		clear(a.keys)
	}
	clear(s.keys)
	clear(s.logins)
	clear(s.halfway)
	clear(s.accepted)
	clear(s.ended)
}

// logIn makes the key the account's. The caller holds mu, as in all that follows.
func (s *Server) logIn(key [8]byte, a *account) {
	s.leave(key)
	delete(s.halfway, key)
	s.logins[key] = a
	a.keys[key] = struct{}{}
}

func (s *Server) leave(key [8]byte) {
	if a, ok := s.logins[key]; ok {
		delete(a.keys, key)
		delete(s.logins, key)
	}
}

func (s *Server) logOut(a *account) {
	for key := range a.keys {
		s.leave(key)
	}
}

// Session is the stored session of a client that is logged in as an account, in gotd's own format.
// It saves a test the key exchange, which costs a client one to two seconds of computing. Each call
// makes another key.
func (s *Server) Session(id int64) []byte {
	auth := s.newKey(id)
	var memory tdsession.StorageMemory
	ctx := context.Background()
	loader := tdsession.Loader{Storage: &memory}
	err := loader.Save(ctx, &tdsession.Data{DC: s.dc, Addr: s.Addr, AuthKey: auth.Value[:], AuthKeyID: auth.ID[:]})
	if err != nil {
		panic(fmt.Sprintf("telegramtest: write a session: %v", err))
	}
	data, err := memory.LoadSession(ctx)
	if err != nil {
		panic(fmt.Sprintf("telegramtest: read the session: %v", err))
	}
	return data
}

// AuthKey makes another key that is logged in as an account, and returns its 256 bytes with the
// data centre and the address (host:port) that it belongs to: what other libraries' session files
// are made of.
func (s *Server) AuthKey(id int64) (dc int, addr string, key []byte) {
	auth := s.newKey(id)
	return s.dc, s.Addr, auth.Value[:]
}

func (s *Server) newKey(id int64) crypto.AuthKey {
	var key crypto.Key
	if _, err := rand.Read(key[:]); err != nil {
		panic(fmt.Sprintf("telegramtest: make a key: %v", err))
	}
	auth := key.WithID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[auth.ID] = auth
	s.logIn(auth.ID, s.accounts[id])
	return auth
}

func (c *call) importBotAuthorization(req *tg.AuthImportBotAuthorizationRequest) (bin.Encoder, error) {
	if err := checkApplication(req.APIID, req.APIHash); err != nil {
		return nil, err
	}
	a, ok := c.srv.tokens[req.BotAuthToken]
	if !ok {
		return nil, tgerr.New(400, "ACCESS_TOKEN_INVALID")
	}
	return c.logIn(a), nil
}

// logIn logs the call's key in.
func (c *call) logIn(a *account) *tg.AuthAuthorization {
	c.srv.logIn(c.key, a)
	return &tg.AuthAuthorization{User: a.tl(a)}
}

func checkApplication(id int, hash string) error {
	if id != AppID || hash != AppHash {
		return tgerr.New(400, "API_ID_INVALID")
	}
	return nil
}

func (c *call) logOut(*tg.AuthLogOutRequest) (bin.Encoder, error) {
	c.srv.leave(c.key)
	return &tg.AuthLoggedOut{}, nil
}
