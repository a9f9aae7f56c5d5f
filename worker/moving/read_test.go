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
