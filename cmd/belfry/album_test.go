package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"belfry/platform/instagram/instagramtest"
	"belfry/store"
)

const (
	instagramToken = "IGAA-of-the-morning-news"
	publicHost     = "belfry.example"
)

// photos returns pictures of one colour each, as JPEG: Instagram takes no other ones.
func photos(colours ...color.Color) (all [][]byte) {
	for _, c := range colours {
		picture := image.NewRGBA(image.Rect(0, 0, 400, 300))
		draw.Draw(picture, picture.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		var out bytes.Buffer
		_ = jpeg.Encode(&out, picture, nil) // into memory
		all = append(all, out.Bytes())
	}
	return all
}

// drop puts files on an element, as if they were dragged there.
func (b *tab) drop(id string, names []string, files [][]byte) {
	b.t.Helper()
	var all []string
	for i, data := range files {
		all = append(all, fmt.Sprintf(`new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q, {type: "image/jpeg"})`, base64.StdEncoding.EncodeToString(data), names[i]))
	}
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const carried = new DataTransfer();
		for (const file of [%s]) carried.items.add(file);
		for (const kind of ["dragover", "drop"]) document.getElementById(%q).dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
	})()`, strings.Join(all, ","), id)))
}

// publishAlbum connects Instagram and has three pictures dragged into the composer, of which two go out as an album on
// Telegram and on Instagram, in the order that the preview has shown. A copy that cp makes before has all three.
func (m *machine) publishAlbum(b *tab, gram *instagramtest.Server, channel int64) {
	m.t.Helper()
	b.open("/logins")
	b.fill("instagram_token", instagramToken)
	b.click("add-instagram")
	b.says("/logins", "morning.gram")

	names, files := []string{"red.jpg", "green.jpg", "blue.jpg"}, photos(color.RGBA{200, 40, 30, 255}, color.RGBA{30, 140, 60, 255}, color.RGBA{40, 70, 170, 255})
	const red, green, blue = 0, 1, 2
	rows := func(names ...string) {
		b.until(fmt.Sprintf(`[...document.querySelectorAll("#media-items .media-buttons")].map(e => e.closest("li").querySelector(".media-name").firstChild.data.trim()).join(" ") === %q`, strings.Join(names, " ")))
	}
	b.open("/posts/new")
	b.do(chromedp.SendKeys(chromedp.ID("text"), "For the channel"), chromedp.Click(chromedp.ID("also-2")),
		chromedp.Click(chromedp.CSS(".also:nth-of-type(2) summary")), chromedp.SendKeys(chromedp.ID("text-2"), "For Instagram #morning"))
	b.drop("text", names, files)
	rows("red.jpg", "green.jpg", "blue.jpg")
	b.do(chromedp.Click(chromedp.CSS("#media-items li:nth-child(3) [data-move='-1']")))
	rows("red.jpg", "blue.jpg", "green.jpg")
	b.do(chromedp.Click(chromedp.CSS("#media-items li:nth-child(1) [data-move='1']")))
	rows("blue.jpg", "red.jpg", "green.jpg")
	b.do(chromedp.Click(chromedp.CSS("#media-items li:nth-child(2) [data-remove]")))
	rows("blue.jpg", "green.jpg")
	album := "/media/3/thumbnail /media/2/thumbnail"
	b.until(fmt.Sprintf(`[...document.querySelectorAll("#preview .message")].map(e => [...e.querySelectorAll("img")].map(i => i.getAttribute("src")).join(" ") + " " + e.querySelector(".message-text")?.innerText).join("; ") === %q`,
		album+" For the channel; "+album+" For Instagram #morning"))
	b.click("save")
	b.until(`location.pathname === "/posts/2" && document.querySelector(".siblings a")?.getAttribute("href") === "/posts/3"`)

	backup := filepath.Join(m.dir, "copy.db")
	if out, err := exec.Command("cp", m.file(), backup).CombinedOutput(); err != nil {
		m.t.Fatalf("cp: %v: %s", err, out)
	}
	for _, post := range []string{"/posts/2", "/posts/3"} {
		b.open(post)
		b.click("do-publish-now")
		b.until(fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", post+"/publish-now"))
		b.do(chromedp.Click(chromedp.CSS("main form button")))
		b.until(fmt.Sprintf("location.pathname === %q && document.querySelector('#facts .chip')?.innerText === 'published'", post))
	}

	got := m.tg.Messages(channel)[1:]
	if len(got) != 2 || got[0].GroupedID == 0 || got[0].GroupedID != got[1].GroupedID || got[0].Text != "For the channel" {
		m.t.Fatalf("the channel has %+v", got)
	}
	for i, want := range [][]byte{files[blue], files[green]} {
		if sum := sha256.Sum256(want); got[i].Media == nil || got[i].Media.Kind != "photo" || got[i].Media.SHA256 != hex.EncodeToString(sum[:]) {
			m.t.Errorf("file %d of the album on Telegram: %+v", i, got[i].Media)
		}
	}
	out := gram.Posts()
	if len(out) != 1 || out[0].Caption != "For Instagram #morning" || len(out[0].Media) != 2 {
		m.t.Fatalf("Instagram has %+v", out)
	}
	for i, want := range [][]byte{files[blue], files[green]} {
		if !bytes.Equal(m.fetch(b.url, out[0].Media[i]), want) {
			m.t.Errorf("file %d of the album on Instagram is another one", i)
		}
	}

	if said, err := m.output("check", backup); err != nil || !strings.Contains(said, "no problems") {
		m.t.Errorf("the copy: %v\n%s", err, said)
	}
	db, err := store.Open(backup, store.Options{ReadOnly: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	for i, number := range []int{red, green, blue} {
		from, err := db.OpenMedia(uint64(i + 1))
		if err != nil {
			m.t.Fatal(err)
		}
		if kept, err := io.ReadAll(from); err != nil || !bytes.Equal(kept, files[number]) {
			m.t.Errorf("%s is another one in the copy: %v", names[number], err)
		}
	}
}

// fetch asks the page for a file as Instagram does, which was given its public address.
func (m *machine) fetch(page, address string) []byte {
	m.t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Host != publicHost {
		m.t.Fatalf("Instagram was given %q", address)
	}
	request, err := http.NewRequest(http.MethodGet, page+u.Path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	request.Host = publicHost
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		m.t.Fatalf("%s: %s: %v", address, response.Status, err)
	}
	return data
}
