package accounts

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"belfry/store"
)

// Line is what became of one name in a list.
type Line struct {
	N        int    // of the line, from 1
	Text     string // as it was written
	Username string // as it was understood
	ID       uint64 // of the account; 0 for nonsense
	Result   LineResult
	Problem  string // with nonsense: what is wrong
}

// LineResult says what became of a name.
type LineResult string

// The results.
const (
	LineAdded     LineResult = "added"
	LineDuplicate LineResult = "duplicate" // it is watched already, or stands further up in the list
	LineNonsense  LineResult = "nonsense"
)

// List is what became of a list.
type List struct {
	Lines                       []Line
	Added, Duplicates, Nonsense int
}

const (
	maxListSize  = 8 << 20
	maxListLines = 100_000
)

// AddList has the accounts of a list watched: names, with or without @, or addresses, one in each
// line, or CSV. In a file whose first line names the columns, they are username, site, note, tag,
// owner_chat and keep_watching, in any order and separated by commas, semicolons or tabs; without
// such a line they are username, note and tag. Several names that begin with @ may share a line.
// Empty lines, and those that begin with #, mean nothing. What a line does not say is as in r.
//
// A line that cannot be understood does not keep the others from being added; the error is about
// the list as a whole.
func (w *Worker) AddList(tx *store.Tx, text string, r Request) (List, error) {
	var list List
	text = strings.TrimPrefix(text, "\ufeff")
	if len(text) > maxListSize {
		return list, &store.FieldError{Field: "list", Problem: "is larger than 8 MB", Cure: "divide it"}
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	if len(lines) > maxListLines {
		return list, &store.FieldError{Field: "list", Problem: "has more than 100000 lines", Cure: "divide it"}
	}
	rules, err := w.Rules(tx)
	if err != nil {
		return list, err
	}
	var header []string
	for i, text := range lines {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if header == nil {
			if header = columns(text); header != nil {
				continue
			}
			header = []string{"username", "note", "tag"}
		}
		requests, err := readLine(text, header, r)
		if err != nil {
			list.add(Line{N: i + 1, Text: short(text), Result: LineNonsense, Problem: err.Error()})
			continue
		}
		for _, one := range requests {
			line := Line{N: i + 1, Text: short(one.Username)}
			a, err := read(rules, one)
			line.Username = a.Username
			if bad, ok := errors.AsType[*store.FieldError](err); ok {
				line.Result, line.Problem = LineNonsense, bad.Error()
				list.add(line)
				continue
			}
			known, err := add(tx, &a)
			if w.passOver(err) {
				line.Result, line.Problem = LineNonsense, err.Error()
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
		return list, &store.FieldError{Field: "list", Problem: "names nobody", Cure: "write one name in each line"}
	}
	if list.Added == 0 {
		return list, nil
	}
	_, err = w.put(tx)
	return list, err
}

func (l *List) add(line Line) {
	l.Lines = append(l.Lines, line)
	switch line.Result {
	case LineAdded:
		l.Added++
	case LineDuplicate:
		l.Duplicates++
	case LineNonsense:
		l.Nonsense++
	}
}

// columns reads a line that names the columns; nil if it is none.
func columns(text string) []string {
	fields, err := split(text)
	if err != nil {
		return nil
	}
	for i := range fields {
		fields[i] = strings.ToLower(strings.ReplaceAll(fields[i], " ", "_"))
	}
	if !slices.Contains(fields, "username") {
		return nil
	}
	return fields
}

// split reads a line of CSV. Its separator is the first of tab, semicolon and comma that is in it.
func split(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	for _, separator := range "\t;," {
		if strings.ContainsRune(text, separator) {
			r.Comma = separator
			break
		}
	}
	r.TrimLeadingSpace = r.Comma != '\t'
	fields, err := r.Read()
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, err
}

// readLine reads a line: one account, or several names.
func readLine(text string, header []string, r Request) ([]Request, error) {
	if names := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t,;", c) }); len(names) > 1 && !slices.ContainsFunc(names, isPlain) {
		var all []Request
		for _, name := range names {
			one := r
			one.Username = name
			all = append(all, one)
		}
		return all, nil
	}
	fields, err := split(text)
	if err != nil {
		return nil, errors.New("the quotes do not match: close each, and double those inside")
	}
	for i, value := range fields {
		if i >= len(header) {
			if value == "" {
				continue
			}
			return nil, fmt.Errorf("there are more than %d columns: quote a text that contains the separator", len(header))
		}
		if value == "" && header[i] != "username" {
			continue
		}
		switch header[i] {
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
				return nil, fmt.Errorf("keep_watching %q is not yes or no: write yes or no", short(value))
			}
		}
	}
	return []Request{r}, nil
}

// isPlain reports whether a word does not say of itself that it is a name.
func isPlain(word string) bool {
	return !strings.HasPrefix(word, "@") && !strings.HasPrefix(word, "https://") && !strings.HasPrefix(word, "http://")
}
