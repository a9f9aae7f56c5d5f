package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// Caller is who asks the API. It is a part of what makes an Idempotency-Key unique.
type Caller string

const (
	socket   Caller = "socket"   // the owner, on the unix socket
	settings Caller = "settings" // the token of the settings
)

// What a holder of a token may ask for at once: further requests wait for a while.
const (
	maxUnderWay = 16
	maxTurnWait = 20 * time.Second
	retrySoon   = 2 * time.Second
)

type callerKey struct{}

func withCaller(c echo.Context, who Caller) {
	r := c.Request()
	c.SetRequest(r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
}

// CallerOf returns who asks, as [Sessions.Bearer] or [Owner] has found out.
func CallerOf(ctx context.Context) Caller {
	who, _ := ctx.Value(callerKey{}).(Caller)
	return who
}

// Bearer lets requests with a good token pass.
func (s *Sessions) Bearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, err := s.identify(c.Request())
		if err != nil {
			return err
		}
		withCaller(c, who)
		// An answer is held in memory until its reader has taken it. Who has many under way waits for them
		// first, and holds nothing meanwhile.
		free, _ := s.underWay.LoadOrStore(who, make(chan struct{}, maxUnderWay))
		place, patience := free.(chan struct{}), time.NewTimer(maxTurnWait)
		defer patience.Stop()
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
			return next(c)
		case <-patience.C:
			busy := refusal(http.StatusTooManyRequests, "Authorization",
				fmt.Sprintf("carries a token with %d requests under way", maxUnderWay), "read their answers first")
			busy.RetryAfter = retrySoon
			return busy
		case <-c.Request().Context().Done():
			return c.Request().Context().Err()
		}
	}
}

// token is the id of the caller's token; 0 if it has none.
func (who Caller) token() (id uint64) {
	if _, err := fmt.Sscanf(string(who), "token %d", &id); err != nil {
		return 0
	}
	return id
}

// Scraper lets programs of this machine pass that name it by loopback, and others with a good token: a page elsewhere
// could otherwise have its own name point here.
func (s *Sessions) Scraper(next echo.HandlerFunc) echo.HandlerFunc {
	bearer := s.Bearer(next)
	return func(c echo.Context) error {
		name := strings.TrimSuffix(hostname(c.Request().Host), ".")
		ip, err := netip.ParseAddr(name)
		if isLoopback(c) && (strings.EqualFold(name, "localhost") || err == nil && ip.Unmap().IsLoopback()) {
			return next(c)
		}
		return bearer(c)
	}
}

// Owner takes whoever has opened the socket for its owner.
func Owner(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		withCaller(c, socket)
		return next(c)
	}
}

// identify returns whose token the request carries.
func (s *Sessions) identify(r *http.Request) (Caller, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", refusal(http.StatusUnauthorized, "Authorization", "is missing",
			"send `Authorization: Bearer TOKEN`; `belfry token` makes a token")
	}
	hash := sha256.Sum256([]byte(token))
	if s.cfg.Token != "" {
		known := sha256.Sum256([]byte(s.cfg.Token))
		if subtle.ConstantTimeCompare(hash[:], known[:]) == 1 {
			return settings, nil
		}
	}
	var found store.Token
	err := s.db.View(func(tx *store.Tx) (err error) {
		found, err = tx.Tokens.ByHash(hash[:])
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", refusal(http.StatusUnauthorized, "Authorization", "carries a token that is not known",
			"make one with `belfry token`")
	case err != nil:
		return "", err
	case !found.RevokedAt.IsZero():
		return "", refusal(http.StatusUnauthorized, "Authorization", "carries a token that was revoked",
			"make another one with `belfry token`")
	}
	return Caller(fmt.Sprintf("token %d", found.ID)), nil
}

// NameOf says who a caller of the API is, for the owner to read on what the caller has done.
func NameOf(tx *store.Tx, who Caller) (string, error) {
	switch who {
	case socket:
		return "the command line", nil
	case settings:
		return "the token BELFRY_API_TOKEN", nil
	}
	token, err := tx.Tokens.Get(who.token())
	if err != nil {
		return "", fmt.Errorf("name the caller %q: %w", who, err)
	}
	return "the token " + token.Name, nil
}

// AnswerKey is the key under which the answer to an operation is kept: callers do not meet in each other's keys.
func (who Caller) AnswerKey(operation, key string) []byte {
	return Digest([]byte(strings.Join([]string{string(who), operation, key}, "\x00")))
}

// NewSecret returns 32 random bytes as text that fits into a header, a cookie and a link.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // does not fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// Digest returns the SHA-256 of data. Secrets are kept as their digests.
func Digest(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}
