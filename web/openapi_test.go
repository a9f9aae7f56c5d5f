package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"belfry/web/api"
)

func TestTheDocumentListsEveryRoute(t *testing.T) {
	h := start(t)
	for name, e := range map[string]*echo.Echo{"TCP": h.server.routes(nil), "socket": h.server.socketRoutes()} {
		t.Run(name, func(t *testing.T) {
			var doc struct {
				OpenAPI string
				Paths   map[string]map[string]struct {
					Summary, Description, OperationID string
					Tags                              []string
					Responses                         map[string]any
				}
				Components struct{ Schemas map[string]any }
			}
			a := h.get("/api/openapi.json")
			if name == "socket" {
				a = h.socket()("GET", "/api/openapi.json", "")
			}
			a.decode(t, &doc)
			if !strings.HasPrefix(doc.OpenAPI, "3.1") {
				t.Errorf("version %q", doc.OpenAPI)
			}
			var ids []string
			parameter := regexp.MustCompile(`:(\w+)`)
			for _, route := range e.Routes() {
				below, ok := strings.CutPrefix(route.Path, api.Base)
				if !ok || route.Method == echo.RouteNotFound {
					continue
				}
				described, ok := doc.Paths[parameter.ReplaceAllString(below, "{$1}")][strings.ToLower(route.Method)]
				if !ok || described.Summary == "" || described.Description == "" || len(described.Tags) == 0 || described.OperationID == "" || len(described.Responses) < 2 {
					t.Errorf("%s %s is described as %+v", route.Method, route.Path, described)
				}
				ids = append(ids, described.OperationID)
			}
			if len(ids) < 16 {
				t.Errorf("only %d routes", len(ids))
			}
			slices.Sort(ids)
			if len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Errorf("operations share an id: %v", ids)
			}
			for _, schema := range []string{"ErrorModel", "Post", "NewPost", "Job", "Identity"} {
				if doc.Components.Schemas[schema] == nil {
					t.Errorf("no schema %s", schema)
				}
			}
			if doc.Paths["/scheduled-posts"]["post"].Responses["201"] == nil || strings.Contains(a.body, `octet-stream":`) {
				t.Error("what creates is not described as it answers")
			}
			if strings.Contains(a.body, "\"Secret\"") {
				t.Error("the document knows secrets")
			}
		})
	}
}
