package channels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/platformtest"
	"belfry/scheduler"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// bench is a worker on a network in memory, with an account that reads.
type bench struct {
	*schedulertest.Bench
	network  *platformtest.Channels
	channels *Worker
	cfg      Config
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, network: platformtest.NewChannels()}
		b.Update(func(tx *store.Tx) error {
			return tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "reader", Kind: store.IdentityUser, State: store.IdentityReady})
		})
		b.start()
		test(b)
	})
}

// start starts the program, again if it runs.
func (b *bench) start() {
	b.Stop()
	b.channels = New(b.DB, b.network, b.cfg)
	b.Start(b.channels.Module())
}

func (b *bench) add(name string) uint64 {
	b.T.Helper()
	d, err := b.channels.Prepare(context.Background(), Request{Channel: "@" + name})
	if err != nil {
		b.T.Fatal(err)
	}
	var c store.Channel
	b.Update(func(tx *store.Tx) (err error) {
		c, err = b.channels.Create(tx, d)
		return err
	})
	return c.ID
}

func (b *bench) channel(id uint64) (c store.Channel) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		c, err = tx.Channels.Get(id)
		return err
	})
	return c
}

func (b *bench) messages(id uint64) (all []store.Message) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		all = slices.Collect(tx.Messages.Of(id, 0, 0))
		return nil
	})
	return all
}

func (b *bench) texts(id uint64) string {
	b.T.Helper()
	var texts []string
	for _, m := range b.messages(id) {
		switch {
		case !m.DeletedAt.IsZero():
			texts = append(texts, "-"+m.Text)
		case m.Unreadable != "" && m.Date.IsZero():
			texts = append(texts, "?")
		default:
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, " ")
}

func (b *bench) wrong() (all []string) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		for _, a := range b.channels.wrong(tx) {
			all = append(all, string(a.Kind)+" "+a.Name)
		}
		return nil
	})
	return all
}

func text(s string) platform.Message { return platform.Message{Text: s} }

// The incident: of six channels one answers what cannot be read, one is private, one is empty, and one floods.
func TestWhatIsWrongWithAChannelKeepsNoOtherFromBeingRead(t *testing.T) {
	inBubble(t, func(b *bench) {
		var ids []uint64
		var all []*platformtest.Channel
		for i, name := range []string{"good", "broken", "private", "empty", "flooding", "other"} {
			c := b.network.Add(int64(100+i), name)
			if name != "empty" {
				c.Post(text("one"))
			}
			all, ids = append(all, c), append(ids, b.add(name))
		}
		b.Pass(time.Minute)
		b.network.Do(func() {
			for _, c := range all {
				if c.Username != "empty" {
					c.Post(text("two"))
				}
			}
			flooded := false
			b.network.Fail = func(method string, id int64) error {
				switch {
				case id == 101:
					return platformtest.Malformed()
				case id == 102:
					return platformtest.Private()
				case id == 104 && method == "difference" && !flooded:
					flooded = true
					return platformtest.Flood(time.Hour)
				}
				return nil
			}
		})
		b.Pass(Interval) // one tick of each
		for i, want := range []string{"one two", "one", "one", "", "one two", "one two"} {
			if got := b.texts(ids[i]); got != want {
				t.Errorf("%s: %q", all[i].Username, got)
			}
		}
		if got := b.wrong(); !slices.Equal(got, []string{"channel @broken", "channel @private"}) && !slices.Equal(got, []string{"channel @private", "channel @broken"}) {
			t.Errorf("wrong: %q", got)
		}
		b.Pass(195 * time.Minute) // the private one was asked after 155, and is next after 315, each a fifth sooner or later
		b.network.Do(func() { b.network.Fail = nil })
		b.Pass(20 * time.Minute)
		if got := b.texts(ids[1]); got != "one two" || b.channel(ids[1]).Failures != 0 {
			t.Errorf("the broken one has not recovered: %q, %+v", got, b.channel(ids[1]))
		}
		if got := b.texts(ids[2]); got != "one" {
			t.Errorf("the private one is asked often: %q", got)
		}
		b.Pass(8 * time.Hour)
		if got := b.texts(ids[2]); got != "one two" || len(b.wrong()) != 0 {
			t.Errorf("the private one has not recovered: %q, %q", got, b.wrong())
		}
	})
}

func TestManyMessagesInOnePollAreAllRead(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		old := time.Now().Add(-8 * 24 * time.Hour).UTC()
		for range 30 {
			c.Post(platform.Message{Text: "old", Date: old})
		}
		for range 250 {
			c.Post(text("first"))
		}
		id := b.add("news")
		b.Pass(30 * time.Second)
		if n := len(b.messages(id)); n != 250 {
			t.Errorf("%d messages were read at first", n)
		}
		for i := range 350 {
			p := c.Post(text("x"))
			if i%7 == 0 {
				c.Next += 3
			}
			if i%5 == 0 {
				c.Remove(p)
			}
		}
		b.Pass(Interval + time.Minute)
		alive := 0
		for _, m := range b.messages(id) {
			if m.DeletedAt.IsZero() {
				alive++
			}
		}
		if alive != 250+280 {
			t.Errorf("%d messages", alive)
		}
		if last := b.channel(id).LastMessageID; last != 1+30+250+350+3*50-1-1 && last < 700 {
			t.Errorf("last %d", last)
		}
	})
}

func TestEditsDeletionsViewsAndReactionsFollow(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		one, two := c.Post(text("one")), c.Post(text("two"))
		id := b.add("news")
		b.Pass(time.Minute)
		c.Edit(one, "ONE")
		c.Remove(two)
		c.Post(text("three"))
		b.Pass(Interval)
		if got := b.texts(id); got != "ONE -two three" {
			t.Errorf("%q", got)
		}
		one.Views, one.Reactions = 70, []platform.Reaction{{Emoji: "🔥", Count: 3}}
		b.Pass((followEach + 1) * Interval)
		if m := b.messages(id)[0]; m.Views != 70 || len(m.Reactions) != 1 || m.EditedAt.IsZero() {
			t.Errorf("%+v", m)
		}
		b.Pass(followed)
		one.Views = 90
		b.Pass(time.Hour)
		if m := b.messages(id)[0]; m.Views != 70 {
			t.Errorf("views of an old message are followed: %d", m.Views)
		}
	})
}

func TestAfterADifferenceThatIsTooLongNothingIsMissed(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		var posts []*platformtest.ChannelPost
		for i := range 130 {
			posts = append(posts, c.Post(text(fmt.Sprint("m", i))))
		}
		id := b.add("news")
		b.Pass(time.Minute)
		c.Edit(posts[3], "edited")
		c.Remove(posts[120])
		c.Remove(posts[5])
		posts[7].Omitted = true
		for range 150 {
			c.Post(text("new"))
		}
		c.Forget()
		b.Pass(Interval + time.Minute)
		all := b.messages(id)
		if len(all) != 280 || all[3].Text != "edited" || all[5].DeletedAt.IsZero() || all[120].DeletedAt.IsZero() || !all[7].DeletedAt.IsZero() {
			t.Errorf("%d messages, %+v %+v", len(all), all[3], all[5])
		}
		if p := b.channel(id).Place; p.Pts != c.Pts() || p.Again != 0 {
			t.Errorf("%+v of %d", p, c.Pts())
		}
	})
}

// It is the answers that cannot be read for a while, and no message: none is passed over.
func TestAnswersThatCannotBeReadForAWhileLoseNoMessage(t *testing.T) {
	for _, posts := range []int{150, 30} {
		answersCannotBeRead(t, posts)
	}
}

func answersCannotBeRead(t *testing.T, posts int) {
	t.Helper()
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		for i := range posts {
			c.Post(text(fmt.Sprint(i)))
		}
		history, byID := 0, 0
		b.network.Fail = func(method string, _ int64) error {
			switch method {
			case "history":
				if history++; history > 1 && history <= 9 { // down to pages of one message
					return platformtest.Malformed()
				}
			case "messages":
				if byID++; byID%2 == 0 {
					return platformtest.Malformed()
				}
			}
			return nil
		}
		id := b.add("news")
		b.Pass(time.Hour)
		if n, last := len(b.messages(id)), b.channel(id).LastMessageID; n != posts || last != posts || byID < 1 {
			t.Errorf("%d messages of %d up to %d, %d asked for by id", n, posts, last, byID)
		}
	})
}

// Messages that are read by their ids, because history cannot be read, are edited before history is read again.
func TestAnEditWhileAnswersCannotBeReadIsNotMissed(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		c.Post(text("first"))
		id := b.add("news")
		b.Pass(time.Minute)
		post := c.Post(text("second"))
		bad, byID := 0, false
		b.network.Fail = func(method string, _ int64) error {
			switch {
			case method == "messages":
				byID = true
			case byID && post.EditedAt.IsZero():
				c.Edit(post, "edited")
			case bad < 8: // the difference, and history down to pages of one message
				bad++
				return platformtest.Malformed()
			}
			return nil
		}
		b.Pass(Interval + time.Minute)
		if got := b.texts(id); got != "first edited" {
			t.Errorf("read as %q after %q", got, b.network.Calls)
		}
	})
}

func TestAMessageThatCannotBeReadKeepsNoOtherBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		for i := range 20 {
			c.Post(text(fmt.Sprint(i)))
		}
		id := b.add("news")
		b.Pass(time.Minute)
		for i := range 40 {
			c.Post(text("x")).Spoiled = i == 13 || i == 14 // two in a row
		}
		c.Edit(c.Posts[4], "bad now")
		c.Posts[4].Spoiled = true
		b.Pass(30 * time.Minute)
		if n := len(b.messages(id)); n != 60 {
			t.Errorf("%d messages", n)
		}
		if got := strings.Count(b.texts(id), "?"); got != 2 {
			t.Errorf("%d are on record as not readable", got)
		}
		c.Post(text("later"))
		b.Pass(30 * time.Minute)
		if got := b.texts(id); !strings.HasSuffix(got, "later") || len(b.wrong()) != 0 || b.channel(id).Place.Pts != c.Pts() {
			t.Errorf("%q, %q, %+v", got, b.wrong(), b.channel(id))
		}
	})
}

func TestAFloodWaitHoldsTheMethodAndTheChannelsSaySo(t *testing.T) {
	inBubble(t, func(b *bench) {
		ids := []uint64{}
		for i := range 3 {
			b.network.Add(int64(1+i), fmt.Sprint("news", i)).Post(text("one"))
			ids = append(ids, b.add(fmt.Sprint("news", i)))
		}
		b.Pass(time.Minute)
		floods := 0
		b.network.Fail = func(string, int64) error { floods++; return platformtest.Flood(2 * time.Hour) }
		b.Pass(time.Hour)
		if floods > 2 { // one of each method
			t.Errorf("asked %d times while it had to wait", floods)
		}
		b.View(func(tx *store.Tx) error {
			s, err := b.channels.StatusOf(tx, b.channel(ids[0]))
			if s.Why.Code != store.ReasonFlood || s.Freshness != Late || s.Failures != 0 {
				t.Errorf("%+v", s)
			}
			return err
		})
		if got := b.wrong(); len(got) != 1 || !strings.HasPrefix(got[0], "reading") {
			t.Errorf("wrong: %q", got)
		}
		b.start() // the waits are stored
		b.Pass(30 * time.Minute)
		if floods > 2 {
			t.Errorf("asked after a restart")
		}
		b.network.Fail = nil
		b.network.ByID[1].Post(text("two"))
		b.Pass(time.Hour)
		if got := b.texts(ids[0]); got != "one two" || len(b.wrong()) != 0 {
			t.Errorf("%q, %q", got, b.wrong())
		}
	})
}

// A step of the clock moves the holds. What is said of a wait must not be taken for its end: the job ran without a pause.
func TestAWaitThatWasMovedWithTheClockIsWaitedFor(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.network.Add(1, "news").Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		floods := 0
		b.network.Fail = func(string, int64) error { floods++; return platformtest.Flood(20 * time.Minute) }
		b.Pass(10 * time.Minute)
		before := floods
		b.Update(func(tx *store.Tx) error {
			reader, err := tx.Identities.Get(1)
			if err != nil {
				return err
			}
			for _, m := range []method{ofDifference, ofHistory} {
				h, err := tx.Holds.ByLane(m.hold(reader.ReadLane()))
				if err != nil {
					return err
				}
				h.Until = h.Until.Add(2 * time.Hour)
				if err := tx.Holds.Put(&h); err != nil {
					return err
				}
			}
			return nil
		})
		b.Pass(time.Hour)
		if floods != before || b.channel(id).Failures != 0 {
			t.Errorf("asked %d times before the wait was over", floods-before)
		}
	})
}

func TestTwoDaysWithoutANetworkEndUnaided(t *testing.T) {
	inBubble(t, func(b *bench) {
		var ids []uint64
		for i := range 20 {
			b.network.Add(int64(1+i), fmt.Sprint("news", i)).Post(text("one"))
			ids = append(ids, b.add(fmt.Sprint("news", i)))
		}
		b.Pass(time.Minute)
		before := len(b.network.Calls)
		b.network.Fail = func(string, int64) error {
			return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: context.Canceled}
		}
		b.Pass(48 * time.Hour)
		if n := len(b.network.Calls) - before; n > 48*3600/25 {
			t.Errorf("%d calls", n)
		}
		b.network.Fail = nil
		for i := range 20 {
			b.network.ByID[int64(1+i)].Post(text("two"))
		}
		b.Pass(Interval + time.Minute)
		for _, id := range ids {
			if got := b.texts(id); got != "one two" {
				t.Errorf("%d: %q", id, got)
			}
		}
	})
}

func TestARenamedChannelIsTheSameAndItsOldNameIsAnothers(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		c.Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		c.Username = "newer"
		other := b.network.Add(2, "news")
		other.Post(text("other"))
		c.Post(text("two"))
		b.Pass(Interval)
		if got := b.texts(id); got != "one two" || b.channel(id).Username != "newer" {
			t.Errorf("%q, %+v", got, b.channel(id))
		}
		second := b.add("news")
		b.Pass(time.Minute)
		if got := b.texts(second); got != "other" {
			t.Errorf("%q", got)
		}
		if _, err := b.channels.Prepare(context.Background(), Request{Channel: "  "}); err == nil {
			t.Error("an empty name was taken")
		}
	})
}

func TestPhotosComeWithTheirMessages(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Photos = true
		b.start()
		c := b.network.Add(1, "news")
		photo := &platform.PhotoFile{Reference: []byte("\xff\xd8\xff picture")}
		for range 3 {
			c.Post(platform.Message{Text: "album", GroupedID: 7, Media: &platform.Attachment{Kind: "photo"}, Photo: photo})
		}
		id := b.add("news")
		b.Pass(time.Minute)
		count := func() (n int) {
			b.View(func(tx *store.Tx) error {
				for _, m := range b.messages(id) {
					if p, err := tx.Photos.Of(m.ID); err == nil && p.Type == "image/jpeg" && m.GroupedID == 7 {
						n++
					}
				}
				return nil
			})
			return n
		}
		if count() != 3 {
			t.Errorf("%d photos", count())
		}
		b.network.Fail = func(method string, _ int64) error {
			if method == "photo" {
				return platformtest.Flood(17 * time.Hour)
			}
			return nil
		}
		c.Post(platform.Message{Text: "late member", GroupedID: 7, Photo: photo})
		b.Pass(Interval)
		if n := len(b.messages(id)); n != 4 || count() != 3 {
			t.Errorf("%d messages, %d photos", n, count())
		}
		c.Remove(c.Posts[0])
		b.Pass(Interval)
		if count() != 2 {
			t.Errorf("%d photos after a deletion", count())
		}
	})
}

func TestChannelsArePausedChangedAndRemoved(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		for range 1200 {
			c.Post(text("x"))
		}
		id := b.add("news")
		b.Pass(time.Minute)
		b.Update(func(tx *store.Tx) error {
			_, err := b.channels.Pause(tx, id)
			return err
		})
		c.Post(text("y"))
		b.Pass(time.Hour)
		if n := len(b.messages(id)); n != 1200 {
			t.Errorf("%d messages while paused", n)
		}
		every := "10s"
		b.Update(func(tx *store.Tx) error {
			_, err := b.channels.Resume(tx, id)
			if err == nil {
				_, err = b.channels.Change(tx, id, Change{Interval: &every})
			}
			return err
		})
		b.Pass(15 * time.Second)
		b.Update(func(tx *store.Tx) error { // among the jobs
			_, err := scheduler.Pause(tx, fmt.Sprint("channel_", id))
			return err
		})
		b.View(func(tx *store.Tx) error {
			if s, err := b.channels.StatusOf(tx, b.channel(id)); err != nil || s.Freshness != Paused {
				t.Errorf("%v, %s", err, s.Freshness)
			}
			return nil
		})
		b.Update(func(tx *store.Tx) error {
			_, err := b.channels.Resume(tx, id)
			return err
		})
		c.Post(text("z"))
		b.Pass(15 * time.Second)
		if n := len(b.messages(id)); n != 1202 {
			t.Errorf("%d messages", n)
		}
		both, alone := store.Watch{Name: "Both", Active: true, Action: store.WatchNotify, Channels: []uint64{id, id + 7}}, store.Watch{Name: "Alone", Active: true, Action: store.WatchNotify, Channels: []uint64{id}}
		b.Update(func(tx *store.Tx) error { return errors.Join(tx.Watches.Put(&both), tx.Watches.Put(&alone)) })
		err := b.DB.Update(func(tx *store.Tx) error { return b.channels.Remove(tx, id) })
		if _, refused := errors.AsType[*store.ConflictError](err); !refused {
			t.Errorf("a watch finds nothing any more: %v", err)
		}
		b.Update(func(tx *store.Tx) error { return errors.Join(tx.Watches.Delete(alone.ID), b.channels.Remove(tx, id)) })
		b.View(func(tx *store.Tx) (err error) {
			if both, err = tx.Watches.Get(both.ID); len(both.Channels) != 1 {
				t.Errorf("a watch looks at a channel that is gone: %+v", both)
			}
			return err
		})
		before := b.DB.Commits()
		b.Pass(2 * time.Minute)
		if n := len(b.messages(id)); n != 0 {
			t.Errorf("%d messages are left", n)
		}
		if n := b.DB.Commits() - before; n < 1202/store.RemoveAtOnce {
			t.Errorf("1202 messages were removed in %d commits, for which others waited", n)
		}
		b.View(func(tx *store.Tx) error {
			if _, err := tx.Jobs.ByName(fmt.Sprint("channel_", id)); err == nil {
				t.Error("the job is left")
			}
			return nil
		})
		b.add("news")
	})
}

func TestHolesAreClassed(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		c.Post(text("1"))
		c.Next = 5
		c.Post(platform.Message{Service: "pinMessage"})
		two := c.Post(text("6"))
		c.Post(text("7"))
		id := b.add("news")
		b.Pass(time.Minute)
		c.Remove(two)
		b.Pass(Interval)
		b.View(func(tx *store.Tx) error {
			holes, err := Holes(tx, id, 0, 10)
			if got := fmt.Sprint(holes); got != "[{6 6 deleted} {5 5 service} {2 4 unknown}]" {
				t.Error(got)
			}
			return err
		})
	})
}

// A channel that another system has read goes on where that one was. It is found by its name once, which may not be
// another channel's, and Telegram's wait for that keeps no other channel waiting.
func TestAnImportedChannelIsFoundByItsNameAndReadOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		other := b.network.Add(1, "other")
		c := b.network.Add(2, "news")
		b.network.Add(3, "taken")
		now := time.Now().UTC()
		for i, at := range []time.Time{now.Add(-240 * time.Hour), now.Add(-48 * time.Hour), now.Add(-time.Hour)} {
			m := text(fmt.Sprint("n", i+1))
			m.Date = at
			c.Post(m)
		}
		read := b.add("other")
		flooded := false
		b.network.Fail = func(method string, _ int64) error {
			if method == "find" && !flooded {
				flooded = true
				return platformtest.Flood(17 * time.Hour)
			}
			return nil
		}
		var ids []uint64
		b.Update(func(tx *store.Tx) error {
			for _, i := range []Imported{
				{PeerID: -1000000000002, Username: "@news", IdentityID: 1, Active: true, Since: now.Add(-72 * time.Hour)},
				{PeerID: 9, Username: "taken", IdentityID: 1, Active: true}, {PeerID: 10, Username: "paused", IdentityID: 1},
			} {
				c, err := b.channels.Import(tx, i)
				if err != nil {
					return err
				}
				ids = append(ids, c.ID)
			}
			if _, err := b.channels.ImportMessage(tx, store.Message{ChannelID: ids[0], MessageID: 1, Date: now.Add(-240 * time.Hour), Text: "n1"}); err != nil {
				return err
			}
			again, err := b.channels.Import(tx, Imported{PeerID: 2, IdentityID: 1})
			if again.ID != ids[0] {
				t.Errorf("made twice: %+v", again)
			}
			return err
		})
		b.Pass(10 * time.Minute)
		b.network.Do(func() { other.Post(text("one")) })
		b.Pass(10 * time.Minute)
		if got := b.texts(ids[0]) + "|" + b.texts(read); got != "n1|one" {
			t.Errorf("while names are not to be asked for: %q", got)
		}
		b.Pass(18 * time.Hour)
		if got := b.texts(ids[0]); got != "n1 n2 n3" || b.channel(ids[0]).Place.Unmet {
			t.Errorf("%q, %+v", got, b.channel(ids[0]))
		}
		if c := b.channel(ids[1]); c.Failures == 0 || len(b.messages(ids[1])) != 0 || !strings.Contains(c.LastError.Detail, "another channel") {
			t.Errorf("%+v", c)
		}
		if c := b.channel(ids[2]); c.Failures != 0 || !c.LastParsedAt.IsZero() {
			t.Errorf("%+v", c)
		}
	})
}

// A round of known messages that is cut off goes on with the next read, which looks for new ones all the same.
func TestARoundThatGoesOnLaterKeepsNoNewMessageWaiting(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		for range 250 {
			c.Post(text("old"))
		}
		id := b.add("news")
		b.Pass(time.Minute)
		b.network.Do(func() {
			b.network.Fail = func(method string, _ int64) error {
				if method == "messages" {
					return platformtest.Flood(2 * Interval)
				}
				return nil
			}
		})
		b.Pass((followEach+1)*Interval + time.Minute)
		if b.channel(id).Place.Counts == 0 {
			t.Fatal("no round has begun")
		}
		b.network.Do(func() { b.network.Fail = nil })
		for b.channel(id).Place.Counts > 0 {
			b.network.Do(func() { c.Post(text("new")) })
			b.Pass(Interval)
		}
		if read := len(b.messages(id)); read != len(c.Posts) {
			t.Errorf("%d messages of %d", read, len(c.Posts))
		}
	})
}

func TestAnEditedMessageThatWasCleanedUpIsNotNew(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		p := c.Post(text("old"))
		c.Post(text("second"))
		id := b.add("news")
		b.Pass(30 * 24 * time.Hour)
		first := b.messages(id)[0]
		b.Update(func(tx *store.Tx) error {
			return errors.Join(tx.Streams.Join("watcher", store.TopicParsed, "none"), tx.Messages.Remove(first.ID))
		})
		b.network.Do(func() { c.Edit(p, "old, edited") })
		b.Pass(Interval)
		b.View(func(tx *store.Tx) error {
			batch, err := tx.Streams.Fetch("watcher", 10)
			if err != nil || len(batch.Items) != 1 || batch.Items[0].Event.Why != store.EventBackfill {
				t.Errorf("%+v, %v", batch.Items, err)
			}
			return nil
		})
	})
}

// slowPhotos is a network on which each picture takes a time.
type slowPhotos struct {
	*platformtest.Channels
	each time.Duration
}

func (s *slowPhotos) Photo(ctx context.Context, _ uint64, _ int64, _ int, _ platform.PhotoFile) ([]byte, error) {
	select {
	case <-time.After(s.each):
		return []byte("\xff\xd8\xff picture"), nil
	case <-ctx.Done():
		return nil, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: fmt.Errorf("read channel: %w", ctx.Err())}
	}
}

func TestMessagesDoNotWaitForSlowPictures(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "photos")
		for range 100 {
			c.Post(platform.Message{Text: "x", Media: &platform.Attachment{Kind: "photo"}, Photo: &platform.PhotoFile{}})
		}
		b.Stop()
		b.channels = New(b.DB, &slowPhotos{Channels: b.network, each: 2 * time.Second}, Config{Photos: true})
		b.Start(b.channels.Module())
		id := b.add("photos")
		b.Pass(Interval)
		if n, c := len(b.messages(id)), b.channel(id); n != 100 || c.Failures > 0 {
			t.Errorf("%d messages, %d failures: %+v", n, c.Failures, c.LastError)
		}
	})
}

func TestAnotherAccountGoesOnWithAChannel(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		c.Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		first := b.channel(id).IdentityID
		second := store.Identity{Platform: "telegram", Name: "second", Kind: store.IdentityUser, State: store.IdentityReady}
		b.Update(func(tx *store.Tx) error {
			return errors.Join(tx.Identities.Put(&second), tx.Identities.Delete(first))
		})
		b.network.Do(func() { c.Post(text("two")); c.Username = "renamed" }) // it is found by its id
		b.Pass(Interval)
		if c := b.channel(id); c.LastError.Code != store.ReasonIdentityGone {
			t.Errorf("%+v", c)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.channels.Change(tx, id, Change{IdentityID: second.ID})
			return err
		})
		b.Pass(time.Minute)
		if c := b.channel(id); b.texts(id) != "one two" || c.Failures > 0 || c.Place.Unmet {
			t.Errorf("%q, %+v", b.texts(id), c)
		}
	})
}

// The owner chooses another account while the first one reads, and may not: what that read comes to keeps nothing waiting.
func TestAnotherAccountIsChosenDuringARead(t *testing.T) {
	inBubble(t, func(b *bench) {
		c := b.network.Add(1, "news")
		c.Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		second := store.Identity{Platform: "telegram", Name: "second", Kind: store.IdentityUser, State: store.IdentityReady}
		b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&second) })
		c.Post(text("two"))
		var chosen error
		b.network.Fail = func(string, int64) error {
			if b.channel(id).IdentityID == second.ID {
				return nil
			}
			chosen = b.DB.Update(func(tx *store.Tx) error {
				_, err := b.channels.Change(tx, id, Change{IdentityID: second.ID})
				return err
			})
			return platformtest.Private()
		}
		b.Pass(Interval)
		if c := b.channel(id); chosen != nil || b.texts(id) != "one two" || c.Failures > 0 {
			t.Errorf("chosen: %v; %q, %+v", chosen, b.texts(id), c)
		}
	})
}

// stuck says of each difference that more follows, and never gives it.
type stuck struct {
	*platformtest.Channels
	asked int
}

func (s *stuck) Difference(ctx context.Context, identityID uint64, channel int64, pts int) (platform.Difference, error) {
	s.asked++
	d, err := s.Channels.Difference(ctx, identityID, channel, pts)
	d.More = true
	return d, err
}

func TestADifferenceThatStandsStillIsNoLoop(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Stop()
		network := &stuck{Channels: b.network}
		b.channels = New(b.DB, network, Config{})
		b.Start(b.channels.Module())
		c := b.network.Add(1, "news")
		c.Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		network.asked = 0
		c.Post(text("two"))
		b.Pass(time.Hour)
		if n := network.asked; b.texts(id) != "one two" || n > 30 {
			t.Errorf("Telegram was asked %d times in an hour; read %q", n, b.texts(id))
		}
	})
}

// A wait that is longer than any that is believed is cut, and not asked about again and again.
func TestAFloodWaitOfAWeekIsNoLoop(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.network.Add(1, "news")
		b.add("news")
		b.Pass(time.Minute)
		floods := 0
		b.network.Fail = func(string, int64) error {
			if floods++; floods > 500 {
				return nil
			}
			return platformtest.Flood(8 * 24 * time.Hour)
		}
		b.Pass(time.Hour)
		if floods > 10 {
			t.Errorf("Telegram was asked %d times in an hour", floods)
		}
	})
}
