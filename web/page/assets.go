package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"
)

//go:embed static
var embedded embed.FS

// assetBase is where the static files are served.
const assetBase = "/static/"

// assets are the static files under names that carry a hash of their content, so that a browser may
// keep them for ever and still gets new ones after an upgrade.
type assets struct {
	names map[string]string // as templates call them: as they are served
	files map[string]asset  // as they are served
}

type asset struct {
	kind string
	data []byte
}

// newAssets reads the static files. They are part of the program, so one that cannot be read is a mistake in it.
func newAssets() assets {
	a := assets{names: make(map[string]string), files: make(map[string]asset)}
	entries, err := embedded.ReadDir("static")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := embedded.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(entry.Name())
		served := strings.TrimSuffix(entry.Name(), ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		a.names[entry.Name()] = served
		a.files[served] = asset{kind: kindOf(ext), data: data}
	}
	return a
}

// kindOf does not ask the machine, whose tables may be missing or wrong.
func kindOf(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(ext)
}

// path returns where the named file is served. An unknown name is a mistake in a component.
func (a assets) path(name string) string {
	served, ok := a.names[name]
	if !ok {
		panic("no static file is called " + name)
	}
	return assetBase + served
}

// serve answers with a static file.
func (a assets) serve(c echo.Context) error {
	file, ok := a.files[c.Param("name")]
	if !ok {
		return echo.ErrNotFound
	}
	c.Response().Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	return c.Blob(http.StatusOK, file.kind, file.data)
}
