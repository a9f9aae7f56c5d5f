package session

import (
	"net/http"
	"strings"
)

// Action names what a request to a route does, alike for all doors: posts.create for a POST of /scheduled-posts and of
// /posts/new. One that ends in .do is completed by the button of the form. It is empty for what nobody has to know.
func Action(method, route string) string {
	var fixed []string
	given := false // a record is named
	for part := range strings.SplitSeq(strings.TrimPrefix(route, "/api/v1"), "/") {
		switch {
		case part == "" || part == "auto-posting":
		case part == "*": // there is no such page
			return ""
		case part[0] == ':' || part[0] == '{':
			given = true
		default:
			fixed = append(fixed, part)
		}
	}
	if len(fixed) == 0 || fixed[0] == "language" {
		return ""
	}
	if len(fixed) > 1 && fixed[1] == "sites" {
		fixed = fixed[1:]
	}
	resource, verb := named(fixed[0]), fixed[len(fixed)-1]
	switch {
	case method == http.MethodGet && !strings.HasPrefix(route, "/api/v1"):
		return ""
	case method == http.MethodGet:
		return resource + ".read"
	case resource == "sign-in" || resource == "sign-out":
		return resource
	case resource == "pause" || resource == "resume":
		return "everything." + resource
	case method == http.MethodDelete:
		verb = "delete"
	case method == http.MethodPatch || method == http.MethodPut:
		verb = "change"
	case resource == "password":
		verb = "change"
	case len(fixed) > 1 && !strings.HasPrefix(route, "/api/v1"):
		verb = pageVerb(verb)
	case len(fixed) > 1:
	case strings.HasPrefix(route, "/api/v1") || !given && resource != "everything":
		verb = "create"
	default:
		verb = "do"
	}
	if readsOnly(resource, verb) {
		return ""
	}
	return resource + "." + verb
}

// named is what the API calls a resource, or what the page does.
func named(resource string) string {
	switch resource {
	case "scheduled-posts":
		return "posts"
	case "content":
		return "contents"
	case "logins":
		return "identities"
	}
	return resource
}

// pageVerb is what the API calls the last part of a path of the page.
func pageVerb(part string) string {
	switch part {
	case "new", "file", "account", "instagram", "keys":
		return "create"
	case "seen":
		return "acknowledge"
	case "now":
		return "publish-now"
	case "cancel", "remove":
		return "delete"
	}
	return part
}

// readsOnly are the questions that are asked with POST. A broadcast's preview and dry run send and ask the network.
func readsOnly(resource, verb string) bool {
	switch verb {
	case "preview", "dry-run":
		return resource != "tasks"
	}
	return resource == "check"
}

// word is the button of a form as far as it is one.
func word(button string) string {
	if len(button) > 30 || strings.Trim(button, "abcdefghijklmnopqrstuvwxyz-_") != "" || button == "" {
		return "change"
	}
	return button
}
