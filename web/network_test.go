package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/identities"
)

// chatNetwork is Telegram for broadcasts, in memory. It knows a message by its key, and objects to a
// key that is used for two chats and to a chat that gets the same text twice.
type chatNetwork struct {
	acceptsAll
	t testing.TB

	mu    sync.Mutex
	keys  map[int64]string // the chat that each key was used for
	got   map[string]int64 // the message that each chat got, by chat and text
	out   map[string]error // what is answered instead, by target
	chats []platform.Chat
	slow  chan struct{} // if there is one, each call waits until it gives something
}

func newChatNetwork(t testing.TB) *chatNetwork {
	return &chatNetwork{t: t, keys: make(map[int64]string), got: make(map[string]int64), out: make(map[string]error)}
}

func (n *chatNetwork) Resolve(_ context.Context, _ uint64, target string) (platform.Chat, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.out[target]; err != nil {
		return platform.Chat{}, true, err
	}
	chat := platform.Chat{Title: "The chat " + target, Writable: true, ChatRef: platform.ChatRef{Type: platform.ChatChannel}}
	if number, err := strconv.ParseInt(target, 10, 64); err == nil {
		chat.ID = max(number, -number) % 1_000_000_000_000
		return chat, false, nil
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(target))
	chat.ID, chat.Username = int64(sum.Sum32()), strings.TrimPrefix(target, "@")
	return chat, false, nil
}

func (n *chatNetwork) Chats(context.Context, uint64) ([]platform.Chat, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.chats, nil
}

func (n *chatNetwork) Publisher(uint64) platform.Publisher { return chatPublisher{n} }

// refuse has a chat refused for ever.
func (n *chatNetwork) refuse(target, code, words string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out[target] = &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: code, Err: errors.New(words)}
}

type chatPublisher struct{ n *chatNetwork }

func (p chatPublisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	if p.n.slow != nil {
		select {
		case <-p.n.slow:
		case <-ctx.Done():
			return platform.Receipt{}, ctx.Err()
		}
	}
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if post.Key == 0 || post.Target == "" {
		p.n.t.Errorf("a message without a key or a chat: %+v", post)
	}
	if before, used := p.n.keys[post.Key]; used && before != post.Target {
		p.n.t.Errorf("key %d was used for %s and for %s", post.Key, before, post.Target)
	}
	_, repeated := p.n.keys[post.Key]
	p.n.keys[post.Key] = post.Target
	place := post.Target + "\n" + post.Text
	if _, twice := p.n.got[place]; twice && !repeated && post.Target != "me" {
		p.n.t.Errorf("%s got the same twice", post.Target)
	}
	if p.n.got[place] == 0 {
		p.n.got[place] = int64(len(p.n.got) + 1)
	}
	message := p.n.got[place]
	return platform.Receipt{MessageIDs: []int64{message}, Link: fmt.Sprintf("https://t.me/c/%d", message)}, nil
}

// The account that [memoryAccounts] knows.
const (
	accountPhone    = "+79990000001"
	accountCode     = "24680"
	accountPassword = "two-step-secret"
	accountSession  = "1ApWapzMBu-a-session-for-tests"
)

// memoryAccounts logs one account in, in memory.
type memoryAccounts struct {
	db *store.DB

	mu      sync.Mutex
	steps   map[uint64]platform.LoginStep
	scanned bool // somebody has scanned the QR code
}

func wrongField(field, code, words string) error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Field: field, Code: code, Err: errors.New(words)}
}

func (a *memoryAccounts) SendCode(_ context.Context, id uint64, phone string) (platform.LoginStep, error) {
	if phone != accountPhone {
		return platform.LoginStep{}, wrongField("phone", "PHONE_NUMBER_INVALID", "Telegram does not know this number")
	}
	return a.set(id, platform.LoginStep{State: platform.LoginCode, Phone: phone, Via: "app"}), nil
}

func (a *memoryAccounts) EnterCode(_ context.Context, id uint64, code string) (platform.LoginStep, error) {
	if code != accountCode {
		return a.Login(id), wrongField("code", "PHONE_CODE_INVALID", "this is not the code that Telegram sent")
	}
	return a.set(id, platform.LoginStep{State: platform.LoginPassword, Hint: "the usual one"}), nil
}

func (a *memoryAccounts) EnterPassword(_ context.Context, id uint64, password string) (platform.LoginStep, error) {
	if password != accountPassword {
		return a.Login(id), wrongField("password", "PASSWORD_HASH_INVALID", "this is not the account's password")
	}
	return a.done(id)
}

func (a *memoryAccounts) ShowQR(_ context.Context, id uint64) (platform.LoginStep, error) {
	a.mu.Lock()
	scanned := a.scanned
	a.mu.Unlock()
	if scanned {
		return a.done(id)
	}
	return a.set(id, platform.LoginStep{State: platform.LoginQR, URL: "tg://login?token=AQIDBAUGBwgJCgsMDQ4PEA", Expires: time.Now().Add(30 * time.Second)}), nil
}

func (a *memoryAccounts) set(id uint64, step platform.LoginStep) platform.LoginStep {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps[id] = step
	return step
}

func (a *memoryAccounts) done(id uint64) (platform.LoginStep, error) {
	err := a.change(id, func(i *store.Identity) {
		i.State, i.Title, i.Reason = store.IdentityReady, "Anna Sender", store.Reason{}
	})
	return a.set(id, platform.LoginStep{State: platform.LoginDone, Title: "Anna Sender"}), err
}

func (a *memoryAccounts) change(id uint64, fn func(*store.Identity)) error {
	return a.db.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(id)
		if err != nil {
			return err
		}
		fn(&i)
		return tx.Identities.Put(&i)
	})
}

func (a *memoryAccounts) Login(id uint64) platform.LoginStep {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.steps[id]
}

func (a *memoryAccounts) AbandonLogin(id uint64) { a.set(id, platform.LoginStep{}) }

func (a *memoryAccounts) LogOut(_ context.Context, id uint64) error {
	return a.change(id, func(i *store.Identity) { i.State = store.IdentityLogin })
}

func (a *memoryAccounts) ParseSession(data []byte) ([]byte, error) {
	if string(data) == accountSession || bytes.HasPrefix(data, []byte("SQLite format 3\x00")) {
		return []byte("parsed"), nil
	}
	return nil, errors.New("this is neither a StringSession nor a .session file")
}

// account adds a user account that is logged in.
func (h *harness) account(name string) (made store.Identity) {
	h.update(func(tx *store.Tx) (err error) {
		if made, err = identities.Add(tx, identities.Request{Platform: "telegram", Name: name, Kind: "user"}); err != nil {
			return err
		}
		made.State, made.Title = store.IdentityReady, "Anna Sender"
		return tx.Identities.Put(&made)
	})
	return made
}
