//go:build !linux

package store

func (tx *Tx) release() {}
