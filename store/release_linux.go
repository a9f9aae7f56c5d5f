package store

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// releaseFrom is the size from which a row's pages are released.
const releaseFrom = 8 << 10

// release gives the pages of the mapped file back that a large row was read from, and copied: so reading media does
// not make the process as large as they are. The pages stay in the system's cache.
func (tx *Tx) release(data []byte) {
	if len(data) < releaseFrom {
		return
	}
	info := tx.bolt.DB().Info()
	at, page := uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(info.PageSize)
	if at < info.Data || at+uintptr(len(data)) > info.Data+uintptr(tx.Size()) {
		return // written in this transaction, and not in the file yet
	}
	from := at &^ (page - 1)
	// Where the system refuses, the pages stay a while longer.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, at+uintptr(len(data))-from, unix.MADV_DONTNEED)
}
