package channels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"belfry/platform"
	"belfry/platform/platformtest"
)

// Random posts, albums, edits, deletions, floods, answers that cannot be read, differences that are too long and restarts:
// in the end the store has what the network has, and nothing besides.
func TestWhatIsReadIsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func(b *bench) {
			var all []*platformtest.Channel
			var ids []uint64
			for i := range 3 {
				c := b.network.Add(int64(1+i), fmt.Sprint("news", i))
				all, ids = append(all, c), append(ids, b.add(fmt.Sprint("news", i)))
			}
			b.Pass(10 * time.Second)
			meanwhile := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "meanwhile"), 0))
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				c := all[rapid.IntRange(0, 2).Draw(rt, "channel")]
				some := func() *platformtest.ChannelPost {
					if len(c.Posts) == 0 {
						return c.Post(text("first"))
					}
					return c.Posts[rapid.IntRange(0, len(c.Posts)-1).Draw(rt, "post")]
				}
				b.network.Do(func() {
					switch action := rapid.SampledFrom([]string{"post", "many", "album", "edit", "delete", "skip", "forget", "flood", "bad", "off", "service", "views"}).Draw(rt, "action"); action {
					case "post":
						c.Post(text("post"))
					case "many":
						for range rapid.IntRange(1, 230).Draw(rt, "n") {
							c.Post(text("many"))
						}
					case "album":
						for range 3 {
							c.Post(platform.Message{Text: "member", GroupedID: int64(c.Next)/3 + 1})
						}
					case "edit":
						if p := some(); !p.Gone {
							c.Edit(p, p.Text+"!")
						}
					case "delete":
						if p := some(); !p.Gone {
							c.Remove(p)
						}
					case "skip":
						c.Next += 7
					case "forget":
						c.Forget()
					case "service":
						c.Post(platform.Message{Service: "pinMessage"})
					case "views":
						some().Views++
					default:
						left := rapid.IntRange(1, 12).Draw(rt, "times")
						b.network.Fail = func(string, int64) error {
							for _, c := range all { // messages are edited between one call and the next
								if n := len(c.Posts); n > 0 && meanwhile.IntN(3) == 0 {
									if p := c.Posts[max(n-1-meanwhile.IntN(20), 0)]; !p.Gone {
										c.Edit(p, p.Text+"?")
									}
								}
							}
							if left--; left < 0 {
								return nil
							}
							switch action {
							case "flood":
								return platformtest.Flood(time.Minute)
							case "bad":
								return platformtest.Malformed()
							}
							return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: fmt.Errorf("not connected")}
						}
					}
				})
				b.Pass(time.Duration(rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 600)).Draw(rt, "seconds")) * time.Second)
				if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
					b.start()
				}
			}
			b.network.Do(func() { b.network.Fail = nil })
			b.Pass(time.Hour) // what waits to be tried again
			for i, c := range all {
				var want, got []string
				for _, p := range c.Posts {
					if !p.Gone {
						want = append(want, fmt.Sprintf("%d %s%s %d %d", p.ID, p.Text, p.Service, p.GroupedID, p.Views))
					}
				}
				for _, m := range b.messages(ids[i]) {
					if m.DeletedAt.IsZero() {
						got = append(got, fmt.Sprintf("%d %s%s %d %d", m.MessageID, m.Text, m.Service, m.GroupedID, m.Views))
					}
				}
				if !slices.Equal(got, want) {
					rt.Errorf("channel %d has %d messages and not %d:\n%q\n%q\n%+v", i, len(got), len(want), got, want, b.channel(ids[i]))
				}
			}
			if len(b.wrong()) > 0 {
				rt.Errorf("wrong: %q", b.wrong())
			}
		})
	})
}
