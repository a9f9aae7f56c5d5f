package xtest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // it is what OAuth 1.0a signs with
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Lifetime is of an access of OAuth 2.
const Lifetime = 2 * time.Hour

type code struct {
	user                int64
	challenge, redirect string
}

type access struct {
	user int64
	ends time.Time
}

// grants are what owners have let applications do.
type grants struct {
	codes   map[string]code
	access  map[string]access
	refresh map[string]int64
}

// caller returns the user that signed a request.
func (s *Server) caller(r *http.Request) (User, bool) {
	given := r.Header.Get("Authorization")
	if token, ok := strings.CutPrefix(given, "Bearer "); ok {
		a, known := s.grants.access[token]
		if !known || !s.options.Now().Before(a.ends) {
			return User{}, false
		}
		return s.user(func(u User) bool { return u.ID == a.user })
	}
	params, ok := strings.CutPrefix(given, "OAuth ")
	if !ok {
		return User{}, false
	}
	signed := url.Values{}
	for _, part := range strings.Split(params, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		plain, err := url.PathUnescape(strings.Trim(value, `"`))
		if err != nil {
			return User{}, false
		}
		signed.Set(name, plain)
	}
	u, ok := s.user(func(u User) bool {
		return u.ConsumerKey != "" && u.ConsumerKey == signed.Get("oauth_consumer_key") && u.AccessToken == signed.Get("oauth_token")
	})
	signature := signed.Get("oauth_signature")
	if !ok || signed.Get("oauth_signature_method") != "HMAC-SHA1" || signed.Get("oauth_nonce") == "" || signed.Get("oauth_timestamp") == "" {
		return User{}, false
	}
	signed.Del("oauth_signature")
	for name, values := range r.URL.Query() {
		signed[name] = values
	}
	return u, hmac.Equal([]byte(signature), []byte(sign(r.Method, s.URL+r.URL.Path, signed, u)))
}

// sign signs a request as RFC 5849 says.
func sign(method, address string, params url.Values, u User) string {
	var pairs []string
	for name, values := range params {
		for _, value := range values {
			pairs = append(pairs, escape(name)+"="+escape(value))
		}
	}
	slices.Sort(pairs)
	base := method + "&" + escape(address) + "&" + escape(strings.Join(pairs, "&"))
	mac := hmac.New(sha1.New, []byte(escape(u.ConsumerSecret)+"&"+escape(u.AccessSecret)))
	mac.Write([]byte(base))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// escape is the escaping of RFC 3986, which url.QueryEscape is but for spaces.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func (s *Server) user(is func(User) bool) (User, bool) {
	i := slices.IndexFunc(s.users, is)
	if i < 0 {
		return User{}, false
	}
	return s.users[i], true
}

// authorize is the page on which an owner lets an application in; here everybody does at once.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	u, ok := s.user(func(u User) bool { return u.ClientID != "" && u.ClientID == q.Get("client_id") })
	back, err := url.Parse(q.Get("redirect_uri"))
	if !ok || err != nil || back.Host == "" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" ||
		!strings.Contains(" "+q.Get("scope")+" ", " offline.access ") {
		http.Error(w, "Something went wrong", http.StatusBadRequest)
		return
	}
	given := rand.Text()
	s.grants.codes[given] = code{u.ID, q.Get("code_challenge"), q.Get("redirect_uri")}
	back.RawQuery = url.Values{"code": {given}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token gives an access for a code or a refresh token, each of which works once.
func (s *Server) token(r *http.Request) (int, any) {
	refused := func(code string) (int, any) {
		return http.StatusBadRequest, map[string]any{"error": code, "error_description": "Value passed for the token was invalid."}
	}
	if err := r.ParseForm(); err != nil {
		return refused("invalid_request")
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id = r.PostFormValue("client_id")
	}
	u, ok := s.user(func(u User) bool { return u.ClientID != "" && u.ClientID == id })
	if !ok || basic && u.ClientSecret != secret || !basic && u.ClientSecret != "" {
		return http.StatusUnauthorized, map[string]any{"error": "unauthorized_client"}
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		c, known := s.grants.codes[r.PostFormValue("code")]
		delete(s.grants.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !known || c.user != u.ID || c.redirect != r.PostFormValue("redirect_uri") || base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge {
			return refused("invalid_grant")
		}
	case "refresh_token":
		of, known := s.grants.refresh[r.PostFormValue("refresh_token")]
		delete(s.grants.refresh, r.PostFormValue("refresh_token"))
		if !known || of != u.ID {
			return refused("invalid_grant")
		}
	default:
		return refused("unsupported_grant_type")
	}
	next, renew := rand.Text(), rand.Text()
	s.grants.access[next], s.grants.refresh[renew] = access{u.ID, s.options.Now().Add(Lifetime)}, u.ID
	return http.StatusOK, map[string]any{"token_type": "bearer", "expires_in": int(Lifetime / time.Second), "access_token": next, "refresh_token": renew, "scope": "tweet.write offline.access"}
}

// Revoke ends all that owners have let applications do.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.grants.access)
	clear(s.grants.refresh)
}
