package telegram

import (
	"io"

	"github.com/abema/go-mp4"
	"github.com/gotd/td/tg"
)

// videoAttribute is what Telegram is told of a video. What it is not told it finds out for small files alone: a large one
// is shown as a square without a length. Of a video that is fetched, or is no MP4, nothing is known.
func videoAttribute(from io.Reader) *tg.DocumentAttributeVideo {
	video := &tg.DocumentAttributeVideo{SupportsStreaming: true}
	file, ok := from.(io.ReadSeeker)
	if !ok {
		return video
	}
	moov := mp4.BoxTypeMoov()
	boxes, err := mp4.ExtractBoxesWithPayload(file, nil, []mp4.BoxPath{{moov, mp4.BoxTypeMvhd()}, {moov, mp4.BoxTypeTrak(), mp4.BoxTypeTkhd()}})
	if err != nil {
		return video
	}
	for _, box := range boxes {
		switch b := box.Payload.(type) {
		case *mp4.Mvhd:
			if b.Timescale > 0 {
				video.Duration = float64(b.GetDuration()) / float64(b.Timescale)
			}
		case *mp4.Tkhd:
			w, h := int(b.Width>>16), int(b.Height>>16)
			if b.Matrix[0] == 0 { // it is shown turned by a quarter, as phones held upright film
				w, h = h, w
			}
			if w > 0 && h > 0 { // else it is a track of sound
				video.W, video.H = w, h
			}
		}
	}
	return video
}
