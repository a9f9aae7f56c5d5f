package page

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/store"
)

func TestTimesOfTheFormAreReadInItsZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	v := view{Printer: i18n.For("en", berlin)}
	for text, want := range map[string]string{
		"2027-01-15T12:00": "2027-01-15T11:00:00Z",
		"2027-07-15T12:00": "2027-07-15T10:00:00Z",
		"2027-10-31T02:30": "2027-10-31T00:30:00Z", // it comes twice: the first
		"2027-10-31T03:30": "2027-10-31T02:30:00Z",
	} {
		if at, err := v.formTime(text); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %s %v", text, at.UTC(), err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2027-03-28T02:30", "2027-13-01T00:00"} { // the third is jumped over
		if field, ok := errors.AsType[*store.FieldError](func() error { _, err := v.formTime(text); return err }()); !ok || field.Field != "scheduled_time" {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestRedirectionsStayHere(t *testing.T) {
	for path, want := range map[string]string{
		"/posts?status=failed": "/posts?status=failed", "": "/", "https://attacker.example": "/", "//attacker.example": "/", "/\\attacker.example": "/",
		"javascript:alert(1)": "/", "/\t/attacker.example": "/", "posts": "/", "/%0d%0aSet-Cookie:a": "/%0d%0aSet-Cookie:a",
	} {
		if got := LocalPath(path); got != want {
			t.Errorf("%q leads to %q", path, got)
		}
	}
}

func TestTheAuditIsFilteredByTheDaysOfTheZone(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana") // where 2027-03-14 begins at 01:00
	if err != nil {
		t.Fatal(err)
	}
	v := view{Printer: i18n.For("en", havana), query: url.Values{"since": {"2027-03-14"}, "until": {"2027-03-14"}}}
	f, err := v.auditFilter()
	if since, until := f.Since.UTC().Format(time.RFC3339), f.Until.UTC().Format(time.RFC3339); err != nil || since != "2027-03-14T05:00:00Z" || until != "2027-03-15T04:00:00Z" {
		t.Errorf("from %s until %s, %v", since, until, err)
	}
}
