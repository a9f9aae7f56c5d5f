package telegram_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

const dialogsID = "messages.getDialogs"

func ref(typ platform.ChatType, id int64) platform.ChatRef {
	return platform.ChatRef{Type: typ, ID: id}
}

func (r *room) resolve(target string) (platform.Chat, bool) {
	r.Helper()
	chat, fresh, err := r.network.Resolve(r.ctx, r.id, target)
	if err != nil {
		r.Fatalf("resolve %s: %v", target, err)
	}
	return chat, fresh
}

// unresolved resolves and returns the error, which must be of that kind.
func (r *room) unresolved(target string, kind platform.Kind, scope platform.Scope) *platform.Error {
	r.Helper()
	_, _, err := r.network.Resolve(r.ctx, r.id, target)
	e := platform.AsError(err)
	if err == nil || e.Kind != kind || e.Scope != scope {
		r.Errorf("resolve %s: got %v (%+v), want %s about %s", target, err, e, kind, scope)
	}
	return e
}

func TestARefusalSaysWhetherTelegramWasAsked(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	for target, want := range map[string]bool{"@nobody_is_here": true, "no chat": false} {
		if _, asked, err := r.network.Resolve(r.ctx, r.id, target); err == nil || asked != want {
			t.Errorf("resolve %s: asked %v, %v", target, asked, err)
		}
	}
}

func TestAUserNameIsLookedUpEachTime(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "the channel is known now"})
	before := r.srv.Calls(resolveID)
	if taken, err := r.network.Taken(r.ctx, r.id, "bells_daily"); !taken || err != nil {
		t.Errorf("the channel's name: %v, %v", taken, err)
	}
	if taken, err := r.network.Taken(r.ctx, r.id, "nobody_is_here"); taken || err != nil {
		t.Errorf("a name that nobody has: %v, %v", taken, err)
	}
	if _, err := r.network.Taken(r.ctx, r.id, "1"); platform.AsError(err).Kind != platform.Refused {
		t.Errorf("what is no name: %v", err)
	}
	r.calls(resolveID, before+3)
}

func TestAllChatsAreListed(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	for i := range 250 {
		r.srv.AddGroup(telegramtest.Group{Title: fmt.Sprintf("Group %d", i), Basic: i%2 == 0, Members: []string{"ringer"},
			Forbidden: i%25 == 0})
	}
	r.srv.AddChannel(telegramtest.Channel{Title: "Others", Username: "others", Members: []string{"ringer"}})
	r.srv.AddGroup(telegramtest.Group{Title: "Not mine"})
	chats, err := r.network.Chats(r.ctx, r.id)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]platform.Chat{}
	for _, c := range chats {
		titles[c.Title] = c
	}
	if len(chats) != 252 || len(titles) != 252 {
		t.Fatalf("%d chats with %d titles, want 252", len(chats), len(titles))
	}
	for i := range 250 {
		c := titles[fmt.Sprintf("Group %d", i)]
		want := platform.ChatChannel
		if i%2 == 0 {
			want = platform.ChatGroup
		}
		if c.Type != want || c.ID == 0 || c.Writable != (i%25 != 0) {
			t.Errorf("group %d: %+v", i, c)
		}
	}
	if c := titles["Others"]; c.Writable || c.Username != "others" {
		t.Errorf("%+v", c)
	}
	if c := titles["Bells"]; !c.Writable {
		t.Errorf("%+v", c)
	}
	if _, listed := titles["Not mine"]; listed {
		t.Error("a chat of others is listed")
	}
	if calls := r.srv.Calls(dialogsID); calls < 3 || calls > 4 {
		t.Errorf("%d pages", calls)
	}

	// All can be addressed now, without asking.
	calls := r.srv.Calls(dialogsID)
	for _, c := range chats {
		if _, fresh := r.resolve(store.PeerTarget(store.PeerType(c.Type), c.ID)); fresh {
			t.Errorf("%+v was asked for", c)
		}
	}
	r.calls(dialogsID, calls)
}

func TestAListOfChatsGoesOnAfterAWaitWhereItStopped(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	for i := range 250 {
		g := r.srv.AddGroup(telegramtest.Group{Title: fmt.Sprintf("Group %d", i), Basic: i%2 == 0, Members: []string{"ringer"}})
		r.srv.FailIn(g.ID, dialogsID, 1, 420, "FLOOD_WAIT_30") // the page that begins after it
	}
	before := r.srv.Calls(dialogsID)
	for n := 1; ; n++ {
		chats, err := r.network.Chats(r.ctx, r.id)
		if e := platform.AsError(err); err != nil && e.Kind != platform.Wait || n > 10 {
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		titles := map[string]bool{}
		for _, c := range chats {
			titles[c.Title] = true
		}
		if len(titles) < 250 || len(chats) != len(titles) {
			t.Errorf("%d chats with %d titles", len(chats), len(titles))
		}
		pages := r.srv.Calls(dialogsID) - before
		if waits := n - 1; waits < 2 || pages-waits > 4 {
			t.Errorf("%d pages and %d waits for a list of three", pages, waits)
		}
		return
	}
}

func TestHowSlowAChatIsIsKnown(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	r.srv.AddGroup(telegramtest.Group{Title: "Slow", Username: "slow_place", Members: []string{"ringer"}, Slowmode: time.Minute})
	if chat, asked := r.resolve("@slow_place"); !asked || chat.Slowmode != time.Minute {
		t.Errorf("looked up: %+v", chat)
	}
	chats, err := r.network.Chats(r.ctx, r.id)
	if i := slices.IndexFunc(chats, func(c platform.Chat) bool { return c.Title == "Slow" }); err != nil || i < 0 || chats[i].Slowmode != time.Minute {
		t.Errorf("listed: %+v, %v", chats, err)
	}
	r.srv.Fail("channels.getFullChannel", 1, 420, "FLOOD_WAIT_600")
	if _, err := r.network.Chats(r.ctx, r.id); err != nil {
		t.Errorf("without knowing it: %v", err)
	}
}

func TestListOfChatsThatHasToWaitSaysSo(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	r.srv.Fail(dialogsID, 1, 420, "FLOOD_WAIT_30")
	_, err := r.network.Chats(r.ctx, r.id)
	if e := platform.AsError(err); e.Kind != platform.Wait || e.Wait != 30*time.Second {
		t.Errorf("%v", err)
	}
	r.srv.Fail(dialogsID, 1, 420, "FLOOD_WAIT_30")
	r.unresolved("-1001500009999", platform.Wait, platform.ScopeChat)
	pages := r.srv.Calls(dialogsID)
	r.unresolved("-1001500008888", platform.Wait, platform.ScopeChat)
	r.calls(dialogsID, pages) // Telegram is not asked again before the time
	if _, err := r.network.Chats(r.ctx, r.id); err != nil {
		t.Error(err)
	}
}

func TestChatsAreFoundByEveryNotation(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	public := r.srv.AddGroup(telegramtest.Group{Title: "Public", Username: "public_place", Members: []string{"ringer"}})
	group := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ringer"}})
	basic := r.srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"ringer"}})
	friend := r.srv.AddUser(telegramtest.User{Phone: "+79990000021", Username: "friend_of_mine", FirstName: "Friend"})

	self := platform.Chat{ChatRef: ref(platform.ChatUser, u.ID), Title: "Bell Ringer", Username: "ringer", Writable: true}
	named := platform.Chat{ChatRef: ref(platform.ChatChannel, public.ID), Title: "Public", Username: "public_place", Writable: true}
	person := platform.Chat{ChatRef: ref(platform.ChatUser, friend.ID), Title: "Friend", Username: "friend_of_mine", Writable: true}
	small := platform.Chat{ChatRef: ref(platform.ChatGroup, basic.ID), Title: "Basic", Writable: true}
	super := platform.Chat{ChatRef: ref(platform.ChatChannel, group.ID), Title: "Super", Writable: true}
	for i, test := range []struct {
		target string
		want   platform.Chat
		fresh  bool
	}{
		{"me", self, false},
		{"@Public_Place", named, true},
		{"https://t.me/public_place/5", named, false},
		{"friend_of_mine", person, true},
		{fmt.Sprint(friend.ID), person, false},
		{fmt.Sprintf("-%d", basic.ID), small, true},
		{fmt.Sprint(basic.ID), small, false},
		{fmt.Sprint(group.ID), super, true},
		{fmt.Sprintf("-100%d", group.ID), super, false},
		{fmt.Sprintf("t.me/c/%d/3", group.ID), super, false},
	} {
		got, fresh := r.resolve(test.target)
		if got != test.want || fresh != test.fresh {
			t.Errorf("%d: %s: got %+v, %v", i, test.target, got, fresh)
		}
		if err := r.network.Reach(r.ctx, r.id, test.target); err != nil {
			t.Errorf("Reach(%s): %v", test.target, err)
		}
	}
	r.calls(resolveID, 2)
	pages := r.srv.Calls(dialogsID)

	// The list of chats is not asked for again and again.
	for _, target := range []string{"-1001599999999", "1599999999", "-1001599999999"} {
		r.unresolved(target, platform.Refused, platform.ScopeChat)
	}
	r.calls(dialogsID, pages)
	r.unresolved("@nobody_is_here", platform.Refused, platform.ScopeChat)
	r.unresolved("no chat", platform.Refused, platform.ScopeChat)
	r.srv.Fail(resolveID, 1, 420, "FLOOD_WAIT_60")
	r.unresolved("@somebody_else", platform.Wait, platform.ScopeChat)
}

// A plain id is a user's to a bot: that it once met a channel with that id says nothing.
func TestPlainIDOfABotIsAUser(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "x"})
	r.unresolved(fmt.Sprint(r.channel.ID), platform.Refused, platform.ScopeChat)
}

func TestInvitationNamesAChatThatTheUserIsIn(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	group := r.srv.AddGroup(telegramtest.Group{Title: "Inside", Invite: "aaaaaa", Members: []string{"ringer"}})
	r.srv.AddGroup(telegramtest.Group{Title: "Outside", Invite: "bbbbbb"})
	r.secrets = append(r.secrets, "aaaaaa")
	for i, target := range []string{"https://t.me/+aaaaaa", "t.me/joinchat/aaaaaa"} {
		if chat, fresh := r.resolve(target); chat.ID != group.ID || fresh != (i == 0) {
			t.Errorf("%s: %+v, %v", target, chat, fresh)
		}
		r.send(int64(i+1), target, "by invitation")
	}
	if n := len(r.srv.Messages(group.ID)); n != 2 {
		t.Errorf("%d messages", n)
	}
	r.calls("messages.checkChatInvite", 1)
	r.restart()
	r.srv.Fail("messages.checkChatInvite", 1, 400, "INVITE_HASH_EXPIRED") // it was revoked, and the account is in the chat
	r.send(3, "t.me/+aaaaaa", "by invitation")
	r.calls("messages.checkChatInvite", 1)
	r.srv.ClearFaults()
	if e := r.unresolved("t.me/+bbbbbb", platform.Refused, platform.ScopeChat); !strings.Contains(e.Error(), "join it first") {
		t.Errorf("%v", e)
	}
	r.unresolved("t.me/+cccccc", platform.Refused, platform.ScopeChat)
	r.srv.Fail("messages.checkChatInvite", 1, 400, "INVITE_HASH_INVALID")
	r.unresolved("t.me/+dddddd", platform.Refused, platform.ScopeChat)
}

// send publishes a text to a target.
func (r *room) send(key int64, target, text string) platform.Receipt {
	r.Helper()
	return r.mustPublish(platform.Post{Key: key, Text: text, Target: target})
}

func TestUserWritesToGroupsPeopleAndItself(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	group := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ringer"}})
	basic := r.srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"ringer"}})
	friend := r.srv.AddUser(telegramtest.User{Phone: "+79990000021", Username: "friend_of_mine", FirstName: "Friend"})
	r.file("a.png", picture(10, 10))

	for key, target := range []string{"me", "@friend_of_mine", fmt.Sprint(-basic.ID), fmt.Sprintf("-100%d", group.ID)} {
		text := r.send(int64(2*key+1), target, "text")
		again := r.send(int64(2*key+1), target, "text")
		photo := r.mustPublish(platform.Post{Key: int64(2*key + 2), Target: target, Text: "photo",
			Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}}})
		if len(text.MessageIDs) != 1 || fmt.Sprint(again) != fmt.Sprint(text) || len(photo.MessageIDs) != 1 {
			t.Errorf("%s: receipts %+v, %+v and %+v", target, text, again, photo)
		}
		if (text.Link != "") != (key == 3) {
			t.Errorf("%s: link %q", target, text.Link)
		}
	}
	for name, messages := range map[string][]telegramtest.Message{
		"saved": r.srv.PrivateMessages(u.ID, u.ID), "friend": r.srv.PrivateMessages(u.ID, friend.ID),
	} {
		if len(messages) != 2 || messages[0].Text != "text" || messages[1].Media == nil {
			t.Errorf("%s: %+v", name, messages)
		}
	}
	for name, id := range map[string]int64{"basic": basic.ID, "super": group.ID} {
		if messages := r.srv.Messages(id); len(messages) != 2 {
			t.Errorf("%s: %+v", name, messages)
		}
	}
}

func TestWhatTelegramRefusesAUserIsSorted(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	slow := r.srv.AddGroup(telegramtest.Group{Title: "Slow", Username: "slow_place", Members: []string{"ringer"}, Slowmode: time.Minute})
	closed := r.srv.AddGroup(telegramtest.Group{Title: "Closed", Username: "closed_place", Members: []string{"ringer"}, Forbidden: true})
	r.send(1, "@slow_place", "first")
	e := r.refused(platform.Post{Key: 2, Text: "second", Target: "@slow_place"}, platform.Wait, platform.ScopeChat)
	if e.Code != "SLOWMODE_WAIT" || e.Wait <= 50*time.Second || e.Wait > time.Minute {
		t.Errorf("%+v", e)
	}
	r.refused(platform.Post{Key: 3, Text: "x", Target: "@closed_place"}, platform.Refused, platform.ScopeChat)
	r.srv.FailIn(slow.ID, sendID, 1, 400, "PEER_FLOOD")
	r.refused(platform.Post{Key: 4, Text: "x", Target: "@slow_place"}, platform.Stopped, platform.ScopeIdentity)
	r.srv.Fail(sendID, 1, 420, "FLOOD_WAIT_77")
	r.refused(platform.Post{Key: 5, Text: "x"}, platform.Wait, platform.ScopeIdentity)
	if chat, fresh := r.resolve("@closed_place"); fresh || chat.ID != closed.ID {
		t.Errorf("%+v", chat)
	}
}

func TestChatThatTheUserHasLeftIsRefusedWithoutForgettingIt(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	group := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ringer"}})
	target := fmt.Sprintf("-100%d", group.ID)
	r.send(1, target, "before")
	r.srv.FailIn(group.ID, sendID, 2, 400, "CHANNEL_PRIVATE")
	pages := r.srv.Calls(dialogsID)
	if e := r.refused(platform.Post{Key: 2, Text: "x", Target: target}, platform.Refused, platform.ScopeChat); e.Code != "CHANNEL_PRIVATE" {
		t.Errorf("%v", e)
	}
	r.calls(sendID, 2)
	r.calls(dialogsID, pages)
	r.srv.ClearFaults()
	r.send(3, target, "after")
}

func TestAccessHashThatHasChangedIsLearntFromTheListOfChats(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	group := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ringer"}})
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Peers.Put(&store.Peer{IdentityID: r.id, Type: store.PeerChannel, PeerID: group.ID, AccessHash: 1, Title: "Old"})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.send(1, fmt.Sprintf("-100%d", group.ID), "found again")
	if n := len(r.srv.Messages(group.ID)); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestConnectionThatDiesAfterAUsersCallIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	r.send(1, "me", "before")
	for key := int64(2); key < 5; key++ {
		r.srv.Drop(sendID, 1)
		p := platform.Post{Key: key, Text: "once", Target: "me"}
		if _, err := r.publish(p); err != nil && platform.AsError(err).Kind != platform.Unknown {
			t.Fatalf("got %v, want unknown", err)
		}
		r.mustPublish(p)
	}
	if n := len(r.srv.PrivateMessages(u.ID, u.ID)); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
}

func TestMessagesOfOthersAreCounted(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	group := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ringer"}})
	basic := r.srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"ringer"}})
	reports := make(chan map[platform.ChatRef]int, 10)
	cfg := r.config()
	cfg.Seen = func(identityID uint64, counts map[platform.ChatRef]int) {
		if identityID == r.id {
			reports <- counts
		}
	}
	n, err := telegram.New(r.db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	telegram.SetSeenPause(n, 300*time.Millisecond)
	r.stop()
	r.run(n)
	r.connect()
	r.send(1, fmt.Sprintf("-100%d", group.ID), "mine")
	r.srv.Say(group.ID, "one")
	r.srv.Say(group.ID, "two")
	r.srv.Say(basic.ID, "three")
	total := map[platform.ChatRef]int{}
	for total[ref(platform.ChatChannel, group.ID)] < 2 || total[ref(platform.ChatGroup, basic.ID)] < 1 {
		select {
		case counts := <-reports:
			for chat, n := range counts {
				total[chat] += n
			}
		case <-r.ctx.Done():
			t.Fatalf("counted %v\n%s", total, r.log)
		}
	}
	if len(total) != 2 || total[ref(platform.ChatChannel, group.ID)] != 2 {
		t.Errorf("counted %v", total)
	}
}

func TestWhatWasSeenIsToldAtTheEndOfTheConnection(t *testing.T) {
	t.Parallel()
	var told []map[platform.ChatRef]int
	n, err := telegram.New(nil, telegram.Config{Seen: func(_ uint64, counts map[platform.ChatRef]int) { told = append(told, counts) }})
	if err != nil {
		t.Fatal(err)
	}
	message := func(peer tg.PeerClass, out bool) tg.UpdateClass {
		return &tg.UpdateNewMessage{Message: &tg.Message{PeerID: peer, Out: out}}
	}
	if err := telegram.Count(n); err != nil || told != nil {
		t.Errorf("nothing was told as %v, %v", told, err)
	}
	err = telegram.Count(n,
		&tg.UpdateShort{Update: message(&tg.PeerUser{UserID: 1}, false)},
		&tg.UpdateShort{Update: message(&tg.PeerUser{UserID: 1}, true)},
		&tg.UpdateShortMessage{UserID: 1},
		&tg.UpdateShortMessage{UserID: 1, Out: true},
		&tg.UpdateShortChatMessage{ChatID: 2},
		&tg.Updates{Updates: []tg.UpdateClass{
			message(&tg.PeerChat{ChatID: 2}, false), &tg.UpdateConfig{},
			&tg.UpdateNewChannelMessage{Message: &tg.Message{PeerID: &tg.PeerChannel{ChannelID: 3}}},
			&tg.UpdateNewChannelMessage{Message: &tg.MessageService{PeerID: &tg.PeerChannel{ChannelID: 3}}},
		}},
		&tg.UpdatesTooLong{},
	)
	want := map[platform.ChatRef]int{ref(platform.ChatUser, 1): 2, ref(platform.ChatGroup, 2): 2, ref(platform.ChatChannel, 3): 1}
	if err != nil || len(told) != 1 || !maps.Equal(told[0], want) {
		t.Errorf("told %v, %v; want %v", told, err, want)
	}
}

func TestAGroupThatHasBecomeASupergroupIsStillSentTo(t *testing.T) {
	for _, member := range []string{"bell_bot", "ringer"} {
		r := newRoom(t)
		if member == "ringer" {
			r, _ = newLoggedIn(t)
		}
		g := r.srv.AddGroup(telegramtest.Group{Title: "Clients", Basic: true, Members: []string{member}})
		target := fmt.Sprint(-g.ID)
		r.mustPublish(platform.Post{Key: 1, Text: "before", Target: target})
		to := r.srv.Migrate(g.ID, telegramtest.Group{Title: "Clients", Members: []string{member}})
		old := platform.ChatRef{Type: platform.ChatGroup, ID: g.ID}
		if e := r.refused(platform.Post{Key: 9, Text: "for the old one alone", Target: target, Chat: old}, platform.Transient, platform.ScopeChat); e.MayBeOut {
			t.Error("it may be out")
		}
		for key := range int64(2) {
			r.mustPublish(platform.Post{Key: 2 + key, Text: "after", Target: target})
		}
		if n := len(r.srv.Messages(to.ID)); n != 2 {
			t.Errorf("%s: the supergroup has %d of 2 messages", member, n)
		}
	}
}

func TestANameThatAnotherChannelHasNowIsAskedForAnew(t *testing.T) {
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	r.srv.AddChannel(telegramtest.Channel{ID: r.channel.ID, Title: "Bells, the archive"}, "bell_bot") // it stays, without the name
	fresh := r.srv.AddChannel(telegramtest.Channel{Title: "Bells", Username: "bells_daily"}, "bell_bot")
	for key := range int64(3) {
		r.mustPublish(platform.Post{Key: 2 + key, Text: "for the readers of @bells_daily"})
	}
	if n := len(r.srv.Messages(fresh.ID)); n != 2 {
		t.Errorf("@bells_daily has %d of the 2 posts that came after the first", n)
	}
}

func TestAMentionReachesUsersThatTheLoginKnows(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	friend := r.srv.AddUser(telegramtest.User{Phone: "+79990000021", Username: "friend_of_mine", FirstName: "Friend"})
	r.srv.Write(friend.ID, u.ID, "hello")
	mention := func(id int64) platform.Post {
		return platform.Post{Key: id, Text: fmt.Sprintf(`ask <a href="tg://user?id=%d">us</a>`, id), Format: platform.HTML}
	}
	for i, id := range []int64{friend.ID, u.ID} {
		r.mustPublish(mention(id))
		if m := r.messages()[i]; fmt.Sprint(spell(m.Entities)) != "[mentionname:us]" {
			t.Errorf("got %+v", m)
		}
	}
	stranger := r.srv.AddUser(telegramtest.User{Phone: "+79990000022", FirstName: "Stranger"})
	if e := r.refused(mention(stranger.ID), platform.Refused, platform.ScopeContent); !strings.Contains(e.Error(), "@name") || e.Field != "text" {
		t.Errorf("a user that the login does not know: %v", e)
	}
}
