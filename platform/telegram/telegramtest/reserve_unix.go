//go:build unix

package telegramtest

import (
	"net"
	"syscall"
)

// reserve keeps an address during an outage: bound, so that neither another server nor the near end
// of somebody's connection is given the port, and not listening, so that clients are refused. The
// listener that comes next may take it all the same, because it and this socket both allow that.
// Where it cannot be reserved, it is not.
func reserve(addr *net.TCPAddr) (release func()) {
	nothing := func() {}
	ip := addr.IP.To4()
	if ip == nil {
		return nothing
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nothing
	}
	release = func() { _ = syscall.Close(fd) }
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(ip)})
	}
	if err != nil {
		release()
		return nothing
	}
	return release
}
