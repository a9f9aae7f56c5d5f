package moving

import (
	"fmt"
	"strings"
	"testing"
)

// lines reads a file: of each line its number, its table or its text, and why it is refused.
func lines(t *testing.T, file string) (all []string) {
	t.Helper()
	for l := range Lines(strings.NewReader(file)) {
		said := fmt.Sprint(l.Line, " ", l.Table, l.Values["text"])
		if l.Err != nil {
			said = fmt.Sprint(l.Line, " ", l.Err)
		}
		all = append(all, said)
	}
	return all
}

func wantLines(t *testing.T, file string, want ...string) {
	t.Helper()
	if got := lines(t, file); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAfterALineThatIsTooLongTheOthersAreRead(t *testing.T) {
	longest := `{"text":"` + strings.Repeat("x", MaxLine-12) + "\"}\n"
	tooLong := `{"text":"` + strings.Repeat("я", MaxLine/2) + "\"}\n"
	got := lines(t, `{"table":"contents","row":{}}`+"\n\n"+longest+tooLong+`{"table":"posts","row":{}}`+"\n"+tooLong+`{"table":"bookings","row":{}}`)
	if len(got) != 6 || len(got[1]) < MaxLine-12 {
		t.Fatalf("of 6 lines %d were read", len(got))
	}
	got[1] = ""
	if said := strings.Join(got, ", "); said != "1 contents, , 4 line: invalid.import_long, 5 posts, 6 line: invalid.import_long, 7 bookings" {
		t.Error(said)
	}
}

// A query that joins tables may name a column twice. Which of the two is meant is not known.
func TestAColumnThatComesTwiceIsRefused(t *testing.T) {
	wantLines(t, "id,status,run_at,id,text\n7,pending,2027-01-01 10:00,3,Hello\n", "1 id: invalid.import_twice")
	wantLines(t, `{"id":1,"text":"one"}`+"\n"+`{"id":1,"text":"two","to":{"id":3,"text":""},"id":2}`+"\n"+`{"id":3,"text":"three"}`,
		"1 one", "2 id: invalid.import_twice", "3 three")
	wantLines(t, "id,text,,\n7,Hello,,\n", "2 Hello") // as spreadsheets end lines
}

func TestWhatIsNotUTF8IsRefusedInWords(t *testing.T) {
	for _, file := range []string{"\xff\xfei\x00d\x00\n\x00", "\xfe\xff\x00i\x00d\x00\n", "\xff\xfe{\x00"} {
		wantLines(t, file, "1 FILE: invalid.import_utf16")
	}
	wantLines(t, "i\x00d\x00\n\x007\x00\n\x00", "1 line: invalid.import_nul") // UTF-16 that does not say so
	wantLines(t, "id,text\n1,a\x00b\n2,two\n", "2 line: invalid.import_nul", "3 two")
	wantLines(t, `{"text":"a\u0000"}`+"\n"+`{"a\u0000":"b"}`+"\n"+`{"table":"a\u0000","row":{}}`+"\n"+"{\"text\":\"\x00\"}\n"+`{"text":"two"}`,
		"1 line: invalid.import_nul", "2 line: invalid.import_nul", "3 line: invalid.import_nul", "4 line: invalid.import_line", "5 two")
}
