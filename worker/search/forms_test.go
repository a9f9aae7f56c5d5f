package search

import (
	"os"
	"strings"
	"testing"

	"belfry/store"
)

// pairs reads a list of pairs of words.
func pairs(t *testing.T, name string) (all [][2]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 {
			t.Fatalf("%s: %q is no pair", name, line)
		}
		all = append(all, [2]string(fields))
	}
	return all
}

// foundPairs counts the pairs of which a message with one word is found by the other, both ways.
func foundPairs(t *testing.T, all [][2]string) (n int, missed []string) {
	t.Helper()
	finds := func(query, text string) bool {
		q, err := Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		d := Document(store.Message{Text: "Сегодня " + text + "."})
		return q.Matches(&d)
	}
	for _, p := range all {
		if finds(p[0], p[1]) && finds(p[1], p[0]) {
			n++
		} else {
			missed = append(missed, p[0]+" "+p[1])
		}
	}
	return n, missed
}

func TestFormsOfRussianWordsAreFound(t *testing.T) {
	for _, list := range []struct {
		name        string
		pairs       int
		least, most float64 // percent
	}{{"forms", 300, 98, 100}, {"fleeting", 30, 80, 100}, {"unrelated", 100, 0, 5}} {
		all := pairs(t, list.name)
		n, missed := foundPairs(t, all)
		percent := 100 * float64(n) / float64(len(all))
		t.Logf("%s: %d of %d pairs (%.1f %%)", list.name, n, len(all), percent)
		if len(all) < list.pairs || percent < list.least || percent > list.most {
			t.Errorf("%s: %.1f %% of %d, not found: %s", list.name, percent, len(all), strings.Join(missed, ", "))
		}
	}
}
