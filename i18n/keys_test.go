package i18n_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"belfry/i18n"
)

// kinds are the types whose constants are parts of keys, and these keys: each must have a message for each constant.
var kinds = map[string][]string{
	"belfry/store.AccountOutcome":      {"account.outcome.*"},
	"belfry/store.AccountState":        {"account.state.*.name", "account.state.*.means", "accounts.tabs.*", "bot.account_mark.*"},
	"belfry/store.AlertKind":           {"alert.*.what", "alert.*.over", "alert.*.cure"},
	"belfry/store.BookingMessageState": {"bookings.message.*"},
	"belfry/store.BookingStatus":       {"bookings.status.*", "bookings.client.of.*"},
	"belfry/store.DeliveryStatus":      {"delivery.*"},
	"belfry/store.IdentityKind":        {"identity.kind.*"},
	"belfry/store.IdentityState":       {"identity.state.*"},
	"belfry/store.JobState":            {"job.state.*"},
	"belfry/store.PeerType":            {"chats.types.*"},
	"belfry/store.PostStatus":          {"post.status.*.name", "post.status.*.means", "posts.empty_of.*", "bot.post_mark.*"},
	"belfry/store.ReasonCode":          {"reason.*"},
	"belfry/store.Result":              {"job.result.*"},
	"belfry/store.TaskStatus":          {"task.status.*.name", "task.status.*.means", "tasks.empty_of.*", "bot.task_mark.*"},
	"belfry/store.TryOutcome":          {"try.*"},
}

// chosen are what the keys begin with whose other parts are no constants of the program: they are numbers, names of
// fields, what others have said, and entries of a menu.
var chosen = regexp.MustCompile(`^(time|field|heard|nav\.make)\.`)

// TestTheProgramSaysOnlyWhatTheCataloguesHave looks, as vet does, at each call of a function whose last
// parameters are key string, args ...any: the message must exist and be filled with that many arguments. A key
// that is put together must have messages that begin and end as its constants do. The program's constants must name
// each message.
func TestTheProgramSaysOnlyWhatTheCataloguesHave(t *testing.T) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	program, err := packages.Load(&packages.Config{Mode: mode, Env: append(os.Environ(), "CGO_ENABLED=0")}, "belfry/...")
	if err != nil {
		t.Fatal(err)
	}
	c := checker{t: t, messages: i18n.Arguments(t), named: make(map[string]bool), sums: make(map[ast.Expr][2]string)}
	for _, p := range program {
		for _, err := range p.Errors {
			t.Error(err)
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					c.call(p, n)
				case ast.Expr:
					c.note(p, n)
				}
				return true
			})
		}
		c.constants(p)
	}
	for key := range c.messages {
		if !c.said(key) {
			t.Errorf("nothing says %s", key)
		}
	}
}

type checker struct {
	t        *testing.T
	messages map[string]int         // by key: how many arguments it takes
	named    map[string]bool        // the constants of the program
	sums     map[ast.Expr][2]string // how the keys begin and end that are put together; empty if part of a longer one
}

// note notes a text that may be a key: it may be handed on before it is said.
func (c checker) note(p *packages.Package, n ast.Expr) {
	if value := p.TypesInfo.Types[n].Value; value != nil && value.Kind() == constant.String {
		c.named[constant.StringVal(value)] = true
		return
	}
	sum, ok := n.(*ast.BinaryExpr)
	if _, inner := c.sums[n]; inner || !ok {
		return
	}
	prefix, suffix := ends(p, n)
	c.sums[n] = [2]string{prefix, suffix}
	for sum != nil {
		c.sums[sum.X] = [2]string{}
		sum, _ = sum.X.(*ast.BinaryExpr)
	}
}

// said reports whether the program's constants name a message.
func (c checker) said(key string) bool {
	if c.named[key] || chosen.MatchString(key) {
		return true
	}
	for _, sum := range c.sums {
		rest, begins := strings.CutPrefix(key, sum[0])
		rest, ends := strings.CutSuffix(rest, sum[1])
		unnamed := func(part string) bool { return !c.named[part] }
		if sum[0] != "" && begins && ends && !slices.ContainsFunc(strings.Split(rest, "."), unnamed) {
			return true
		}
	}
	return false
}

// call checks a call of a function that takes a key.
func (c checker) call(p *packages.Package, call *ast.CallExpr) {
	signature, ok := types.Unalias(p.TypesInfo.TypeOf(call.Fun)).(*types.Signature)
	if !ok || !signature.Variadic() || signature.Params().Len() < 2 {
		return
	}
	at := signature.Params().Len() - 2
	if param := signature.Params().At(at); param.Name() != "key" || len(call.Args) <= at {
		return
	}
	place := p.Fset.Position(call.Pos())
	if value := p.TypesInfo.Types[call.Args[at]].Value; value != nil {
		key, given := constant.StringVal(value), len(call.Args)-at-1
		if takes, known := c.messages[key]; !known {
			c.t.Errorf("%s: there is no message %s", place, key)
		} else if takes != given && !call.Ellipsis.IsValid() {
			c.t.Errorf("%s: message %s takes %d arguments, and is given %d", place, key, takes, given)
		}
		return
	}
	if prefix, suffix := ends(p, call.Args[at]); prefix != "" && !c.between(prefix, suffix) {
		c.t.Errorf("%s: there is no message %s…%s", place, prefix, suffix)
	}
}

// between reports whether there are messages whose keys begin with prefix and end with suffix.
func (c checker) between(prefix, suffix string) bool {
	for key := range c.messages {
		if strings.HasPrefix(key, prefix) && strings.HasSuffix(key, suffix) {
			return true
		}
	}
	return false
}

// ends are the constants with which a key begins and ends that is put together; empty where there is none.
func ends(p *packages.Package, key ast.Expr) (prefix, suffix string) {
	text := func(part ast.Expr) string {
		if value := p.TypesInfo.Types[part].Value; value != nil && value.Kind() == constant.String {
			return constant.StringVal(value)
		}
		return ""
	}
	sum, ok := key.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return "", ""
	}
	if prefix = text(sum.X); prefix == "" {
		prefix, _ = ends(p, sum.X)
	}
	return prefix, text(sum.Y)
}

// constants checks that the constants of kinds have their messages.
func (c checker) constants(p *packages.Package) {
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		value, ok := scope.Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		for _, key := range kinds[value.Type().String()] {
			key = strings.Replace(key, "*", constant.StringVal(value.Val()), 1)
			c.named[key] = true
			if _, known := c.messages[key]; !known {
				c.t.Errorf("%s: there is no message %s", name, key)
			}
		}
	}
}
