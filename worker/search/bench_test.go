package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belfry/store"
)

// vocabulary makes words: those of the lists of forms, the most frequent, and others made of syllables.
func vocabulary(t testing.TB, random *rand.Rand) (all []string) {
	data, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.Fields(line)...)
		}
	}
	syllables := strings.Fields("ка ло ми ну ре то ва си ты бу ни за по рос ков вен ник тор мат бел гор ды")
	for len(all) < 40_000 {
		w := ""
		for range 2 + random.IntN(3) {
			w += syllables[random.IntN(len(syllables))]
		}
		all = append(all, w)
	}
	return all
}

// cpu is the processor time that the program has used.
func cpu() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// 50,000 messages of 50 words are indexed, 64 in a commit, and searched.
func BenchmarkSearch(b *testing.B) {
	const messages, batch = 50_000, 64
	random := rand.New(rand.NewPCG(1, 2))
	all := vocabulary(b, random)
	zipf := rand.NewZipf(random, 1.15, 8, uint64(len(all)-1))
	text := func() string {
		var out strings.Builder
		for range 20 + random.IntN(60) {
			out.WriteString(all[zipf.Uint64()] + " ")
		}
		return out.String()
	}
	path := filepath.Join(b.TempDir(), "belfry.db")
	db, err := store.Open(path, store.Options{Key: make([]byte, store.KeySize)})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	update(b, db, func(tx *store.Tx) error {
		for n := range 20 {
			if err := tx.Channels.Put(&store.Channel{PeerID: int64(n + 1)}); err != nil {
				return err
			}
		}
		return nil
	})
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		return info.Size()
	}
	made := make([]store.Message, messages)
	for n := range made {
		made[n] = store.Message{ChannelID: uint64(n%20 + 1), MessageID: n, Date: noon.Add(time.Duration(n) * time.Minute), Text: text()}
		made[n].Tags = []string{fmt.Sprint("tag", random.IntN(30))}
	}
	for some := range slices.Chunk(made, 1000) {
		update(b, db, func(tx *store.Tx) error {
			for i := range some {
				if err := tx.Messages.Put(&some[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	before, begun, used, longest, terms := size(), time.Now(), cpu(), time.Duration(0), 0
	for some := range slices.Chunk(made, batch) {
		documents := make([]store.Document, len(some))
		for i, m := range some {
			documents[i] = Document(m)
			terms += len(documents[i].Terms)
		}
		committing := time.Now()
		update(b, db, func(tx *store.Tx) error {
			for i := range documents {
				if err := tx.Documents.Save(&documents[i]); err != nil {
					return err
				}
			}
			return nil
		})
		longest = max(longest, time.Since(committing))
	}
	took := time.Since(begun)
	b.Logf("%d messages in %s (%.0f for each second of a processor), %d terms each, the longest commit %s, %d MB beside %d MB of messages",
		messages, took.Round(time.Millisecond), messages/(cpu()-used).Seconds(), terms/messages, longest.Round(time.Millisecond), (size()-before)>>20, before>>20)
	b.Logf("the 1st, 10th, 100th and 1000th word: %s %s %s %s", all[0], all[9], all[99], all[999])
	queries := []string{
		all[0], all[9], all[99], all[999], all[0] + " " + all[1], all[0] + " " + all[9] + " " + all[99], all[5000] + " " + all[0],
		all[30000], all[0] + " -" + all[1], `"` + all[0] + " " + all[9] + `"`, `"` + all[99] + " " + all[999] + `"`, "рос*", "но*", all[0] + " ко*", "нетакого слова",
	}
	b.ResetTimer()
	for b.Loop() {
		for _, text := range queries {
			for _, f := range []Filter{{}, {Channels: []uint64{3}}, {Tag: "tag7"}, {Since: noon.AddDate(0, 0, 20), Until: noon.AddDate(0, 0, 22)}} {
				q, err := Parse(text)
				if err != nil {
					b.Fatal(err)
				}
				times, found := []time.Duration(nil), 0
				for range 3 {
					begun := cpu()
					err = db.View(func(tx *store.Tx) error {
						page, err := Find(tx, q, f, store.Query{Limit: 20})
						found = len(page.Items)
						return err
					})
					times = append(times, cpu()-begun)
				}
				slices.Sort(times)
				b.Logf("%-40s channels %v tag %q since %s: %d, %s %v", text, f.Channels, f.Tag, f.Since.Format(time.DateOnly), found, times[0].Round(10*time.Microsecond), err)
				if times[0] > 20*time.Millisecond {
					b.Errorf("%s took %s", text, times[0])
				}
			}
		}
	}
}
