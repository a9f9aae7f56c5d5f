package media

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // pictures that are decoded
	"image/jpeg"
	_ "image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

const (
	// maxPixels bounds the memory that decoding takes, whatever a picture's few bytes unfold to.
	maxPixels = 50_000_000
	// thumbnailSide is the longer side of a thumbnail in pixels.
	thumbnailSide = 320
	// The qualities of JPEGs that are made here.
	uprightQuality   = 92
	thumbnailQuality = 80
)

// look decodes a picture that was written: it finds its size, makes its thumbnail, and writes it anew if it is
// turned.
func (w *Worker) look(ctx context.Context, d Draft, orientation int) (Draft, error) {
	from, err := w.db.OpenMedia(d.File.ID)
	if err != nil {
		return d, err
	}
	size, _, err := image.DecodeConfig(bufio.NewReader(from))
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return d, notWhatItSays("invalid.media_damaged", err)
	}
	if size.Width > maxPixels/size.Height {
		return d, tooLarge("invalid.media_pixels", size.Width, size.Height, maxPixels/1_000_000)
	}
	select {
	case w.decoding <- struct{}{}:
		defer func() { <-w.decoding }()
	case <-ctx.Done():
		return d, ctx.Err()
	}
	if _, err := from.Seek(0, 0); err != nil {
		return d, err
	}
	picture, _, err := image.Decode(bufio.NewReader(from))
	if err != nil {
		return d, notWhatItSays("invalid.media_damaged", err)
	}
	if orientation != 1 {
		picture = turned{picture, orientation}
		if err := w.rewrite(&d, picture); err != nil {
			return d, err
		}
	}
	d.File.Width, d.File.Height = picture.Bounds().Dx(), picture.Bounds().Dy()
	d.thumbnail, err = thumbnail(picture)
	return d, err
}

// rewrite writes a picture in the place of the file that it was read from.
func (w *Worker) rewrite(d *Draft, picture image.Image) error {
	to, err := w.db.WriteMedia()
	if err != nil {
		return err
	}
	old := *d
	d.File.ID = to.ID()
	w.Drop(old)
	if err := errors.Join(jpeg.Encode(to, picture, &jpeg.Options{Quality: uprightQuality}), to.Flush()); err != nil {
		return fmt.Errorf("turn %s upright: %w", d.File.Name, err)
	}
	d.File.Size, d.File.SHA256 = to.Size(), to.Sum()
	return nil
}

// thumbnail makes a small JPEG of a picture.
func thumbnail(picture image.Image) ([]byte, error) {
	// The good way of making a picture smaller takes memory for all its lines, so a quick one goes before it.
	small := scaled(draw.ApproxBiLinear, picture, 4*thumbnailSide)
	small = scaled(draw.CatmullRom, small, thumbnailSide)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("make a thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// scaled draws a picture on white, with side pixels at most on its longer side.
func scaled(by draw.Scaler, picture image.Image, side int) *image.RGBA {
	width, height := picture.Bounds().Dx(), picture.Bounds().Dy()
	if longer := max(width, height); longer > side {
		width, height = max(1, width*side/longer), max(1, height*side/longer)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(to, to.Bounds(), image.White, image.Point{}, draw.Src)
	by.Scale(to, to.Bounds(), picture, picture.Bounds(), draw.Over, nil)
	return to
}

// turned is a picture as it is to be seen, by its orientation in Exif. It takes no memory.
type turned struct {
	image.Image
	orientation int
}

// Bounds has width and height exchanged where the picture lies on its side.
func (t turned) Bounds() image.Rectangle {
	b := t.Image.Bounds()
	if t.orientation >= 5 {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return image.Rect(0, 0, b.Dx(), b.Dy())
}

func (t turned) At(x, y int) color.Color {
	b := t.Image.Bounds()
	right, bottom := b.Dx()-1, b.Dy()-1
	switch t.orientation {
	case 2:
		x = right - x
	case 3:
		x, y = right-x, bottom-y
	case 4:
		y = bottom - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, bottom-x
	case 7:
		x, y = right-y, bottom-x
	case 8:
		x, y = right-y, x
	}
	return t.Image.At(b.Min.X+x, b.Min.Y+y)
}
