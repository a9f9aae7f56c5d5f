package platform

// Keys is where an adapter finds what its identities log in with. Its errors are those of the store.
type Keys interface {
	// Secret returns what the identity logs in with, as the adapter has written it.
	Secret(identityID uint64) ([]byte, error)
	// SetSecret replaces the secret that was used. When it returns nil the new one survives the end of the program; it
	// is an error if another one was entered meanwhile, which stays.
	SetSecret(identityID uint64, used, secret []byte) error
	// LoggedOut records that the network does not accept the secret that was used any more, with the network's words. It
	// writes nothing if another one was entered meanwhile.
	LoggedOut(identityID uint64, used []byte, words string) error
}

// Profile is who an identity is on its network.
type Profile struct {
	ID       int64
	Username string // without @
	Title    string // the name that readers see
}
