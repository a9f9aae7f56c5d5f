package accounts

import (
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestQuietModeTellsOnlyWhatHasChanged(t *testing.T) {
	inBubble(t, Config{Refusals: 2}, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return b.worker.SetQuiet(tx, true) })
		b.watch(Request{KeepWatching: true}, "alice", "bob")
		b.start()
		b.untilChecked(2)
		if said := b.told("admin"); len(said) != 0 {
			t.Errorf("nothing changed, and told was %q", said)
		}
		b.sites.set(true, DefaultSite, "alice")
		b.untilChecked(4)
		b.Pass(time.Second)
		if said := b.told("admin"); len(said) != 2 || !strings.Contains(said[0], "@alice") || !strings.Contains(said[1], "finished") {
			t.Errorf("alice was found, and told was %q", said)
		}
		no := refused("no")
		b.sites.alwaysSay(&no)
		b.Pass(24 * time.Hour)
		if said := b.told("admin"); len(said) != 3 || !strings.Contains(said[2], "stopped") {
			t.Errorf("the site refused, and told was %q", said)
		}
	})
}
