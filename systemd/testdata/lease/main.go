// Lease holds the write lease on a file, as the store does, and ends when the kernel says
// that somebody else opens it. Run under belfry.service's restrictions it shows that they
// allow what good copies of the live file depend on.
package main

import (
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
)

const setLease = 1024 // F_SETLEASE, which package syscall does not name

func main() {
	file, err := os.OpenFile("/var/lib/belfry/lease", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGIO)
	if err := lease(file, syscall.F_WRLCK); err != nil {
		log.Fatal("the lease is refused: ", err)
	}
	fmt.Println("the lease is held")
	<-asked
	if err := lease(file, syscall.F_UNLCK); err != nil {
		log.Fatal("the lease cannot be given back: ", err)
	}
	fmt.Println("the lease is given back")
}

func lease(file *os.File, kind uintptr) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), setLease, kind); errno != 0 {
		return errno
	}
	return nil
}
