package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// openers tells who else has a file open. The kernel queues an event before an open returns, and
// grants a write lease only while nobody else has the file open. The lease is never kept: an
// opener that does not want to wait, such as GNU tar, would be refused.
type openers struct {
	file    *os.File // the descriptor that does not count
	inotify int
}

func watchOpeners(f *os.File) (*openers, error) {
	inotify, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch who opens the file: %w: raise fs.inotify.max_user_instances", err)
	}
	o := &openers{file: f, inotify: inotify}
	if _, err := unix.InotifyAddWatch(inotify, f.Name(), unix.IN_OPEN|unix.IN_CLOSE); err != nil {
		return nil, errors.Join(fmt.Errorf("watch who opens the file: %w", err), o.close())
	}
	return o, nil
}

// news reports whether the file was opened and whether it was closed since the last call, by
// anybody. Events that cannot be read count as an open.
func (o *openers) news() (opened, closed bool) {
	var buf [4096]byte
	for {
		n, err := unix.Read(o.inotify, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return opened, closed
		case err != nil:
			return true, closed
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			mask, name := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			opened = opened || mask&(unix.IN_OPEN|unix.IN_Q_OVERFLOW) != 0
			closed = closed || mask&(unix.IN_CLOSE|unix.IN_Q_OVERFLOW) != 0
			b = b[unix.SizeofInotifyEvent+int(name):]
		}
	}
}

// present reports whether anybody else has the file open now.
func (o *openers) present() (bool, error) {
	_, err := unix.FcntlInt(o.file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	switch {
	case err == nil:
		_, err = unix.FcntlInt(o.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		return false, err
	case errors.Is(err, unix.EAGAIN):
		return true, nil
	case errors.Is(err, unix.EACCES):
		return false, errors.New("the file belongs to another user: give it to the one that belfry runs as")
	}
	return false, fmt.Errorf("the filesystem grants no leases (%w): keep the file on a local disk", err)
}

func (o *openers) close() error { return unix.Close(o.inotify) }

// freeSpace is how many bytes are free where a file is.
func freeSpace(f *os.File) int64 {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return math.MaxInt64
	}
	return int64(fs.Bavail) * fs.Bsize
}

// fillHoles writes zeros where a file has holes between from and to, which may lie beyond its end.
// Nobody else may write meanwhile. It moves the offset of the descriptor, which bbolt does not use.
func fillHoles(f *os.File, from, to int64) error {
	zeros := make([]byte, min(to-from, 1<<20))
	for from < to {
		hole, err := f.Seek(from, unix.SEEK_HOLE)
		if errors.Is(err, unix.ENXIO) { // it is beyond the end
			hole, err = from, nil
		}
		if err != nil || hole >= to {
			return err
		}
		end, err := f.Seek(hole, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			end, err = to, nil
		}
		if err != nil {
			return err
		}
		for from = hole; from < min(end, to); {
			n, err := f.WriteAt(zeros[:min(int64(len(zeros)), min(end, to)-from)], from)
			if err != nil {
				return err
			}
			from += int64(n)
		}
	}
	return nil
}
