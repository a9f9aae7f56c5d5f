package telegram

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

const (
	// quiet is after how long without a message Telegram is asked all the same, because a push may be
	// lost: as long as gotd's own manager of updates waits (idleTimeout).
	quiet = 15 * time.Minute

	// hearTries is how often a text or a press that cannot be heard is tried.
	hearTries = 5

	// pressLimit bounds the presses that wait; more are dropped, and their people press again.
	pressLimit = 1000
)

// Listener hears what people tell a bot in private chats. What is said in groups, by bots, or by the
// bot itself is not heard, nor is the edit of a message that was heard.
type Listener struct {
	// Hear is told each text once, in the order in which they came, in the transaction that also
	// stores that it was heard; and each press of a button, in a transaction of its own, without
	// waiting for texts. Two calls never run at the same time. Like any function of
	// [store.DB.Update] it may be called again for the same thing, with only the last call
	// counting: it has no effects but through tx, and asks no network.
	//
	// If it fails, nothing of the page of texts that it was called for is kept, and all is tried
	// again after a pause that grows, while later texts wait. What fails (or panics) five times is
	// logged as an error and left out; then the rest is heard. Errors that wrap
	// [store.ErrUnavailable] do not count: while the store is out of order nothing is left out.
	//
	// Texts are heard also if they were written while the program did not run. A press is not: one
	// that comes while the bot is not connected, or that was not heard before the connection ended,
	// is lost, and the person presses again.
	Hear func(tx *store.Tx, h platform.Heard) error

	// Commands returns what Telegram lists to people as the bot's commands. They are sent whenever a client starts; none
	// leaves the list as it is. It may be nil.
	Commands func(identityID uint64) []platform.Command
}

// Listen has what people tell the bots heard, from the next connection of each on; it is called before [Network.Run]. What
// was written before the first connection with a listener is not heard. A user account is not listened to.
func (n *Network) Listen(l Listener) {
	n.listener = l
}

// ear hears for one life of a client. What is pushed is only a hint that there is something to pull
// from Telegram, see pull, except for presses, which come by push alone.
type ear struct {
	connection *connection
	listener   Listener
	written    chan struct{} // with room for one: there may be texts to pull
	pressed    chan struct{} // with room for one: presses wait

	api  *tg.Client
	self int64 // the bot's id

	// Of the goroutine that pulls alone.
	tries map[int]int  // failures of Hear, by the id of the message
	leave map[int]bool // messages that are left out
	vain  int          // pulls in a row that failed

	mu      sync.Mutex
	presses []*press
}

// press is a press that waits to be heard.
type press struct {
	platform.Heard
	from  tg.UserClass // nil if Telegram did not describe the person
	tries int
}

func newEar(c *connection, l Listener) *ear {
	return &ear{connection: c, listener: l, written: make(chan struct{}, 1), pressed: make(chan struct{}, 1),
		tries: map[int]int{}, leave: map[int]bool{}}
}

// Handle takes note of what an update brings. gotd reads nothing meanwhile, so it never waits.
func (e *ear) Handle(_ context.Context, u tg.UpdatesClass) error {
	if _, more := u.(*tg.UpdatesTooLong); more {
		e.poke()
	}
	updates, _, users := updatesIn(u)
	for _, update := range updates {
		switch update := update.(type) {
		case *tg.UpdateNewMessage: // those of channels are of another type
			e.poke()
		case *tg.UpdateBotCallbackQuery:
			e.queue(update, users)
		}
	}
	return nil
}

// updatesIn returns what is told at once, and the chats and users that it mentions.
func updatesIn(u tg.UpdatesClass) ([]tg.UpdateClass, []tg.ChatClass, []tg.UserClass) {
	switch u := u.(type) {
	case *tg.UpdateShort: // gotd makes short messages into these
		return []tg.UpdateClass{u.Update}, nil, nil
	case *tg.Updates:
		return u.Updates, u.Chats, u.Users
	case *tg.UpdatesCombined:
		return u.Updates, u.Chats, u.Users
	}
	return nil, nil, nil
}

// poke says that there may be something to pull. It never waits.
func (e *ear) poke() { wake(e.written) }

func wake(sleeper chan<- struct{}) {
	select {
	case sleeper <- struct{}{}:
	default: // it is about to look
	}
}

// queue keeps a press in a private chat until it is heard. It never waits.
func (e *ear) queue(u *tg.UpdateBotCallbackQuery, users []tg.UserClass) {
	if _, private := u.Peer.(*tg.PeerUser); !private {
		return
	}
	p := &press{Heard: platform.Heard{From: u.UserID, MessageID: int64(u.MsgID), QueryID: u.QueryID, Data: string(u.Data)},
		from: userOf(users, u.UserID)}
	p.Name = called(p.from)
	e.mu.Lock()
	full := len(e.presses) >= pressLimit
	if !full {
		e.presses = append(e.presses, p)
	}
	e.mu.Unlock()
	if full {
		e.connection.log.Warn().Int64("from", u.UserID).Msg("too many presses wait: one was dropped")
		return
	}
	wake(e.pressed)
}

// listen begins to hear and returns what ends it: nothing is heard after that has returned.
func (e *ear) listen(ctx context.Context, api *tg.Client, self int64) (stop func()) {
	e.api, e.self = api, self
	e.poke() // what was written while nobody listened
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { e.ever(ctx, e.written, e.hearTexts) })
	running.Go(func() { e.ever(ctx, e.pressed, e.hearPresses) })
	running.Go(func() { e.setCommands(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// hearTexts pulls. A bot that is often in vain is not connected, however well it can log in.
func (e *ear) hearTexts(ctx context.Context) error {
	err := e.pull(ctx)
	switch {
	case err == nil:
		e.vain = 0
		e.connection.hears(nil)
	case ctx.Err() == nil:
		if e.vain++; e.vain >= hearTries {
			e.connection.hears(err)
		}
	}
	return err
}

// ever does what there is to do whenever it is woken, and now and then, until ctx ends. After a
// failure it waits, whatever wakes it meanwhile, and does it again.
func (e *ear) ever(ctx context.Context, woken <-chan struct{}, do func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
		case <-woken:
		case <-time.After(quiet):
		}
		said := ""
		for pause := e.connection.network.hearPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
			err := do(ctx)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return
			}
			if words := plainly(err); words != said { // the same words once
				said = words
				e.connection.log.Warn().Str("error", words).Msg("what people told the bot was not heard; trying again")
			}
			wait := pause
			if asked, ok := errors.AsType[*platform.Error](err); ok {
				wait = max(wait, asked.Wait)
			}
			_ = sleep(ctx, wait) // the loop looks whether ctx has ended
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// setCommands lists the bot's commands. A failure is logged and stops nothing.
func (e *ear) setCommands(ctx context.Context) {
	var commands []platform.Command
	if e.listener.Commands != nil {
		commands = e.listener.Commands(e.connection.identity)
	}
	if len(commands) == 0 {
		return
	}
	req := &tg.BotsSetBotCommandsRequest{Scope: &tg.BotCommandScopeDefault{}}
	for _, cmd := range commands {
		req.Commands = append(req.Commands, tg.BotCommand{Command: cmd.Name, Description: cmd.About})
	}
	if _, err := e.api.BotsSetBotCommands(ctx, req); err != nil && ctx.Err() == nil {
		e.connection.log.Warn().Str("error", plainly(err)).Msg("the bot's commands could not be listed")
	}
}
