package accounts

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strings"

	"belfry/platform/profile"
	"belfry/store"
)

// format is how the lines of a list are to be read.
type format struct {
	columns   []string
	separator rune // 0: the one that each line shows
	unnamed   bool // no line names the columns
	table     bool // without that, all lines show that they have columns
}

// plainFormat is that of a list whose first line does not name the columns. What spreadsheets write has the same
// number of semicolons or tabs in each of several lines, and no space after one.
func plainFormat(lines []string) format {
	f := format{columns: []string{"username", "note", "tag"}, unnamed: true}
	separators, several := "", 0
	for _, line := range lines {
		found := strings.Join(strings.FieldsFunc(line, func(c rune) bool { return c != ';' && c != '\t' }), "")
		switch {
		case line == "":
			continue
		case found == "" || several > 0 && found != separators || strings.Contains(line, "; "):
			return f
		}
		separators = found
		several++
	}
	f.table = several > 1
	return f
}

// isSeparatorLine reports whether a line is the one by which Excel is told how columns are separated. Each line
// shows that by itself.
func isSeparatorLine(line string) bool {
	mark, ok := strings.CutPrefix(strings.ToLower(line), "sep=")
	return ok && slices.Contains([]string{",", ";", "\t"}, mark)
}

// readHeader reads a line that names the columns; ok is false if it is none.
func readHeader(text string) (f format, ok bool) {
	columns, err := f.split(text)
	if err != nil {
		return f, false
	}
	for i := range columns {
		columns[i] = strings.ToLower(strings.ReplaceAll(columns[i], " ", "_"))
	}
	return format{columns: columns, separator: separator(text)}, slices.Contains(columns, "username")
}

// separator is the first of tab, semicolon and comma that is in a text and not in quotes; 0 if none is.
func separator(text string) rune {
	var seen [3]bool
	const separators = "\t;,"
	quoted := false
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		} else if i := strings.IndexRune(separators, c); i >= 0 && !quoted {
			seen[i] = true
		}
	}
	for i, c := range separators {
		if seen[i] {
			return c
		}
	}
	return 0
}

// split reads a record of CSV.
func (f format) split(text string) ([]string, error) {
	if f.separator == 0 {
		f.separator = cmp.Or(separator(text), ',')
	}
	fields, err := strings.Split(text, string(f.separator)), error(nil)
	if strings.Contains(text, `"`) { // a reader of CSV costs 4 KB, and a list has 100,000 lines
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.TrimLeadingSpace = f.separator, f.separator != '\t'
		fields, err = r.Read()
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, err
}

// opens reports whether a text ends within quotes.
func (f format) opens(text string) bool {
	if !strings.Contains(text, `"`) {
		return false
	}
	if _, err := f.split(text); err == nil {
		return false
	}
	_, err := f.split(text + `"`)
	return err == nil
}

// maxRecord is how far a text in quotes is followed, in bytes: no note is that long.
const maxRecord = 4 << 10

// record returns the record that begins with the first of some lines, and how many lines it has: more than
// one if a text in quotes goes on. If the quotes are not closed as they should be, or not soon, one is
// missing, and the other lines are not taken for a part of the text.
func (f format) record(lines []string) (text string, n int) {
	first := strings.TrimRight(lines[0], " \t")
	if f.separator != '\t' { // else there may be an empty column
		first = strings.TrimSpace(first)
	}
	if !f.opens(first) {
		return first, 1
	}
	var whole strings.Builder
	whole.WriteString(first)
	for n = 1; n < len(lines) && whole.Len() < maxRecord; n++ {
		whole.WriteString("\n" + lines[n])
		if strings.Count(lines[n], `"`)%2 == 0 { // those inside are doubled
			continue
		}
		if _, err := f.split(whole.String()); err != nil {
			break
		}
		return whole.String(), n + 1
	}
	return first, 1
}

// read reads a record: one account, or, where there are no columns to tell apart, several names. What it
// does not say is as in r, and the rules say what is a name.
func (f format) read(text string, r Request, rules profile.Rules) ([]Request, error) {
	names := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t,;", c) })
	if f.separator == 0 && len(names) > 1 && !slices.ContainsFunc(names, isPlain) {
		var all []Request
		for _, name := range names {
			one := r
			one.Username = name
			all = append(all, one)
		}
		return all, nil
	}
	fields, err := f.split(text)
	if err != nil {
		return nil, store.Invalid("line", "invalid.quotes")
	}
	if rule, known := rules[siteOf(r)]; known && f.unnamed && !f.table && !strings.Contains(text, `"`) && areNames(fields, rule) {
		return nil, store.Invalid("line", "invalid.unclear_names")
	}
	for i, value := range fields {
		if i >= len(f.columns) {
			if value == "" {
				continue
			}
			return nil, store.Invalid("line", "invalid.too_many_columns", len(f.columns))
		}
		if value == "" && f.columns[i] != "username" {
			continue
		}
		switch f.columns[i] {
		case "username":
			r.Username = value
		case "site":
			r.Site = value
		case "note":
			r.Note = value
		case "tag":
			r.Tag = value
		case "owner_chat":
			r.OwnerChat = value
		case "keep_watching":
			switch strings.ToLower(value) {
			case "1", "true", "yes", "да":
				r.KeepWatching = true
			case "0", "false", "no", "нет":
				r.KeepWatching = false
			default:
				return nil, store.Invalid("keep_watching", "invalid.not_yes_no", short(value))
			}
		}
	}
	return []Request{r}, nil
}

// areNames reports whether each of at least two fields could be a name.
func areNames(fields []string, rule profile.Rule) bool {
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return len(fields) > 1 && !slices.ContainsFunc(fields, func(field string) bool { return !rule.Fits(rule.Name(field)) })
}

// isPlain reports whether a word does not say of itself that it is a name.
func isPlain(word string) bool {
	return !strings.HasPrefix(word, "@") && !strings.HasPrefix(word, "https://") && !strings.HasPrefix(word, "http://")
}
