package platform

// Keys is where an adapter finds what its identities log in with. Its errors are those of the store.
type Keys interface {
	// Secret returns what the identity logs in with, as the adapter has written it.
	Secret(identityID uint64) ([]byte, error)
	// SetSecret stores another secret. When it returns nil the secret survives the end of the program.
	SetSecret(identityID uint64, secret []byte) error
	// LoggedOut records that the network does not accept the secret any more, with the network's words.
	LoggedOut(identityID uint64, words string) error
}

// Profile is who an identity is on its network.
type Profile struct {
	ID       int64
	Username string // without @
	Title    string // the name that readers see
}
