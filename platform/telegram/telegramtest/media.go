package telegramtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/gif" // photos are looked at
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"regexp"
	"strings"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// The limits of uploads, in bytes and parts.
const (
	partMax    = 512 << 10
	smallMax   = 10 << 20 // above it saveBigFilePart is the method
	partsMax   = 4000
	photoMax   = 10 << 20
	photoSides = 10000 // width and height together, in pixels
	photoRatio = 20
)

// photoNames are those that Telegram's own library sends photos under: it adds .jpg to all others.
var photoNames = regexp.MustCompile(`\.(jpg|jpeg|gif|png|tif|bmp)$`)

// Media is a file in a message.
type Media struct {
	Kind   string // photo, video or document
	Name   string // of videos and documents
	MIME   string
	Size   int64
	SHA256 string // of the content, hexadecimal

	// Of videos.
	SupportsStreaming bool
	Width, Height     int
	Duration          float64 // seconds
}

type uploadKey struct{ user, file int64 }

// upload collects the parts of a file.
type upload struct {
	parts map[int][]byte
	big   bool
	total int // -1: not said yet
}

// storedMedia is a file that Telegram has taken over.
type storedMedia struct {
	Media
	id        int64
	hash      int64
	reference []byte
	content   []byte
}

// File is the content of a file that was sent, as its receiver downloads it; nil if there is none.
func (s *Server) File(m Media) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stored := range s.media {
		if stored.SHA256 == m.SHA256 {
			return bytes.Clone(stored.content)
		}
	}
	return nil
}

func (c *call) saveFilePart(req *tg.UploadSaveFilePartRequest) (bin.Encoder, error) {
	return c.savePart(req.FileID, req.FilePart, -1, req.Bytes, false)
}

func (c *call) saveBigFilePart(req *tg.UploadSaveBigFilePartRequest) (bin.Encoder, error) {
	if req.FileTotalParts > partsMax {
		return nil, tgerr.New(400, "FILE_PARTS_INVALID")
	}
	return c.savePart(req.FileID, req.FilePart, req.FileTotalParts, req.Bytes, true)
}

func (c *call) savePart(file int64, part, total int, data []byte, big bool) (bin.Encoder, error) {
	switch {
	case part < 0 || part >= partsMax:
		return nil, tgerr.New(400, "FILE_PART_INVALID")
	case len(data) == 0:
		return nil, tgerr.New(400, "FILE_PART_EMPTY")
	case len(data) > partMax:
		return nil, tgerr.New(400, "FILE_PART_TOO_BIG")
	}
	key := uploadKey{c.by.ID, file}
	u, ok := c.srv.uploads[key]
	if !ok {
		u = &upload{parts: map[int][]byte{}, total: -1, big: big}
		c.srv.uploads[key] = u
	}
	if total >= 0 {
		u.total = total
	}
	u.parts[part] = bytes.Clone(data)
	return &tg.BoolTrue{}, nil
}

// file puts the uploaded parts together.
func (c *call) file(in tg.InputFileClass) (content []byte, name string, err error) {
	id, parts, name, big := int64(0), 0, "", false
	switch f := in.(type) {
	case *tg.InputFile:
		id, parts, name = f.ID, f.Parts, f.Name
	case *tg.InputFileBig:
		id, parts, name, big = f.ID, f.Parts, f.Name, true
	default:
		return nil, "", tgerr.New(400, "MEDIA_INVALID")
	}
	u, ok := c.srv.uploads[uploadKey{c.by.ID, id}]
	if !ok {
		return nil, "", tgerr.New(400, "FILE_ID_INVALID")
	}
	if parts <= 0 || u.big != big || (big && u.total != parts) {
		return nil, "", tgerr.New(400, "FILE_PARTS_INVALID")
	}
	for i := range parts {
		part, ok := u.parts[i]
		if !ok {
			return nil, "", tgerr.New(400, fmt.Sprintf("FILE_PART_%d_MISSING", i))
		}
		if size := len(u.parts[0]); i < parts-1 && (len(part) != size || size%1024 != 0 || partMax%size != 0) {
			return nil, "", tgerr.New(400, "FILE_PART_SIZE_INVALID")
		}
		content = append(content, part...)
	}
	if !big && len(content) > smallMax {
		return nil, "", tgerr.New(400, "FILE_PARTS_INVALID")
	}
	return content, name, nil
}

// takeMedia makes media of a finished upload.
func (c *call) takeMedia(in tg.InputMediaClass) (*storedMedia, error) {
	var file tg.InputFileClass
	m := Media{}
	switch in := in.(type) {
	case *tg.InputMediaUploadedPhoto:
		file, m.Kind = in.File, "photo"
	case *tg.InputMediaUploadedDocument:
		file, m.Kind, m.MIME = in.File, "document", in.MimeType
		for _, a := range in.Attributes {
			switch a := a.(type) {
			case *tg.DocumentAttributeVideo:
				if !in.ForceFile && strings.HasPrefix(in.MimeType, "video/") {
					m.Kind, m.SupportsStreaming = "video", a.SupportsStreaming
					m.Width, m.Height, m.Duration = a.W, a.H, a.Duration
				}
			case *tg.DocumentAttributeFilename:
				m.Name = a.FileName
			}
		}
	default:
		return c.uploadedMedia(in)
	}
	content, name, err := c.file(file)
	if err != nil {
		return nil, err
	}
	if m.Kind == "photo" {
		if !photoNames.MatchString(name) {
			return nil, tgerr.New(400, "PHOTO_EXT_INVALID")
		}
		m.MIME = http.DetectContentType(content)
		if err := checkPhoto(content, m.MIME); err != nil {
			return nil, err
		}
	} else if m.Name == "" {
		m.Name = name
	}
	sum := sha256.Sum256(content)
	m.Size, m.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	c.srv.lastID++
	s := &storedMedia{Media: m, id: c.srv.lastID, hash: c.srv.lastID ^ hashMask, reference: sum[:8], content: content}
	c.srv.media[s.id] = s
	return s, nil
}

func checkPhoto(content []byte, mime string) error {
	if !strings.HasPrefix(mime, "image/") {
		return tgerr.New(400, "IMAGE_PROCESS_FAILED")
	}
	if len(content) > photoMax {
		return tgerr.New(400, "PHOTO_SAVE_FILE_INVALID")
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return tgerr.New(400, "IMAGE_PROCESS_FAILED")
	}
	if size.Width+size.Height > photoSides || size.Width > photoRatio*size.Height || size.Height > photoRatio*size.Width {
		return tgerr.New(400, "PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

func (c *call) uploadMedia(req *tg.MessagesUploadMediaRequest) (bin.Encoder, error) {
	if _, err := c.writable(req.Peer); err != nil {
		return nil, err
	}
	m, err := c.takeMedia(req.Media)
	if err != nil {
		return nil, err
	}
	return m.tl(), nil
}

// uploadedMedia finds media that uploadMedia has taken over. An album takes nothing else.
func (c *call) uploadedMedia(in tg.InputMediaClass) (*storedMedia, error) {
	var id, hash int64
	var reference []byte
	switch in := in.(type) {
	case *tg.InputMediaPhoto:
		if p, ok := in.ID.(*tg.InputPhoto); ok {
			id, hash, reference = p.ID, p.AccessHash, p.FileReference
		}
	case *tg.InputMediaDocument:
		if d, ok := in.ID.(*tg.InputDocument); ok {
			id, hash, reference = d.ID, d.AccessHash, d.FileReference
		}
	}
	m, ok := c.srv.media[id]
	if !ok || m.hash != hash {
		return nil, tgerr.New(400, "MEDIA_INVALID")
	}
	if !bytes.Equal(m.reference, reference) {
		return nil, tgerr.New(400, "FILE_REFERENCE_INVALID")
	}
	return m, nil
}

func (m *storedMedia) tl() tg.MessageMediaClass {
	if m.Kind == "photo" {
		media := &tg.MessageMediaPhoto{}
		media.SetPhoto(&tg.Photo{ID: m.id, AccessHash: m.hash, FileReference: m.reference,
			Date: int(now().Unix()), DCID: 2, Sizes: []tg.PhotoSizeClass{&tg.PhotoSize{Type: "x", W: 800, H: 600, Size: len(m.content)}}})
		return media
	}
	media := &tg.MessageMediaDocument{Video: m.Kind == "video"}
	media.SetDocument(&tg.Document{ID: m.id, AccessHash: m.hash, FileReference: m.reference,
		Date: int(now().Unix()), MimeType: m.MIME, Size: m.Size, DCID: 2,
		Attributes: []tg.DocumentAttributeClass{&tg.DocumentAttributeFilename{FileName: m.Name}}})
	return media
}
