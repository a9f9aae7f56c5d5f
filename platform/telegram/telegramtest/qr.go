package telegramtest

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// loginTokenLife is how long a QR code is good for.
const loginTokenLife = 30 * time.Second

// loginToken is what a QR code shows.
type loginToken struct {
	key    [8]byte // that is to be logged in
	until  time.Time
	accept *account // nil: nobody yet
}

// AcceptQR plays the phone of a user that scans a QR code, of which the url is the content:
// tg://login?token=…. The client that shows it is told with an updateLoginToken, and is logged in
// when it exports a token again, or has to show the user's password then.
func (s *Server) AcceptQR(userID int64, url string) error {
	token, err := tokenIn(url)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.accounts[userID]
	if !ok {
		return fmt.Errorf("telegramtest: there is no user %d", userID)
	}
	return s.acceptLoginToken(a, token)
}

func tokenIn(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("telegramtest: read a QR code: %w", err)
	}
	if u.Scheme != "tg" || u.Host != "login" {
		return "", fmt.Errorf("telegramtest: the QR code says %q, not tg://login?token=…", address)
	}
	token, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(u.Query().Get("token"), "="))
	if err != nil {
		return "", fmt.Errorf("telegramtest: read the token of a QR code: %w", err)
	}
	return string(token), nil
}

// acceptLoginToken lets the key that has exported the token log in. The caller holds mu.
func (s *Server) acceptLoginToken(a *account, token string) error {
	t, ok := s.loginTokens[token]
	switch {
	case !ok:
		return tgerr.New(400, "AUTH_TOKEN_INVALID")
	case t.accept != nil:
		return tgerr.New(400, "AUTH_TOKEN_ALREADY_ACCEPTED")
	case now().After(t.until):
		return tgerr.New(400, "AUTH_TOKEN_EXPIRED")
	}
	t.accept = a
	s.accepted[t.key] = a
	for ses := range s.open[t.key] {
		ses.push(&tg.UpdateShort{Update: &tg.UpdateLoginToken{}, Date: int(now().Unix())})
	}
	return nil
}

func (c *call) acceptToken(req *tg.AuthAcceptLoginTokenRequest) (bin.Encoder, error) {
	if err := c.srv.acceptLoginToken(c.by, string(req.Token)); err != nil {
		return nil, err
	}
	return &tg.Authorization{APIID: AppID, DateCreated: int(now().Unix()), DateActive: int(now().Unix())}, nil
}

// exportLoginToken makes a token, until one of the key's has been accepted.
func (c *call) exportLoginToken(req *tg.AuthExportLoginTokenRequest) (bin.Encoder, error) {
	if err := checkApplication(req.APIID, req.APIHash); err != nil {
		return nil, err
	}
	a, accepted := c.srv.accepted[c.key]
	switch {
	case accepted:
		delete(c.srv.accepted, c.key)
		authorization, err := c.logInOrAsk(a)
		if err != nil {
			return nil, err
		}
		return &tg.AuthLoginTokenSuccess{Authorization: authorization}, nil
	case c.srv.halfway[c.key] != nil:
		return nil, tgerr.New(401, "SESSION_PASSWORD_NEEDED")
	case c.by != nil:
		return &tg.AuthLoginTokenSuccess{Authorization: &tg.AuthAuthorization{User: c.by.tl(c.by)}}, nil
	}
	token, until := randomBytes(32), now().Add(loginTokenLife)
	c.srv.loginTokens[string(token)] = &loginToken{key: c.key, until: until}
	return &tg.AuthLoginToken{Expires: int(until.Unix()), Token: token}, nil
}
