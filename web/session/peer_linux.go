package session

import (
	"context"
	"net"
	"os/user"
	"strconv"
	"syscall"
)

type userKey struct{}

// WithPeer notes in the context of a unix socket's connection which user of the machine has opened it.
func WithPeer(ctx context.Context, conn net.Conn) context.Context {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return ctx
	}
	var peer *syscall.Ucred
	if failed := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); failed != nil || err != nil {
		return ctx
	}
	name := strconv.FormatUint(uint64(peer.Uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return context.WithValue(ctx, userKey{}, name)
}

// userOf is the user of the machine who asks on the socket.
func userOf(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}
