package telegramtest

import "strings"

// digits is a phone number without its plus, or nothing if it is none.
func digits(phone string) string {
	number := strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+")
	if len(number) < 7 || len(number) > 15 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return number
}
