package search

import (
	"strings"
	"unicode"
)

// common are words by which languages are told apart that share the Latin script.
var common = map[string]string{
	"en": " the and of to in is that for it with on as are was this be at by from not you have or we they will ",
	"de": " der die und das ist nicht mit den von ein eine zu auf für im sich dem auch als wir ",
	"es": " el la los las que de en y un una por con para no es del se lo más como ",
	"fr": " le les des et est un une du que pour dans en sur pas au avec ce il qui plus ",
	"it": " il lo gli di che e è un una per con non del della sono nel si come più ",
	"pt": " o os as que de em um uma para com não do da no na por mais como se ao ",
	"pl": " i w na nie się z do że jest to o jak po za od przez ale są dla ",
	"tr": " ve bir bu için ile de da çok ne gibi daha olarak var ama en ",
}

// Language returns the language of a text as two letters, such as ru or en; empty if it is not known. It goes by the
// script, by letters that only one language has, and by common words.
func Language(text string) string {
	var cyrillic, latin, other, ukrainian, belarusian, russian int
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
			switch unicode.ToLower(r) {
			case 'ї', 'є', 'ґ':
				ukrainian++
			case 'ў':
				belarusian++
			case 'ы', 'э', 'ъ', 'ё':
				russian++
			}
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			other++
		}
	}
	switch {
	case cyrillic < 3 && latin < 3, other > cyrillic+latin:
		return ""
	case cyrillic >= latin && belarusian > 0:
		return "be"
	case cyrillic >= latin && ukrainian > russian:
		return "uk"
	case cyrillic >= latin:
		return "ru"
	}
	best, most := "", 0
	counts := make(map[string]int)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		for language, list := range common {
			if strings.Contains(list, " "+w+" ") {
				counts[language]++
			}
		}
	}
	for language, n := range counts {
		if n > most || n == most && (language == "en" || best != "en" && language < best) {
			best, most = language, n
		}
	}
	return best
}
