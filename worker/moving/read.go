package moving

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"belfry/store"
)

// MaxLine bounds a line, in bytes. What Belfry accepts, in forms of up to 8 MB, is shorter.
const MaxLine = 16 << 20

// Line is a row of a file, or why it is none.
type Line struct {
	Row
	Table string // of a row of an export
	Size  int    // bytes, about
	Err   error  // a refusal; any other error ends the file
}

// Lines reads a file as COPY … CSV HEADER writes it, or lines of JSON as row_to_json or [Export] write them, without
// keeping it in memory. What is no row does not keep the others from being read.
func Lines(from io.Reader) iter.Seq[Line] {
	in := bufio.NewReaderSize(from, 64<<10)
	if start, _ := in.Peek(3); string(start) == "\ufeff" {
		_, _ = in.Discard(3) // they are there
	}
	if start, _ := in.Peek(2); string(start) == "\xff\xfe" || string(start) == "\xfe\xff" {
		return func(yield func(Line) bool) {
			yield(Line{Row: Row{Line: 1}, Err: store.Invalid("FILE", "invalid.import_utf16")})
		}
	}
	if start, _ := in.Peek(1); string(start) == "{" {
		return jsonLines(in)
	}
	return csvLines(in)
}

func csvLines(in io.Reader) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		r := csv.NewReader(in)
		r.FieldsPerRecord = -1
		columns, err := r.Read()
		if wrong := cmp.Or(twice(columns), nul(columns...)); wrong != nil {
			yield(Line{Row: Row{Line: 1}, Err: wrong})
			return
		}
		for err == nil {
			var fields []string
			if fields, err = r.Read(); errors.Is(err, io.EOF) {
				return
			}
			l := Line{Row: Row{Values: make(map[string]string, len(columns))}}
			if bad, is := errors.AsType[*csv.ParseError](err); is {
				l.Line, l.Err, err = bad.StartLine, store.Invalid("line", "invalid.import_csv", bad.Err.Error()), nil
			} else if err == nil {
				l.Line, _ = r.FieldPos(0)
				l.fill(columns, fields)
			}
			if err == nil && !yield(l) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Line{Err: err})
		}
	}
}

// twice refuses a column that comes twice, as where tables were joined: only one of the two is meant.
func twice(columns []string) error {
	for i, column := range columns {
		if column != "" && slices.Contains(columns[:i], column) {
			return store.Invalid(column, "invalid.import_twice")
		}
	}
	return nil
}

// nul refuses the NUL character, which no text of Belfry has.
func nul(texts ...string) error {
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "\x00") }) {
		return store.Invalid("line", "invalid.import_nul")
	}
	return nil
}

// fill takes the fields of a line of CSV. An empty one is NULL.
func (l *Line) fill(columns, fields []string) {
	if len(fields) != len(columns) {
		l.Err = store.Invalid("line", "invalid.import_columns", len(fields), len(columns))
		return
	}
	for i, field := range fields {
		if field == "" {
			continue
		}
		if l.Size += len(field); !utf8.ValidString(field) {
			l.Err = store.Invalid(columns[i], "invalid.not_utf8")
		}
		l.Values[columns[i]] = field
	}
	l.Err = cmp.Or(l.Err, nul(fields...))
	if l.Size > MaxLine {
		l.Err = store.Invalid("line", "invalid.import_long")
	}
}

func jsonLines(in *bufio.Reader) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var text []byte
		var err error
		for n := 1; err == nil; n++ {
			if text, err = readLine(in, text[:0]); err != nil && !errors.Is(err, io.EOF) {
				yield(Line{Err: err})
				return
			}
			var l Line
			if row := bytes.TrimSpace(text); len(text) > MaxLine {
				l.Err = store.Invalid("line", "invalid.import_long")
			} else if len(row) == 0 {
				continue
			} else {
				l = parseLine(row)
				l.Size = len(row)
			}
			if l.Line = n; !yield(l) {
				return
			}
		}
	}
}

// readLine appends the next line to text. Of one that is too long it keeps no more than shows that.
func readLine(in *bufio.Reader, text []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(text) <= MaxLine {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

func parseLine(text []byte) (l Line) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || !utf8.Valid(text) {
		l.Err = store.Invalid("line", "invalid.import_line")
		return l
	}
	if row := fields["row"]; len(row) > 0 && row[0] == '{' && json.Unmarshal(fields["table"], &l.Table) == nil {
		l.Record, l.Err = bytes.Clone(text), nul(l.Table)
		return l
	}
	if l.Err = twice(columnsOf(text)); l.Err != nil {
		return l
	}
	l.Values = make(map[string]string, len(fields))
	for column, value := range fields {
		var said string
		if json.Unmarshal(value, &said) != nil {
			said = string(value)
		}
		if said != "" {
			l.Values[column] = said
		}
		l.Err = cmp.Or(l.Err, nul(column, said))
	}
	return l
}

// columnsOf are the names of an object's values, each as often as it is there.
func columnsOf(object []byte) (names []string) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, err := decoder.Token()
	for err == nil && decoder.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = decoder.Token(); err == nil {
			names, err = append(names, name.(string)), decoder.Decode(&value)
		}
	}
	return names
}
