package platform

import "time"

// ConnectionState says whether an identity is connected to its network.
type ConnectionState string

// The states of a connection.
const (
	Off        ConnectionState = "off"        // nothing asked for a connection
	Connecting ConnectionState = "connecting" // not there, being worked at
	Connected  ConnectionState = "connected"  // logged in and ready
	LoggedOut  ConnectionState = "login"      // given up: a person has to log the identity in again
)

// Connection is the connection of an identity to its network.
type Connection struct {
	State ConnectionState
	Since time.Time // when it came into that state
	Err   string    // what went wrong last, in the network's words; empty while connected
}
