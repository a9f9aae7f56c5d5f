package telegramtest

import (
	"cmp"
	"errors"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/mt"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// call is one call of a method, by whoever is logged in with the connection's key.
type call struct {
	srv *Server
	key [8]byte
	by  *account // nil before the login
}

// method is what the server can do under one name.
type method struct {
	name   string
	access access
	parse  func(*bin.Buffer) (any, error)
	run    func(*call, any) (bin.Encoder, error) // with the server's mu held
}

// access says who may call a method.
type access int

const (
	accounts access = iota // whoever is logged in
	people                 // users, not bots
	bots                   // bots, not users
	anyone                 // also before the login
)

// request is the shape of gotd's generated request types.
type request[T any] interface {
	*T
	bin.Decoder
	TypeID() uint32
	TypeName() string
}

// add registers a method. Its errors are of type *tgerr.Error.
func add[T any, R request[T]](table map[uint32]method, who access, run func(*call, R) (bin.Encoder, error)) {
	var r R = new(T)
	table[r.TypeID()] = method{
		name:   r.TypeName(),
		access: who,
		parse: func(b *bin.Buffer) (any, error) {
			var r R = new(T)
			return r, r.Decode(b)
		},
		run: func(c *call, req any) (bin.Encoder, error) { return run(c, req.(R)) },
	}
}

func methods() map[uint32]method {
	table := map[uint32]method{}
	add(table, anyone, (*call).getConfig)
	add(table, anyone, (*call).importBotAuthorization)
	add(table, anyone, (*call).sendCode)
	add(table, anyone, (*call).resendCode)
	add(table, anyone, (*call).cancelCode)
	add(table, anyone, (*call).signIn)
	add(table, anyone, (*call).getPassword)
	add(table, anyone, (*call).checkPassword)
	add(table, anyone, (*call).exportLoginToken)
	add(table, people, (*call).acceptToken)
	add(table, accounts, (*call).logOut)
	add(table, accounts, (*call).getUsers)
	add(table, accounts, (*call).resolveUsername)
	add(table, accounts, (*call).getChannels)
	add(table, accounts, (*call).getChats)
	add(table, accounts, (*call).getFullChannel)
	add(table, accounts, (*call).getFullChat)
	add(table, people, (*call).checkChatInvite)
	add(table, people, (*call).getDialogs)
	add(table, people, (*call).getHistory)
	add(table, accounts, (*call).getMessages)
	add(table, accounts, (*call).getChannelDifference)
	add(table, accounts, (*call).getFile)
	add(table, accounts, (*call).getState)
	add(table, accounts, (*call).getDifference)
	add(table, accounts, (*call).saveFilePart)
	add(table, accounts, (*call).saveBigFilePart)
	add(table, accounts, (*call).uploadMedia)
	add(table, accounts, (*call).sendMessage)
	add(table, accounts, (*call).sendMedia)
	add(table, accounts, (*call).sendMultiMedia)
	add(table, accounts, (*call).editMessage)
	add(table, bots, (*call).setBotCallbackAnswer)
	add(table, bots, (*call).setBotCommands)
	return table
}

// call carries out one call and answers it, unless a fault says otherwise.
func (c *conn) call(ses *session, id int64, b *bin.Buffer) {
	m, req, silent, err := c.srv.parse(b)
	if err != nil {
		c.answer(ses, id, nil, err)
		return
	}
	s := c.srv
	s.mu.Lock()
	s.calls[m.name]++
	ses.updates = ses.updates || !silent
	ended := s.ended[ses.key.ID]
	var f *fault
	if ended == nil {
		f = s.takeFault(m.name, cmp.Or(s.logins[ses.key.ID], s.halfway[ses.key.ID]), req)
	}
	s.note()
	s.mu.Unlock()

	switch {
	case ended != nil:
		c.answer(ses, id, nil, ended)
		return
	case f == nil || f.kind == pass:
	case f.err != nil:
		c.answer(ses, id, nil, f.err)
		return
	case f.kind == garble:
		c.answer(ses, id, garbage{}, nil)
		return
	case f.kind == dropBefore:
		c.close()
		return
	default:
		_ = c.ack(ses, id)
	}

	answer, err := s.carryOut(m, req, ses.key.ID, f)
	switch {
	case f != nil && f.kind == mute:
	case f != nil && f.kind == drop:
		c.close()
	default:
		c.answer(ses, id, answer, err)
	}
}

// carryOut runs the method. While a fault holds it, the random ids of its messages are taken.
func (s *Server) carryOut(m method, req any, key [8]byte, f *fault) (bin.Encoder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{srv: s, key: key, by: s.logins[key]}
	if c.by == nil && m.access != anyone {
		return nil, tgerr.New(401, "AUTH_KEY_UNREGISTERED")
	}
	if m.access == people && c.by.bot {
		return nil, tgerr.New(400, "BOT_METHOD_INVALID")
	}
	if m.access == bots && !c.by.bot {
		return nil, tgerr.New(400, "USER_BOT_REQUIRED")
	}
	taken, err := s.takeRandomIDs(c, req)
	if err != nil {
		return nil, err
	}
	if f != nil && f.kind == hold {
		s.mu.Unlock()
		<-f.held
		s.mu.Lock()
	}
	for _, k := range taken {
		delete(s.running, k)
	}
	answer, err := m.run(c, req)
	if err == nil {
		s.done[m.name]++
	}
	s.note()
	return answer, err
}

// answer sends a result or an error. A failure to send is the client's: it will come back.
func (c *conn) answer(ses *session, id int64, answer bin.Encoder, err error) {
	if refused, ok := errors.AsType[*tgerr.Error](err); ok {
		answer = &mt.RPCError{ErrorCode: refused.Code, ErrorMessage: refused.Message}
	} else if err != nil {
		answer = &mt.RPCError{ErrorCode: 500, ErrorMessage: "INTERNAL"}
	}
	if err := c.result(ses, id, answer); err != nil {
		c.close()
	}
}

// parse unwraps invokeWithLayer and its kin, checks the application, and decodes the request. A
// silent one was made without wanting updates.
func (s *Server) parse(b *bin.Buffer) (m method, req any, silent bool, err error) {
	for {
		id, err := b.PeekID()
		if err != nil {
			return method{}, nil, false, err
		}
		var wrapper bin.Decoder
		switch id {
		case tg.InvokeWithLayerRequestTypeID:
			wrapper = &tg.InvokeWithLayerRequest{Query: rest{}}
		case tg.InvokeWithoutUpdatesRequestTypeID:
			wrapper, silent = &tg.InvokeWithoutUpdatesRequest{Query: rest{}}, true
		case tg.InitConnectionRequestTypeID:
			init := &tg.InitConnectionRequest{Query: rest{}}
			if err := init.Decode(b); err != nil {
				return method{}, nil, false, err
			}
			if init.APIID != AppID {
				return method{}, nil, false, tgerr.New(400, "API_ID_INVALID")
			}
			continue
		default:
			m, ok := s.methods[id]
			if !ok {
				return method{}, nil, false, tgerr.New(400, "INPUT_METHOD_INVALID")
			}
			req, err := m.parse(b)
			if err != nil {
				return method{}, nil, false, tgerr.New(400, "INPUT_REQUEST_INVALID")
			}
			return m, req, silent, nil
		}
		if err := wrapper.Decode(b); err != nil {
			return method{}, nil, false, err
		}
	}
}

// rest stands for the wrapped query and leaves it in the buffer.
type rest struct{}

func (rest) Decode(*bin.Buffer) error { return nil }
func (rest) Encode(*bin.Buffer) error { return errors.New("a request is only decoded here") }
