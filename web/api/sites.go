package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"belfry/store"
)

// WatchedSite is a site on which accounts can be watched.
type WatchedSite struct {
	Site    string `json:"site" doc:"What an account's site is called" example:"instagram"`
	Profile string `json:"profile" doc:"The address of a profile; {} is the user name" example:"https://www.instagram.com/{}/"`
	Own     bool   `json:"own" doc:"Its rule was imported"`
	Via     string `json:"via,omitempty" doc:"identity for a site that is asked through a login"`
}

// sitesAPI registers the operations on the rules by which sites are asked.
func (s accountDoor) sitesAPI(a *api) {
	operation(a, http.MethodGet, "/accounts/sites", "List the sites on which accounts can be watched", s.listSites)
	operation(a, http.MethodPost, "/accounts/sites", "Import rules for sites, in the form of Sherlock's data.json", s.importSites, longBodies)
	operation(a, http.MethodDelete, "/accounts/sites/{site}", "Forget an imported rule; one that comes with Belfry is used again", s.removeSite)
}

func (s accountDoor) listSites(context.Context, *struct{}) (*reply[List[WatchedSite]], error) {
	return within(s.db.View, func(tx *store.Tx) (List[WatchedSite], error) {
		out := List[WatchedSite]{Items: []WatchedSite{}}
		sites, err := s.accounts.Sites(tx)
		for _, site := range sites {
			out.Items = append(out.Items, WatchedSite(site))
		}
		return out, err
	})
}

type siteImport struct {
	Body struct {
		Rules json.RawMessage `json:"rules" doc:"An object with a rule for each site by its name" example:"{\"forum\":{\"url\":\"https://forum.example/u/{}\",\"errorType\":\"status_code\",\"username_claimed\":\"admin\"}}"`
	}
}

// ImportedSites names the sites whose rules were taken.
type ImportedSites struct {
	Sites []string `json:"sites" nullable:"false"`
}

func (s accountDoor) importSites(_ context.Context, in *siteImport) (*reply[ImportedSites], error) {
	return within(s.db.Update, func(tx *store.Tx) (out ImportedSites, err error) {
		out.Sites, err = s.accounts.ImportRules(tx, in.Body.Rules)
		return out, err
	})
}

type namedSite struct {
	Site string `path:"site" doc:"The site's name" example:"forum"`
}

func (s accountDoor) removeSite(_ context.Context, in *namedSite) (*struct{}, error) {
	site := in.Site
	if plain, err := url.PathUnescape(site); err == nil { // the router leaves a name with a slash as it came
		site = plain
	}
	return nil, s.db.Update(func(tx *store.Tx) error { return s.accounts.RemoveRules(tx, strings.TrimSpace(site)) })
}
