// Package fetch guards requests to addresses that the users of Belfry name: media of posts, sites of watched
// accounts.
//
// It promises that they reach nothing but the public internet and what the owner allows. Each address is
// checked after its name was resolved and before the connection is made, for redirects too. Where a proxy
// resolves names, only what they resolve to on this machine can be checked. Addresses in the owner's own
// settings need no guard.
package fetch

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"code.dny.dev/ssrf"

	"belfry/platform"
)

const dialTimeout = 15 * time.Second

// Allowed is what may be reached although it is not public. The zero value allows nothing.
type Allowed struct {
	v4, v6 []netip.Prefix
	hosts  []string // in lower case, some with a port, whatever they resolve to
}

// UnmarshalText reads addresses, prefixes, and hosts with or without a port, separated by commas.
func (a *Allowed) UnmarshalText(text []byte) error {
	*a = Allowed{}
	for _, word := range strings.FieldsFunc(string(text), func(c rune) bool { return c == ',' || c == ';' || unicode.IsSpace(c) }) {
		prefix, err := netip.ParsePrefix(word)
		if addr, bad := netip.ParseAddr(word); bad == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		switch {
		case err == nil && prefix.Addr().Is4():
			a.v4 = append(a.v4, prefix)
		case err == nil:
			a.v6 = append(a.v6, prefix)
		case !isHost(word):
			return fmt.Errorf("%q is not an address, a prefix or a host: write it as 192.168.1.5, 10.0.0.0/8, media.example or media.example:8080", word)
		default:
			a.hosts = append(a.hosts, strings.ToLower(word))
		}
	}
	return nil
}

// isHost reports whether a word is a host name, or a host with a port.
func isHost(word string) bool {
	if host, port, err := net.SplitHostPort(word); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		word = strings.ReplaceAll(host, ":", "") // of an IPv6 address
	}
	return word != "" && !strings.ContainsAny(word, "/:@?#*")
}

// allowsHost reports whether the host of an address is allowed, with its port or with any.
func (a Allowed) allowsHost(u *url.URL) bool {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return slices.Contains(a.hosts, host) || slices.Contains(a.hosts, net.JoinHostPort(host, port))
}

// Check refuses an address whose host is a number that may not be reached. A name may be refused later, by what it
// resolves to.
func (a Allowed) Check(u *url.URL) error {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil || a.allowsHost(u) {
		return nil //nolint:nilerr // it is a name
	}
	return a.check(a.guardian(), addr)
}

func (a Allowed) guardian() *ssrf.Guardian {
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(a.v4...), ssrf.WithAllowedV6Prefixes(a.v6...))
}

func (a Allowed) check(guardian *ssrf.Guardian, addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if guardian.SafeAddr(addr) == nil {
		return nil
	}
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "url",
		Err: fmt.Errorf("the address leads to %[1]s, which is not public: use a public address, or allow this one with BELFRY_ALLOW_PRIVATE=%[1]s", addr)}
}

// Guard returns base with the guard before it. It takes base over, and connects in its own way. A refusal is a
// [*platform.Error] whose Field is url.
func (a Allowed) Guard(base *http.Transport) http.RoundTripper {
	t := &transport{allowed: a, guardian: a.guardian(), open: base, guarded: base.Clone()}
	checked := func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		return a.check(t.guardian, to.Addr())
	}
	t.open.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	t.guarded.DialContext = (&net.Dialer{Timeout: dialTimeout, Control: checked}).DialContext
	t.guarded.Proxy = nil
	return t
}

// transport sends each request, also those that follow redirects, the way that its host may be reached.
type transport struct {
	allowed  Allowed
	guardian *ssrf.Guardian
	guarded  *http.Transport // checks what it connects to
	open     *http.Transport // to proxies, and to hosts that are allowed by name
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	if t.allowed.allowsHost(r.URL) {
		return t.open.RoundTrip(r)
	}
	var proxy *url.URL
	if t.open.Proxy != nil {
		var err error
		if proxy, err = t.open.Proxy(r); err != nil {
			return nil, fmt.Errorf("find the proxy: %w", err)
		}
	}
	if proxy == nil {
		return t.guarded.RoundTrip(r)
	}
	found, _ := net.DefaultResolver.LookupNetIP(r.Context(), "ip", host) // what is not known here the proxy may know
	for _, addr := range found {
		if err := t.allowed.check(t.guardian, addr); err != nil {
			return nil, err
		}
	}
	return t.open.RoundTrip(r)
}

// CloseIdleConnections closes the connections that wait to be used again.
func (t *transport) CloseIdleConnections() {
	t.open.CloseIdleConnections()
	t.guarded.CloseIdleConnections()
}
