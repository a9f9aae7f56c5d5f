package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/color"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"belfry/store"
	"belfry/worker/posts"
)

// drop puts pictures of three colours on an element, as if they were dragged there.
func (b *browser) drop(id string, names ...string) {
	b.t.Helper()
	colours := map[string]color.Color{"red": color.RGBA{200, 40, 30, 255}, "green": color.RGBA{30, 140, 60, 255}, "blue": color.RGBA{40, 70, 170, 255}}
	var files []string
	for _, name := range names {
		data := base64.StdEncoding.EncodeToString(picture(400, 300, colours[name]))
		files = append(files, fmt.Sprintf(`new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q, {type: "image/png"})`, data, name+".png"))
	}
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const carried = new DataTransfer();
		for (const file of [%s]) carried.items.add(file);
		const to = document.getElementById(%q);
		for (const kind of ["dragover", "drop"]) to.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
	})()`, strings.Join(files, ","), id)))
}

// mediaNames are the files of the form in their order.
const mediaNames = `[...document.querySelectorAll("#media-items .media-buttons")].map(e => e.closest("li").querySelector(".media-name").firstChild.data.trim()).join(" ")`

// Three pictures are dropped on the form, reordered with the keyboard, one is removed, and a fourth that is none is
// refused: the post has the two that are left, in their order.
func TestPicturesAreDroppedReorderedAndRemoved(t *testing.T) {
	h := start(t)
	b := browse(t, chromium(t), h)
	b.signIn()
	b.open("/posts/new")
	b.drop("text", "red", "green", "blue")
	b.until(mediaNames + ` === "red.png green.png blue.png"`)
	b.until(`document.querySelectorAll("#preview img.media-picture").length === 3`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("#media-items [data-move='-1']")[2].focus()`), chromedp.KeyEvent("\r"))
	b.until(mediaNames + ` === "red.png blue.png green.png" && document.activeElement.closest("li").innerText.includes("blue.png")`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(mediaNames + ` === "blue.png red.png green.png"`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("#media-items [data-remove]")[1].focus()`), chromedp.KeyEvent("\r"))
	b.until(mediaNames + ` === "blue.png green.png"`)
	b.until(`document.querySelectorAll("#preview img.media-picture").length === 2`)
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const carried = new DataTransfer();
		carried.items.add(new File(["hello"], "none.jpg", {type: "image/jpeg"}));
		document.dispatchEvent(new ClipboardEvent("paste", {bubbles: true, clipboardData: carried}));
	})()`))
	b.until(`document.querySelector("#media-items li:last-child .wrong")?.innerText.includes("is not a picture")`)
	if eval[bool](b, `(() => {
		const carried = new DataTransfer();
		carried.items.add("A text of Word", "text/plain");
		carried.items.add("<p>A text of Word</p>", "text/html");
		carried.items.add(new File(["its picture"], "image.png", {type: "image/png"}));
		return !document.getElementById("text").dispatchEvent(new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: carried}));
	})()`) {
		t.Error("a pasted text is taken for its picture")
	}
	b.do(chromedp.SendKeys(chromedp.ID("text"), "Two pictures"), chromedp.Click(chromedp.ID("save")))
	b.until(`location.pathname === "/posts/new" && document.activeElement.matches("#media-items li:last-child [data-remove]")`) // it would be missing
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.click()`), chromedp.Click(chromedp.ID("save")))
	b.until(`location.pathname === "/posts/1" && document.querySelectorAll("#read img.media-picture").length === 2`)
	h.view(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if err == nil && (len(p.Media) != 2 || p.Media[0].Name != "blue.png" || p.Media[1].Name != "green.png" || p.Media[0].Kind != "photo") {
			t.Errorf("%+v", p.Media)
		}
		return err
	})
	b.open("/posts/1/change")
	b.until(mediaNames + ` === "blue.png green.png"`)
	b.quiet("422 (Unprocessable Entity)")
}

func TestFilesComeWithTheFormWithoutAScript(t *testing.T) {
	h := start(t)
	h.signIn()
	send := func(path string, files []file, fields ...string) answered {
		kind, body := asForm(files...)
		body = strings.ReplaceAll(body, `name="file"`, `name="upload"`)
		boundary := "--" + strings.TrimPrefix(kind, "multipart/form-data; boundary=")
		var first strings.Builder
		for _, field := range append([]string{"csrf", h.csrf()}, fields...) {
			if first.Len() == 0 || strings.HasSuffix(first.String(), "\r\n\r\n") == false {
				fmt.Fprintf(&first, "%s\r\nContent-Disposition: form-data; name=%q\r\n\r\n", boundary, field)
			} else {
				first.WriteString(field + "\r\n")
			}
		}
		r := h.request("POST", path, first.String()+body)
		for name, value := range map[string]string{"Content-Type": kind, "Origin": h.base, "Sec-Fetch-Site": "same-origin"} {
			r.Header.Set(name, value)
		}
		return h.do(r)
	}
	post := []string{"identity_id", "1", "text", "Hello", "format", "plain", "when", "now"}
	a := send("/posts/new", []file{{"red.png", "", picture(20, 20, color.Black)}, {"a.jpg", "", []byte("hello")}}, post...)
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", a.status)
	}
	a.has(t, "a.jpg: ", "is not a picture", `value="upload:1"`, `value="media-left-0"`, "red.png")
	a = send("/posts/new", []file{{"green.png", "", picture(20, 20, color.White)}}, append(post, "media_kind", "photo", "media_source", "upload:1", "do", "media-remove-0")...)
	if a.has(t, `value="upload:2"`); strings.Contains(a.body, `value="upload:1"`) {
		t.Error("the first was not removed")
	}
	a = send("/posts/new", []file{{"", "", nil}}, append(post, "media_kind", "photo", "media_source", "upload:2", "media_kind", "photo", "media_source", "upload:1")...)
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if err == nil && (len(p.Media) != 2 || p.Media[0].ID != 2 || p.Media[1].ID != 1) {
			t.Errorf("%+v", p.Media)
		}
		return err
	})

	if a := send("/media", []file{{"c.txt", "", []byte("hello")}}); a.header.Get("Location") != "/media?done=media-added" {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.get("/media").has(t, "c.txt", "green.png", "Free on the disk: 5", "/media/3/delete", "This week", "3 files")
	h.advance(10 * 24 * time.Hour)
	if kept := h.get("/media").body; strings.Count(kept, `<span class="quiet">0 files`) != 8 || strings.Count(kept, `<span class="quiet">3 files`) != 1 || strings.Index(kept, "Week of") > strings.Index(kept, ">3 files") {
		t.Error(kept)
	}
	if a := h.submit("/media/3/delete"); a.header.Get("Location") != "/media?done=media-deleted" {
		t.Errorf("%d %s", a.status, a.body)
	}
	list := strings.Repeat(strings.Repeat("я", 1000)+"\n", 300)
	if a := send("/rules/new", []file{{"", "", nil}}, "name", "Long", "schedule_type", "daily", "times", "09:00", "source", "list", "items", list, "account", "1"); a.status != http.StatusSeeOther {
		t.Errorf("a list of 300 texts: %d", a.status)
	}
	if a := send("/posts/new", nil, "text", strings.Repeat("a", 8<<20)); a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, "The form is too large") {
		t.Errorf("a text of 8 MB: %d %s", a.status, a.body)
	}
	if a := send("/media", nil); a.status != http.StatusUnprocessableEntity {
		t.Errorf("nothing chosen: %d", a.status)
	}
	kind, body := asForm(file{"c.txt", "", []byte("hello")})
	r := h.request("POST", "/media", body)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Origin", h.base)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if a := h.do(r); a.status != http.StatusForbidden {
		t.Errorf("without the token: %d", a.status)
	}
}

// uploads adds files to the newsroom, and a post with two of them and one from elsewhere. It returns the path of the
// form of another one like it.
func (h *harness) uploads() string {
	var media []store.Media
	for _, f := range []file{
		{"the new trams at the depot, early in the morning.png", "", picture(900, 600, color.RGBA{60, 110, 130, 255})},
		{"square.png", "", picture(500, 900, color.RGBA{190, 120, 40, 255})},
		{"council-budget-2027.pdf", "", append([]byte("%PDF-1.7"), make([]byte, 700_000)...)},
	} {
		made, err := h.media.Add(context.Background(), f.name, "", bytes.NewReader(f.data))
		if err != nil {
			h.fatal(err)
		}
		media = append(media, store.Media{ID: made.ID})
	}
	draft, err := h.posts.Prepare(context.Background(), posts.Request{
		Platform: "telegram", IdentityID: 1, Text: "Three new trams for line 4", ScheduledTime: h.soon(26 * time.Hour),
		Media: []store.Media{media[0], media[1], {Kind: "photo", URL: "https://example.org/tram.jpg"}},
	})
	if err != nil {
		h.fatal(err)
	}
	var made store.Post
	h.update(func(tx *store.Tx) (err error) {
		made, err = h.posts.Schedule(tx, draft)
		return err
	})
	return fmt.Sprint("/posts/new?from=", made.ID)
}
