package session

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// contentPolicy lets a page load from its own server and from nowhere else, and run nothing that
// stands in the page itself.
const contentPolicy = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'; object-src 'none'"

// Headers sets what each answer carries, so that a browser helps to keep the page safe.
func Headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms would name no origin either
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// KnownHost refuses a request whose Host is not a name of this server: a page elsewhere could
// otherwise have its own name point here and read what the answers say.
func (s *Sessions) KnownHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr); s.hostAllowed(r.Host, local) {
			return next(c)
		}
		return refusal(http.StatusMisdirectedRequest, "Host",
			"names a server that Belfry does not answer for",
			"open it as http://localhost, or add the name to BELFRY_HOSTS")
	}
}

// hostAllowed reports whether host, with or without a port, is loopback, the address that the
// connection came to, or one of the configured names.
func (s *Sessions) hostAllowed(host string, local net.Addr) bool {
	name := strings.ToLower(strings.TrimSuffix(hostname(host), "."))
	if name == "localhost" {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		own := ""
		if local != nil {
			own = hostname(local.String())
		}
		if ip.Unmap().IsLoopback() || name == own {
			return true
		}
	}
	return s.configured(name)
}

func (s *Sessions) configured(name string) bool {
	return slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// hostname cuts the port and the brackets off a host.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// SameOrigin refuses requests that change something and were caused by another site, as far as
// the browser says so. Forms of the page must be sent by a browser that says it; programs need not
// say anything: the API asks for a token.
func (s *Sessions) SameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			return next(c)
		}
		if s.ownOrigin(r) {
			return next(c)
		}
		return refusal(http.StatusForbidden, "Origin",
			"is another site's, or is not named", "open the page itself and try again there")
	}
}

// ownOrigin believes a browser that says where a request comes from: no page can make it say another thing. Where it
// does not say, as without HTTPS, the origin must be this server or a name of the settings, because a reverse proxy may
// put its own into Host.
func (s *Sessions) ownOrigin(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	if site != "" {
		return site == "same-origin"
	}
	if origin == "" {
		return strings.HasPrefix(r.URL.Path, "/api/")
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || s.configured(u.Hostname())
}

// MayKnow reports whether details of the system's state may be shown to who asks: on this machine, or with
// a good token.
func (s *Sessions) MayKnow(c echo.Context) bool {
	if CallerOf(c.Request().Context()) == socket || isLoopback(c) {
		return true
	}
	_, err := s.identify(c.Request())
	return err == nil
}

// isLoopback reports whether the request comes from this machine, and not through a proxy on it.
func isLoopback(c echo.Context) bool {
	h := c.Request().Header
	if h.Get("X-Forwarded-For") != "" || h.Get("Forwarded") != "" || h.Get("X-Real-Ip") != "" {
		return false
	}
	ip, err := netip.ParseAddr(c.RealIP())
	return err == nil && ip.Unmap().IsLoopback()
}
