package scheduler

import (
	"runtime"
	"runtime/debug"
	"time"
)

// What the program keeps is small, so under load the collector would run for each few megabytes that runs leave
// behind, and take a fifth of the processor's time. While it runs often it is given more room.
const (
	roomAlways    = 100 // percent of what is kept
	roomUnderLoad = 400
	often         = 100 * time.Millisecond
	inARow        = 4 // so many times, as at no start
)

// GiveRoom lets the process use more memory while it has much to do, and gives it back afterwards. It is called once.
func GiveRoom() {
	last, quick, room := time.Now(), 0, roomAlways
	var collected func(*cycle)
	collected = func(c *cycle) {
		if time.Since(last) < often {
			quick++
		} else {
			quick = 0
		}
		wanted := roomAlways
		if quick >= inARow {
			wanted = roomUnderLoad
		}
		if last = time.Now(); wanted != room {
			debug.SetGCPercent(wanted)
			room = wanted
		}
		runtime.SetFinalizer(c, collected)
	}
	runtime.SetFinalizer(new(cycle), collected)
}

// cycle is finalized after each collection.
type cycle struct{ _ *cycle }
