package telegram

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/alicebob/sqlittle"
	"github.com/gotd/td/crypto"
	"github.com/gotd/td/session"
)

const (
	sqliteMark  = "SQLite format 3\x00"
	lastDC      = 5        // of Telegram's own data centres
	sessionSize = 64 << 20 // bytes; Telethon keeps the chats that it has met in the same file
)

// ParseSession reads a session that another program has written: a Telethon StringSession, the
// bytes of a Telethon .session file, or gotd's own JSON. It returns what the store keeps.
func (n *Network) ParseSession(data []byte) ([]byte, error) {
	parsed, err := parseSession(data)
	if err == nil {
		err = n.checkSession(parsed)
	}
	var stored []byte
	if err == nil {
		stored, err = encodeSession(parsed)
	}
	if err != nil {
		return nil, refusedLogin("", "session", err)
	}
	return stored, nil
}

func parseSession(data []byte) (*session.Data, error) {
	if len(data) > sessionSize {
		return nil, fmt.Errorf("it has more than %d MB", sessionSize>>20)
	}
	if bytes.HasPrefix(data, []byte(sqliteMark)) {
		return sessionFile(data)
	}
	text := strings.TrimSpace(string(data))
	switch {
	case text == "":
		return nil, errors.New("it is empty")
	case text[0] == '{':
		parsed, err := decodeSession([]byte(text))
		if err != nil {
			return nil, errors.New("it is not a session in gotd's format")
		}
		return parsed, nil
	case text[0] == '1':
		return stringSession(text)
	}
	return nil, errors.New("it is neither a Telethon StringSession nor a Telethon .session file; one that is encrypted or of another program is not understood")
}

// stringSession reads what Telethon's StringSession.save() printed. gotd's errors are not passed
// on: they may quote it.
func stringSession(text string) (*session.Data, error) {
	raw, err := base64.URLEncoding.DecodeString(text[1:])
	if err != nil {
		return nil, errors.New("it is not a whole StringSession: copy it from the first character, which is 1, to the last")
	}
	parsed, err := session.TelethonSession(text)
	if err != nil {
		return nil, fmt.Errorf("it has %d bytes, which a StringSession of Telethon has not: copy the whole of it", len(raw))
	}
	return parsed, nil
}

// sessionFile reads Telethon's table of sessions. The reader wants a path, so the bytes are in a
// file for as long as it takes.
func sessionFile(data []byte) (parsed *session.Data, err error) {
	file, err := os.CreateTemp("", "belfry-session-*") // readable by this user alone
	if err != nil {
		return nil, fmt.Errorf("it cannot be read now: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("it cannot be read now: %w", err)
	}
	defer func() { // the reader trusts the file
		if recover() != nil {
			parsed, err = nil, errors.New("the file is damaged")
		}
	}()
	return readSessions(file.Name())
}

func readSessions(path string) (*session.Data, error) {
	db, err := sqlittle.Open(path)
	if err != nil {
		return nil, errors.New("the file is damaged or still in use: stop the program that uses it, then copy it again")
	}
	defer db.Close()
	columns, err := db.Columns("sessions")
	if err != nil {
		return nil, errors.New("it is an SQLite file, but not a session of Telethon: it has no table of sessions")
	}
	known := map[string]bool{}
	for _, column := range columns {
		known[strings.ToLower(column)] = true
	}
	if !known["dc_id"] || !known["server_address"] || !known["port"] || !known["auth_key"] {
		return nil, errors.New("it is the session file of another program, such as Pyrogram: use one of Telethon")
	}
	var parsed *session.Data
	var bad error
	err = db.Select("sessions", func(row sqlittle.Row) {
		var dc, port int
		var address string
		var key []byte
		if err := row.Scan(&dc, &address, &port, &key); err != nil {
			bad = errors.New("the file is damaged")
			return
		}
		if len(key) > 0 && parsed == nil {
			parsed = &session.Data{DC: dc, Addr: net.JoinHostPort(address, strconv.Itoa(port)), AuthKey: bytes.Clone(key)}
		}
	}, "dc_id", "server_address", "port", "auth_key")
	switch {
	case parsed != nil:
		return parsed, nil
	case bad != nil:
		return nil, bad
	case err != nil:
		return nil, errors.New("the file is damaged")
	}
	return nil, errors.New("it is not logged in: it has no key")
}

// checkSession refuses a session that could never connect.
func (n *Network) checkSession(s *session.Data) error {
	if len(s.AuthKey) != len(crypto.Key{}) {
		return fmt.Errorf("its key has %d bytes instead of %d", len(s.AuthKey), len(crypto.Key{}))
	}
	key := crypto.Key(s.AuthKey)
	if key.Zero() {
		return errors.New("it is not logged in: it has no key")
	}
	id := key.ID()
	if len(s.AuthKeyID) > 0 && !bytes.Equal(s.AuthKeyID, id[:]) {
		return errors.New("it is damaged: its key is not the one that it names")
	}
	s.AuthKeyID = id[:]
	if n.dc.key == nil && (s.DC < 1 || s.DC > lastDC) {
		return fmt.Errorf("it is for data centre %d, which Telegram does not have", s.DC)
	}
	return nil
}

// decodeSession and encodeSession read and write a session as the store keeps it, in gotd's form.
func decodeSession(data []byte) (*session.Data, error) {
	var memory session.StorageMemory
	ctx := context.Background()
	if err := memory.StoreSession(ctx, data); err != nil {
		return nil, err
	}
	loader := session.Loader{Storage: &memory}
	return loader.Load(ctx)
}

func encodeSession(s *session.Data) ([]byte, error) {
	var memory session.StorageMemory
	ctx := context.Background()
	loader := session.Loader{Storage: &memory}
	if err := loader.Save(ctx, s); err != nil {
		return nil, err
	}
	return memory.LoadSession(ctx)
}
