package telegram

import (
	"crypto/sha256"
	"encoding/binary"
)

// RandomID is the random id of a post's message number part, counted from 0: the first eight bytes,
// big-endian, of the SHA-256 of "belfry/telegram/random_id/1", the key and the part, both
// big-endian in 8 bytes. It depends on nothing else, so that every attempt, in whatever version of
// the program, sends the same; the derivation must never change.
func RandomID(key int64, part int) int64 {
	b := []byte("belfry/telegram/random_id/1")
	b = binary.BigEndian.AppendUint64(b, uint64(key))
	b = binary.BigEndian.AppendUint64(b, uint64(part))
	sum := sha256.Sum256(b)
	id := int64(binary.BigEndian.Uint64(sum[:]))
	if id == 0 { // Telegram does not take it
		return 1
	}
	return id
}
