package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// caller is who asks the API. It is a part of what makes an Idempotency-Key unique.
type caller string

const (
	callerSocket   caller = "socket"   // the owner, on the unix socket
	callerSettings caller = "settings" // the token of the settings
)

// What a holder of a token may ask for at once: further requests wait for a while.
const (
	maxUnderWay = 16
	maxTurnWait = 20 * time.Second
)

type callerKey struct{}

func withCaller(c echo.Context, who caller) {
	r := c.Request()
	c.SetRequest(r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
}

func callerOf(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// bearer lets requests with a good token pass.
func (s *Server) bearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, err := s.identify(c.Request())
		if err != nil {
			return writeProblem(c, problemOf(err))
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
			p := fieldProblem(http.StatusTooManyRequests, FieldProblem{"Authorization",
				fmt.Sprintf("carries a token with %d requests under way", maxUnderWay), "read their answers first"})
			p.retryAfter = retrySoon
			return writeProblem(c, p)
		case <-c.Request().Context().Done():
			return c.Request().Context().Err()
		}
	}
}

// socketOwner takes whoever has opened the socket for its owner.
func socketOwner(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		withCaller(c, callerSocket)
		return next(c)
	}
}

// identify returns whose token the request carries.
func (s *Server) identify(r *http.Request) (caller, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", fieldProblem(http.StatusUnauthorized, FieldProblem{"Authorization", "is missing",
			"send `Authorization: Bearer TOKEN`; `belfry token` makes a token"})
	}
	hash := sha256.Sum256([]byte(token))
	if s.cfg.Token != "" {
		known := sha256.Sum256([]byte(s.cfg.Token))
		if subtle.ConstantTimeCompare(hash[:], known[:]) == 1 {
			return callerSettings, nil
		}
	}
	var found store.Token
	err := s.db.View(func(tx *store.Tx) (err error) {
		found, err = tx.Tokens.ByHash(hash[:])
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", fieldProblem(http.StatusUnauthorized, FieldProblem{"Authorization", "carries a token that is not known",
			"make one with `belfry token`"})
	case err != nil:
		return "", err
	case !found.RevokedAt.IsZero():
		return "", fieldProblem(http.StatusUnauthorized, FieldProblem{"Authorization", "carries a token that was revoked",
			"make another one with `belfry token`"})
	}
	return caller(fmt.Sprintf("token %d", found.ID)), nil
}

// nameOf says who a caller of the API is, for the owner to read on what the caller has done.
func nameOf(tx *store.Tx, who caller) (string, error) {
	switch who {
	case callerSocket:
		return "the command line", nil
	case callerSettings:
		return "the token BELFRY_API_TOKEN", nil
	}
	var id uint64
	if _, err := fmt.Sscanf(string(who), "token %d", &id); err != nil {
		return "", fmt.Errorf("name the caller %q: %w", who, err)
	}
	token, err := tx.Tokens.Get(id)
	if err != nil {
		return "", fmt.Errorf("name the caller %q: %w", who, err)
	}
	return "the token " + token.Name, nil
}

// newSecret returns 32 random bytes as text that fits into a header, a cookie and a link.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // does not fail
	return base64.RawURLEncoding.EncodeToString(b)
}
