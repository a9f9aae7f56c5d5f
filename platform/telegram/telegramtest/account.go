package telegramtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/crypto"
	tdsession "github.com/gotd/td/session"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// bot is an account with a token.
type bot struct {
	id       int64
	token    string
	username string
	sent     map[sentKey][]*stored // random ids that have made messages
}

// AddBot makes a bot that logs in with the token, and returns its id: the number before the
// token's colon, or the next free one.
func (s *Server) AddBot(token, username string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(strings.SplitN(token, ":", 2)[0], 10, 64)
	if err != nil {
		id = 1_000_000 + int64(len(s.bots))
	}
	s.bots[id] = &bot{id: id, token: token, username: username, sent: map[sentKey][]*stored{}}
	return id
}

// SetToken gives a bot another token, as BotFather's /revoke does: its logins end.
func (s *Server) SetToken(botID int64, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bots[botID].token = token
	s.logOut(botID)
}

// LogOut ends the logins of a bot: its keys stay known, and its next call is answered with
// 401 AUTH_KEY_UNREGISTERED.
func (s *Server) LogOut(botID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logOut(botID)
}

// ForgetKeys makes the server forget all auth keys and logins.
func (s *Server) ForgetKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys)
	clear(s.logins)
}

func (s *Server) logOut(botID int64) {
	for key, user := range s.logins {
		if user == botID {
			delete(s.logins, key)
		}
	}
}

func (b *bot) tl(self bool) *tg.User {
	return &tg.User{ID: b.id, AccessHash: b.id ^ hashMask, Bot: true, Self: self,
		FirstName: b.username, Username: b.username, BotInfoVersion: 1}
}

func (c *call) getConfig(*tg.HelpGetConfigRequest) (bin.Encoder, error) { return c.srv.config(), nil }

func (c *call) getState(*tg.UpdatesGetStateRequest) (bin.Encoder, error) {
	return &tg.UpdatesState{Pts: 1, Date: int(now().Unix())}, nil
}

func (c *call) importBotAuthorization(req *tg.AuthImportBotAuthorizationRequest) (bin.Encoder, error) {
	if req.APIID != AppID || req.APIHash != AppHash {
		return nil, tgerr.New(400, "API_ID_INVALID")
	}
	for _, b := range c.srv.bots {
		if b.token == req.BotAuthToken {
			c.srv.logins[c.key] = b.id
			return &tg.AuthAuthorization{User: b.tl(true)}, nil
		}
	}
	return nil, tgerr.New(400, "ACCESS_TOKEN_INVALID")
}

func (c *call) logOut(*tg.AuthLogOutRequest) (bin.Encoder, error) {
	delete(c.srv.logins, c.key)
	return &tg.AuthLoggedOut{}, nil
}

func (c *call) getUsers(req *tg.UsersGetUsersRequest) (bin.Encoder, error) {
	var found []tg.UserClass
	for _, id := range req.ID {
		switch u := id.(type) {
		case *tg.InputUserSelf:
			found = append(found, c.bot.tl(true))
		case *tg.InputUser:
			if b, ok := c.srv.bots[u.UserID]; ok {
				found = append(found, b.tl(b == c.bot))
			}
		}
	}
	return &tg.UserClassVector{Elems: found}, nil
}

// Session is the stored session of a client that is logged in as a bot, in gotd's own format. It
// saves a test the key exchange, which costs a client one to two seconds of computing. Each call
// makes another key.
func (s *Server) Session(botID int64) []byte {
	var key crypto.Key
	if _, err := rand.Read(key[:]); err != nil {
		panic(fmt.Sprintf("telegramtest: make a key: %v", err))
	}
	auth := key.WithID()
	s.mu.Lock()
	s.keys[auth.ID] = auth
	s.logins[auth.ID] = botID
	s.mu.Unlock()

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
