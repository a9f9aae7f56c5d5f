package api

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/media"
)

// MediaFile is an uploaded file as the API shows it.
type MediaFile struct {
	ID        uint64    `json:"id" doc:"What posts, contents and broadcasts name it by"`
	Name      string    `json:"name"`
	Kind      string    `json:"kind" enum:"photo,video,document" doc:"How it is shown"`
	Type      string    `json:"type" doc:"What its bytes say" example:"image/jpeg"`
	Size      int64     `json:"size" doc:"Bytes"`
	Width     int       `json:"width,omitempty" doc:"Pixels, of pictures"`
	Height    int       `json:"height,omitempty" doc:"Pixels, of pictures"`
	SHA256    string    `json:"sha256" doc:"Of the file as it is kept: pictures are turned upright, and their place removed"`
	CreatedAt time.Time `json:"created_at"`
}

// UploadedMedia is the first file of a request, and all of them if there are several.
type UploadedMedia struct {
	MediaFile
	Items []MediaFile `json:"items,omitempty" doc:"All files, if there are several" nullable:"false"`
}

func shownFile(f store.MediaFile) MediaFile {
	return MediaFile{
		ID: f.ID, Name: f.Name, Kind: f.Kind, Type: f.Type, Size: f.Size, Width: f.Width, Height: f.Height,
		SHA256: hex.EncodeToString(f.SHA256), CreatedAt: f.CreatedAt,
	}
}

// Uploads is the door to uploaded media.
func Uploads(w *media.Worker) Door {
	return func(server *Server, a *api) {
		s := mediaDoor{server, w}
		operation(a, http.MethodPost, "/media", "Upload files: as the multipart field file, or one as the body with its name in Content-Disposition", s.upload)
		a.OpenAPI().Paths["/media"].Post.RequestBody = fileBody() // described only now: huma would read it
		operation(a, http.MethodGet, "/media", "List uploaded files, the newest first", s.list)
		operation(a, http.MethodGet, "/media/{id}", "Read what is known of an uploaded file", s.read)
		operation(a, http.MethodDelete, "/media/{id}", "Delete an uploaded file that nothing uses", s.remove)
		operation(a, http.MethodGet, "/media/{id}/file", "Fetch an uploaded file, or a range of it", s.send(false), binary("*/*"))
		operation(a, http.MethodGet, "/media/{id}/thumbnail", "Fetch a small picture of an uploaded file", s.send(true), binary("image/jpeg"))
	}
}

type mediaDoor struct {
	*Server
	media *media.Worker
}

// fileBody describes the body of an upload.
func fileBody() *huma.RequestBody {
	file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"multipart/form-data": {Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": {Type: huma.TypeArray, Items: file}}}},
		"*/*":                 {Schema: file},
	}}
}

// binary describes an answer that is a file.
func binary(kind string) func(*huma.Operation) {
	return func(op *huma.Operation) {
		content := map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
		op.Responses = map[string]*huma.Response{
			"200": {Description: "The file", Content: content}, "206": {Description: "The range that was asked for", Content: content},
			"304": {Description: "It is as the caller has it"}, "416": {Description: "The file has no such range"},
		}
	}
}

// upload is a request whose body is read while it arrives.
type upload struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"Chosen by the caller: the same request with the same key is carried out once, and answered the same each time, for 7 days"`
	c   echo.Context
}

// Resolve takes the request from huma.
func (u *upload) Resolve(ctx huma.Context) []error {
	u.c = humaecho.Unwrap(ctx)
	return nil
}

func (s mediaDoor) upload(ctx context.Context, in *upload) (*created[UploadedMedia], error) {
	var drafts []media.Draft
	err := ReadFiles(in.c, func(name, claimed string, from Body) error {
		d, err := s.media.Receive(ctx, name, claimed, from)
		if err == nil {
			drafts = append(drafts, d)
		}
		return err
	})
	if err == nil && len(drafts) == 0 {
		err = store.Invalid("file", "invalid.media_missing")
	}
	if err != nil {
		s.media.Drop(drafts...)
		return nil, MediaProblem(err)
	}
	request := creation[struct{}]{Key: in.Key}
	for _, d := range drafts {
		request.RawBody = append(append(request.RawBody, d.File.SHA256...), d.File.Name+"\x00"...)
	}
	out, err := once(ctx, s.Server, "media", &request, func() (func(*store.Tx) (UploadedMedia, error), error) {
		return func(tx *store.Tx) (made UploadedMedia, err error) {
			for _, d := range drafts {
				f, err := s.media.Keep(tx, d)
				if err != nil {
					return made, err
				}
				made.Items = append(made.Items, shownFile(f))
			}
			made.MediaFile = made.Items[0]
			if len(made.Items) == 1 {
				made.Items = nil
			}
			return made, nil
		}, nil
	})
	if err != nil || out.Replayed != "" {
		s.media.Drop(drafts...)
	}
	return out, err
}

// MediaProblem gives the refusal of a file its status: 413 or 415.
func MediaProblem(err error) error {
	refused, ok := errors.AsType[*media.RefusedError](err)
	if !ok {
		return err
	}
	p, status := ProblemOf(refused), http.StatusUnsupportedMediaType
	if refused.TooLarge {
		status = http.StatusRequestEntityTooLarge
	}
	p.Status, p.Title = status, http.StatusText(status)
	return p
}

func (s mediaDoor) list(_ context.Context, in *Paged) (*reply[List[MediaFile]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.MediaFile], error) { return tx.Media.Newest(in.query()) }, plain(shownFile))
}

func (s mediaDoor) read(_ context.Context, in *one) (*reply[MediaFile], error) {
	return record(s.db.View, func(tx *store.Tx) (store.MediaFile, error) { return tx.Media.Whole(in.ID) }, plain(shownFile))
}

func (s mediaDoor) remove(ctx context.Context, in *one) (*reply[MediaFile], error) {
	gone, err := s.read(ctx, in)
	if err == nil {
		err = s.media.Delete(in.ID)
	}
	return gone, err
}

// send answers with a file or its thumbnail.
func (s mediaDoor) send(thumbnail bool) func(context.Context, *one) (*huma.StreamResponse, error) {
	return func(_ context.Context, in *one) (*huma.StreamResponse, error) {
		answer, err := MediaAnswer(s.db, in.ID, thumbnail)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) { answer(humaecho.Unwrap(ctx)) }}, nil
	}
}
