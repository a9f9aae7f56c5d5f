package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// secretPrefix is what secrets begin with.
const secretPrefix = "whsec_"

// NewSecret returns a secret that signs calls: a random key of 32 bytes, as Standard Webhooks writes it.
func NewSecret() string {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret refuses what is no secret: the specification asks for a key of 24 to 64 bytes.
func CheckSecret(secret string) error {
	_, err := signingKey(secret)
	return err
}

func signingKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("has no signing secret: write whsec_ and 24 to 64 random bytes in base64")
	}
	return key, nil
}

// sign adds the headers by which a call is known and proved. The id is the same for each attempt, so that who is called
// can recognise a repetition; the time is that of the attempt.
func (h *Hook) sign(header http.Header, id, body string, now time.Time) {
	at := strconv.FormatInt(now.Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", at)
	if len(h.key) == 0 {
		return
	}
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(id + "." + at + "." + body))
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
