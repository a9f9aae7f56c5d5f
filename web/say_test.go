package web

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry/platform/profile"
	"belfry/store"
)

// A network's own name for an error stands at either end of what it says, and the words are said all
// the same.
func TestWhatANetworkSaysIsSaidInRussian(t *testing.T) {
	s := NewSpeech("ru", time.UTC)
	for detail, want := range map[string]string{
		"Telegram has ended the session: log in again (SESSION_REVOKED)":                                                                 "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"SESSION_REVOKED: Telegram has ended the session: log in again":                                                                  "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"Telegram has ended the session: log in again":                                                                                   "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова",
		"urlProbe: the address leads to ::1, which is not public: use a public address, or allow this one with BELFRY_ALLOW_PRIVATE=::1": "Вход больше не действует; войдите снова: urlProbe: адрес ведёт на ::1 — это не публичный адрес: укажите публичный или разрешите этот: BELFRY_ALLOW_PRIVATE=::1",
		"Telegram accepts no more of the file":                                                                                           "Вход больше не действует; войдите снова: Telegram не принимает остаток файла",
		"1.5 of 3.0 MB are there":                                                                                                        "Вход больше не действует; войдите снова: передано 1.5 из 3.0 МБ",
		"something that nobody has said in Russian (and no code) (at all)":                                                               "Вход больше не действует; войдите снова: something that nobody has said in Russian (and no code) (at all)",
	} {
		if got := s.Reason(store.Reason{Code: store.ReasonLogin, Detail: detail}); got != want {
			t.Errorf("%q\n is %q\nwant %q", detail, got, want)
		}
	}
}

// What is wrong with a file of rules is told to its author line by line. The names of its fields and examples
// are in no language.
func TestWhatIsWrongWithRulesIsSaidInRussian(t *testing.T) {
	all := ruleSentences(t)
	if len(all) < 35 {
		t.Errorf("only %d sentences were found in the source", len(all))
	}
	const good = `"url": "https://s.example/{}", "errorType": "status_code", "username_claimed": "blue"`
	for _, file := range []string{
		"", "[]", "{}", `{"a":`, "{,}", `{"A": 3}`, `{"A": {"url": 3}}`, `{"": {}}`, `{"A": {"errorCode": "x"}}`, `{"A": {"found": {}}}`,
		`{"a": {` + good + `}, "A": {` + good + `}}`, `{"A": {` + good + `, "regexCheck": "[a-"}}`, `{"A": {` + good + `, "regexCheck": "(?=x)"}}`,
		`{"A": {` + good + `, "headers": {"Cookie": "x"}}}`, `{"A": {` + good + `, "errorCode": 429}}`, `{"A": {` + good + `, "request_method": "POST"}}`,
		`{"A": {` + good + `, "via": "identity"}}`, `{"A": {` + good + `, "via": "x: y"}}`, `{"A": {` + good + `, "absent": [{"status": [999]}]}}`,
		`{"A": {"url": "https://s.example/{}", "errorType": "guess", "username_claimed": "blue"}}`, `{"A": {` + good + `, "username_claimed": "a b"}}`,
		`{"A": {"url": "https://s.example/{}", "errorType": "message", "username_claimed": "blue"}}`, `{"A": {` + good + `, "rest": "an hour"}}`,
	} {
		_, err := profile.ParseRules([]byte(file))
		if err == nil {
			t.Errorf("%s was taken", file)
			continue
		}
		all = append(all, strings.Split(err.Error(), "\n")...)
	}
	example := regexp.MustCompile(`\{.*\}|"[^"]*"|https?://\S+`)
	named := regexp.MustCompile(`\b(url|urlProbe|request_method|headers|regexCheck|errorType|errorMsg|errorCode|errorUrl|username_claimed|via|rest|found|absent|` +
		`status|json_equals|json_null|text|redirect|status_code|message|response_url|identity|true|false|canaries|forum|GET|JSON|HTTP|http|https|RE2)\b`)
	for _, sentence := range all {
		said := reader{lang: russian}.translate(sentence)
		rest := named.ReplaceAllString(example.ReplaceAllString(said, ""), "")
		if regexp.MustCompile(`[A-Za-z]{2}`).MatchString(rest) || !regexp.MustCompile(`[А-я]{3}`).MatchString(said) {
			t.Errorf("%s\n is %s", sentence, said)
		}
	}
}

// ruleSentences are those of package profile's that say what is wrong with a file of rules, as its source has
// them.
func ruleSentences(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../platform/profile/parse.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		texts := textsOf(function)
		say := func(site bool, field, problem, cure ast.Expr) {
			e := profile.RuleError{}
			if site {
				e.Site = "forum"
			}
			if field != nil {
				e.Field = "canaries"
				if names := values(t, field, texts); len(names) > 0 {
					e.Field = names[0]
				}
			}
			if function.Name.Name == "check" {
				e.Field = "found[0]" + e.Field
			}
			for _, e.Problem = range values(t, problem, texts) {
				for _, e.Cure = range values(t, cure, texts) {
					all = append(all, e.Error())
				}
			}
		}
		ast.Inspect(function, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "wrong" {
					say(true, n.Args[0], n.Args[1], n.Args[2])
				}
			case *ast.CompositeLit:
				if name, ok := n.Type.(*ast.Ident); ok && name.Name == "RuleError" {
					parts := make(map[string]ast.Expr)
					for _, part := range n.Elts {
						part := part.(*ast.KeyValueExpr)
						parts[part.Key.(*ast.Ident).Name] = part.Value
					}
					say(parts["Site"] != nil, parts["Field"], parts["Problem"], parts["Cure"])
				}
			}
			return true
		})
	}
	return all
}

// textsOf are the texts that the names in a function stand for.
func textsOf(function *ast.FuncDecl) map[string][]string {
	texts := make(map[string][]string)
	note := func(name, value ast.Expr) {
		id, ok := name.(*ast.Ident)
		if text, is := value.(*ast.BasicLit); ok && is && text.Kind == gotoken.STRING {
			plain, _ := strconv.Unquote(text.Value)
			texts[id.Name] = append(texts[id.Name], plain)
		}
	}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				note(n.Lhs[i], n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i := range n.Values {
				note(n.Names[i], n.Values[i])
			}
		}
		return true
	})
	return texts
}

// values are the texts that an expression may stand for; none for what differs from file to file.
func values(t *testing.T, of ast.Expr, texts map[string][]string) []string {
	t.Helper()
	switch of := of.(type) {
	case *ast.Ident:
		return texts[of.Name]
	case *ast.SelectorExpr: // a field's name
		return nil
	case *ast.BasicLit:
		plain, err := strconv.Unquote(of.Value)
		if err != nil {
			t.Fatal(err)
		}
		return []string{plain}
	case *ast.BinaryExpr:
		var both []string
		for _, first := range values(t, of.X, texts) {
			for _, second := range values(t, of.Y, texts) {
				both = append(both, first+second)
			}
		}
		return both
	case *ast.CallExpr:
		if name, ok := of.Fun.(*ast.Ident); ok && name.Name == "short" {
			return nil
		}
		if name, ok := of.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "Sprintf" {
			formats := values(t, of.Args[0], texts)
			for i := range formats {
				formats[i] = strings.NewReplacer("%q", `"a: b"`, "%d", "404").Replace(formats[i])
			}
			return formats
		}
	}
	t.Errorf("a sentence has a part of which this test knows nothing: %T", of)
	return nil
}
