//go:build !unix

package telegramtest

import "net"

// reserve reserves nothing: elsewhere an address may be taken during an outage.
func reserve(*net.TCPAddr) (release func()) { return func() {} }
