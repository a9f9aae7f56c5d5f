package page

import (
	"belfry/store"
	"belfry/worker/accounts"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// showAddAccounts shows the form that adds accounts, and what came of a list that was not added as a whole.
func (s accountPages) showAddAccounts(c echo.Context, status int, f form, list accounts.List) error {
	sites, err := fetch(s.Server, func(tx *store.Tx) ([]string, error) { return s.worker.Rules(tx).Sites(), nil })
	if err != nil {
		return err
	}
	if f.get("site") == "" {
		f.values.Set("site", accounts.DefaultSite)
	}
	f.prepare("")
	v := s.view(c)
	return s.show(c, status, v, screen{nav: "/accounts", title: v.T("accounts.add"), form: "add", body: v.addAccountsBody(f, list, sites)})
}

// addAccounts adds the names that were typed, or those of a file.
func (s accountPages) addAccounts(c echo.Context) error {
	v := s.view(c)
	f, text, err := typedList(c, v)
	if err != nil {
		return err
	}
	var list accounts.List
	if f.onlyShow() {
		return s.showAddAccounts(c, http.StatusOK, f, list)
	}
	if len(f.wrong) == 0 {
		allowTime(c)
		err = s.DB.Update(func(tx *store.Tx) (err error) {
			list, err = s.worker.AddList(tx, text, accounts.Request{
				Site: f.get("site"), Note: f.get("note"), Tag: f.get("tag"), OwnerChat: f.get("owner_chat"), KeepWatching: f.on("keep_watching"),
			})
			return err
		})
		if err != nil && !f.refuse(v, err, "list", "site", "note", "tag", "owner_chat") {
			return err
		}
	}
	switch {
	case len(f.wrong) > 0:
		return s.showAddAccounts(c, http.StatusUnprocessableEntity, f, accounts.List{})
	case list.Added == len(list.Lines):
		return did(c, "/accounts", "accounts-added")
	}
	status := http.StatusOK
	if list.Invalid > 0 {
		status = http.StatusUnprocessableEntity
	}
	f.values.Set("list", rejected(text, list))
	return s.showAddAccounts(c, status, f, list)
}

// list is a field for names or rules, and file one for a file of them: [typedList] reads both.
func (f form) list(rows int, label, hint string) input {
	i := f.lines("list", rows, label, hint)
	i.Verbatim = true
	return i
}

func (f form) file(label, hint string) input {
	i := f.text("file", label, hint)
	i.Type = "file"
	return i
}

// typedList returns a form, and what was typed into its list or is in its file; both at once are refused.
func typedList(c echo.Context, v view) (f form, text string, err error) {
	if f, err = readForm(c); err != nil {
		return f, "", err
	}
	data, err := formFile(c, "file", math.MaxInt64)
	switch {
	case err != nil || len(data) == 0:
		return f, f.get("list"), err
	case f.get("list") != "":
		f.refuse(v, store.Invalid("list", "invalid.list_and_file"), "list")
	}
	return f, string(data), nil
}

// formFile returns a file of a form, of which it reads at most so many bytes; nothing if none was chosen.
func formFile(c echo.Context, name string, most int64) ([]byte, error) {
	head, err := c.FormFile(name)
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := head.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// rejected returns the lines of a list that were not understood, for the form to offer them again,
// below the line that names the columns, if there is one.
func rejected(text string, list accounts.List) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(text), "\n")
	var again []string
	last := 0
	for _, line := range list.Lines {
		if line.Result == accounts.LineInvalid && line.N != last && line.N <= len(lines) && len(again) < shownLines {
			last = line.N
			again = append(again, lines[line.N-1:min(max(line.N, line.Last), len(lines))]...)
		}
	}
	for _, first := range lines {
		if first = strings.TrimSpace(first); first == "" || strings.HasPrefix(first, "#") {
			continue
		}
		if len(again) > 0 && again[0] != first && strings.Contains(strings.ToLower(first), "username") {
			again = append([]string{first}, again...)
		}
		break
	}
	return strings.Join(again, "\n")
}

// notAdded are the first lines of a list that were not added: those that were rejected, and then the others.
func notAdded(list accounts.List) (lines []accounts.Line) {
	for _, each := range []accounts.LineResult{accounts.LineInvalid, accounts.LineDuplicate} {
		for _, line := range list.Lines {
			if line.Result == each && len(lines) < shownLines {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
