package accounts

import (
	"errors"
	"fmt"
	"strings"

	"belfry/store"
)

// Line is what became of one name in a list.
type Line struct {
	N        int    // of the line, from 1
	Last     int    // of the last line that it goes on to, where a text in quotes has several
	Text     string // as it was written
	Username string // as it was understood
	ID       uint64 // of the account; 0 for an invalid line
	Result   LineResult
	Problem  error // with LineInvalid: what is wrong
}

// LineResult says what became of a name.
type LineResult string

// The results.
const (
	LineAdded     LineResult = "added"
	LineDuplicate LineResult = "duplicate" // it is already watched, or stands further up in the list
	LineInvalid   LineResult = "invalid"
)

// List is what became of a list.
type List struct {
	Lines                      []Line
	Added, Duplicates, Invalid int
}

const (
	maxListSize  = 8 << 20
	maxListLines = 100_000
)

// AddList has the accounts of a list watched: names, with or without @, or addresses, one in each
// line, or CSV. In a file whose first line names the columns, they are username, site, note, tag,
// owner_chat and keep_watching, in any order and separated by commas, semicolons or tabs; without
// such a line they are username, note and tag, and a line of which nobody can tell whether it is that or
// several names is not understood: a note that could be a name stands in quotes, or all lines have the same
// number of semicolons or tabs. Excel's line sep=; may come first. A text in quotes may go
// on over several lines. Several names that begin with @ may share a line. Empty lines, and those that
// begin with #, mean nothing. What a line does not say is as in r.
//
// The list is UTF-8. A line that cannot be understood does not keep the others from being added; the
// error is about the list as a whole.
func (w *Worker) AddList(tx *store.Tx, text string, r Request) (List, error) {
	var list List
	text = strings.TrimPrefix(text, "\ufeff")
	if len(text) > maxListSize {
		return list, store.Invalid("list", "invalid.list_large")
	}
	if !isText(text) {
		return list, store.Invalid("list", "invalid.file_not_utf8")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > maxListLines {
		return list, store.Invalid("list", "invalid.list_lines")
	}
	rules := w.Rules(tx)
	var form format
	for i, n := 0, 1; i < len(lines); i += n {
		n = 1
		if text := strings.TrimSpace(lines[i]); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if i == 0 && isSeparatorLine(lines[i]) {
			continue
		}
		if form.columns == nil {
			var named bool
			if form, named = readHeader(strings.TrimSpace(lines[i])); named {
				continue
			}
			form = plainFormat(lines[i:])
		}
		var text string
		text, n = form.record(lines[i:])
		requests, err := form.read(text, r, rules)
		if err != nil {
			list.add(Line{N: i + 1, Last: i + n, Text: short(text), Result: LineInvalid, Problem: err})
			continue
		}
		for _, one := range requests {
			line := Line{N: i + 1, Last: i + n, Text: short(one.Username)}
			a, err := read(rules, one)
			line.Username = a.Username
			if bad, ok := errors.AsType[*store.FieldError](err); ok {
				line.Result, line.Problem = LineInvalid, bad
				list.add(line)
				continue
			}
			known, err := add(tx, &a)
			if store.IsCorrupt(err) {
				line.Result, line.Problem = LineInvalid, err
				list.add(line)
				continue
			}
			if err != nil {
				return list, fmt.Errorf("line %d: %w", i+1, err)
			}
			if line.Result = LineAdded; known {
				line.Result = LineDuplicate
			}
			line.ID = a.ID
			list.add(line)
		}
	}
	if len(list.Lines) == 0 {
		return list, store.Invalid("list", "invalid.list_empty")
	}
	if list.Added == 0 {
		return list, nil
	}
	_, err := w.put(tx)
	return list, err
}

func (l *List) add(line Line) {
	l.Lines = append(l.Lines, line)
	switch line.Result {
	case LineAdded:
		l.Added++
	case LineDuplicate:
		l.Duplicates++
	case LineInvalid:
		l.Invalid++
	}
}
