package telegram_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/abema/go-mp4"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
)

func picture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// film begins like an MP4 and is as long as wanted.
func film(size int) []byte {
	return append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), size/4)...)
}

// mp4Film is a film of a phone that was held upright: 640 by 480 pixels as it lies in the file, 12.5 s long.
func mp4Film(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film.mp4")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := mp4.NewWriter(f)
	box := func(kind mp4.BoxType, inside func() error) error {
		if _, err := w.StartBox(&mp4.BoxInfo{Type: kind}); err != nil {
			return err
		}
		err := inside()
		_, end := w.EndBox()
		return errors.Join(err, end)
	}
	payload := func(b mp4.IImmutableBox) func() error {
		return func() error { _, err := mp4.Marshal(w, b, mp4.Context{}); return err }
	}
	err = errors.Join(
		box(mp4.BoxTypeFtyp(), payload(&mp4.Ftyp{MajorBrand: [4]byte{'m', 'p', '4', '2'}})),
		box(mp4.BoxTypeMdat(), payload(&mp4.Mdat{Data: bytes.Repeat([]byte("film"), 1<<18)})),
		box(mp4.BoxTypeMoov(), func() error {
			return errors.Join(
				box(mp4.BoxTypeMvhd(), payload(&mp4.Mvhd{Timescale: 1000, DurationV0: 12500})),
				box(mp4.BoxTypeTrak(), func() error {
					return box(mp4.BoxTypeTkhd(), payload(&mp4.Tkhd{Width: 640 << 16, Height: 480 << 16, Matrix: [9]int32{0, 1 << 16, 0, -1 << 16}}))
				}),
				box(mp4.BoxTypeTrak(), func() error { return box(mp4.BoxTypeTkhd(), payload(&mp4.Tkhd{Matrix: [9]int32{1 << 16}})) }),
			)
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (r *room) file(name string, content []byte) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.media, name), content, 0o600); err != nil {
		r.Fatal(err)
	}
}

func checkMedia(t *testing.T, m *telegramtest.Media, kind, name string, content []byte) {
	t.Helper()
	if m == nil {
		t.Fatal("the message has no media")
	}
	sum := sha256.Sum256(content)
	if m.Kind != kind || m.Name != name || m.Size != int64(len(content)) || m.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("media %+v, want a %s called %q of %d bytes", m, kind, name, len(content))
	}
}

func TestMediaArriveFromFilesAndAddresses(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	files := map[string][]byte{
		"photo.png":  picture(60, 40),
		"unsplash-1": picture(60, 40),
		"film.mp4":   film(3 << 20),
		"report.txt": []byte("all is well"),
		"large.bin":  bytes.Repeat([]byte("0123456789abcdef"), 11<<20/16),
		"even.bin":   bytes.Repeat([]byte("0123456789abcdef"), 1<<20/16),
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := filepath.Base(req.URL.Path)
		if req.URL.Query().Has("chunked") { // no Content-Length
			w.(http.Flusher).Flush()
		}
		w.Write(files[name])
	}))
	defer web.Close()
	for name, content := range files {
		r.file(name, content)
	}
	tests := []struct {
		media platform.Media
		kind  string
		name  string // that readers see
		file  string
	}{
		{platform.Media{Kind: platform.Photo, File: "photo.png"}, "photo", "", "photo.png"},
		{platform.Media{Kind: platform.Video, File: "film.mp4"}, "video", "film.mp4", "film.mp4"},
		{platform.Media{Kind: platform.Document, File: "report.txt", Name: "Report.txt"}, "document", "Report.txt", "report.txt"},
		{platform.Media{Kind: platform.Document, File: "large.bin"}, "document", "large.bin", "large.bin"},
		{platform.Media{Kind: platform.Photo, URL: web.URL + "/photo.png"}, "photo", "", "photo.png"},
		{platform.Media{Kind: platform.Photo, URL: web.URL + "/photo.png?chunked"}, "photo", "", "photo.png"},
		{platform.Media{Kind: platform.Photo, URL: web.URL + "/unsplash-1?w=600"}, "photo", "", "unsplash-1"},
		{platform.Media{Kind: platform.Video, URL: web.URL + "/film.mp4"}, "video", "film.mp4", "film.mp4"},
		{platform.Media{Kind: platform.Document, URL: web.URL + "/even.bin?chunked"}, "document", "even.bin", "even.bin"},
		{platform.Media{Kind: platform.Document, URL: web.URL + "/large.bin?chunked"}, "document", "large.bin", "large.bin"},
	}
	for i, test := range tests {
		if _, err := r.network.Check(platform.Post{Target: "bells_daily", Media: []platform.Media{test.media}}); err != nil {
			t.Errorf("%+v: Check: %v", test.media, err)
		}
		r.mustPublish(platform.Post{Key: int64(i + 1), Text: "<b>look</b>", Format: platform.HTML,
			Media: []platform.Media{test.media}, Silent: true})
		m := r.messages()[i]
		checkMedia(t, m.Media, test.kind, test.name, files[test.file])
		if m.Text != "look" || len(m.Entities) != 1 || !m.Silent {
			t.Errorf("%+v: caption %q %v, silent %t", test.media, m.Text, m.Entities, m.Silent)
		}
		if test.kind == "video" && !m.Media.SupportsStreaming {
			t.Error("the video cannot be streamed")
		}
	}
}

// Telegram shows a large video of which it is told nothing as a square.
func TestAVideoIsShownAsItWasFilmed(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	film := mp4Film(t)
	r.file("film.mp4", film)
	id := r.upload("film.mp4", "video", film)
	for i, m := range []platform.Media{{Kind: platform.Video, File: "film.mp4"}, {Kind: platform.Video, ID: id}} {
		r.mustPublish(platform.Post{Key: int64(i + 1), Media: []platform.Media{m}})
		got := r.messages()[i].Media
		checkMedia(t, got, "video", "film.mp4", film)
		if got.Width != 480 || got.Height != 640 || got.Duration != 12.5 {
			t.Errorf("%+v: %d × %d pixels, %v s", m, got.Width, got.Height, got.Duration)
		}
	}
}

func TestUploadedMediaArrive(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	files := map[string][]byte{"a.png": picture(60, 40), "large.bin": bytes.Repeat([]byte("0123456789abcdef"), 11<<20/16)}
	ids := map[string]uint64{"a.png": r.upload("a.png", "photo", files["a.png"]), "large.bin": r.upload("large.bin", "document", files["large.bin"])}
	r.mustPublish(platform.Post{Key: 1, Media: []platform.Media{{Kind: platform.Photo, ID: ids["a.png"]}, {Kind: platform.Photo, ID: ids["a.png"]}}})
	r.mustPublish(platform.Post{Key: 2, Media: []platform.Media{{Kind: platform.Document, ID: ids["large.bin"], Name: "Report.bin"}}})
	m := r.messages()
	checkMedia(t, m[0].Media, "photo", "", files["a.png"])
	checkMedia(t, m[1].Media, "photo", "", files["a.png"])
	checkMedia(t, m[2].Media, "document", "Report.bin", files["large.bin"])
	if err := r.db.RemoveMedia(ids["a.png"]); err != nil {
		t.Fatal(err)
	}
	gone := platform.Post{Key: 3, Target: "bells_daily", Media: []platform.Media{{Kind: platform.Photo, ID: ids["a.png"]}}}
	if _, err := r.network.Check(gone); platform.AsError(err).Field != "media[0].id" || platform.AsError(err).Kind != platform.Refused {
		t.Errorf("Check of a file that was deleted: %v", err)
	}
	if _, err := r.publish(gone); platform.AsError(err).Field != "media[0].id" || platform.AsError(err).Kind != platform.Refused {
		t.Errorf("a file that was deleted: %v", err)
	}
}

func TestAlbumIsOneGroupWithTheTextAtItsFirstItem(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(10, 10))
	r.file("b.png", picture(20, 10))
	r.file("c.mp4", film(100))
	receipt := r.mustPublish(platform.Post{Key: 1, Text: "*three*", Format: platform.Markdown, Media: []platform.Media{
		{Kind: platform.Photo, File: "a.png"}, {Kind: platform.Photo, File: "b.png"}, {Kind: platform.Video, File: "c.mp4"},
	}})
	m := r.messages()
	if len(m) != 3 || len(receipt.MessageIDs) != 3 {
		t.Fatalf("%d messages and receipt %+v, want 3", len(m), receipt)
	}
	checkMedia(t, m[0].Media, "photo", "", picture(10, 10))
	checkMedia(t, m[1].Media, "photo", "", picture(20, 10))
	checkMedia(t, m[2].Media, "video", "c.mp4", film(100))
	for i := range m {
		if m[i].GroupedID == 0 || m[i].GroupedID != m[0].GroupedID || int64(m[i].ID) != receipt.MessageIDs[i] {
			t.Errorf("message %d: %+v", i, m[i])
		}
	}
	if m[0].Text != "three" || len(m[0].Entities) != 1 || m[1].Text != "" {
		t.Errorf("texts %q and %q", m[0].Text, m[1].Text)
	}
	if receipt.Link != "https://t.me/bells_daily/2" {
		t.Errorf("link %q", receipt.Link)
	}
}

func TestAlbumThatIsNeverAnsweredIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(10, 10))
	p := platform.Post{Key: 1, Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}, {Kind: platform.Photo, File: "a.png"}}}
	r.srv.Drop("messages.sendMultiMedia", 1)
	if _, err := r.publish(p); err != nil && platform.AsError(err).Kind != platform.Unknown {
		t.Fatal(err)
	}
	if got := r.mustPublish(p); len(got.MessageIDs) != 2 || got.MessageIDs[1] != 3 {
		t.Errorf("receipt %+v", got)
	}
	if n := len(r.messages()); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
}

func TestFileThatTelegramHasLostIsUploadedAgain(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(10, 10))
	album := []platform.Media{{Kind: platform.Photo, File: "a.png"}, {Kind: platform.Photo, File: "a.png"}}
	r.srv.Fail("messages.sendMultiMedia", 1, 400, "FILE_REFERENCE_1_EXPIRED")
	r.mustPublish(platform.Post{Key: 1, Media: album})
	r.srv.Fail("messages.sendMedia", 1, 400, "FILE_PART_0_MISSING")
	r.mustPublish(platform.Post{Key: 2, Media: album[:1]})
	r.calls("messages.uploadMedia", 2)
	r.calls("upload.saveFilePart", 4)
}

func (r *room) document(parts int) []platform.Media {
	r.Helper()
	r.file("a.bin", bytes.Repeat([]byte("0123456789abcdef"), parts*512<<10/16))
	return []platform.Media{{Kind: platform.Document, File: "a.bin"}}
}

func TestUploadSitsOutThrottlingHoweverOftenAndLong(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	p := platform.Post{Key: 1, Media: r.document(13)}
	for range 3 {
		r.srv.Pass("upload.saveFilePart", 4)
		r.srv.Fail("upload.saveFilePart", 5, 420, "FLOOD_PREMIUM_WAIT_0")
	}
	r.srv.Fail("upload.saveFilePart", 1, 420, "FLOOD_PREMIUM_WAIT_6")
	r.mustPublish(p)
	r.calls("upload.saveFilePart", 13+3*5+1)
	p.Key = 2
	r.srv.Fail("upload.saveFilePart", 1, 420, "FLOOD_WAIT_2")
	r.refused(p, platform.Wait, platform.ScopeIdentity)
	r.only()
}

func TestUploadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	p := platform.Post{Key: 1, Media: r.document(7)}
	for _, failure := range []func(){
		func() { r.srv.Fail("upload.saveFilePart", 3, 500, "INTERNAL") },
		func() { r.srv.Fail("upload.saveFilePart", 3, 500, "INTERNAL") },
		func() { r.srv.DropBefore("upload.saveFilePart", 1) },
	} {
		r.srv.Pass("upload.saveFilePart", 2)
		failure()
	}
	for range 2 { // a part that is not accepted is an attempt
		if e := r.refused(p, platform.Transient, platform.ScopeContent); e.Field != "media[0].file" {
			t.Errorf("field %q", e.Field)
		}
	}
	r.mustPublish(p)
	r.calls("upload.saveFilePart", 7+3+3+1)
	checkMedia(t, r.only().Media, "document", "a.bin", bytes.Repeat([]byte("0123456789abcdef"), 7*512<<10/16))
}

func TestPartThatIsNeverAnsweredIsAnAttempt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	telegram.SetUploadTimes(r.network, 50*time.Millisecond, time.Millisecond)
	r.srv.Mute("upload.saveFilePart", -1)
	p := platform.Post{Key: 1, Media: r.document(1)}
	r.refused(p, platform.Transient, platform.ScopeContent)
}

func TestUploadDoesNotHoldUpOtherPosts(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	p := platform.Post{Key: 1, Media: r.document(3)}
	r.srv.Pass("upload.saveFilePart", 1)
	release := r.srv.Hold("upload.saveFilePart", 1)
	telegram.SetUploadPatience(r.network, time.Millisecond)
	for range 3 {
		if e := r.refused(p, platform.UnderWay, platform.ScopeContent); e.Wait <= 0 {
			t.Errorf("wait %s", e.Wait)
		}
	}
	r.awaitCalls("upload.saveFilePart", 2)
	r.mustPublish(platform.Post{Key: 2, Text: "now"})
	release()
	telegram.SetUploadPatience(r.network, limit)
	r.mustPublish(p)
	r.calls("upload.saveFilePart", 3)
}

func TestMediaOfSeveralPostsAreFetchedAndUploadedOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	fetched := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched++
		w.Write(picture(fetched, 10))
	}))
	defer web.Close()
	post := platform.Post{MediaKey: 7, Media: []platform.Media{{Kind: platform.Photo, URL: web.URL + "/a.png"}}}
	for post.Key = 1; post.Key <= 3; post.Key++ {
		r.mustPublish(post)
	}
	r.calls("upload.saveFilePart", 1)
	r.calls("messages.uploadMedia", 1)
	r.srv.Fail("messages.sendMedia", 1, 400, "FILE_REFERENCE_EXPIRED")
	r.mustPublish(post)
	post.Key, post.MediaKey = 5, 0 // the address may have another picture for another post
	r.mustPublish(post)
	for i, m := range r.messages() {
		checkMedia(t, m.Media, "photo", "", picture([]int{1, 1, 1, 2, 3}[i], 10))
	}
}

func TestFileThatWasReplacedIsUploadedAnew(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	post := platform.Post{Key: 1, Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}}}
	r.file("a.png", picture(10, 10))
	r.srv.Fail("messages.sendMedia", 1, 500, "INTERNAL")
	r.refused(post, platform.Unknown, platform.ScopeChat)
	r.file("a.png", picture(20, 10))
	r.mustPublish(post)
	checkMedia(t, r.only().Media, "photo", "", picture(20, 10))
}

func TestContentThatCannotBeFetchedIsToldFromAServerThatIsDown(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked.Add(1)
		switch req.URL.Path {
		case "/half.png":
			w.Header().Set("Content-Length", "100000")
			w.Write(picture(10, 10))
		case "/gone.png":
			http.NotFound(w, req)
		case "/busy.png":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/page.png":
			io.WriteString(w, "<!doctype html><title>Sign in</title>")
		case "/huge.png":
			w.Header().Set("Content-Length", "20000000")
			w.Write(picture(10, 10))
		}
	}))
	defer web.Close()
	post := func(path string) platform.Post {
		return platform.Post{Key: 1, Media: []platform.Media{{Kind: platform.Photo, URL: web.URL + path}}}
	}
	for _, path := range []string{"/gone.png", "/page.png", "/huge.png"} {
		if e := r.refused(post(path), platform.Refused, platform.ScopeContent); e.Field != "media[0].url" {
			t.Errorf("%s: field %q", path, e.Field)
		}
	}
	if e := platform.AsError(r.network.Fetchable(r.ctx, post("/busy.png"))); e.Kind != platform.Transient || e.Field != "media[0].url" {
		t.Errorf("before it is sent: %+v", e)
	}
	asked.Store(0)
	r.refused(post("/busy.png"), platform.Transient, platform.ScopeContent)
	if n := asked.Load(); n != 1 {
		t.Errorf("the server that is down was asked %d times in one call", n)
	}
	r.refused(post("/half.png"), platform.Transient, platform.ScopeContent)
	web.Close()
	r.refused(post("/a.png"), platform.Transient, platform.ScopeContent)
	r.calls("messages.sendMedia", 0)
}

func TestMediaAreNotFetchedFromAddressesThatAreNotPublic(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	listener, err := net.Listen("tcp", "127.0.0.2:0") // the room allows 127.0.0.1
	if err != nil {
		t.Skip("there is one loopback address: " + err.Error())
	}
	var reached atomic.Int32
	secret := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Write(picture(10, 10))
	}))
	secret.Listener.Close()
	secret.Listener = listener
	secret.Start()
	defer secret.Close()
	open := httptest.NewServer(http.RedirectHandler(secret.URL, http.StatusFound))
	defer open.Close()
	post := func(url string) platform.Post {
		return platform.Post{Key: 1, Media: []platform.Media{{Kind: platform.Photo, URL: url}}}
	}
	if _, err := r.network.Check(post(secret.URL)); platform.AsError(err).Field != "media[0].url" {
		t.Errorf("a post that names a private address: %v", err)
	}
	if e := r.refused(post(open.URL), platform.Refused, platform.ScopeContent); e.Field != "media[0].url" || !strings.Contains(e.Error(), "BELFRY_ALLOW_PRIVATE") {
		t.Errorf("field %q: %v", e.Field, e)
	}
	if reached.Load() > 0 {
		t.Errorf("%d requests arrived", reached.Load())
	}
}

func TestCheckRefusesWhatTelegramWould(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(10, 10))
	r.file("long.png", picture(2000, 10))
	r.file("words.png", []byte("no picture at all"))
	r.file("empty.png", nil)
	outside := filepath.Join(t.TempDir(), "outside.png")
	if err := os.WriteFile(outside, picture(10, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(r.media, "link.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.media, "dir.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	photo := func(file string) []platform.Media { return []platform.Media{{Kind: platform.Photo, File: file}} }
	repeat := func(n int) (list []platform.Media) {
		for range n {
			list = append(list, photo("a.png")...)
		}
		return list
	}
	smile := strings.Repeat("😀", 512) // 1024 units
	tests := []struct {
		name   string
		post   platform.Post
		field  string // empty: accepted
		length int
	}{
		{"text at the limit", platform.Post{Text: strings.Repeat("я", 4096)}, "", 4096},
		{"text over it", platform.Post{Text: strings.Repeat("я", 4097)}, "text", 4097},
		{"markup does not count", platform.Post{Text: "<b>" + strings.Repeat("x", 4096) + "</b>", Format: platform.HTML}, "", 4096},
		{"caption at the limit", platform.Post{Text: smile, Media: photo("a.png")}, "", 1024},
		{"caption over it", platform.Post{Text: smile + "!", Media: photo("a.png")}, "text", 1025},
		{"nothing", platform.Post{}, "text", 0},
		{"only space", platform.Post{Text: " \n "}, "text", 0},
		{"unclosed tag", platform.Post{Text: "<b>x", Format: platform.HTML}, "text", 0},
		{"crossed tags", platform.Post{Text: "<b><i>x</b></i>", Format: platform.HTML}, "text", 0},
		{"stray end", platform.Post{Text: "x</b>", Format: platform.HTML}, "text", 0},
		{"unknown tag", platform.Post{Text: "<div>x</div>", Format: platform.HTML}, "text", 0},
		{"unfinished tag", platform.Post{Text: "a <b", Format: platform.HTML}, "text", 0},
		{"plain less-than", platform.Post{Text: "1 < 2 <3", Format: platform.HTML}, "", 8},
		{"unknown format", platform.Post{Text: "x", Format: "rtf"}, "text", 0},
		{"too much formatting", platform.Post{Text: strings.Repeat("<b>x</b> ", 101), Format: platform.HTML}, "text", 201},
		{"album of ten", platform.Post{Media: repeat(10)}, "", 0},
		{"album of eleven", platform.Post{Media: repeat(11)}, "media", 0},
		{"mixed album", platform.Post{Media: append(photo("a.png"), platform.Media{Kind: platform.Document, File: "a.png"})}, "media[1].kind", 0},
		{"unknown kind", platform.Post{Media: []platform.Media{{Kind: "sticker", File: "a.png"}}}, "media[0].kind", 0},
		{"file and URL", platform.Post{Media: []platform.Media{{Kind: platform.Photo, File: "a.png", URL: "http://x/"}}}, "media[0].file", 0},
		{"neither", platform.Post{Media: []platform.Media{{Kind: platform.Photo}}}, "media[0].file", 0},
		{"other scheme", platform.Post{Media: []platform.Media{{Kind: platform.Photo, URL: "ftp://x/a.png"}}}, "media[0].url", 0},
		{"missing file", platform.Post{Media: photo("b.png")}, "media[0].file", 0},
		{"file outside", platform.Post{Media: photo("../a.png")}, "media[0].file", 0},
		{"absolute path", platform.Post{Media: photo(outside)}, "media[0].file", 0},
		{"link that leads outside", platform.Post{Media: photo("link.png")}, "media[0].file", 0},
		{"folder", platform.Post{Media: photo("dir.png")}, "media[0].file", 0},
		{"empty file", platform.Post{Media: photo("empty.png")}, "media[0].file", 0},
		{"no picture", platform.Post{Media: photo("words.png")}, "media[0].file", 0},
		{"too narrow", platform.Post{Media: photo("long.png")}, "media[0].file", 0},
	}
	for i, test := range tests {
		test.post.Target = "@bells_daily"
		measure, err := r.network.Check(test.post)
		if measure.Length != test.length {
			t.Errorf("%s: length %d, want %d", test.name, measure.Length, test.length)
		}
		if test.field == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			test.post.Key = int64(i + 1) // and Telegram agrees
			r.mustPublish(test.post)
			continue
		}
		if e := platform.AsError(err); err == nil || e.Kind != platform.Refused || e.Scope != platform.ScopeContent || e.Field != test.field {
			t.Errorf("%s: got %v (%+v), want %s refused", test.name, err, e, test.field)
		}
	}
	for _, target := range []string{"@", "a b", "https://example.com/name", "t.me/+", "0"} {
		_, err := r.network.Check(platform.Post{Text: "x", Target: target})
		if e := platform.AsError(err); err == nil || e.Kind != platform.Refused || e.Field != "target" {
			t.Errorf("target %q: %v", target, err)
		}
	}
}
