package store

import "testing"

func TestATextIsShortenedAtACharacter(t *testing.T) {
	for text, want := range map[string]string{"": "", "ещё": "ещё", "день": "день", "вечер": "веч…", "an evening": "an…", "🔔🔔🔔🔔🔔": "🔔🔔🔔…"} {
		if got := Shorten(text, 4); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
