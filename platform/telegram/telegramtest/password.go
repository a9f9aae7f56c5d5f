package telegramtest

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// prime is the group that Telegram uses, with the generator 3: clients check that it is a safe one.
const prime = "c71caeb9c6b1c9048e6c522f70f13f73980d40238e3e21c14934d037563d930f" +
	"48198a0aa7c14058229493d22530f4dbfa336f6e0ac925139543aed44cce7c37" +
	"20fd51f69458705ac68cd4fe6b6b13abdc9746512969328454f18faf8c595f64" +
	"2477fe96bb2a941d5bcd1d4ac8cc49880708fa9b378e3c4f3a9060bee67cf9a4" +
	"a4a695811051907e162753b56b0f6b410dba74d8a84b2a14b3144e0ef1284754" +
	"fd17ed950d5965b4b9dd46582db1178d169c6bc465b0d6ff9ca3928fef5b9ae4" +
	"e418fc15e83ebea0f87fa9ff5eed70050ded2849f47bf959d956850ce929851f" +
	"0d8115f635b105ee2e4e15d04b2454bf6f4fadf034b10403119cd8e3b92fcc5b"

// verifier is what Telegram keeps of a password, and the exchanges of the Secure Remote Password
// protocol that have begun.
type verifier struct {
	p, g         *big.Int
	salt1, salt2 []byte
	v            *big.Int
	open         map[int64]exchanged // by srp_id; each is good for one try
}

// exchanged is the server's half of an exchange.
type exchanged struct{ secret, public *big.Int }

// newVerifier returns nil for no password.
func newVerifier(password string) *verifier {
	if password == "" {
		return nil
	}
	p, ok := new(big.Int).SetString(prime, 16)
	if !ok {
		panic("telegramtest: the prime is no number")
	}
	v := &verifier{p: p, g: big.NewInt(3), salt1: randomBytes(40), salt2: randomBytes(16), open: map[int64]exchanged{}}
	salted := func(data, salt []byte) []byte { return hash(salt, data, salt) }
	first := salted(salted([]byte(password), v.salt1), v.salt2)
	slow, err := pbkdf2.Key(sha512.New, string(first), v.salt1, 100_000, 64)
	if err != nil {
		panic(fmt.Sprintf("telegramtest: hash a password: %v", err))
	}
	x := new(big.Int).SetBytes(salted(slow, v.salt2))
	v.v = new(big.Int).Exp(v.g, x, v.p)
	return v
}

func hash(parts ...[]byte) []byte {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return sum[:]
}

// padded is a number in 256 bytes.
func padded(n *big.Int) []byte { return n.FillBytes(make([]byte, 256)) }

// multiplier is the protocol's k.
func (v *verifier) multiplier() *big.Int {
	return new(big.Int).SetBytes(hash(padded(v.p), padded(v.g)))
}

// begin makes the server's half of an exchange: B = k·v + g^b.
func (v *verifier) begin() (id int64, e exchanged) {
	e.secret = new(big.Int).SetBytes(randomBytes(256))
	e.public = new(big.Int).Mul(v.multiplier(), v.v)
	e.public.Add(e.public, new(big.Int).Exp(v.g, e.secret, v.p)).Mod(e.public, v.p)
	id = int64(binary.LittleEndian.Uint64(randomBytes(8)))
	v.open[id] = e
	return id, e
}

// check is whether the client's half shows that it knows the password: S = (A·v^u)^b.
func (v *verifier) check(e exchanged, half *tg.InputCheckPasswordSRP) bool {
	a := new(big.Int).SetBytes(half.A)
	if a.Sign() <= 0 || a.Cmp(v.p) >= 0 {
		return false
	}
	u := new(big.Int).SetBytes(hash(padded(a), padded(e.public)))
	s := new(big.Int).Exp(v.v, u, v.p)
	s.Mul(s, a).Exp(s, e.secret, v.p)
	group := hash(padded(v.p))
	subtle.XORBytes(group, group, hash(padded(v.g)))
	want := hash(group, hash(v.salt1), hash(v.salt2), padded(a), padded(e.public), hash(padded(s)))
	return bytes.Equal(want, half.M1)
}

func (v *verifier) algorithm() *tg.PasswordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow {
	return &tg.PasswordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow{
		Salt1: v.salt1, Salt2: v.salt2, G: int(v.g.Int64()), P: padded(v.p)}
}

// passwordOwner is the account that is logged in, or that has come halfway.
func (c *call) passwordOwner() (*account, error) {
	if a, ok := c.srv.halfway[c.key]; ok {
		return a, nil
	}
	if c.by == nil {
		return nil, tgerr.New(401, "AUTH_KEY_UNREGISTERED")
	}
	return c.by, nil
}

func (c *call) getPassword(*tg.AccountGetPasswordRequest) (bin.Encoder, error) {
	a, err := c.passwordOwner()
	if err != nil {
		return nil, err
	}
	p := &tg.AccountPassword{NewAlgo: &tg.PasswordKdfAlgoUnknown{},
		NewSecureAlgo: &tg.SecurePasswordKdfAlgoUnknown{}, SecureRandom: randomBytes(256)}
	if v := a.verifier; v != nil {
		id, e := v.begin()
		p.HasPassword = true
		p.SetCurrentAlgo(v.algorithm())
		p.SetSRPB(padded(e.public))
		p.SetSRPID(id)
		if a.PasswordHint != "" {
			p.SetHint(a.PasswordHint)
		}
	}
	p.SetFlags()
	return p, nil
}

func (c *call) checkPassword(req *tg.AuthCheckPasswordRequest) (bin.Encoder, error) {
	a, err := c.passwordOwner()
	if err != nil {
		return nil, err
	}
	half, ok := req.Password.(*tg.InputCheckPasswordSRP)
	if !ok || a.verifier == nil {
		return nil, tgerr.New(400, "PASSWORD_HASH_INVALID")
	}
	e, ok := a.verifier.open[half.SRPID]
	if !ok {
		return nil, tgerr.New(400, "SRP_ID_INVALID")
	}
	delete(a.verifier.open, half.SRPID)
	if !a.verifier.check(e, half) {
		return nil, tgerr.New(400, "PASSWORD_HASH_INVALID")
	}
	return c.logIn(a), nil
}
