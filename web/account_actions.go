package web

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/accounts"
)

// actOnCheck checks the accounts now, or changes how often that is done.
func (s *Server) actOnCheck(c echo.Context) error {
	r := s.readerOf(c)
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f, done := newForm(nil), "check-begun"
	switch values.Get("do") {
	case "now":
		err = s.db.Update(func(tx *store.Tx) error {
			_, err := s.accounts.CheckNow(tx)
			return err
		})
	case "set":
		f, done = newForm(values), "check-set"
		err = s.setCheck(r, f)
	default:
		return echo.ErrBadRequest
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/accounts?done="+done)
	}
	if !f.refuse(r, err, "interval") {
		return err
	}
	r.path, r.query = "/accounts", nil
	p, err := s.accountsPage(r, f)
	if err != nil {
		return err
	}
	return s.refusedLive(c, "accounts", r, p)
}

// setCheck saves the interval, in minutes, and what the admins are told.
func (s *Server) setCheck(r reader, f form) error {
	number, err := strconv.ParseFloat(strings.Replace(f.get("interval"), ",", ".", 1), 64)
	if err != nil || math.IsNaN(number) {
		return store.Invalid("interval", "invalid.minutes")
	}
	every := time.Duration(min(max(number, 0), 1e6) * float64(time.Minute))
	return s.db.Update(func(tx *store.Tx) error {
		if _, err := s.accounts.SetInterval(tx, every); err != nil {
			return err
		}
		return s.accounts.SetQuiet(tx, f.get("quiet") == "on")
	})
}

// How much of what was not added the page shows.
const shownLines = 100

// addPage adds accounts.
type addPage struct {
	frame
	Wrong                        string
	Names, File, Site, Note, Tag input
	OwnerChat, Keep              input
	Report                       *addReport
}

// addReport is what became of a list that was not added as a whole.
type addReport struct {
	Summary []string
	Lines   []addLine
	More    string
	Again   bool // some lines stand in the form once more
}

// addLine is a line that was not added.
type addLine struct{ N, Text, Problem string }

func (s *Server) newAccountsForm(c echo.Context) error {
	return s.showAddForm(c, http.StatusOK, newForm(nil), nil)
}

func (s *Server) showAddForm(c echo.Context, status int, f form, report *addReport) error {
	r := s.readerOf(c)
	w := r.words.Accounts
	v, err := s.readCheck()
	if err != nil {
		return err
	}
	if f.get("site") == "" {
		f.values.Set("site", accounts.DefaultSite)
	}
	p := &addPage{
		frame: s.frame(r, "accounts", w.Add), Wrong: f.wrong[""], Names: f.text("list", w.Names, w.NamesHint), File: f.text("file", w.File, w.FileHint),
		Site: f.choice("site", w.Site, w.SiteHint, siteOptions(v.sites, "")), Note: f.text("note", w.Note, w.NoteHint), Tag: f.text("tag", w.Tag, w.TagHint),
		OwnerChat: f.text("owner_chat", w.OwnerChat, w.OwnerChatHint), Keep: f.checkbox("keep_watching", w.Keep), Report: report,
	}
	p.Names.Value, p.File.Type = f.values.Get("list"), "file"
	return s.render(c, status, "accounts_add", p)
}

// addAccounts adds the names that were typed, or those of a file.
func (s *Server) addAccounts(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	r, f := s.readerOf(c), newForm(values)
	var list accounts.List
	text, err := f.names(c, r)
	if err == nil {
		allowTime(c)
		err = s.db.Update(func(tx *store.Tx) (err error) {
			list, err = s.accounts.AddList(tx, text, accounts.Request{
				Site: f.get("site"), Note: f.get("note"), Tag: f.get("tag"), OwnerChat: f.get("owner_chat"), KeepWatching: f.get("keep_watching") == "on",
			})
			return err
		})
	}
	if err != nil {
		if !f.refuse(r, err, "list", "site", "note", "tag", "owner_chat") {
			return err
		}
		return s.showAddForm(c, http.StatusUnprocessableEntity, f, nil)
	}
	if list.Added == len(list.Lines) {
		return c.Redirect(http.StatusSeeOther, "/accounts?done=accounts-added")
	}
	status := http.StatusOK
	if list.Nonsense > 0 {
		status = http.StatusUnprocessableEntity
	}
	f.values.Set("list", nonsense(text, list))
	return s.showAddForm(c, status, f, r.addReport(list))
}

// names returns what was typed, or what is in the file.
func (f form) names(c echo.Context, r reader) (string, error) {
	typed := strings.TrimSpace(f.values.Get("list"))
	head, err := c.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) || (err == nil && head.Size == 0) {
		return typed, nil
	}
	if err != nil {
		return "", err
	}
	if typed != "" {
		return "", store.Invalid("list", "invalid.list_and_file")
	}
	file, err := head.Open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	return string(text), err
}

// nonsense returns the lines of a list that were not understood, for the form to offer them again,
// below the line that names the columns, if there is one.
func nonsense(text string, list accounts.List) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(text), "\n")
	var again []string
	last := 0
	for _, line := range list.Lines {
		if line.Result == accounts.LineNonsense && line.N != last && line.N <= len(lines) && len(again) < shownLines {
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

// addReport says which lines were not added, and why.
func (r reader) addReport(list accounts.List) *addReport {
	w := r.words.Accounts
	report := &addReport{Summary: []string{w.Added(list.Added)}, Again: list.Nonsense > 0}
	if list.Duplicates > 0 {
		report.Summary = append(report.Summary, w.Known(list.Duplicates))
	}
	if list.Nonsense > 0 {
		report.Summary = append(report.Summary, w.Nonsense(list.Nonsense))
	}
	for _, each := range []accounts.LineResult{accounts.LineNonsense, accounts.LineDuplicate} { // the graver first
		for _, line := range list.Lines {
			if line.Result != each || len(report.Lines) == shownLines {
				continue
			}
			shown := addLine{strconv.Itoa(line.N), line.Text, w.Duplicate}
			if each == accounts.LineNonsense {
				shown.Problem = r.Error(line.Problem)
			}
			report.Lines = append(report.Lines, shown)
		}
	}
	if more := list.Duplicates + list.Nonsense - len(report.Lines); more > 0 {
		report.More = w.MoreLines(more)
	}
	return report
}
