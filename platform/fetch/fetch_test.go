package fetch_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"belfry/platform"
	"belfry/platform/fetch"
)

// newServer starts a server on an address of the loopback network.
func newServer(t *testing.T, address string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Skip("no such address here: " + err.Error())
	}
	srv := httptest.NewUnstartedServer(handler)
	srv.Listener.Close()
	srv.Listener = listener
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// resolve answers questions for names from a table, over a real socket.
func resolve(t *testing.T, names map[string][4]byte) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		conn.Close()
	})
	go func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			addr, known := names[strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))]
			switch {
			case !known:
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body: &dnsmessage.AResource{A: addr}}}
			}
			if packed, err := m.Pack(); err == nil {
				conn.WriteTo(packed, from)
			}
		}
	}()
}

func newClient(t *testing.T, allow string, base *http.Transport) *http.Client {
	t.Helper()
	var allowed fetch.Allowed
	if err := allowed.UnmarshalText([]byte(allow)); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: allowed.Guard(base)}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func get(t *testing.T, client *http.Client, address string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// refused checks that a request is refused with the address, the field and the cure, and reaches nobody.
func refused(t *testing.T, client *http.Client, address, leadsTo string) {
	t.Helper()
	_, err := get(t, client, address)
	if err == nil {
		t.Errorf("%s was fetched", address)
		return
	}
	e := platform.AsError(err)
	if e.Kind != platform.Refused || e.Field != "url" || !strings.Contains(e.Error(), "leads to "+leadsTo+",") ||
		!strings.HasSuffix(e.Error(), "BELFRY_ALLOW_PRIVATE="+leadsTo) {
		t.Errorf("%s: %s error of %q: %v", address, e.Kind, e.Field, err)
	}
}

func TestAddressesThatAreNotPublicAreRefused(t *testing.T) {
	var reached atomic.Int32
	secret := newServer(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(secret.Listener.Addr().String())
	resolve(t, map[string][4]byte{"rebound.example": {127, 0, 0, 1}, "metadata.example": {169, 254, 169, 254}})
	client := newClient(t, "", &http.Transport{})
	for host, leadsTo := range map[string]string{
		"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "rebound.example": "127.0.0.1", "metadata.example": "169.254.169.254",
		"169.254.169.254": "169.254.169.254", "10.1.2.3": "10.1.2.3", "192.168.0.1": "192.168.0.1", "100.64.0.1": "100.64.0.1",
		"[::ffff:127.0.0.1]": "127.0.0.1", "[::ffff:a9fe:a9fe]": "169.254.169.254", "[::1]": "::1", "[fd00::1]": "fd00::1",
		"[64:ff9b::7f00:1]": "64:ff9b::7f00:1", "[::]": "::", "0.0.0.0": "0.0.0.0",
	} {
		if host == "localhost" { // ::1 may come first
			if _, err := get(t, client, "http://localhost:"+port); err == nil || !strings.Contains(err.Error(), "which is not public") {
				t.Errorf("localhost: %v", err)
			}
			continue
		}
		refused(t, client, "http://"+host+":"+port, leadsTo)
	}
	if reached.Load() > 0 {
		t.Errorf("%d requests arrived", reached.Load())
	}
}

func TestARedirectToAnAddressThatIsNotPublicIsRefused(t *testing.T) {
	var reached atomic.Int32
	secret := newServer(t, "127.0.0.2", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(secret.Listener.Addr().String())
	resolve(t, map[string][4]byte{"rebound.example": {127, 0, 0, 2}})
	open := newServer(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		io.WriteString(w, "open")
	})
	client := newClient(t, "127.0.0.1", &http.Transport{})
	for _, to := range []string{secret.URL, "http://rebound.example:" + port, "http://[::ffff:127.0.0.2]:" + port} {
		refused(t, client, open.URL+"?to="+url.QueryEscape(to), "127.0.0.2")
	}
	if body, err := get(t, client, open.URL+"?to="+url.QueryEscape(open.URL)); err != nil || body != "open" {
		t.Errorf("a redirect to what is allowed: %q, %v", body, err)
	}
	if reached.Load() > 0 {
		t.Errorf("%d requests arrived", reached.Load())
	}
}

func TestTheOwnerAllowsAddressesPrefixesAndNames(t *testing.T) {
	srv := newServer(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "private") })
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	resolve(t, map[string][4]byte{"media.example": {127, 0, 0, 1}, "other.example": {127, 0, 0, 1}})
	for allow, host := range map[string]string{
		"127.0.0.1": "media.example", "10.0.0.0/8, 127.0.0.0/8": "127.0.0.1", "Media.example": "media.EXAMPLE",
		"127.0.0.1:" + port: "127.0.0.1", "1.2.3.4, other.example:" + port: "other.example",
	} {
		if body, err := get(t, newClient(t, allow, &http.Transport{}), "http://"+host+":"+port); err != nil || body != "private" {
			t.Errorf("%s with %q allowed: %q, %v", host, allow, body, err)
		}
	}
	refused(t, newClient(t, "media.example", &http.Transport{}), "http://other.example:"+port, "127.0.0.1")
	refused(t, newClient(t, "127.0.0.1:1, media.example:1", &http.Transport{}), "http://media.example:"+port, "127.0.0.1")
	for _, wrong := range []string{"http://media.example", "media.example:0", "media.example:http", ":80", "10.0.0.0/40", "*.example"} {
		if err := new(fetch.Allowed).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestAProxyIsNotAWayAroundTheGuard(t *testing.T) {
	proxy := newServer(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "by proxy ", r.Host) })
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	resolve(t, map[string][4]byte{"rebound.example": {127, 0, 0, 1}, "public.example": {192, 30, 255, 113}})
	client := newClient(t, "", &http.Transport{Proxy: http.ProxyURL(at)})
	refused(t, client, "http://127.0.0.1:1", "127.0.0.1")
	refused(t, client, "http://rebound.example:1", "127.0.0.1")
	for _, host := range []string{"public.example", "known.to.the.proxy.example"} {
		if body, err := get(t, client, "http://"+host); err != nil || body != "by proxy "+host {
			t.Errorf("%s: %q, %v", host, body, err)
		}
	}
}
