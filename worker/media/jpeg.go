package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// The markers of a JPEG that matter here.
const (
	markSOI, markEOI, markCOM    = 0xd8, 0xd9, 0xfe
	markAPP0, markAPP1, markAPP2 = 0xe0, 0xe1, 0xe2
	markAPP14, markAPP15         = 0xee, 0xef
)

// copyJPEG copies a picture without what describes it: place, time and camera, texts, and pictures within it or
// behind it. Only the colours stay. It returns how the picture is turned, as Exif has it: 1 is upright. What is not
// as it must be is copied as far as it goes, for the decoder to judge.
func copyJPEG(to io.Writer, from *bufio.Reader) (orientation int, err error) {
	orientation = 1
	out := bufio.NewWriterSize(to, 64<<10)
	defer func() {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		err = errors.Join(err, out.Flush())
	}()
	mark, err := scan(io.Discard, from) // what is before the first marker is no picture
	for err == nil {
		var head [2]byte
		switch {
		case mark == markEOI:
			_, _ = out.Write([]byte{0xff, mark}) // Flush returns the error of a write
			_, err = io.Copy(io.Discard, from)
			return orientation, err
		case mark == markSOI || mark == 1: // they stand alone
			_, _ = out.Write([]byte{0xff, mark})
		default:
			if _, err = io.ReadFull(from, head[:]); err != nil {
				return orientation, err
			}
			segment := make([]byte, max(2, int(binary.BigEndian.Uint16(head[:])))-2)
			if _, err = io.ReadFull(from, segment); err != nil {
				return orientation, err
			}
			if exif, is := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); is && mark == markAPP1 {
				orientation = exifOrientation(exif)
			}
			if keeps(mark, segment) {
				_, _ = out.Write([]byte{0xff, mark, head[0], head[1]})
				_, _ = out.Write(segment)
			}
		}
		mark, err = scan(out, from)
	}
	return orientation, err
}

// keeps reports whether a segment is needed to show the picture.
func keeps(mark byte, segment []byte) bool {
	switch {
	case mark == markAPP2:
		return bytes.HasPrefix(segment, []byte("ICC_PROFILE\x00"))
	case mark == markAPP0:
		return bytes.HasPrefix(segment, []byte("JFIF\x00"))
	}
	return mark == markAPP14 || mark != markCOM && (mark < markAPP0 || mark > markAPP15)
}

// scan copies the data between two segments and returns the marker that ends them.
func scan(to io.Writer, from *bufio.Reader) (mark byte, err error) {
	for {
		data, err := from.ReadSlice(0xff)
		if errors.Is(err, bufio.ErrBufferFull) {
			if _, err := to.Write(data); err != nil {
				return 0, err
			}
			continue
		}
		if err != nil {
			_, wrong := to.Write(data)
			return 0, errors.Join(err, wrong)
		}
		if _, err := to.Write(data[:len(data)-1]); err != nil {
			return 0, err
		}
		for mark = 0xff; mark == 0xff; { // fill bytes may stand before a marker
			if mark, err = from.ReadByte(); err != nil {
				return 0, err
			}
		}
		if mark != 0 && (mark < 0xd0 || mark > 0xd7) {
			return mark, nil
		}
		if _, err := to.Write([]byte{0xff, mark}); err != nil {
			return 0, err
		}
	}
}

// exifOrientation reads the tag Orientation, 1 to 8; what has none is upright.
func exifOrientation(tiff []byte) int {
	const tag, entry = 0x0112, 12
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	for n := order.Uint16(tiff[at:]); n > 0; n-- {
		e := at + 2 + uint64(n-1)*entry
		if e+entry <= uint64(len(tiff)) && order.Uint16(tiff[e:]) == tag {
			if o := int(order.Uint16(tiff[e+8:])); o >= 1 && o <= 8 {
				return o
			}
		}
	}
	return 1
}
