package telegram

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gotd/td/tgerr"

	"belfry/platform"
)

// duplicatePause is how long to wait when the first call with a random id still runs.
const duplicatePause = 2 * time.Second

// sortError returns err as one of the kinds of package platform. sent says whether the call, had
// it been carried out, would have made a message: then an answer that never came leaves the
// outcome unknown, and else nothing can have happened.
//
// A context error counts as such an answer whoever's context ended: gotd reports a connection that
// died after Telegram acknowledged the call as context.Canceled, too.
func sortError(err error, sent bool) *platform.Error {
	if e, ok := errors.AsType[*platform.Error](err); ok {
		return e
	}
	lost := &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: err}
	if sent {
		lost.Kind = platform.Unknown
	}
	rpc, ok := tgerr.As(err)
	if !ok {
		if sent {
			lost.Err = worded{"Telegram did not answer: the connection broke or the time was up", err}
		}
		return lost
	}
	e := &platform.Error{Code: rpc.Type, Err: worded{words(rpc), err}}
	e.Kind, e.Scope, e.Field = kind(rpc)
	switch e.Kind {
	case platform.Wait:
		e.Wait = time.Duration(max(rpc.Argument, 1)) * time.Second
	case platform.Unknown:
		if rpc.Type == "RANDOM_ID_DUPLICATE" {
			e.Wait = duplicatePause
		}
		if !sent {
			e.Kind = platform.Transient
		}
	}
	return e
}

// kind sorts Telegram's errors by their type; the code says too little.
func kind(rpc *tgerr.Error) (platform.Kind, platform.Scope, string) {
	const text, media = "text", "media"
	switch rpc.Type {
	case "FLOOD_WAIT", "FLOOD_PREMIUM_WAIT":
		return platform.Wait, platform.ScopeIdentity, ""
	case "SLOWMODE_WAIT":
		return platform.Wait, platform.ScopeChat, ""

	case "CHANNEL_PRIVATE", "CHANNEL_INVALID", "PEER_ID_INVALID", "CHAT_ID_INVALID", "CHANNEL_PUBLIC_GROUP_NA",
		"CHAT_WRITE_FORBIDDEN", "CHAT_ADMIN_REQUIRED", "CHAT_RESTRICTED", "CHAT_GUEST_SEND_FORBIDDEN",
		"CHAT_FORBIDDEN", "TOPIC_CLOSED", "TOPIC_DELETED", "USER_IS_BLOCKED", "YOU_BLOCKED_USER",
		"INPUT_USER_DEACTIVATED", "USER_ID_INVALID", "USER_IS_BOT", "PRIVACY_PREMIUM_REQUIRED",
		"ALLOW_PAYMENT_REQUIRED", "USERNAME_NOT_OCCUPIED", "USERNAME_INVALID", "INVITE_HASH_EXPIRED",
		"INVITE_HASH_INVALID", "INVITE_HASH_EMPTY", "USER_NOT_PARTICIPANT":
		return platform.Refused, platform.ScopeChat, ""

	case "MESSAGE_TOO_LONG", "MEDIA_CAPTION_TOO_LONG", "MESSAGE_EMPTY", "ENTITY_BOUNDS_INVALID",
		"ENTITIES_TOO_LONG", "ENTITY_MENTION_USER_INVALID":
		return platform.Refused, platform.ScopeContent, text
	case "MULTI_MEDIA_TOO_LONG", "MEDIA_INVALID", "MEDIA_EMPTY", "PHOTO_INVALID_DIMENSIONS",
		"PHOTO_INVALID", "PHOTO_SAVE_FILE_INVALID", "PHOTO_EXT_INVALID", "IMAGE_PROCESS_FAILED",
		"VIDEO_CONTENT_TYPE_INVALID", "VIDEO_FILE_INVALID", "GROUPED_MEDIA_INVALID", "FILE_PARTS_INVALID":
		return platform.Refused, platform.ScopeContent, media

	case "BUTTON_DATA_INVALID", "BUTTON_TYPE_INVALID", "BUTTON_INVALID", "REPLY_MARKUP_INVALID", "REPLY_MARKUP_TOO_LONG":
		return platform.Refused, platform.ScopeContent, "buttons"
	case "MESSAGE_ID_INVALID", "MESSAGE_AUTHOR_REQUIRED", "MESSAGE_EDIT_TIME_EXPIRED":
		return platform.Refused, platform.ScopeContent, ""

	case "USER_BANNED_IN_CHANNEL": // by this chat, or by Telegram everywhere
		return platform.Refused, platform.ScopeIdentity, ""
	case "PEER_FLOOD", "USER_RESTRICTED":
		return platform.Stopped, platform.ScopeIdentity, ""

	case "AUTH_KEY_DUPLICATED", "ACCESS_TOKEN_INVALID", "ACCESS_TOKEN_EXPIRED", "API_ID_INVALID",
		"CONNECTION_API_ID_INVALID", "API_ID_PUBLISHED_FLOOD", "USER_DEACTIVATED", "USER_DEACTIVATED_BAN":
		return platform.Login, platform.ScopeIdentity, ""

	case "FILE_REFERENCE_EXPIRED", "FILE_REFERENCE_INVALID", "FILE_REFERENCE_EMPTY", "FILE_PART_MISSING",
		"FILE_ID_INVALID":
		return platform.Transient, platform.ScopeChat, ""
	case "RANDOM_ID_DUPLICATE", "MSG_WAIT_FAILED", "WORKER_BUSY_TOO_LONG_RETRY":
		return platform.Unknown, platform.ScopeChat, ""
	}
	switch {
	case strings.HasPrefix(rpc.Type, "FROZEN_"): // 420, and yet not a wait
		return platform.Stopped, platform.ScopeIdentity, ""
	case strings.HasPrefix(rpc.Type, "CHAT_SEND_") && strings.HasSuffix(rpc.Type, "_FORBIDDEN"):
		return platform.Refused, platform.ScopeChat, ""
	case rpc.Code == 401:
		return platform.Login, platform.ScopeIdentity, ""
	case rpc.Code == 420 && (rpc.Argument > 0 || strings.HasPrefix(rpc.Type, "FLOOD_WAIT_")): // a negative wait is no argument
		return platform.Wait, platform.ScopeIdentity, ""
	case rpc.Code == 403:
		return platform.Refused, platform.ScopeChat, ""
	case rpc.Code >= 400 && rpc.Code < 420:
		return platform.Refused, "", ""
	}
	return platform.Unknown, platform.ScopeChat, "" // 5xx, time-outs and what is yet to be invented
}

// words says what an error means to an owner, and what helps.
func words(rpc *tgerr.Error) string {
	switch rpc.Type {
	case "FLOOD_WAIT", "FLOOD_PREMIUM_WAIT":
		return fmt.Sprintf("Telegram asks this login to wait %d s", rpc.Argument)
	case "SLOWMODE_WAIT":
		return fmt.Sprintf("the chat is in slow mode: the next message may be sent in %d s", rpc.Argument)
	case "CHANNEL_PRIVATE", "CHANNEL_INVALID", "PEER_ID_INVALID", "CHAT_ID_INVALID", "CHANNEL_PUBLIC_GROUP_NA",
		"CHAT_FORBIDDEN", "USER_NOT_PARTICIPANT":
		return "the chat does not exist or this login is not in it: check the address and join or add it"
	case "CHAT_WRITE_FORBIDDEN", "CHAT_ADMIN_REQUIRED":
		return "this login may not post in the chat: make it an administrator that may post messages"
	case "CHAT_RESTRICTED":
		return "the administrators of the chat do not let this login write there"
	case "CHAT_GUEST_SEND_FORBIDDEN":
		return "only members may write in the chat: join it"
	case "TOPIC_CLOSED":
		return "the general topic of the group is closed: open it, or make this login an administrator"
	case "INPUT_USER_DEACTIVATED":
		return "the user has deleted their account"
	case "PRIVACY_PREMIUM_REQUIRED":
		return "the user takes messages from contacts and Telegram Premium alone"
	case "ALLOW_PAYMENT_REQUIRED":
		return "messages to this chat cost Telegram Stars"
	case "USER_IS_BOT":
		return "a bot may not write to another bot"
	case "USERNAME_NOT_OCCUPIED", "USERNAME_INVALID":
		return "there is no chat with this name: check its spelling"
	case "INVITE_HASH_EXPIRED", "INVITE_HASH_INVALID":
		return "the invitation link has expired"
	case "USER_IS_BLOCKED":
		return "the user has blocked this login"
	case "YOU_BLOCKED_USER":
		return "this login has blocked the user: unblock them first"
	case "MESSAGE_TOO_LONG":
		return fmt.Sprintf("the text is longer than %d characters: shorten it", textLimit)
	case "MEDIA_CAPTION_TOO_LONG":
		return fmt.Sprintf("the text under media is longer than %d characters: shorten it", captionLimit)
	case "MESSAGE_EMPTY":
		return "the text is empty"
	case "ENTITY_MENTION_USER_INVALID":
		return "the text mentions a user whom this login does not know: write their @name instead of the link"
	case "MESSAGE_ID_INVALID":
		return "the message is not there any more"
	case "MESSAGE_AUTHOR_REQUIRED":
		return "the message is somebody else's: only its author may edit it"
	case "MESSAGE_EDIT_TIME_EXPIRED":
		return "the message is too old to be edited: send a new one"
	case "PHOTO_INVALID_DIMENSIONS":
		return "the photo is too large or too narrow: width and height together may be 10000 pixels, one at most 20 times the other"
	case "IMAGE_PROCESS_FAILED", "PHOTO_SAVE_FILE_INVALID", "PHOTO_INVALID", "PHOTO_EXT_INVALID":
		return "Telegram cannot read the photo: use JPEG or PNG up to 10 MB, or send it as a document"
	case "VIDEO_CONTENT_TYPE_INVALID", "VIDEO_FILE_INVALID":
		return "Telegram cannot read the video: use MP4, or send it as a document"
	case "MEDIA_INVALID", "MEDIA_EMPTY":
		return "Telegram cannot read the file as a photo or video: send it as a document"
	case "USER_BANNED_IN_CHANNEL":
		return "this login is banned in the chat, or Telegram has restricted it: ask @SpamBot"
	case "PEER_FLOOD", "USER_RESTRICTED":
		return "Telegram has restricted this login: ask @SpamBot, and send nothing until it is lifted"
	case "ACCESS_TOKEN_INVALID", "ACCESS_TOKEN_EXPIRED":
		return "the bot token is not valid: get the present one from @BotFather"
	case "API_ID_INVALID", "CONNECTION_API_ID_INVALID", "API_ID_PUBLISHED_FLOOD":
		return "Telegram does not accept the API ID and hash: take both from my.telegram.org"
	case "AUTH_KEY_UNREGISTERED", "AUTH_KEY_INVALID", "AUTH_KEY_PERM_EMPTY", "AUTH_KEY_DUPLICATED",
		"SESSION_REVOKED", "SESSION_EXPIRED", "SESSION_PASSWORD_NEEDED":
		return "Telegram has ended the session: log in again"
	case "USER_DEACTIVATED", "USER_DEACTIVATED_BAN":
		return "Telegram has deactivated the account"
	case "RANDOM_ID_DUPLICATE":
		return "an earlier attempt is still running"
	}
	if strings.HasPrefix(rpc.Type, "CHAT_SEND_") {
		return "the chat lets its members send nothing of this kind: send something else, or make this login an administrator"
	}
	if strings.HasPrefix(rpc.Type, "FROZEN_") {
		return "Telegram has frozen the account"
	}
	if rpc.Code >= 500 || rpc.Code < 0 {
		return "Telegram has an internal error"
	}
	return "Telegram refuses it"
}

// worded says an error in an owner's words and keeps it for errors.Is and errors.As.
type worded struct {
	words string
	err   error
}

func (e worded) Error() string { return e.words }
func (e worded) Unwrap() error { return e.err }

// plainly is the text of err without the names of the functions that it came through.
func plainly(err error) string {
	if rpc, ok := tgerr.As(err); ok {
		return fmt.Sprintf("%s (%s)", words(rpc), rpc.Message)
	}
	return err.Error()
}
