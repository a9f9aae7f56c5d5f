package moving

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/store"
)

// Row is a row of a table: the values of a replaced system's, by column, or a record of an export.
type Row struct {
	Line   int
	Values map[string]string // without those that are NULL
	Record []byte            // JSON
}

// reader reads the values of a row. The first one that cannot be read is its error.
type reader struct {
	batch  Batch
	values map[string]string
	report *Report
	now    time.Time
	was    store.Moved // when the row was imported before
	stops  bool        // the row says that it does not run
	err    error
}

// text returns the first value of the columns that is not empty.
func (r *reader) text(columns ...string) string {
	for _, c := range columns {
		if v := strings.TrimSpace(r.values[c]); v != "" {
			return v
		}
	}
	return ""
}

func (r *reader) wrong(column, key string, args ...any) {
	if r.err == nil {
		r.err = store.Invalid(column, key, args...)
	}
}

func (r *reader) number(column string) int {
	text := r.text(column)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.wrong(column, "invalid.import_number", store.Shorten(text, 60))
	}
	return n
}

// yes reads a truth value; usual is that of one that is not given.
func (r *reader) yes(column string, usual bool) bool {
	switch strings.ToLower(r.text(column)) {
	case "t", "true", "1", "yes":
		return true
	case "f", "false", "0", "no":
		return false
	case "":
		return usual
	}
	r.wrong(column, "invalid.not_yes_no", store.Shorten(r.text(column), 60))
	return false
}

// time reads a time as PostgreSQL writes it; zero if it is not given.
func (r *reader) time(column string) time.Time {
	text := r.text(column)
	if text == "" {
		return time.Time{}
	}
	written := strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, written, r.batch.Zone); err == nil {
			return at.UTC()
		}
	}
	r.wrong(column, "invalid.import_time", store.Shorten(text, 60))
	return time.Time{}
}

// list reads an array of PostgreSQL or of JSON. A column of JSON without a value may have JSON's null.
func (r *reader) list(column string) []string {
	text := r.text(column)
	if text == "null" {
		return nil
	}
	items, ok := parseArray(text)
	if strings.HasPrefix(text, "[") {
		var values []any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		ok = decoder.Decode(&values) == nil
		for _, v := range values {
			switch v := v.(type) {
			case string:
				items = append(items, v)
			case json.Number:
				items = append(items, v.String())
			default:
				ok = false
			}
		}
	}
	if !ok && text != "" {
		r.wrong(column, "invalid.import_list", store.Shorten(text, 60))
	}
	return slices.DeleteFunc(items, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// parseArray reads {a,"b, \"c\"",NULL}. Elements that are NULL are left out.
func parseArray(text string) (items []string, ok bool) {
	inner, begins := strings.CutPrefix(text, "{")
	inner, ends := strings.CutSuffix(inner, "}")
	if !begins || !ends {
		return nil, false
	}
	var item strings.Builder
	quoted, wasQuoted, escaped := false, false, false
	end := func() {
		if wasQuoted || item.Len() > 0 && item.String() != "NULL" {
			items = append(items, item.String())
		}
		item.Reset()
		wasQuoted = false
	}
	for _, c := range inner {
		switch {
		case escaped:
			item.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			quoted, wasQuoted = !quoted, true
		case c == ',' && !quoted:
			end()
		default:
			item.WriteRune(c)
		}
	}
	end()
	return items, !quoted && !escaped
}

// object reads a value of JSON into what it is for. One that is not given changes nothing.
func (r *reader) object(column string, into any) {
	if text := r.text(column); text != "" && json.Unmarshal([]byte(text), into) != nil {
		r.wrong(column, "invalid.import_json", store.Shorten(text, 60))
	}
}

// identity returns the identity of a platform that a replaced system's account names: by our name of it, its name on the
// network or its id there. 0 stands for the platform's usual one, and is noted unless nothing was named.
func (r *reader) identity(tx *store.Tx, platform, account string) uint64 {
	if account == "" {
		return 0
	}
	for _, i := range tx.Identities.Of(platform) {
		name := strings.TrimPrefix(account, "@")
		if strings.EqualFold(i.Name, name) || strings.EqualFold(i.Username, name) || strconv.FormatInt(i.NetworkID, 10) == name {
			return i.ID
		}
	}
	r.report.note("import.account", platform, account)
	return 0
}
