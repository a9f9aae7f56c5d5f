package search

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"belfry/store"
)

// Count is a tag and how many messages have it.
type Count struct {
	Tag   string
	Count int
}

// counted returns the most frequent tags.
func counted(counts map[string]int, most int) (all []Count) {
	for tag, n := range counts {
		all = append(all, Count{tag, n})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag)) })
	return all[:min(len(all), most)]
}

// Related is a channel that another one refers to, or that refers to that one.
type Related struct {
	Name      string        // such as @news; of one that is known by its id alone, #1234567890
	Channel   store.Channel // zero if it is not read
	Forwards  int           // messages that forward it, link to it and mention it
	Links     int
	Mentions  int
	CitedFrom int // messages of its own that do so with the other
}

// maxRelated is how many related channels, or tags, are told.
const maxRelated = 20

// RelatedTo returns the channels that a channel forwards, links and mentions, and those that do so with it, the most
// frequent first; and its tags. Each is counted in messages.
func RelatedTo(tx *store.Tx, id uint64) (all []Related, tags []Count, err error) {
	own, err := tx.Channels.Get(id)
	if err != nil {
		return nil, nil, err
	}
	known, found := make(map[string]store.Channel), make(map[string]*Related)
	for c := range tx.Channels.All() {
		known[refPeer(c.PeerID)] = c
		if c.Username != "" {
			known[refName(c.Username)] = c
		}
	}
	of := func(name string) *Related {
		channel := known[name]
		if channel.ID != 0 {
			name = channel.Name()
		}
		if found[name] == nil {
			found[name] = &Related{Name: name, Channel: channel}
		}
		return found[name]
	}
	for ref, n := range tx.Documents.RefsOf(id) {
		r := of(ref[1:])
		switch ref[:1] {
		case forwards:
			r.Forwards += n
		case links:
			r.Links += n
		case mentions:
			r.Mentions += n
		}
	}
	for _, way := range []string{forwards, links, mentions} {
		for _, name := range []string{refName(own.Username), refPeer(own.PeerID)} {
			for from, n := range tx.Documents.ReferrersTo(way + name) {
				if c, err := tx.Channels.Get(from); err == nil {
					of(refPeer(c.PeerID)).CitedFrom += n
				}
			}
		}
	}
	for _, r := range found {
		if r.Channel.ID != id {
			all = append(all, *r)
		}
	}
	weight := func(r Related) int { return r.Forwards + r.Links + r.Mentions + r.CitedFrom }
	slices.SortFunc(all, func(a, b Related) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), maxRelated)], counted(tx.Documents.TagsOf(id), maxRelated), nil
}

// Trend is a tag that messages of a window have more often than those before.
type Trend struct {
	Tag    string
	Count  int     // of messages in the window
	Before float64 // in a window of the same length, on average of the four before
}

const (
	windowsBefore = 4
	// smooth keeps tags that are rare from being trends.
	smooth = 3
)

// Trends returns the tags that are more frequent in the window that ends now than in those before, the strongest first.
func Trends(tx *store.Tx, window time.Duration) (all []Trend) {
	now := tx.Now().Add(time.Second)
	before := tx.Documents.CountTags(now.Add(-(1+windowsBefore)*window), now.Add(-window))
	for tag, n := range tx.Documents.CountTags(now.Add(-window), now) {
		if t := (Trend{tag, n, float64(before[tag]) / windowsBefore}); t.growth() > 1 {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Trend) int {
		return cmp.Or(cmp.Compare(b.growth(), a.growth()), strings.Compare(a.Tag, b.Tag))
	})
	return all[:min(len(all), maxRelated)]
}

func (t Trend) growth() float64 { return (float64(t.Count) + smooth) / (t.Before + smooth) }
