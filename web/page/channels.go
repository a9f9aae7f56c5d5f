package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/platform"
	"belfry/store"
	"belfry/worker/channels"
	"belfry/worker/search"
)

// maxPasted is how many channels are added at once: Telegram lets an account look up only so many names in a day.
const maxPasted = 100

// Channels is the door to channels that are read.
func Channels(w *channels.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := channelPages{server, w}
		s.entry(read, "channels", "/channels")
		s.canMake("channel", "/channels/new")
		s.live(g, "/channels", s.list)
		g.GET("/channels/new", func(c echo.Context) error { return s.showAdd(c, http.StatusOK, newForm(c.QueryParams())) })
		g.POST("/channels/new", s.sent(s.add))
		s.live(g, "/channels/:id", s.channel)
		s.buttons(g, "/channels/:id", s.channel, map[string]button{
			"pause": {"channel-paused", act(server, w.Pause)}, "resume": {"channel-resumed", act(server, w.Resume)}, "run": {"channel-read", act(server, w.ReadNow)},
		})
		g.POST("/channels/:id/change", s.sent(s.change))
		s.step(g, step{
			path: "/channels/:id/remove", done: "channel-removed",
			ask: about(channels.Get, func(v view, c store.Channel) question {
				return question{
					nav: "/channels", ask: "channels.remove_ask", about: c.Name(), means: v.T("channels.remove_means"), button: "channels.remove",
					danger: true, back: channelPath(c.ID), then: "/channels",
				}
			}),
			act: w.Remove,
		})
	}
}

type channelPages struct {
	*Server
	worker *channels.Worker
}

func channelPath(n uint64) string { return "/channels/" + id(n) }

// list is the list of channels.
func (s channelPages) list(v view) (screen, error) {
	var rows []channels.Status
	var next string
	err := s.DB.View(func(tx *store.Tx) error {
		list, err := tx.Channels.ByName(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		if err != nil {
			return err
		}
		next = list.Next
		rows, err = each(tx, list.Items, s.worker.StatusOf)
		return err
	})
	return screen{nav: "/channels", title: v.T("nav.channels"), body: v.channelsBody(), parts: []part{{"list", v.channelList(rows, next)}}}, err
}

// channel is one channel with its messages.
func (s channelPages) channel(v view) (screen, error) {
	number := v.number()
	var status channels.Status
	var account store.Identity
	var accounts []store.Identity
	var list store.Page[store.Message]
	var related []search.Related
	var tags []search.Count
	err := s.DB.View(func(tx *store.Tx) error {
		c, err := channels.Get(tx, number)
		if err != nil {
			return err
		}
		if status, err = s.worker.StatusOf(tx, c); err != nil {
			return err
		}
		account, _ = tx.Identities.Get(c.IdentityID) // it may be gone, which the channel's error says
		accounts = channels.Accounts(tx)
		if related, tags, err = search.RelatedTo(tx, number); err != nil {
			return err
		}
		list, err = tx.Messages.List(store.MessageFilter{ChannelID: number}, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	return screen{nav: "/channels", title: status.Name(), body: v.channelBody(status, accounts), parts: []part{
		{"facts", v.channelFacts(status, account)}, {"related", v.channelRelated(number, related, tags)}, {"messages", v.channelMessages(status.Channel, list)},
	}}, err
}

// channelState is the class and the name of a channel's state.
func (v view) channelState(s channels.Status) (class, name string) {
	class = map[string]string{
		channels.Fresh: "is-scheduled", channels.Late: "is-held", channels.Failing: "is-failed", channels.Never: "id-new", channels.Paused: "job-paused",
	}[s.Freshness]
	return class, v.T("channels.state." + s.Freshness)
}

// channelWhy is what an owner should know about a channel that is not read as usual.
func (v view) channelWhy(s channels.Status) string {
	if s.Failures > 0 {
		return v.why(s.LastError)
	}
	if s.Why.Code == store.ReasonRequested {
		return ""
	}
	return v.why(s.Why)
}

// cites says how often a channel refers to another one.
func (v view) cites(r search.Related) string {
	var all []string
	if r.Forwards > 0 {
		all = append(all, v.T("channels.forwards", r.Forwards))
	}
	if r.Links > 0 {
		all = append(all, v.T("channels.links", r.Links))
	}
	if r.Mentions > 0 {
		all = append(all, v.T("channels.mentions", r.Mentions))
	}
	return strings.Join(all, ", ")
}

// messageText is the beginning of a message, or what it is instead.
func (v view) messageText(m store.Message) string {
	switch {
	case m.Service != "":
		return v.T("channels.service", m.Service)
	case m.Unreadable != "" && m.Date.IsZero():
		return v.T("channels.unreadable")
	case m.Text == "" && m.Media.Has():
		return v.T("channels.media", m.Media.Kind)
	}
	return shorten(m.Text, 400)
}

// change changes the interval of a channel, or the account that reads it.
func (s channelPages) change(c echo.Context, v view, f form) error {
	number, every := v.number(), minutes(f.get("interval"))
	err := s.DB.Update(func(tx *store.Tx) error {
		return failure(s.worker.Change(tx, number, channels.Change{Interval: &every, IdentityID: f.number("identity_id")}))
	})
	v.path = channelPath(number)
	if err == nil {
		return did(c, v.path, "channel-changed")
	}
	if v.wrong = v.refusal(err); v.wrong == "" {
		return err
	}
	return s.showPage(c, http.StatusUnprocessableEntity, v, s.channel)
}

// minutes is a number of minutes, or a duration such as 30s, as the API takes it.
func minutes(s string) string {
	if n, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64); err == nil {
		return time.Duration(n * float64(time.Minute)).String()
	}
	return s
}

// showAdd shows the form that adds channels. With from=dialogs it offers those that the account is in.
func (s channelPages) showAdd(c echo.Context, status int, f form) error {
	v := s.view(c)
	accounts, err := fetch(s.Server, func(tx *store.Tx) ([]store.Identity, error) { return channels.Accounts(tx), nil })
	if err != nil {
		return err
	}
	if f.get("interval") == "" {
		f.values.Set("interval", strconv.Itoa(int(channels.Interval/time.Minute)))
	}
	if f.get("days") == "" {
		f.values.Set("days", "7")
	}
	var chats []platform.Chat
	if f.get("from") == "dialogs" {
		allowTime(c)
		if chats, err = s.worker.Chats(c.Request().Context(), f.number("identity_id")); err != nil && !f.refuse(v, err, "identity_id") {
			return err
		}
	}
	f.prepare("")
	return s.show(c, status, v, screen{nav: "/channels", title: v.T("channels.add"), form: "channels", body: v.addChannelsBody(f, accounts, chats)})
}

// add adds the channels that were typed and ticked. What is refused stays in the form, with its reason.
func (s channelPages) add(c echo.Context, v view, f form) error {
	names := append(strings.FieldsFunc(f.get("list"), func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }), f.values["pick"]...)
	f.values.Set("list", strings.Join(names, "\n")) // the chats that were ticked are not offered again
	f.values.Del("pick")
	if f.onlyShow() {
		return s.showAdd(c, http.StatusOK, f)
	}
	if len(names) > maxPasted {
		f.refuse(v, store.Invalid("list", "invalid.channels_many", maxPasted), "list")
		return s.showAdd(c, http.StatusUnprocessableEntity, f)
	}
	if len(names) == 0 {
		f.refuse(v, store.Invalid("channel", "invalid.channel_empty"), "channel:list")
		return s.showAdd(c, http.StatusUnprocessableEntity, f)
	}
	days, err := strconv.ParseFloat(strings.Replace(f.get("days"), ",", ".", 1), 64)
	if err != nil || days < 0 || days > 3650 {
		f.refuse(v, store.Invalid("days", "invalid.channel_days"), "days")
		return s.showAdd(c, http.StatusUnprocessableEntity, f)
	}
	allowTime(c)
	since := v.Now.Add(-time.Duration(days * float64(24*time.Hour)))
	var wrong, left []string
	for _, name := range names {
		err := s.addOne(c.Request().Context(), channels.Request{Channel: name, IdentityID: f.number("identity_id"), Interval: minutes(f.get("interval")), Since: since})
		if err == nil {
			continue
		}
		said := v.refusal(err)
		if said == "" {
			return err
		}
		if field := fieldOf(err); field == "interval" || field == "identity_id" { // the same for all of them
			f.refuse(v, err, "interval", "identity_id")
			left = names
			break
		}
		wrong, left = append(wrong, fmt.Sprintf("%s: %s", name, said)), append(left, name)
	}
	if len(left) == 0 {
		return did(c, "/channels", "channels-added")
	}
	f.values.Set("list", strings.Join(left, "\n"))
	if len(wrong) > 0 {
		f.wrong["list"] = strings.Join(wrong, "\n")
	}
	return s.showAdd(c, http.StatusUnprocessableEntity, f)
}

func (s channelPages) addOne(ctx context.Context, r channels.Request) error {
	d, err := s.worker.Prepare(ctx, r)
	if err != nil {
		return err
	}
	return s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Create(tx, d)) })
}

// accountOptions are the accounts to choose from.
func accountOptions(accounts []store.Identity) (list []option) {
	for _, a := range accounts {
		list = append(list, option{id(a.ID), a.Name})
	}
	return list
}

// chatTarget is what a chat is called when it is added.
func chatTarget(c platform.Chat) string { return store.PeerTarget(store.PeerType(c.Type), c.ID) }
