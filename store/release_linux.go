package store

import "golang.org/x/sys/unix"

// release gives the pages of the mapped file back that were read: so reading or writing media does not make the
// process as large as they are. The pages stay in the system's cache, and are there again when they are needed.
func (tx *Tx) release() {
	// Where the system refuses, the pages stay a while longer.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, tx.bolt.DB().Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED)
}
