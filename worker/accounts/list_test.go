package accounts

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/store"
)

func TestALargeListTakesLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a short list takes little beside what other tests have left")
	}
	const most, live = 5000, 1200 // bytes for each name: in all, and at the end of the list
	n := maxListLines - 1
	db, err := store.Open(t.TempDir()+"/belfry.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := New(db, newSites(), teller{}, Config{})
	text := strings.Join(names(n), "\n")
	var before, read, kept runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err = db.Update(func(tx *store.Tx) error {
		list, err := w.AddList(tx, text, Request{})
		runtime.ReadMemStats(&read)
		runtime.GC()
		runtime.ReadMemStats(&kept)
		if list.Added != n || len(list.Lines) != n {
			t.Errorf("%d were added", list.Added)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	allocated, left := int(read.TotalAlloc-before.TotalAlloc), int(kept.HeapAlloc-before.HeapAlloc)
	t.Logf("%d names: %d MB allocated, %d MB in use before the commit", n, allocated>>20, left>>20)
	if allocated > n*most || left > n*live {
		t.Errorf("a name takes %d bytes, of which %d stay in use; %d and %d are enough", allocated/n, left/n, most, live)
	}
}

func TestALineBreakAtTheEndIsNoLine(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		full := strings.Repeat("#\n", maxListLines-1)
		for name, list := range map[string]string{"alice": full + "alice\n", "bob": full + "bob\r\n", "carol": full + "carol"} {
			b.Update(func(tx *store.Tx) error {
				got, err := b.worker.AddList(tx, list, Request{})
				if got.Added != 1 || len(got.Lines) != 1 || got.Lines[0].N != maxListLines || got.Lines[0].Username != name {
					t.Errorf("%s: %+v", name, got)
				}
				return err
			})
		}
		for _, list := range []string{full + "dave\nerin", full + "dave\n\n"} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.AddList(tx, list, Request{})
				return err
			})
			if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Key != "invalid.list_lines" {
				t.Errorf("a line too many: %v", err)
			}
		}
	})
}

func TestListsOfSpreadsheetsAreUnderstood(t *testing.T) {
	for name, list := range map[string]string{
		"a line for Excel":          "\ufeffsep=;\r\nusername;note;tag\r\nalice;friend;vip\r\nbob;a, b;\r\n",
		"semicolons and no header":  "alice;friend;vip\r\nbob;a, b;\r\n",
		"tabs and no header":        "alice\tfriend\tvip\r\nbob\ta, b\t\r\n",
		"a header that ends in one": "Username;Note;Tag;\r\nalice;friend;vip;\r\nbob;a, b;;\r\n",
	} {
		inBubble(t, Config{}, func(b *bench) {
			b.Update(func(tx *store.Tx) error {
				got, err := b.worker.AddList(tx, list, Request{})
				if got.Added != 2 || len(got.Lines) != 2 {
					t.Errorf("%s: %+v", name, got)
				}
				return err
			})
			if a, bob := b.account("alice"), b.account("bob"); a.Note != "friend" || a.Tag != "vip" || bob.Note != "a, b" || bob.Tag != "" {
				t.Errorf("%s: alice is %+v, and bob %+v", name, a, bob)
			}
		})
	}
}

func TestAListIsTakenLineByLine(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, "known")
		text := "\ufeff# my friends\r\n" +
			"alice\r\n" +
			"@bob, met in Kazan, friends\r\n" +
			"https://www.instagram.com/carol/?hl=en\r\n" +
			"\r\n" +
			"Known\n" +
			"ALICE\n" +
			"not a name\n" +
			"@dave @erin; @bob\n" +
			"frank, \"a \"\"quoted\"\" note, with a comma\"\n" +
			"grace, note, tag, more\n" +
			"heidi, \"open\n"
		var list List
		b.Update(func(tx *store.Tx) (err error) {
			list, err = b.worker.AddList(tx, text, Request{Tag: "pasted", KeepWatching: true})
			return err
		})
		var got []string
		for _, l := range list.Lines {
			got = append(got, fmt.Sprint(l.N, " ", l.Username, " ", l.Result))
			if (l.Problem == nil) != (l.Result != LineInvalid) || (l.ID == 0) != (l.Result == LineInvalid) {
				t.Errorf("%+v", l)
			}
		}
		want := "2 alice added, 3 bob added, 4 carol added, 6 Known duplicate, 7 ALICE duplicate, 8 not a name invalid, " +
			"9 dave added, 9 erin added, 9 bob duplicate, 10 frank added, 11  invalid, 12  invalid"
		if strings.Join(got, ", ") != want {
			t.Errorf("got\n%s\nnot\n%s", strings.Join(got, ", "), want)
		}
		if list.Added != 6 || list.Duplicates != 3 || list.Invalid != 3 {
			t.Errorf("counted as %d, %d, %d", list.Added, list.Duplicates, list.Invalid)
		}
		if a := b.account("bob"); a.Note != "met in Kazan" || a.Tag != "friends" || !a.KeepWatching {
			t.Errorf("bob is %+v", a)
		}
		if a := b.account("frank"); a.Note != `a "quoted" note, with a comma` || a.Tag != "pasted" {
			t.Errorf("frank is %+v", a)
		}
	})
}

func TestANoteMayHaveSeveralLines(t *testing.T) {
	long := strings.Repeat("long line\n", 100)
	for what, one := range map[string]struct{ text, want string }{
		"with a header":          {"username,note\r\nalice,\"press office\r\nurgent\r\ncall back\"\r\nbob\r\n", "2-4 alice added, 5 bob added"},
		"without one":            {"alice,\"press office\n# urgent\n\ncall \"\"back\"\"\",tag\nbob", "1-4 alice added, 5 bob added"},
		"with names in it":       {"alice;\"see\n@bob\n@carol\"\n@dave @erin", "1-3 alice added, 4 dave added, 4 erin added"},
		"that is too long":       {"alice,\"" + long + "\"\nbob", "1-101 alice invalid, 102 bob added"},
		"that is never closed":   {"alice,\"press office\nbob\ncarol", "1  invalid, 2 bob added, 3 carol added"},
		"that is closed badly":   {"alice,\"press office\nbob,\"fine\"\ncarol", "1  invalid, 2 bob added, 3 carol added"},
		"that nobody would read": {"alice,\"" + strings.Repeat("x", 5000) + "\nbob\ncarol,\"", "1  invalid, 2 bob added, 3  invalid"},
	} {
		inBubble(t, Config{}, func(b *bench) {
			var list List
			b.Update(func(tx *store.Tx) (err error) {
				list, err = b.worker.AddList(tx, one.text, Request{})
				return err
			})
			var got []string
			for _, l := range list.Lines {
				lines := fmt.Sprint(l.N)
				if l.Last > l.N {
					lines += fmt.Sprint("-", l.Last)
				}
				got = append(got, fmt.Sprint(lines, " ", l.Username, " ", l.Result))
			}
			if strings.Join(got, ", ") != one.want {
				t.Errorf("%s: got\n%s\nnot\n%s", what, strings.Join(got, ", "), one.want)
			}
			if what == "with a header" && b.account("alice").Note != "press office\nurgent\ncall back" {
				t.Errorf("the note is %q", b.account("alice").Note)
			}
		})
	}
}

func TestNamesAreNotTakenForNotes(t *testing.T) {
	for text, want := range map[string]string{
		"alice, bob, carol":                      "invalid",
		"alice,bob":                              "invalid",
		"alice, bob, carol, dave,":               "invalid",
		"alice;bob":                              "invalid",
		"alice\tbob":                             "invalid",
		"@alice, bob":                            "invalid",
		"https://www.instagram.com/alice/, bob":  "invalid",
		"@alice, @bob":                           "alice added, bob added",
		"alice,\"press office\"":                 "alice (press office) added",
		"alice,\"press\",friends":                "alice (press) added",
		"alice, press office":                    "alice (press office) added",
		"alice, пресса":                          "alice (пресса) added",
		"alice,,friends":                         "alice added",
		"alice,":                                 "alice added",
		"username,note\nalice,press":             "alice (press) added",
		"username,tag\nalice,press\nbob, friend": "alice added, bob added",
	} {
		inBubble(t, Config{}, func(b *bench) {
			var got []string
			b.Update(func(tx *store.Tx) error {
				list, err := b.worker.AddList(tx, text, Request{})
				for _, line := range list.Lines {
					said := string(line.Result)
					if line.ID != 0 {
						a, err := tx.Accounts.Get(line.ID)
						if err != nil {
							return err
						}
						if said = a.Username + " " + said; a.Note != "" {
							said = a.Username + " (" + a.Note + ") " + string(line.Result)
						}
					} else if !strings.Contains(i18n.For("en", time.UTC).Error(line.Problem), "write one name in each line") {
						t.Errorf("%q: %v", text, line.Problem)
					}
					got = append(got, said)
				}
				return err
			})
			if strings.Join(got, ", ") != want {
				t.Errorf("%q is %s, not %s", text, strings.Join(got, ", "), want)
			}
		})
	}
	inBubble(t, Config{}, func(b *bench) { // of a site of which nothing is known there are no names
		b.Update(func(tx *store.Tx) error {
			list, err := b.worker.AddList(tx, "alice,bob", Request{Site: "nowhere"})
			if list.Invalid != 1 || !strings.HasPrefix(list.Lines[0].Problem.Error(), "site") {
				t.Errorf("%+v", list)
			}
			return err
		})
	})
}

func TestTheSeparatorIsThatOfTheHeader(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for _, text := range []string{
			"username,note,owner_chat\nalice,one; two,@owner\n@bob,\"one, two; three\",@owner\n@carol,,@owner",
			"site\tusername\tnote\n\tdave\tone, two\n\terin",
			"frank, \"one; two\"\ngrace; one, two",
		} {
			b.Update(func(tx *store.Tx) error {
				list, err := b.worker.AddList(tx, text, Request{})
				if list.Invalid > 0 || list.Added > 3 {
					t.Errorf("got %+v", list)
				}
				return err
			})
		}
		for name, note := range map[string]string{"alice": "one; two", "bob": "one, two; three", "carol": "", "dave": "one, two", "erin": "", "frank": "one; two"} {
			if a := b.account(name); a.Note != note {
				t.Errorf("%s has the note %q", name, a.Note)
			}
		}
	})
}

func TestAListInAnotherEncodingIsRefused(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for what, text := range map[string]string{
			"Windows-1251":           "username,note\nalice,\xe4\xf0\xf3\xe3\nbob,",
			"UTF-16 with a mark":     "\xff\xfea\x00l\x00i\x00c\x00e\x00\n\x00",
			"UTF-16 without one":     "a\x00l\x00i\x00c\x00e\x00\n\x00",
			"UTF-16, the other side": "\x00a\x00l\x00i\x00c\x00e",
		} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.AddList(tx, text, Request{})
				return err
			})
			if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Field != "list" || e.Key != "invalid.file_not_utf8" {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, r := range []Request{{Username: "alice", Note: "\xe4"}, {Username: "alice", Tag: "\xe4"}, {Username: "alice", Note: "a\x00"}} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.Add(tx, r)
				return err
			})
			if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Key != "invalid.not_utf8" {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}

func TestAFileNamesItsColumns(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		text := "Site;Username;Keep watching;Owner chat;Whatever\n" +
			"github;torvalds;yes;@owner;x\n" +
			";alice;нет;-100123;\n" +
			"nowhere;bob;;;\n" +
			"github;carol;perhaps;;\n" +
			"github;dave;yes;not a chat;\n"
		var list List
		b.Update(func(tx *store.Tx) (err error) {
			list, err = b.worker.AddList(tx, text, Request{})
			return err
		})
		if list.Added != 2 || list.Invalid != 3 {
			t.Errorf("got %+v", list)
		}
		for i, field := range map[int]string{2: "site", 3: "keep_watching", 4: "owner_chat"} {
			if !strings.HasPrefix(list.Lines[i].Problem.Error(), field) {
				t.Errorf("line %d: %v", list.Lines[i].N, list.Lines[i].Problem)
			}
		}
		b.View(func(tx *store.Tx) error {
			a, err := tx.Accounts.ByName("github", "Torvalds")
			if !a.KeepWatching || a.OwnerChat != "@owner" {
				t.Errorf("torvalds is %+v", a)
			}
			return err
		})
	})
}

func TestActionsNameTheField(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, "alice")
		for field, r := range map[string]Request{
			"site":       {Site: "nowhere", Username: "x"},
			"username":   {Username: "not a name"},
			"note":       {Username: "x", Note: strings.Repeat("ы", 501)},
			"tag":        {Username: "x", Tag: strings.Repeat("ы", 51)},
			"owner_chat": {Username: "x", OwnerChat: "me and you"},
		} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.Add(tx, r)
				return err
			})
			if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.worker.Add(tx, Request{Username: "@ALICE"})
			return err
		})
		if _, ok := errors.AsType[*store.ConflictError](err); !ok {
			t.Errorf("a duplicate: %v", err)
		}
		note, keep := " new ", true
		b.Update(func(tx *store.Tx) error {
			a, err := b.worker.Change(tx, 1, Change{Note: &note, KeepWatching: &keep})
			if a.Note != "new" || !a.KeepWatching {
				t.Errorf("changed to %+v", a)
			}
			return err
		})
		b.Update(func(tx *store.Tx) error { return b.worker.Remove(tx, 1) })
		err = b.DB.Update(func(tx *store.Tx) error { return b.worker.Remove(tx, 1) })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("removed twice: %v", err)
		}
	})
}

func TestAnOwnerAddsSites(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		const file = `{"$schema": "x", "Forge": {"url": "https://forge.example/{}", "errorType": "status_code", "username_claimed": "admin"}}`
		b.sites.set(true, "forge", "admin", "alice")
		b.Update(func(tx *store.Tx) error {
			added, err := b.worker.ImportRules(tx, []byte(file))
			if fmt.Sprint(added) != "[forge]" {
				t.Errorf("added %v", added)
			}
			return err
		})
		b.watch(Request{Site: "Forge"}, "https://forge.example/alice")
		b.start()
		if c := b.untilChecked(1)[0]; c.Found != 1 {
			t.Errorf("the check was %+v", c)
		}
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, []byte(`{"forge": {"url": "https://forge.example/"}}`))
			return err
		})
		if e, ok := errors.AsType[*store.FieldError](err); !ok || !strings.Contains(e.Error(), "forge: ") {
			t.Errorf("a bad file: %v", err)
		}
		b.watch(Request{Site: "forge"}, "bob")
		b.Update(func(tx *store.Tx) error { return b.worker.RemoveRules(tx, "FORGE") })
		if c := b.untilChecked(2)[1]; c.Checked != 0 || c.Reason.Code != store.ReasonNoRule {
			t.Errorf("without the rule the check was %+v", c)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, []byte(file))
			return err
		})
		if c := b.untilChecked(3)[2]; c.Checked != 1 || c.NotFound != 1 {
			t.Errorf("with the rule again it was %+v", c)
		}
	})
}
