package media

import (
	"net/http"
	"path"
	"strings"

	"belfry/store"
)

// sniffed is how many bytes of a file say what it is.
const sniffed = 512

// said are the media types that endings of names stand for. The machine is not asked: its tables may lack them.
var said = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime",
}

// identify finds out what a file is by its first bytes. One that says to be a picture or a film, and is none, is
// refused.
func identify(name, claimed string, start []byte) (f store.MediaFile, err error) {
	if len(start) == 0 {
		return f, notWhatItSays("invalid.media_empty")
	}
	claimed, _, _ = strings.Cut(strings.ToLower(claimed), ";")
	if byName := said[strings.ToLower(path.Ext(name))]; byName != "" {
		claimed = byName
	}
	f = store.MediaFile{Name: name, Kind: "document", Type: typeOf(start)}
	switch {
	case f.Type == "image/jpeg" || f.Type == "image/png" || f.Type == "image/gif" || f.Type == "image/webp":
		f.Kind = "photo"
	case f.Type == "video/mp4" || f.Type == "video/quicktime":
		f.Kind = "video"
	case strings.HasPrefix(f.Type, "image/"): // shown nowhere, but it is a picture
	case strings.HasPrefix(claimed, "image/") && claimed != "image/svg+xml":
		return f, notWhatItSays("invalid.media_no_picture", f.Type)
	case claimed == "video/mp4" || claimed == "video/quicktime":
		return f, notWhatItSays("invalid.media_no_film", f.Type)
	}
	return f, nil
}

// typeOf is the media type of what begins with start.
func typeOf(start []byte) string {
	if len(start) >= 12 && string(start[4:8]) == "ftyp" {
		switch brand := string(start[8:12]); {
		case brand == "qt  ":
			return "video/quicktime"
		case brand == "avif" || brand == "avis":
			return "image/avif"
		case brand == "mif1" || brand == "msf1" || strings.HasPrefix(brand, "hei") || strings.HasPrefix(brand, "hev"):
			return "image/heic"
		case strings.HasPrefix(brand, "M4A") || strings.HasPrefix(brand, "M4B"):
			return "audio/mp4"
		}
		return "video/mp4"
	}
	seen, _, _ := strings.Cut(http.DetectContentType(start), ";")
	return seen
}
