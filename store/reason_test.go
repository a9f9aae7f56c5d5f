package store

import (
	"os"
	"regexp"
	"testing"
	"time"
)

func TestEachReasonHasWordsInBothLanguages(t *testing.T) {
	source, err := os.ReadFile("reason.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`ReasonCode = "([a-z_]+)"`).FindAllSubmatch(source, -1)
	if len(codes) != len(reasonWords()) {
		t.Errorf("%d codes, and %d have words", len(codes), len(reasonWords()))
	}
	cyrillic := regexp.MustCompile(`[А-я]`)
	for _, found := range codes {
		for _, n := range []int{0, 2} {
			why := Reason{Code: ReasonCode(found[1]), N: n, Of: 3}
			en, ru := why.Text("en", time.UTC), why.Text("ru", time.UTC)
			if en == "" || cyrillic.MatchString(en) || !cyrillic.MatchString(ru) || regexp.MustCompile(`%!`).MatchString(en+ru) {
				t.Errorf("%s is %q and %q", found[1], en, ru)
			}
		}
	}
	why := Reason{Code: ReasonSiteWait, About: "x", Until: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), Detail: "too many requests"}
	if got := why.Text("en", time.UTC); got != "x: The site asked to wait until 2026-11-22 01:02:03: too many requests" {
		t.Error(got)
	}
}
