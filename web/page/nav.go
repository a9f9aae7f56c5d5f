package page

import "belfry/store"

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

// canMake adds something to what the button "New" offers; its name is the message nav.make.key.
func (s *Server) canMake(key, path string) { s.made = append(s.made, entry{"make." + key, path}) }

// bar are the entries that a narrow screen shows at once.
func (s *Server) bar() (entries []entry) {
	for _, g := range groups {
		for _, e := range s.nav[g] {
			switch e.path {
			case "/", "/posts", "/tasks", "/alerts":
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// maxBadge is how far new alerts are counted.
const maxBadge = 100

// newAlerts is how many alerts are new; empty if there are none.
func (v view) newAlerts() (count string) {
	// What cannot be read is told elsewhere on the page.
	_ = v.server.DB.View(func(tx *store.Tx) error {
		if n := tx.Alerts.Count(store.AlertOpen, maxBadge); n > 0 {
			count = upTo(n, maxBadge)
		}
		return nil
	})
	return count
}
