package store

import "time"

// TagRule says which messages get a tag.
type TagRule struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"`               // the tag
	Keywords  []string  `json:"keywords,omitempty"` // one of them, in any of its forms, or several words in a row
	Pattern   string    `json:"pattern,omitempty"`  // or this, an expression of RE2
	CreatedAt time.Time `json:"created_at"`
}

// TagRules is the table of rules for tags.
type TagRules struct{ Table[TagRule] }

func tagRuleTable() def[TagRule] {
	return def[TagRule]{
		name: "tag_rules",
		id:   func(r *TagRule) *uint64 { return &r.ID },
		indexes: []Index[TagRule]{
			{Name: "name", Unique: true, Key: func(r *TagRule, k key) key { return k.str(r.Name) }},
		},
	}
}

// ByName returns the rules in the order of their tags.
func (t TagRules) ByName(q Query) (Page[TagRule], error) { return t.page("name", nil, q, false) }
