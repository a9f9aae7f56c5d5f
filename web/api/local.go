package api

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/web/session"
)

// Token is an API token as the API shows it.
type Token struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
	Token     string    `json:"token,omitempty" doc:"When it is made: the token; it is not kept and cannot be shown again"`
}

func shownToken(t store.Token) Token {
	return Token{ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, RevokedAt: t.RevokedAt}
}

type tokenRequest struct {
	Body struct {
		Name string `json:"name" doc:"What the token is for" example:"curator"`
	}
}

type backupRequest struct {
	Body struct {
		File string `json:"file" doc:"Absolute path of the copy, which must not exist yet" example:"/var/backups/belfry.db"`
	}
}

type BackupDone struct {
	File string `json:"file"`
}

type CheckResult struct {
	Problems []store.Problem `json:"problems" doc:"What is wrong with the file; empty if nothing is" nullable:"false"`
	Copyable bool            `json:"copyable" doc:"A plain copy of the live file is a good one"`
	Why      string          `json:"why,omitempty" doc:"Why it is not"`
}

type linkRequest struct {
	Body struct {
		Base string `json:"base,omitempty" doc:"The page's address; where it listens if left out" example:"http://127.0.0.1:8080"`
	}
}

type Link struct {
	URL     string    `json:"url" doc:"Signs its reader in to the page once"`
	Expires time.Time `json:"expires"`
}

// localAPI registers the operations that only the owner of the machine may use, on the socket.
func (s *Server) localAPI(a *api) {
	operation(a, http.MethodPost, "/tokens", "Make an API token", s.createToken)
	operation(a, http.MethodGet, "/tokens", "List the API tokens", s.listTokens)
	operation(a, http.MethodDelete, "/tokens/{id}", "Revoke an API token", s.revokeToken)
	operation(a, http.MethodPost, "/backup", "Write a verified copy of the file", s.backup)
	operation(a, http.MethodPost, "/check", "Verify the whole file", s.check)
	operation(a, http.MethodPost, "/sign-in-links", "Make a link that signs in to the page once", s.createLink)
}

func (s *Server) createToken(ctx context.Context, in *tokenRequest) (*reply[Token], error) {
	name := strings.TrimSpace(in.Body.Name)
	if name == "" {
		return nil, store.Invalid("name", "invalid.token_name")
	}
	secret := "belfry_" + session.NewSecret()
	row := store.Token{Name: name, Hash: session.Digest([]byte(secret))}
	err := s.db.Update(func(tx *store.Tx) error {
		row.CreatedAt = tx.Now()
		if err := tx.Tokens.Put(&row); err != nil {
			return err
		}
		return session.Note(ctx, tx, strconv.FormatUint(row.ID, 10))
	})
	if err != nil {
		return nil, err
	}
	made := shownToken(row)
	made.Token = secret
	return answer(made), nil
}

func (s *Server) listTokens(context.Context, *struct{}) (*reply[List[Token]], error) {
	return within(s.db.View, func(tx *store.Tx) (List[Token], error) {
		out := List[Token]{Items: []Token{}}
		for t := range tx.Tokens.All() {
			out.Items = append(out.Items, shownToken(t))
		}
		return out, nil
	})
}

func (s *Server) revokeToken(_ context.Context, in *one) (*reply[Token], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Token, error) {
		row, err := tx.Tokens.Get(in.ID)
		if err != nil || !row.RevokedAt.IsZero() {
			return row, err
		}
		row.RevokedAt = tx.Now()
		return row, tx.Tokens.Put(&row)
	}, plain(shownToken))
}

// backup writes a copy. One whose client has gone is removed: nobody knows of it.
func (s *Server) backup(ctx context.Context, in *backupRequest) (*reply[BackupDone], error) {
	if !filepath.IsAbs(in.Body.File) {
		return nil, store.Invalid("file", "invalid.not_absolute")
	}
	if err := s.db.Backup(in.Body.File); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, os.Remove(in.Body.File))
	}
	if err := s.db.Update(func(tx *store.Tx) error { return tx.Settings.NoteBackup() }); err != nil {
		return nil, err
	}
	return answer(BackupDone{in.Body.File}), nil
}

func (s *Server) check(context.Context, *struct{}) (*reply[CheckResult], error) {
	problems, err := s.db.Verify()
	if err != nil {
		return nil, err
	}
	if problems == nil {
		problems = []store.Problem{}
	}
	copyable, why := s.db.Copyable()
	return answer(CheckResult{problems, copyable, why}), nil
}

func (s *Server) createLink(_ context.Context, in *linkRequest) (*reply[Link], error) {
	url, err := s.cfg.SignInLink(in.Body.Base)
	if err != nil {
		return nil, err
	}
	return answer(Link{URL: url, Expires: s.db.Now().Add(session.LinkAge)}), nil
}
