package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// quarters is a picture whose quarters are red, green, blue and white, row by row.
func quarters(width, height int) image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	colours := []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}
	for y := range height {
		for x := range width {
			picture.Set(x, y, colours[2*(2*y/height)+2*x/width])
		}
	}
	return picture
}

// corners names the colours of a picture's quarters.
func corners(picture image.Image) (names string) {
	b := picture.Bounds()
	for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		r, g, bl, _ := picture.At(b.Dx()*at[0]/4, b.Dy()*at[1]/4).RGBA()
		name := "?"
		for mark, is := range map[string]bool{
			"r": r > 0x8000 && g < 0x8000 && bl < 0x8000, "g": g > 0x8000 && r < 0x8000 && bl < 0x8000,
			"b": bl > 0x8000 && r < 0x8000 && g < 0x8000, "w": r > 0x8000 && g > 0x8000 && bl > 0x8000,
		} {
			if is {
				name = mark
			}
		}
		names += name
	}
	return names
}

func asJPEG(picture image.Image) []byte {
	var out bytes.Buffer
	_ = jpeg.Encode(&out, picture, nil)
	return out.Bytes()
}

func asPNG(picture image.Image) []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, picture)
	return out.Bytes()
}

// photographed is a JPEG as a camera writes it: turned, with a place, and another picture behind it.
func photographed(picture []byte, orientation uint16) []byte {
	tiff := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x02")
	tiff = append(tiff, "\x01\x0f\x00\x02\x00\x00\x00\x04abc\x00\x01\x12\x00\x03\x00\x00\x00\x01"...)
	tiff = binary.BigEndian.AppendUint16(tiff, orientation)
	tiff = append(tiff, "\x00\x00\x00\x00\x00\x00 the place: 52.5N 13.4E"...)
	segment := func(mark byte, data []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, mark}, uint16(len(data)+2)), data...)
	}
	out := slices.Clone(picture[:2])
	out = append(out, segment(0xe1, append([]byte("Exif\x00\x00"), tiff...))...)
	out = append(out, segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00 the place"))...)
	out = append(out, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01 the colours"))...)
	out = append(out, segment(0xfe, []byte("the place"))...)
	out = append(out, picture[2:]...)
	return append(out, "behind it: the place"...)
}

func newWorker(t *testing.T, cfg Config) (*Worker, *store.DB) {
	t.Helper()
	db, err := store.Open(t.TempDir()+"/belfry.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			t.Error(problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db, cfg), db
}

func (w *Worker) mustAdd(t *testing.T, name string, data []byte) store.MediaFile {
	t.Helper()
	f, err := w.Add(t.Context(), name, "", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (w *Worker) read(t *testing.T, id uint64) []byte {
	t.Helper()
	r, err := w.db.OpenMedia(id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAPictureIsTurnedUprightAndItsPlaceRemoved(t *testing.T) {
	w, db := newWorker(t, Config{})
	// What is seen as rg/bw is stored, by orientation, as:
	stored := map[uint16]string{1: "rgbw", 2: "grwb", 3: "wbgr", 4: "bwrg", 5: "rbgw", 6: "gwrb", 7: "wgbr", 8: "brwg"}
	for orientation := uint16(1); orientation <= 8; orientation++ {
		upright := quarters(640, 320)
		seen := upright
		if orientation >= 5 {
			seen = quarters(320, 640)
		}
		lying := image.NewRGBA(upright.Bounds()) // as the camera stored it
		names := map[byte]color.RGBA{'r': {255, 0, 0, 255}, 'g': {0, 255, 0, 255}, 'b': {0, 0, 255, 255}, 'w': {255, 255, 255, 255}}
		for y := range 320 {
			for x := range 640 {
				lying.Set(x, y, names[stored[orientation][2*(2*y/320)+2*x/640]])
			}
		}
		f := w.mustAdd(t, "a.jpg", photographed(asJPEG(lying), orientation))
		data := w.read(t, f.ID)
		got, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if corners(got) != "rgbw" || got.Bounds() != seen.Bounds() || f.Width != got.Bounds().Dx() || f.Height != got.Bounds().Dy() {
			t.Errorf("orientation %d: %s %v, %d × %d", orientation, corners(got), got.Bounds(), f.Width, f.Height)
		}
		if bytes.Contains(data, []byte("the place")) {
			t.Errorf("orientation %d: the place is still there", orientation)
		}
		if orientation == 1 && !bytes.Contains(data, []byte("the colours")) {
			t.Error("the colours of an upright picture are gone: was it encoded anew?")
		}
		var small []byte
		err = db.View(func(tx *store.Tx) (err error) {
			small, err = tx.Media.Thumbnail(f.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err = jpeg.Decode(bytes.NewReader(small)); err != nil || corners(got) != "rgbw" || max(got.Bounds().Dx(), got.Bounds().Dy()) != thumbnailSide {
			t.Errorf("orientation %d: the thumbnail: %v", orientation, err)
		}
	}
}

func TestWhatAFileIsShowsInItsBytes(t *testing.T) {
	w, _ := newWorker(t, Config{})
	var moving bytes.Buffer
	_ = gif.Encode(&moving, quarters(20, 10), nil)
	film := append([]byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41"), make([]byte, 2000)...)
	for _, test := range []struct {
		name, kind, media string
		data              []byte
	}{
		{"a.png", "photo", "image/png", asPNG(quarters(20, 10))},
		{"a.jpg", "photo", "image/png", asPNG(quarters(20, 10))},
		{"a", "photo", "image/gif", moving.Bytes()},
		{"b.mp4", "video", "video/mp4", film},
		{"b.mov", "video", "video/quicktime", []byte("\x00\x00\x00\x14ftypqt  \x00\x00\x02\x00qt  ")},
		{"c.pdf", "document", "application/pdf", []byte("%PDF-1.7 and so on")},
		{"../../d\x00.html", "document", "text/html", []byte("<html><script>alert(1)</script>")},
	} {
		f := w.mustAdd(t, test.name, test.data)
		if f.Kind != test.kind || f.Type != test.media || strings.ContainsAny(f.Name, "/\x00") || !f.Ready {
			t.Errorf("%s: %+v", test.name, f)
		}
		if got := w.read(t, f.ID); !bytes.Equal(got, test.data) {
			t.Errorf("%s: %d bytes instead of %d", test.name, len(got), len(test.data))
		}
	}
}

// bomb is a PNG of a few bytes that says to be larger than any.
func bomb() []byte {
	data := asPNG(quarters(2, 2))
	binary.BigEndian.PutUint32(data[16:], 60000)
	binary.BigEndian.PutUint32(data[20:], 60000)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func TestWhatIsNotWhatItSaysIsRefused(t *testing.T) {
	w, db := newWorker(t, Config{Max: 1 << 20})
	whole := asJPEG(quarters(600, 600))
	for name, test := range map[string]struct {
		file, claimed string
		data          []byte
		tooLarge      bool
		key           string
	}{
		"a text called jpg":          {"a.jpg", "", []byte("hello"), false, "invalid.media_no_picture"},
		"a text sent as a picture":   {"a", "image/png; x=y", []byte("hello"), false, "invalid.media_no_picture"},
		"a text called mp4":          {"a.mp4", "", []byte("hello"), false, "invalid.media_no_film"},
		"nothing":                    {"a.txt", "", nil, false, "invalid.media_empty"},
		"a picture cut off":          {"a.jpg", "", whole[:len(whole)/2], false, "invalid.media_damaged"},
		"a picture of one line":      {"a.jpg", "", []byte("\xff\xd8\xff\xe0"), false, "invalid.media_damaged"},
		"more than is allowed":       {"a.bin", "", make([]byte, 1<<20+1), true, "invalid.media_large"},
		"a picture that unfolds":     {"a.png", "", bomb(), true, "invalid.media_pixels"},
		"a large picture in a small": {"a.jpg", "", append(slices.Clone(whole), make([]byte, 1<<20)...), true, "invalid.media_large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Add(t.Context(), test.file, test.claimed, bytes.NewReader(test.data))
			refused, ok := errors.AsType[*RefusedError](err)
			if !ok || refused.TooLarge != test.tooLarge || refused.Key != test.key || refused.Field != "file" {
				t.Fatalf("%v", err)
			}
			if said := i18n.For("en", time.UTC).Error(refused); strings.Contains(said, "%!") {
				t.Error(said)
			}
		})
	}
	err := db.View(func(tx *store.Tx) error {
		for f := range tx.Media.All() {
			t.Errorf("left: %+v", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsUsedIsNotDeleted(t *testing.T) {
	w, db := newWorker(t, Config{})
	f := w.mustAdd(t, "a.txt", []byte("hello"))
	content := store.Content{Text: "x", Media: []store.Media{{ID: f.ID}}}
	if err := db.Update(func(tx *store.Tx) error { return tx.Contents.Put(&content) }); err != nil {
		t.Fatal(err)
	}
	err := w.Delete(f.ID)
	if said, ok := errors.AsType[*store.ConflictError](err); !ok {
		t.Fatal(err)
	} else if text := i18n.For("en", time.UTC).Error(said); !strings.Contains(text, "content 1") {
		t.Error(text)
	}
	if err := db.Update(func(tx *store.Tx) error { return tx.Contents.Delete(content.ID) }); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(f.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(f.ID); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestWhatNothingUsesIsDeletedAfterAWhile(t *testing.T) {
	schedulertest.InBubble(t, func(b *schedulertest.Bench) {
		w := New(b.DB, Config{Keep: 7 * 24 * time.Hour})
		b.Start(w.Module())
		used, unused := w.mustAdd(t, "a.txt", []byte("hello")), w.mustAdd(t, "b.txt", []byte("hello"))
		var content store.Content
		b.Update(func(tx *store.Tx) error {
			content = store.Content{Text: "x", Media: []store.Media{{ID: used.ID}}}
			return tx.Contents.Put(&content)
		})
		there := func(id uint64) bool {
			_, err := b.DB.OpenMedia(id)
			return err == nil
		}
		b.Pass(6 * 24 * time.Hour)
		if !there(used.ID) || !there(unused.ID) {
			t.Error("gone after six days")
		}
		b.Pass(3 * 24 * time.Hour)
		if !there(used.ID) || there(unused.ID) {
			t.Errorf("after nine days: the used one %v, the other %v", there(used.ID), there(unused.ID))
		}
		b.Update(func(tx *store.Tx) error { return tx.Contents.Delete(content.ID) })
		b.Pass(6 * 24 * time.Hour)
		if !there(used.ID) {
			t.Error("gone six days after its last use")
		}
		b.Pass(3 * 24 * time.Hour)
		if there(used.ID) {
			t.Error("there nine days after its last use")
		}
	})
}

func TestWhatACrashCutOffIsRemovedAtTheStart(t *testing.T) {
	w, db := newWorker(t, Config{})
	if _, err := w.Receive(t.Context(), "a.txt", "", strings.NewReader(strings.Repeat("hello", 1<<18))); err != nil {
		t.Fatal(err)
	}
	if err := New(db, Config{}).Module().Start(); err != nil {
		t.Fatal(err)
	}
	err := db.View(func(tx *store.Tx) error {
		for f := range tx.Media.All() {
			t.Errorf("left: %+v", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
