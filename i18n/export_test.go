package i18n

import "testing"

// Arguments returns how many arguments each message takes.
func Arguments(t *testing.T) map[string]int {
	takes := make(map[string]int)
	for key, args := range messagesOf(t, Languages[0]) {
		takes[key] = 0
		for n := range args {
			takes[key] = max(takes[key], n)
		}
	}
	return takes
}
