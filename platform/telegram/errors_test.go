package telegram_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/telegram/telegramtest"
)

func TestErrorsAreSortedByWhatToDoAboutThem(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "resolve"})
	tests := []struct {
		code    int
		message string
		kind    platform.Kind
		scope   platform.Scope
		wait    time.Duration
		field   string
	}{
		{420, "FLOOD_WAIT_7", platform.Wait, platform.ScopeIdentity, 7 * time.Second, ""},
		{420, "FLOOD_PREMIUM_WAIT_3600", platform.Wait, platform.ScopeIdentity, time.Hour, ""},
		{420, "SLOWMODE_WAIT_30", platform.Wait, platform.ScopeChat, 30 * time.Second, ""},
		{403, "CHAT_WRITE_FORBIDDEN", platform.Refused, platform.ScopeChat, 0, ""},
		{400, "CHAT_ADMIN_REQUIRED", platform.Refused, platform.ScopeChat, 0, ""},
		{403, "CHAT_SEND_PLAIN_FORBIDDEN", platform.Refused, platform.ScopeChat, 0, ""},
		{403, "ALLOW_PAYMENT_REQUIRED_5", platform.Refused, platform.ScopeChat, 0, ""},
		{400, "USER_IS_BLOCKED", platform.Refused, platform.ScopeChat, 0, ""},
		{400, "TOPIC_CLOSED", platform.Refused, platform.ScopeChat, 0, ""},
		{400, "MESSAGE_TOO_LONG", platform.Refused, platform.ScopeContent, 0, "text"},
		{400, "ENTITY_BOUNDS_INVALID", platform.Refused, platform.ScopeContent, 0, "text"},
		{400, "BALANCE_TOO_LOW", platform.Refused, "", 0, ""}, // not listed: about the chat, for all that is known
		{400, "PEER_FLOOD", platform.Stopped, platform.ScopeIdentity, 0, ""},
		{400, "USER_BANNED_IN_CHANNEL", platform.Refused, platform.ScopeIdentity, 0, ""},
		{420, "FROZEN_METHOD_INVALID", platform.Stopped, platform.ScopeIdentity, 0, ""},
		{500, "WORKER_BUSY_TOO_LONG_RETRY", platform.Unknown, platform.ScopeChat, 0, ""},
		{400, "MSG_WAIT_FAILED", platform.Unknown, platform.ScopeChat, 0, ""},
		{500, "INTERNAL", platform.Unknown, platform.ScopeChat, 0, ""},
		{-503, "Timeout", platform.Unknown, platform.ScopeChat, 0, ""},
	}
	for i, test := range tests {
		r.srv.Fail(sendID, 1, test.code, test.message)
		began := time.Now()
		e := r.refused(platform.Post{Key: int64(100 + i), Text: "x"}, test.kind, test.scope)
		if e.Wait != test.wait || e.Field != test.field {
			t.Errorf("%s: wait %s and field %q, want %s and %q", test.message, e.Wait, e.Field, test.wait, test.field)
		}
		if words := e.Error(); test.code >= 500 && strings.Contains(words, "refuses") {
			t.Errorf("an error of Telegram's own is called a refusal: %s", words)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s: it was slept through for %s", test.message, took)
		}
	}
	r.only()
}

func TestARefusalSaysWhatIsWrongAndWhatHelps(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i, message := range []string{"CHAT_SEND_PHOTOS_FORBIDDEN", "CHAT_SEND_PLAIN_FORBIDDEN", "CHAT_RESTRICTED", "CHAT_GUEST_SEND_FORBIDDEN",
		"CHAT_FORBIDDEN", "TOPIC_CLOSED", "INPUT_USER_DEACTIVATED", "PRIVACY_PREMIUM_REQUIRED", "ALLOW_PAYMENT_REQUIRED_5", "USER_IS_BOT"} {
		r.srv.Fail(sendID, 1, 403, message)
		words := r.refused(platform.Post{Key: int64(i + 1), Text: "x"}, platform.Refused, platform.ScopeChat).Error()
		if strings.Contains(words, "refuses it") {
			t.Errorf("%s: %s", message, words)
		}
	}
	r.file("a.mp4", film(1000))
	for i, message := range []string{"VIDEO_FILE_INVALID", "VIDEO_CONTENT_TYPE_INVALID", "MEDIA_INVALID", "MEDIA_EMPTY"} {
		r.srv.Fail("messages.sendMedia", 1, 400, message)
		words := r.refused(platform.Post{Key: int64(i + 100), Media: []platform.Media{{Kind: platform.Video, File: "a.mp4"}}},
			platform.Refused, platform.ScopeContent).Error()
		if !strings.Contains(words, "as a document") {
			t.Errorf("%s: %s", message, words)
		}
	}
}

func TestErrorBeforeTheMessageIsSentIsNotAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.Fail(resolveID, 1, 500, "INTERNAL")
	r.refused(platform.Post{Key: 1, Text: "x"}, platform.Transient, platform.ScopeChat)
	r.calls(sendID, 0)
}

// For looking names up Telegram wants the longest waits. What goes to chats that are known needs none.
func TestWaitForLookingANameUpIsOneOfThatChat(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "makes the chat known"})
	r.srv.Fail(resolveID, 1, 420, "FLOOD_WAIT_60000")
	for i, name := range []string{"@some_name", "@another_name"} { // the second time Telegram is not asked
		e := r.refused(platform.Post{Key: int64(i + 2), Text: "x", Target: name}, platform.Wait, platform.ScopeChat)
		if e.Wait > 60000*time.Second || e.Wait < 59000*time.Second || e.Field != "target" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	r.calls(resolveID, 2)
	r.mustPublish(platform.Post{Key: 4, Text: "to the chat that is known"})
	r.calls(resolveID, 2)
}

func TestAMissingMediaFileIsNamedInPlainWords(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	e := r.refused(platform.Post{Key: 1, Text: "x", Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}}},
		platform.Refused, platform.ScopeContent)
	if words := e.Error(); !strings.Contains(words, "has no file a.png") || strings.Contains(words, "statat") {
		t.Error(words)
	}
}

func TestChatThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for _, target := range []string{"@nobody_is_here", "-1009999999999", "t.me/+abcdef", "not a chat"} {
		r.refused(platform.Post{Key: 1, Text: "x", Target: target}, platform.Refused, platform.ScopeChat)
		e := platform.AsError(r.network.Reach(r.ctx, r.id, target))
		if e.Kind != platform.Refused || e.Field != "target" && e.Code == "" {
			t.Errorf("Reach(%q): %+v", target, e)
		}
	}
	r.calls(sendID, 0)
}

func TestALinkToATopicIsRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	forum := r.srv.AddGroup(telegramtest.Group{Title: "Forum", Username: "the_forum", Forum: true, Members: []string{"bell_bot"}})
	plain := r.srv.AddGroup(telegramtest.Group{Title: "Group", Username: "the_group", Members: []string{"bell_bot"}})
	for range 2 { // the second time it is known
		for target, wrong := range map[string]bool{
			"t.me/the_forum/5": true, fmt.Sprintf("https://t.me/c/%d/5/67", forum.ID): true, "https://t.me/the_forum": false,
			"t.me/the_forum/1": false, "t.me/the_group/5": false, fmt.Sprintf("t.me/c/%d/5", plain.ID): false, "t.me/bells_daily/5": false,
		} {
			if err := r.network.Reach(r.ctx, r.id, target); (err != nil) != wrong || err != nil && platform.AsError(err).Field != "target" {
				t.Errorf("%s: %v", target, err)
			}
		}
	}
	// Where Telegram could not be asked when the post was made, nothing has refused it before.
	e := r.refused(platform.Post{Key: 1, Text: "x", Target: "t.me/the_forum/5"}, platform.Refused, platform.ScopeChat)
	if e.Field != "target" {
		t.Errorf("publish: %+v", e)
	}
	r.mustPublish(platform.Post{Key: 2, Text: "x", Target: "t.me/the_group/5"})
}

func TestReachAsksOnceAndNoticesThatTheBotMayNotPost(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.AddChannel(telegramtest.Channel{Title: "Others", Username: "others", Members: []string{"bell_bot"}})
	if e := platform.AsError(r.network.Reach(r.ctx, r.id, "@others")); e.Kind != platform.Refused || e.Scope != platform.ScopeChat {
		t.Errorf("Reach: %v", e)
	}
	for range 3 {
		if err := r.network.Reach(r.ctx, r.id, "@bells_daily"); err != nil {
			t.Error(err)
		}
	}
	r.mustPublish(platform.Post{Key: 1, Text: "known already"})
	r.calls(resolveID, 2)
}

func TestStoredPeerThatTelegramRejectsIsResolvedOnceMore(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	r.srv.RemoveChannel(r.channel.ID)
	r.channel = r.srv.AddChannel(telegramtest.Channel{ID: 4711, Title: "Bells again", Username: "bells_daily"}, "bell_bot")
	r.mustPublish(platform.Post{Key: 2, Text: "the name has moved"})
	r.calls(resolveID, 2)

	r.srv.RemoveChannel(r.channel.ID)
	r.refused(platform.Post{Key: 3, Text: "gone"}, platform.Refused, platform.ScopeChat)
	r.calls(resolveID, 3)
}
