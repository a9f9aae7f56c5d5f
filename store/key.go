package store

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"
)

// Key is an index key under construction. Its parts compare as their values do, and no key is the
// beginning of another one with the same kinds of parts.
type key []byte

// str appends s, ended by 00 01; zero bytes inside become 00 ff.
func (k key) str(s string) key {
	k = slices.Grow(k, len(s)+2+8+idSize) // what most often follows: a time and an id
	for i := range len(s) {
		k = append(k, s[i])
		if s[i] == 0 {
			k = append(k, 0xff)
		}
	}
	return append(k, 0, 1)
}

// uint appends v in 8 big-endian bytes.
func (k key) uint(v uint64) key { return binary.BigEndian.AppendUint64(k, v) }

// int appends v so that negative numbers come before positive ones.
func (k key) int(v int64) key { return k.uint(uint64(v) ^ 1<<63) }

// time appends t as 8 big-endian bytes of Unix nanoseconds. Times before 1970 are one, and so are
// those after 2262.
func (k key) time(t time.Time) key {
	switch {
	case t.Unix() < 0:
		return k.uint(0)
	case t.Unix() >= math.MaxInt64/int64(time.Second):
		return k.uint(math.MaxInt64)
	}
	return k.uint(uint64(t.UnixNano()))
}

// timeAt reads the time that begins at k[0].
func timeAt(k []byte) time.Time {
	return time.Unix(0, int64(binary.BigEndian.Uint64(k))).UTC()
}

// strs reads a key that consists of strings alone.
func (k key) strs() (parts []string) {
	for part := range strings.SplitSeq(string(k), "\x00\x01") {
		parts = append(parts, unescaped(part))
	}
	return parts[:len(parts)-1]
}

// unescaped undoes what [key.str] does to zero bytes.
func unescaped(s string) string { return strings.ReplaceAll(s, "\x00\xff", "\x00") }

// next returns the first key after all keys that begin with k, or nil if there is none.
func (k key) next() key {
	for i := len(k) - 1; i >= 0; i-- {
		if k[i] != 0xff {
			end := append(key(nil), k[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
