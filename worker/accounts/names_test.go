package accounts

import (
	"strings"
	"testing"

	"belfry/store"
)

func TestTheSameLoginLooksNamesUp(t *testing.T) {
	t.Parallel()
	bot, user := store.IdentityBot, store.IdentityUser
	ready, out := store.IdentityReady, store.IdentityLogin
	for what, c := range map[string]struct {
		all  []store.Identity
		want string
	}{
		"bots before users": {[]store.Identity{{Name: "a", Kind: user, State: ready}, {Name: "b", Kind: bot, State: ready}, {Name: "main", Kind: bot, State: ready}, {Name: "notify", Kind: bot, State: ready}}, "notify main b"},
		"no bot":            {[]store.Identity{{Name: "main", Kind: bot, State: out}, {Name: "u", Kind: user, State: ready}, {Name: "v", Kind: user, State: ready}}, "u v"},
		"nobody":            {[]store.Identity{{Name: "main", Kind: bot, State: out}}, ""},
	} {
		var got []string
		for _, i := range askers(c.all) {
			got = append(got, i.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
