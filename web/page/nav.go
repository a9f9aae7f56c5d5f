package page

// group is a group of the navigation.
type group string

// The groups, in their order. One without entries does not show.
const (
	today   group = "today"
	publish group = "publish"
	clients group = "clients"
	read    group = "read"
	watch   group = "watch"
	system  group = "system"
)

var groups = []group{today, publish, clients, read, watch, system}

// entry is an entry of the navigation: its name is the message nav.key.
type entry struct{ key, path string }

// entry adds an entry to a group of the navigation.
func (s *Server) entry(in group, key, path string) {
	s.nav[in] = append(s.nav[in], entry{key, path})
}
