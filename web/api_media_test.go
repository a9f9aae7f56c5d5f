package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
)

// picture is a PNG of one colour.
func picture(width, height int, c color.Color) []byte {
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			p.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, p)
	return out.Bytes()
}

// file is one of a multipart body.
type file struct {
	name, kind string
	data       []byte
}

// asForm is the multipart body that browsers and curl -F send.
func asForm(files ...file) (kind, body string) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	_ = form.WriteField("other", "is passed over")
	for _, f := range files {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + f.name + `"`}}
		if f.kind != "" {
			h.Set("Content-Type", f.kind)
		}
		part, _ := form.CreatePart(h)
		_, _ = part.Write(f.data)
	}
	_ = form.Close()
	return form.FormDataContentType(), out.String()
}

func (h *harness) upload(t *testing.T, headers []string, files ...file) api.UploadedMedia {
	t.Helper()
	kind, body := asForm(files...)
	a := h.api("POST", "/media", body, append([]string{"Content-Type", kind}, headers...)...)
	if a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var made api.UploadedMedia
	a.decode(t, &made)
	return made
}

func TestMediaAreUploadedListedFetchedAndDeleted(t *testing.T) {
	h := start(t)
	red, text := picture(640, 480, color.RGBA{255, 0, 0, 255}), []byte("<script>alert(1)</script> and so on")
	made := h.upload(t, nil, file{"red.png", "image/png", red}, file{"Отчёт.html", "text/html", text})
	sum := sha256.Sum256(red)
	if len(made.Items) != 2 || made.ID != 1 || made.Kind != "photo" || made.Type != "image/png" || made.Width != 640 || made.Height != 480 ||
		made.Size != int64(len(red)) || made.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v", made)
	}
	var raw api.UploadedMedia
	h.api("POST", "/media", "%PDF-1.7 hello", "Content-Type", "application/x-www-form-urlencoded", "Content-Disposition", `attachment; filename="a b.pdf"`).decode(t, &raw)
	if raw.ID != 3 || raw.Name != "a b.pdf" || raw.Kind != "document" || raw.Items != nil {
		t.Errorf("%+v", raw)
	}
	var list api.List[api.MediaFile]
	h.api("GET", "/media?limit=2", "").decode(t, &list)
	if len(list.Items) != 2 || list.Items[0].ID != 3 || list.Next == "" {
		t.Errorf("%+v", list)
	}

	got := h.api("GET", "/media/1/file", "")
	if got.body != string(red) || got.header.Get("Content-Type") != "image/png" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(got.header.Get("Content-Disposition"), "inline") || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%d %v", got.status, got.header)
	}
	got = h.api("GET", "/media/1/file", "", "Range", "bytes=10-19")
	if got.status != http.StatusPartialContent || got.body != string(red[10:20]) {
		t.Errorf("a range: %d %q", got.status, got.body)
	}
	got = h.api("GET", "/media/2/file", "")
	if got.body != string(text) || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v", got.status, got.header)
	}
	small := h.api("GET", "/media/1/thumbnail", "")
	if seen, _, err := image.Decode(strings.NewReader(small.body)); err != nil || seen.Bounds().Dx() != 320 || seen.Bounds().Dy() != 240 {
		t.Errorf("the thumbnail: %d %v", small.status, err)
	}
	if a := h.api("GET", "/media/2/thumbnail", ""); a.status != http.StatusNotFound || !strings.Contains(a.body, `"thumbnail of media 2: not found`) {
		t.Errorf("the thumbnail of a document: %d %s", a.status, a.body)
	}
	if a := h.api("DELETE", "/media/2", ""); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.api("GET", "/media/2", ""); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A network that fetches media itself has no session: it has a path that ends.
func TestASharedFileIsFetchedByAnybodyForADay(t *testing.T) {
	h := start(t)
	if err := h.media.Module().Start(); err != nil {
		t.Fatal(err)
	}
	red := picture(64, 48, color.RGBA{255, 0, 0, 255})
	made := h.upload(t, nil, file{"red.png", "image/png", red}, file{"other.png", "image/png", red})
	path, f, err := h.media.Share(made.ID)
	if err != nil || f.Type != "image/png" || f.Size != int64(len(red)) {
		t.Fatalf("%+v, %v", f, err)
	}
	fetch := func(path string) (int, string) {
		t.Helper()
		a, err := http.Get(h.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(body)
	}
	if status, body := fetch(path); status != http.StatusOK || body != string(red) {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	for _, other := range []string{strings.Replace(path, "/1/", "/2/", 1), path[:len(path)-1], path + "0", "/media/1/file"} {
		if status, body := fetch(other); body == string(red) {
			t.Errorf("%s: %d", other, status)
		}
	}
	h.advance(25 * time.Hour)
	if status, _ := fetch(path); status != http.StatusNotFound {
		t.Errorf("a day later: %d", status)
	}
}

func TestAnUploadWithTheSameKeyIsKeptOnce(t *testing.T) {
	h := start(t)
	one := file{"a.txt", "", []byte("hello")}
	first := h.upload(t, []string{"Idempotency-Key", "k"}, one)
	if again := h.upload(t, []string{"Idempotency-Key", "k"}, one); again.ID != first.ID {
		t.Errorf("%d and %d", first.ID, again.ID)
	}
	kind, body := asForm(file{"a.txt", "", []byte("other")})
	if a := h.api("POST", "/media", body, "Content-Type", kind, "Idempotency-Key", "k"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		if all := slices.Collect(tx.Media.All()); len(all) != 1 {
			t.Errorf("%+v", all)
		}
		return nil
	})
}

func TestMediaThatCannotBeKeptAreRefused(t *testing.T) {
	h := start(t)
	for name, test := range map[string]struct {
		file   file
		status int
	}{
		"no picture": {file{"a.jpg", "", []byte("hello")}, http.StatusUnsupportedMediaType},
		"too large":  {file{"a.bin", "", make([]byte, 3<<20)}, http.StatusRequestEntityTooLarge},
		"empty":      {file{"a.bin", "", nil}, http.StatusUnsupportedMediaType},
	} {
		kind, body := asForm(file{"good.txt", "", []byte("hello")}, test.file)
		a := h.api("POST", "/media", body, "Content-Type", kind)
		if a.status != test.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
			continue
		}
		if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "file" || p.Errors[0].Cure == "" || p.Status != test.status {
			t.Errorf("%s: %+v", name, p)
		}
	}
	kind, body := asForm()
	for _, a := range []answered{
		h.api("POST", "/media", body, "Content-Type", kind), h.api("POST", "/media", "--x", "Content-Type", "multipart/form-data; boundary=x"),
	} {
		if a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	h.view(func(tx *store.Tx) error {
		for f := range tx.Media.All() {
			t.Errorf("left: %+v", f)
		}
		return nil
	})
}

func TestPostsNameUploadedMediaById(t *testing.T) {
	h := start(t)
	h.upload(t, nil, file{"red.png", "", picture(20, 10, color.Black)})
	body := func(id string) string {
		return `{"platform":"telegram","text":"a","scheduled_time":"` + h.soon(time.Hour) + `","media":[{"url":"https://example.org/a.jpg","kind":"photo"},{"id":` + id + `}]}`
	}
	a := h.api("POST", "/scheduled-posts", body("7"))
	if p := a.problem(t); a.status != http.StatusUnprocessableEntity || p.Errors[0].Field != "media[1].id" {
		t.Errorf("%d %+v", a.status, p)
	}
	var post api.Post
	h.api("POST", "/scheduled-posts", body("1")).decode(t, &post)
	if len(post.Media) != 2 || post.Media[1].ID != 1 || post.Media[1].Kind != "photo" || post.Media[1].Name != "red.png" {
		t.Errorf("%+v", post.Media)
	}
	if a := h.api("DELETE", "/media/1", ""); a.status != http.StatusConflict || !strings.Contains(a.body, "post 1") {
		t.Errorf("%d %s", a.status, a.body)
	}
	var content api.Content
	h.api("POST", "/content/create", `{"title":"b","media":[{"id":"1"}]}`).decode(t, &content)
	if len(content.Media) != 1 || content.Media[0].Kind != "photo" {
		t.Errorf("%+v", content)
	}
	h.api("DELETE", "/scheduled-posts/1", "")
	if a := h.api("DELETE", "/media/1", ""); a.status != http.StatusConflict || !strings.Contains(a.body, "content 1") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
