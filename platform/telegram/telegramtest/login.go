package telegramtest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// How long a login code is, and how long it is good for.
const (
	codeLength = 5
	codeLife   = 5 * time.Minute
)

// code is a login code on its way to a phone.
type code struct {
	digits string
	hash   string
	until  time.Time
	resent bool
}

// LoginCode is the code last sent for a phone number: what a person would read in the app. It is ""
// if there is none that is still to be used.
func (s *Server) LoginCode(phone string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.codes[digits(phone)].digits
}

// digits is a phone number without its plus, or nothing if it is none.
func digits(phone string) string {
	number := strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+")
	if len(number) < 7 || len(number) > 15 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return number
}

// newCode makes a code that is not like the last one.
func newCode(last string) string {
	for {
		n, err := rand.Int(rand.Reader, big.NewInt(100_000))
		if err != nil {
			panic(fmt.Sprintf("telegramtest: make a login code: %v", err))
		}
		if made := fmt.Sprintf("%0*d", codeLength, n); made != last {
			return made
		}
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		panic(fmt.Sprintf("telegramtest: random bytes: %v", err))
	}
	return b
}

func (c *call) sendCode(req *tg.AuthSendCodeRequest) (bin.Encoder, error) {
	if err := checkApplication(req.APIID, req.APIHash); err != nil {
		return nil, err
	}
	number := digits(req.PhoneNumber)
	if number == "" {
		return nil, tgerr.New(400, "PHONE_NUMBER_INVALID")
	}
	sent := code{digits: newCode(c.srv.codes[number].digits), hash: hex.EncodeToString(randomBytes(9)), until: now().Add(codeLife)}
	c.srv.codes[number] = sent
	answer := &tg.AuthSentCode{Type: &tg.AuthSentCodeTypeApp{Length: codeLength}, PhoneCodeHash: sent.hash}
	answer.SetNextType(&tg.AuthCodeTypeSMS{})
	answer.SetTimeout(60)
	if a := c.srv.names[number].account; a != nil && a.Email {
		answer = &tg.AuthSentCode{Type: &tg.AuthSentCodeTypeEmailCode{EmailPattern: "b***@example.com", Length: codeLength}, PhoneCodeHash: sent.hash}
	}
	answer.SetFlags()
	return answer, nil
}

// resendCode sends a new code under the old hash, as a short message.
func (c *call) resendCode(req *tg.AuthResendCodeRequest) (bin.Encoder, error) {
	number, sent, err := c.sentCode(req.PhoneNumber, req.PhoneCodeHash)
	if err != nil {
		return nil, err
	}
	if sent.resent {
		return nil, tgerr.New(406, "SEND_CODE_UNAVAILABLE")
	}
	sent.digits, sent.until, sent.resent = newCode(sent.digits), now().Add(codeLife), true
	c.srv.codes[number] = sent
	return &tg.AuthSentCode{Type: &tg.AuthSentCodeTypeSMS{Length: codeLength}, PhoneCodeHash: sent.hash}, nil
}

func (c *call) cancelCode(req *tg.AuthCancelCodeRequest) (bin.Encoder, error) {
	number, _, err := c.sentCode(req.PhoneNumber, req.PhoneCodeHash)
	if err != nil {
		return nil, err
	}
	delete(c.srv.codes, number)
	return &tg.BoolTrue{}, nil
}

// sentCode finds the code that was sent with a hash.
func (c *call) sentCode(phone, hash string) (number string, sent code, err error) {
	number = digits(phone)
	if number == "" {
		return "", sent, tgerr.New(400, "PHONE_NUMBER_INVALID")
	}
	if hash == "" {
		return "", sent, tgerr.New(400, "PHONE_CODE_HASH_EMPTY")
	}
	sent, ok := c.srv.codes[number]
	if !ok || sent.hash != hash || now().After(sent.until) {
		return "", sent, tgerr.New(400, "PHONE_CODE_EXPIRED")
	}
	return number, sent, nil
}

func (c *call) signIn(req *tg.AuthSignInRequest) (bin.Encoder, error) {
	number, sent, err := c.sentCode(req.PhoneNumber, req.PhoneCodeHash)
	a, entered := c.srv.names[number].account, req.PhoneCode
	if a != nil && a.Email {
		entered = ""
		if by, ok := req.EmailVerification.(*tg.EmailVerificationCode); ok {
			entered = by.Code
		}
	}
	switch {
	case entered == "":
		return nil, tgerr.New(400, "PHONE_CODE_EMPTY")
	case err != nil:
		return nil, err
	case entered != sent.digits:
		return nil, tgerr.New(400, "PHONE_CODE_INVALID")
	}
	if a == nil {
		return &tg.AuthAuthorizationSignUpRequired{}, nil // the code stays good for signing up
	}
	delete(c.srv.codes, number)
	return c.logInOrAsk(a)
}

// logInOrAsk logs the key in, or asks for the password of two-step verification.
func (c *call) logInOrAsk(a *account) (*tg.AuthAuthorization, error) {
	if a.verifier != nil {
		c.srv.leave(c.key)
		c.srv.halfway[c.key] = a
		return nil, tgerr.New(401, "SESSION_PASSWORD_NEEDED")
	}
	return c.logIn(a), nil
}
