// Package search finds messages of channels by their words, and tells of new ones that are watched for.
//
// Each word of a message is indexed as it is written, as its stem, and, in Russian, as its stem without a fleeting vowel
// (рынок, рынка): exact keys, so that words with a common beginning are not mixed up. The index is a function of the
// message's document and is written with it. A search reads no document but those that it shows, except to check a
// phrase.
package search

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"
	"golang.org/x/text/unicode/norm"
)

// The kinds of terms, as the last byte of each. A stem that is the word itself is not written, nor is a squeezed stem
// that is the stem.
const (
	exact    = "\x01"
	stemmed  = "\x02"
	squeezed = "\x03"
	often    = "\x04" // the stem of a word that a message has several times
)

const (
	// oftenFrom is how many times that is.
	oftenFrom = 3
	// maxWord bounds a word, in bytes; what is longer is cut.
	maxWord = 64
	// maxWords bounds the different words of a message.
	maxWords = 2000
	// leastSqueezed is how many letters a stem has at least from which a fleeting vowel was dropped.
	leastSqueezed = 3
)

// word is a word of a text.
type word struct {
	from, to int    // where it stands in the text, in bytes
	folded   string // lower case, ё as е, without accents
}

// words yields the words of a text: letters and digits, with apostrophes inside.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		from := -1
		end := func(to int) bool {
			begun := from
			if from = -1; begun < 0 {
				return true
			}
			folded := fold(text[begun:to])
			return folded == "" || yield(word{begun, to, folded})
		}
		for i, r := range text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				if from < 0 {
					from = i
				}
				continue
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			inside := unicode.IsMark(r) || (r == '\'' || r == '’') && unicode.IsLetter(next)
			if !inside && !end(i) {
				return
			}
		}
		end(len(text))
	}
}

// fold writes a word so that its spellings are one.
func fold(w string) string {
	if !norm.NFKC.IsNormalString(w) {
		w = norm.NFKC.String(w)
	}
	w = strings.Map(func(r rune) rune {
		switch {
		case r == 'ё' || r == 'Ё':
			return 'е'
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, w)
	for len(w) > maxWord {
		_, size := utf8.DecodeLastRuneInString(w)
		w = w[:len(w)-size]
	}
	return w
}

// stem returns the stem of a folded word, in the language that its script says.
func stem(w string) string {
	first, _ := utf8.DecodeRuneInString(w)
	env := snowballstem.NewEnv(w)
	switch {
	case unicode.Is(unicode.Cyrillic, first):
		russian.Stem(env)
	case first < utf8.RuneSelf && unicode.IsLetter(first):
		english.Stem(env)
	}
	if env.Current() == "" {
		return w
	}
	return env.Current()
}

// squeeze makes the third key of a word with a stem: the stem without a fleeting vowel, so that рынок and рынки, скидка
// and скидок become one. What the stemmer took for the ending of a verb may belong to a noun, and stays: канал, каналы.
func squeeze(w, s string) string {
	rest, isPrefix := strings.CutPrefix(w, s)
	if at := strings.IndexAny(rest, "лн"); isPrefix && at >= 0 && at <= len("и") {
		s += rest[:at+len("л")]
	}
	letters := []rune(strings.TrimSuffix(s, "ь"))
	n := len(letters)
	if n <= leastSqueezed || !consonant(letters[n-1]) || !strings.ContainsRune("оеий", letters[n-2]) || !consonant(letters[n-3]) {
		return s
	}
	return string(append(letters[:n-2], letters[n-1]))
}

func consonant(r rune) bool {
	return strings.ContainsRune("бвгджзклмнпрстфхцчшщ", r)
}

// termsOf are the terms of a folded word with a stem.
func termsOf(w, s string) []string {
	all := []string{w + exact}
	if s != w {
		all = append(all, s+stemmed)
	}
	if short := squeeze(w, s); short != s {
		all = append(all, short+squeezed)
	}
	return all
}

// terms are the terms of a text, sorted.
func terms(text string) (all []string) {
	counts, stems := make(map[string]int), make(map[string]string)
	for w := range words(text) {
		s, known := stems[w.folded]
		if !known {
			if len(stems) == maxWords {
				break
			}
			s = stem(w.folded)
			stems[w.folded] = s
			all = append(all, termsOf(w.folded, s)...)
		}
		if counts[s]++; counts[s] == oftenFrom {
			all = append(all, s+often)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The ways in which a message has a word, the best first.
const (
	asWritten = iota
	byStem
	bySqueezedStem
	ways
)

// lookups are the terms under which a word is found, by the way.
func lookups(w string) (all [ways][]string) {
	s := stem(w)
	all[asWritten] = []string{w + exact}
	all[byStem] = []string{s + stemmed}
	if s != w {
		all[byStem] = append(all[byStem], s+exact)
	}
	short := squeeze(w, s)
	all[bySqueezedStem] = []string{short + squeezed}
	if short != s {
		all[bySqueezedStem] = append(all[bySqueezedStem], short+stemmed, short+exact)
	}
	return all
}
