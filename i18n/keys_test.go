package i18n_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"belfry/i18n"
)

// kinds are the types whose constants are parts of keys: each must have a message of its own.
var kinds = map[string]string{"belfry/store.ReasonCode": "reason."}

// TestTheProgramSaysOnlyWhatTheCataloguesHave looks, as vet does, at each call of a function whose last
// parameters are key string, args ...any: the message must exist and be filled with that many arguments. A
// key that begins with a constant must have messages below it.
func TestTheProgramSaysOnlyWhatTheCataloguesHave(t *testing.T) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	program, err := packages.Load(&packages.Config{Mode: mode}, "belfry/...")
	if err != nil {
		t.Fatal(err)
	}
	c := checker{t: t, messages: i18n.Arguments(t), used: make(map[string]bool)}
	for _, p := range program {
		for _, err := range p.Errors {
			t.Error(err)
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					c.call(p, call)
				}
				return true
			})
		}
		c.constants(p)
	}
}

type checker struct {
	t        *testing.T
	messages map[string]int // by key: how many arguments it takes
	used     map[string]bool
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
		c.used[key] = true
		if takes, known := c.messages[key]; !known {
			c.t.Errorf("%s: there is no message %s", place, key)
		} else if takes != given && !call.Ellipsis.IsValid() {
			c.t.Errorf("%s: message %s takes %d arguments, and is given %d", place, key, takes, given)
		}
		return
	}
	if prefix := beginning(p, call.Args[at]); prefix != "" && !c.below(prefix) {
		c.t.Errorf("%s: there is no message that begins with %s", place, prefix)
	}
}

// below marks the messages whose keys begin with prefix as used, and reports whether there are any.
func (c checker) below(prefix string) (any bool) {
	for key := range c.messages {
		if strings.HasPrefix(key, prefix) {
			c.used[key], any = true, true
		}
	}
	return any
}

// beginning is the constant with which a key begins that is put together; empty if there is none.
func beginning(p *packages.Package, key ast.Expr) string {
	sum, ok := key.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return ""
	}
	if value := p.TypesInfo.Types[sum.X].Value; value != nil {
		return constant.StringVal(value)
	}
	return beginning(p, sum.X)
}

// constants checks that the constants of kinds have their messages.
func (c checker) constants(p *packages.Package) {
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		value, ok := scope.Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		prefix, ok := kinds[value.Type().String()]
		if !ok {
			continue
		}
		if key := prefix + constant.StringVal(value.Val()); !c.below(key) {
			c.t.Errorf("%s: there is no message %s", name, key)
		}
	}
}
