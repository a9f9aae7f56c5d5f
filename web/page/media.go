package page

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/web/session"
	"belfry/worker/media"
)

const (
	// maxFields bounds the texts of a form with files, in bytes: a list of a rule or of a broadcast is a long one.
	maxFields = 8 << 20
	// uploaded begins the source of a file of a form that was uploaded; its id follows.
	uploaded = "upload:"
	// shownWeeks is how many weeks the growth of media is shown for; the last one stands for all before.
	shownWeeks = 9
)

// MediaConfig is what the pages of media need beside their worker.
type MediaConfig struct {
	// Send returns what answers with an uploaded file, or its thumbnail.
	Send func(db *store.DB, id uint64, thumbnail bool) (func(echo.Context), error)
	// Free is how many bytes are free on the disk; nil means that nobody knows.
	Free func() (int64, error)
}

// Media is the door to uploaded files. Forms of other pages take files through it, too.
func Media(w *media.Worker, cfg MediaConfig) Door {
	return func(server *Server, own *echo.Group) {
		s := mediaPages{server, w, cfg}
		server.receive = s.receive
		s.entry(publish, "media", "/media")
		own.GET("/media", func(c echo.Context) error { return s.showMedia(c, http.StatusOK, "") })
		own.POST("/media", s.add)
		own.POST("/media/file", s.addOne)
		server.public.GET(media.SharePath+":id/:until/:mac", s.sendShared)
		own.GET("/media/:id/file", s.send(false))
		own.GET("/media/:id/thumbnail", s.send(true))
		s.step(own, step{
			path: "/media/:id/delete", done: "media-deleted",
			ask: about(wholeFile, func(v view, f store.MediaFile) question {
				return question{nav: "/media", ask: "media.delete_ask", about: f.Name, means: v.T("media.delete_means"),
					button: "media.delete", danger: true, back: "/media"}
			}),
			outside: func(_ context.Context, id uint64) error { return w.Delete(id) },
		})
	}
}

type mediaPages struct {
	*Server
	worker *media.Worker
	cfg    MediaConfig
}

// receive takes a file of a request.
func (s mediaPages) receive(c echo.Context, name, claimed string, from io.Reader) (store.MediaFile, error) {
	return s.worker.Add(c.Request().Context(), name, claimed, from)
}

func (s mediaPages) send(thumbnail bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		number, err := strconv.ParseUint(c.Param("id"), 10, 64)
		if err != nil {
			return echo.ErrNotFound
		}
		answer, err := s.cfg.Send(s.DB, number, thumbnail)
		if err != nil {
			return err
		}
		answer(c)
		return nil
	}
}

// sendShared answers with a file whose path a network was given.
func (s mediaPages) sendShared(c echo.Context) error {
	id, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil || !s.worker.IsShared(id, c.Param("until"), c.Param("mac")) {
		return echo.ErrNotFound
	}
	return s.send(false)(c)
}

// addOne takes a file that the script of a form sends, and answers with its row of the form.
func (s mediaPages) addOne(c echo.Context) error {
	_, given, _ := mime.ParseMediaType(c.Request().Header.Get("Content-Disposition"))
	f, err := s.receive(c, given["filename"], c.Request().Header.Get("Content-Type"), c.Request().Body)
	v := s.view(c)
	if said := v.refusal(err); said != "" {
		return c.String(http.StatusUnprocessableEntity, said)
	}
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, v.mediaItem(newForm(nil), 0, store.Media{Kind: f.Kind, ID: f.ID}))
}

// add takes the files of the page's own form.
func (s mediaPages) add(c echo.Context) error {
	f, err := s.readMediaForm(c)
	switch {
	case err != nil:
		return err
	case f.wrong["media"] != "":
		return s.showMedia(c, http.StatusUnprocessableEntity, f.wrong["media"])
	case len(f.content().Media) == 0:
		return s.showMedia(c, http.StatusUnprocessableEntity, s.view(c).T("media.none_chosen"))
	}
	return did(c, "/media", "media-added")
}

// mediaRoom is what the files take of the disk, in bytes.
type mediaRoom struct {
	media, file, free int64
	weeks             []mediaWeek
}

// mediaWeek is what was uploaded in a week and is kept; from is zero for the time before the other ones.
type mediaWeek struct {
	from  time.Time
	files int
	bytes int64
}

// weeks are this week and those before, which begin on Mondays.
func (v view) weeks() []mediaWeek {
	weeks, now := make([]mediaWeek, shownWeeks), v.Now.In(v.Zone)
	for i := range shownWeeks - 1 {
		weeks[i].from = i18n.StartOfDay(now.Year(), now.Month(), now.Day()-(int(now.Weekday())+6)%7-7*i, v.Zone)
	}
	return weeks
}

func (s mediaPages) showMedia(c echo.Context, status int, wrong string) error {
	v := s.view(c)
	var list store.Page[store.MediaFile]
	var users map[uint64]store.MediaUser
	room := mediaRoom{free: -1, weeks: v.weeks()}
	err := s.DB.View(func(tx *store.Tx) (err error) {
		for f := range tx.Media.Ready() {
			room.media += f.Size
			week := &room.weeks[slices.IndexFunc(room.weeks, func(w mediaWeek) bool { return !f.CreatedAt.Before(w.from) })]
			week.files, week.bytes = week.files+1, week.bytes+f.Size
		}
		users, room.file = tx.Media.Users(), tx.Size()
		list, err = tx.Media.Newest(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		return err
	})
	if err != nil {
		return err
	}
	if s.cfg.Free != nil {
		if room.free, err = s.cfg.Free(); err != nil {
			room.free = -1
		}
	}
	v.path = "/media"
	return s.show(c, status, v, screen{nav: "/media", title: v.T("media.title"), body: v.mediaBody(list, users, room, s.worker.Max(), wrong)})
}

func wholeFile(tx *store.Tx, id uint64) (store.MediaFile, error) { return tx.Media.Whole(id) }

// readMediaForm is [readForm] for a form that files may come with: they are kept, and named by its fields. What is
// wrong with one stands at the field media.
func (s *Server) readMediaForm(c echo.Context) (f form, err error) {
	stream := session.Streamed(c)
	if stream == nil {
		f, err = readForm(c)
		f.arrangeMedia()
		return f, err
	}
	v := s.view(c)
	f = newForm(stream.Begun)
	for left := int64(maxFields); ; {
		part, err := stream.Rest.NextPart()
		if errors.Is(err, io.EOF) {
			f.arrangeMedia()
			return f, nil
		}
		if err != nil {
			return f, echo.ErrBadRequest
		}
		if part.FormName() == "upload" {
			if err := s.takeFile(c, v, f, part.FileName(), part.Header.Get("Content-Type"), part); err != nil {
				return f, err
			}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, left+1))
		if left -= int64(len(text)); err != nil || left < 0 {
			return f, echo.ErrStatusRequestEntityTooLarge
		}
		if !utf8.Valid(text) || strings.Contains(string(text), "\x00") {
			return f, store.Invalid(strings.ToValidUTF8(part.FormName(), "?"), "invalid.not_text")
		}
		f.values.Add(part.FormName(), string(text))
	}
}

// takeFile keeps a file of a form. A browser sends an empty one where none was chosen.
func (s *Server) takeFile(c echo.Context, v view, f form, name, claimed string, from io.Reader) error {
	if name == "" || s.receive == nil {
		return nil
	}
	file, err := s.receive(c, name, claimed, from)
	if said := v.refusal(err); said != "" {
		f.wrong["media"] = name + ": " + said
		return nil
	}
	if err == nil {
		f.values.Add("media_kind", file.Kind)
		f.values.Add("media_source", uploaded+id(file.ID))
	}
	return err
}

// arrangeMedia carries out the button of a row: media-left-2, media-right-2 or media-remove-2, for the third.
func (f form) arrangeMedia() {
	how, number, _ := strings.Cut(strings.TrimPrefix(f.get("do"), "media-"), "-")
	i, err := strconv.Atoi(number)
	all := f.content().Media
	if err != nil || !strings.HasPrefix(f.get("do"), "media-") || i < 0 || i >= len(all) {
		return
	}
	switch {
	case how == "remove":
		all = append(all[:i], all[i+1:]...)
	case how == "left" && i > 0:
		all[i-1], all[i] = all[i], all[i-1]
	case how == "right" && i+1 < len(all):
		all[i], all[i+1] = all[i+1], all[i]
	}
	f.setMedia(all)
}

func (f form) setMedia(all []store.Media) {
	f.values.Del("media_kind")
	f.values.Del("media_source")
	f.values.Del("media_name")
	for _, m := range all {
		f.values.Add("media_kind", m.Kind)
		f.values.Add("media_source", mediaSource(m))
		if m.Name != "" {
			f.values.Add("media_name", mediaName(m))
		}
	}
}

// mediaSource is how a form names a file.
func mediaSource(m store.Media) string {
	if m.ID != 0 {
		return uploaded + id(m.ID)
	}
	return m.URL + m.File
}

// mediaName is how a form carries the name that a file is sent under.
func mediaName(m store.Media) string { return url.Values{mediaSource(m): {m.Name}}.Encode() }

// bytes says how large something is.
func (v view) bytes(n int64) string {
	switch {
	case n >= 10<<30:
		return v.T("media.gb", int(n>>30))
	case n >= 1<<20:
		return v.T("media.mb", int(n>>20))
	}
	return v.T("media.kb", int((n+1023)>>10))
}

// picture is the path of what shows a file; empty if nothing does.
func picture(f store.MediaFile) string {
	if !f.Thumbnail {
		return ""
	}
	return "/media/" + id(f.ID) + "/thumbnail"
}

// mediaName says which file a post has.
func (v view) mediaName(m store.Media) string {
	if m.ID != 0 {
		return v.shownFile(m.ID).Name
	}
	return m.URL + m.File
}

// shownFile returns an uploaded file; one that is gone has a name that says so.
func (v view) shownFile(number uint64) store.MediaFile {
	f, err := fetch(v.server, func(tx *store.Tx) (store.MediaFile, error) { return wholeFile(tx, number) })
	if err != nil {
		f.Name = v.T("media.gone")
	}
	f.Kind = cmp.Or(f.Kind, "document")
	return f
}
