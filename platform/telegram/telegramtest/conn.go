package telegramtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/crypto"
	"github.com/gotd/td/exchange"
	"github.com/gotd/td/mt"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/proto/codec"
	"github.com/gotd/td/transport"
)

// writeTimeout bounds one write to a client that does not read.
const writeTimeout = 10 * time.Second

func now() time.Time { return time.Now() }

// conn is one connection. Its calls run in goroutines of their own, so that one that is held or
// never answered does not stop the others.
type conn struct {
	srv       *Server
	raw       net.Conn
	transport transport.Conn
	once      sync.Once
	gone      chan struct{} // closed when serve has ended
	pushes    chan pushed

	mu       sync.Mutex
	sessions map[int64]*session
}

// session is an MTProto session as one connection sees it.
type session struct {
	id      int64
	key     crypto.AuthKey
	conn    *conn
	seen    map[int64]struct{} // message ids of the calls that have arrived
	updates bool               // it has made a call without invokeWithoutUpdates; under the server's mu
}

func (c *conn) close() { c.once.Do(func() { _ = c.raw.Close() }) }

// serve reads messages until the client leaves or the connection is cut.
func (c *conn) serve() {
	defer c.srv.forget(c)
	defer c.srv.quit(c)
	defer close(c.gone)
	defer c.close()

	// The listener only detects the codec; here, not in the accept loop, because a client that
	// connects and stays silent must not keep others out.
	t, err := transport.Listen(&single{conn: c.raw}).Accept()
	if err != nil {
		return
	}
	c.transport = t
	c.srv.net.running.Go(c.deliver)

	ctx := context.Background()
	for {
		var b bin.Buffer
		if err := t.Recv(ctx, &b); err != nil {
			return
		}
		var id [8]byte
		if err := b.PeekN(id[:], len(id)); err != nil {
			return
		}
		if id == ([8]byte{}) {
			if err := c.exchange(ctx, &b); err != nil {
				return
			}
			continue
		}
		c.srv.mu.Lock()
		key, known := c.srv.keys[id]
		c.srv.mu.Unlock()
		if !known {
			var answer bin.Buffer
			answer.PutInt32(-codec.CodeAuthKeyNotFound)
			if err := t.Send(ctx, &answer); err != nil {
				return
			}
			continue
		}
		if err := c.message(key, &b); err != nil {
			return
		}
	}
}

// exchange makes an auth key with the client, whose first message has been read already.
func (c *conn) exchange(ctx context.Context, first *bin.Buffer) error {
	replay := &replayed{Conn: c.transport, first: first}
	r, err := exchange.NewExchanger(replay, c.srv.dc).WithTimeout(writeTimeout).Server(c.srv.key).Run(ctx)
	if refused, ok := errors.AsType[*exchange.ServerExchangeError](err); ok {
		var answer bin.Buffer
		answer.PutInt32(-refused.Code)
		return errors.Join(err, c.transport.Send(ctx, &answer))
	}
	if err != nil {
		return err
	}
	c.srv.mu.Lock()
	defer c.srv.mu.Unlock()
	c.srv.keys[r.Key.ID] = r.Key
	return nil
}

func (c *conn) message(key crypto.AuthKey, b *bin.Buffer) error {
	var encrypted crypto.EncryptedMessage
	if err := encrypted.DecodeWithoutCopy(b); err != nil {
		return err
	}
	msg, err := c.srv.cipher.Decrypt(key, &encrypted)
	if err != nil {
		return err
	}
	c.mu.Lock()
	ses, ok := c.sessions[msg.SessionID]
	if !ok {
		ses = &session{id: msg.SessionID, key: key, conn: c, seen: map[int64]struct{}{}}
		c.sessions[msg.SessionID] = ses
	}
	c.mu.Unlock()
	// As Telegram does (core.telegram.org/mtproto/description#message-identifier-msg-id): an id from more than 30 s
	// in the future is refused with code 17.
	if proto.MessageID(msg.MessageID).Time().Sub(now()) > 30*time.Second {
		c.mu.Lock()
		delete(c.sessions, msg.SessionID)
		c.mu.Unlock()
		return c.send(ses, proto.MessageFromServer, &mt.BadMsgNotification{BadMsgID: msg.MessageID, BadMsgSeqno: int(msg.SeqNo), ErrorCode: 17})
	}
	if !ok {
		c.srv.enter(ses)
		err := c.send(ses, proto.MessageFromServer, &mt.NewSessionCreated{
			FirstMsgID: msg.MessageID,
			ServerSalt: int64(binary.LittleEndian.Uint64(key.ID[:])),
		})
		if err != nil {
			return err
		}
	}
	return c.handle(ses, msg.MessageID, &bin.Buffer{Buf: msg.Data()})
}

// handle answers the service messages of MTProto itself and passes calls on.
func (c *conn) handle(ses *session, id int64, b *bin.Buffer) error {
	kind, err := b.PeekID()
	if err != nil {
		return err
	}
	switch kind {
	case proto.MessageContainerTypeID:
		var container proto.MessageContainer
		if err := container.Decode(b); err != nil {
			return err
		}
		for _, m := range container.Messages {
			if err := c.handle(ses, m.ID, &bin.Buffer{Buf: m.Body}); err != nil {
				return err
			}
		}
		return nil
	case proto.GZIPTypeID:
		var zipped proto.GZIP
		if err := zipped.Decode(b); err != nil {
			return err
		}
		return c.handle(ses, id, &bin.Buffer{Buf: zipped.Data})
	case mt.PingRequestTypeID:
		var ping mt.PingRequest
		if err := ping.Decode(b); err != nil {
			return err
		}
		return c.send(ses, proto.MessageServerResponse, &mt.Pong{MsgID: id, PingID: ping.PingID})
	case mt.PingDelayDisconnectRequestTypeID:
		var ping mt.PingDelayDisconnectRequest
		if err := ping.Decode(b); err != nil {
			return err
		}
		return c.send(ses, proto.MessageServerResponse, &mt.Pong{MsgID: id, PingID: ping.PingID})
	case mt.GetFutureSaltsRequestTypeID:
		return c.send(ses, proto.MessageServerResponse, &mt.FutureSalts{
			ReqMsgID: id,
			Now:      int(now().Unix()),
			Salts:    []mt.FutureSalt{{ValidSince: 1, ValidUntil: int(now().AddDate(1, 0, 0).Unix()), Salt: 10}},
		})
	case mt.RPCDropAnswerRequestTypeID:
		return c.result(ses, id, &mt.RPCAnswerDroppedRunning{})
	case mt.MsgsAckTypeID, mt.HTTPWaitRequestTypeID, mt.MsgsStateReqTypeID:
		return nil
	}

	// A client that has not seen an acknowledgement sends the same message again: the call is
	// carried out once.
	c.mu.Lock()
	_, repeated := ses.seen[id]
	ses.seen[id] = struct{}{}
	c.mu.Unlock()
	if repeated {
		return c.ack(ses, id)
	}
	c.srv.net.running.Go(func() { c.call(ses, id, b) })
	return nil
}

func (c *conn) ack(ses *session, id int64) error {
	return c.send(ses, proto.MessageFromServer, &mt.MsgsAck{MsgIDs: []int64{id}})
}

func (c *conn) result(ses *session, id int64, answer bin.Encoder) error {
	var b bin.Buffer
	if err := answer.Encode(&b); err != nil {
		return fmt.Errorf("encode %T: %w", answer, err)
	}
	return c.send(ses, proto.MessageServerResponse, &proto.Result{RequestMessageID: id, Result: b.Raw()})
}

func (c *conn) send(ses *session, kind proto.MessageType, message bin.Encoder) error {
	var b bin.Buffer
	if err := message.Encode(&b); err != nil {
		return fmt.Errorf("encode %T: %w", message, err)
	}
	data := crypto.EncryptedMessageData{
		SessionID:              ses.id,
		MessageID:              c.srv.ids.New(kind),
		MessageDataLen:         int32(b.Len()),
		MessageDataWithPadding: b.Copy(),
	}
	if err := c.srv.cipher.Encrypt(ses.key, data, &b); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return c.transport.Send(ctx, &b)
}

// single is a listener that accepts one connection, which it already has.
type single struct{ conn net.Conn }

func (l *single) Accept() (net.Conn, error) { return l.conn, nil }
func (l *single) Close() error              { return nil }
func (l *single) Addr() net.Addr            { return l.conn.LocalAddr() }

// replayed is a connection whose first message has been read already.
type replayed struct {
	transport.Conn
	first *bin.Buffer
}

func (r *replayed) Recv(ctx context.Context, b *bin.Buffer) error {
	if r.first == nil {
		return r.Conn.Recv(ctx, b)
	}
	b.ResetTo(r.first.Copy())
	r.first = nil
	return nil
}
