package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"belfry/i18n"
	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/article"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/search"
)

// bench is a worker for the stages of one channel's messages, in a bubble.
type bench struct {
	*schedulertest.Bench
	w       *Worker
	channel store.Channel
	last    int
	mu      sync.Mutex // held while the AI or the web answers: stages ask at the same time
	// What the AI and the web answer.
	asked func([]ai.Message) (string, error)
	read  func(address string) (article.Article, error)
}

func inBubble(t *testing.T, cfg Config, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base}
		b.Update(func(tx *store.Tx) error {
			b.channel = store.Channel{PeerID: 1, Username: "news", Interval: time.Minute}
			if err := tx.Channels.Put(&b.channel); err != nil {
				return err
			}
			return tx.TagRules.Put(&store.TagRule{Name: "весна", Keywords: []string{"весна"}})
		})
		b.make(cfg)
		test(b)
	})
}

// make starts the worker, as a new process would.
func (b *bench) make(cfg Config) {
	b.T.Helper()
	if b.asked == nil {
		b.asked = func([]ai.Message) (string, error) { return "Подснежник", nil }
	}
	if b.read == nil {
		b.read = func(string) (article.Article, error) {
			return article.Article{Title: "Ледоход", Text: "Река вскрылась."}, nil
		}
	}
	cfg.Most = 1_000_000
	cfg.Index = func(tx *store.Tx, d *store.Document, _ bool) error { return tx.Documents.Save(d) }
	if cfg.Vision || cfg.AITags {
		cfg.Ask = func(_ context.Context, m []ai.Message) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.asked(m)
		}
	}
	if cfg.Links {
		cfg.Read = func(_ context.Context, address string) (article.Article, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.read(address)
		}
	}
	w, err := New(b.DB, cfg)
	if err != nil {
		b.T.Fatal(err)
	}
	b.w = w
	b.Start(w.Module())
}

// arrive writes messages as reading does, and their events.
func (b *bench) arrive(all ...store.Message) (ids []uint64) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		ids = nil
		for i := range all {
			m := all[i]
			b.last++
			m.ChannelID, m.MessageID, m.Date, m.ReadAt = b.channel.ID, b.last, tx.Now(), tx.Now()
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
			if m.Media != nil && m.Media.Kind == "photo" {
				if err := tx.Photos.Add(&store.Photo{MessageID: m.ID, Type: "image/jpeg", Data: []byte("jpeg")}); err != nil {
					return err
				}
			}
			ids = append(ids, m.ID)
		}
		return tx.Streams.Append(store.TopicParsed, store.EventNew, ids...)
	})
	return ids
}

func (b *bench) message(id uint64) (m store.Message) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		m, err = tx.Messages.Get(id)
		return err
	})
	return m
}

func (b *bench) status(stage string) (s Status) {
	b.View(func(tx *store.Tx) error {
		for _, one := range b.w.Statuses(tx) {
			if one.Stage == stage {
				s = one
			}
		}
		return nil
	})
	return s
}

// settled proves that each stage has handled everything.
func (b *bench) settled() {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		for _, s := range b.w.Statuses(tx) {
			if s.Lag+s.Parked != 0 || s.Lost() != 0 {
				b.T.Errorf("%s: in %d, done %d, skipped %d, retrying %d, parked %d, waiting %d", s.Stage, s.In, s.Done, s.Skipped, s.Retrying, s.Parked, s.Waiting)
			}
		}
		return nil
	})
}

func withLink(text, address string) store.Message {
	return store.Message{Text: text + " " + address, Entities: []store.MessageEntity{{Type: "url", Offset: len([]rune(text)) + 1, Length: len(address)}}}
}

func TestAMessagePassesItsStages(t *testing.T) {
	inBubble(t, Config{Vision: true, Links: true}, func(b *bench) {
		var shown int
		b.asked = func(m []ai.Message) (string, error) {
			if string(m[1].Image) == "jpeg" {
				shown++
			}
			return "В саду весна", nil
		}
		m := withLink("Новости", "https://example.com/ice")
		m.Media = &store.MessageMedia{Kind: "photo"}
		ids := b.arrive(m, store.Message{Text: "Пришла весна"})
		b.Pass(time.Second)
		first, second := b.message(ids[0]), b.message(ids[1])
		if shown != 1 || first.Vision != "В саду весна" || strings.Join(first.Tags, " ") != "весна" {
			t.Errorf("the picture was shown %d times; %q, tags %v", shown, first.Vision, first.Tags)
		}
		if len(first.Links) != 1 || first.Links[0].Title != "Ледоход" {
			t.Errorf("links: %+v", first.Links)
		}
		if strings.Join(second.Tags, " ") != "весна" || second.Language != "ru" {
			t.Errorf("tags %v, language %s", second.Tags, second.Language)
		}
		b.View(func(tx *store.Tx) error {
			if d, err := tx.Documents.OfMessage(ids[0]); err != nil || !strings.Contains(d.Text, "вскрылась") || !strings.Contains(d.Text, "саду") {
				t.Errorf("%+v, %v", d, err)
			}
			if _, err := tx.Photos.Of(ids[0]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the picture is kept: %v", err)
			}
			return nil
		})
		for _, stamp := range b.w.Passport(first) {
			if want := map[string]string{"album": store.StageSkipped}[stamp.Stage]; stamp.State != store.StageDone && stamp.State != want {
				t.Errorf("%s: %s", stamp.Stage, stamp.State)
			}
		}
		b.Update(func(tx *store.Tx) error { return tx.Streams.Append(store.TopicParsed, store.EventEdited, ids[0]) })
		b.Pass(time.Second)
		if m := b.message(ids[0]); shown != 1 || m.Vision != "В саду весна" || !m.Stages["vision"].Reason.Zero() {
			t.Errorf("after an edit its picture is said to be missing: %+v", m.Stages["vision"])
		}
		b.settled()
	})
}

func TestAStageThatIsOffLetsMessagesPass(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		m := withLink("Пришла весна", "https://example.com/ice")
		m.Media = &store.MessageMedia{Kind: "photo"}
		ids := b.arrive(m)
		b.Pass(time.Second)
		got := b.message(ids[0])
		if got.Stages["index"].State != store.StageDone || got.Stages["enrich"].State != store.StageSkipped || got.Stages["enrich"].Reason.Code != store.ReasonOff {
			t.Errorf("%+v", got.Stages)
		}
		if Waits(got) {
			t.Errorf("what has passed every stage is said to wait: %+v", got.Stages)
		}
		if s := b.status("retag"); s.In != 0 {
			t.Errorf("%d messages were tagged once more", s.In)
		}
		b.settled()
	})
}

func TestWhatNoStageIsHandedWaitsForNone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for _, m := range []store.Message{
			{Date: time.Now(), Service: "channelCreate"},
			{Date: time.Now(), Unreadable: "constructor"},
			{DeletedAt: time.Now()}, // before it was read
		} {
			if got := b.w.Passport(m); len(got) != 1 || Waits(m) {
				t.Errorf("%+v waits %v: %+v", m, Waits(m), got)
			}
		}
	})
}

func TestWhatNoStageIsForDoesNotWait(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.arrive(store.Message{Text: "Пришла весна"})
		pinned := store.Message{ChannelID: b.channel.ID, MessageID: 99, Date: time.Now(), ReadAt: time.Now(), Service: "pinMessage"}
		b.Update(func(tx *store.Tx) error {
			if err := tx.Messages.Put(&pinned); err != nil {
				return err
			}
			if e, err := b.w.Replay(tx, Replay{Stage: "tag", ChannelID: b.channel.ID}, true); e.Messages != 1 || err != nil {
				t.Errorf("a replay handles %d messages, %v", e.Messages, err)
			}
			_, err := b.w.Replay(tx, Replay{Stage: "embed", ChannelID: b.channel.ID}, true)
			if said := i18n.For("en", time.UTC).Error(err); !strings.Contains(said, "use one of vision, tag, retag, enrich, index, album.") {
				t.Errorf("a stage that is not set up: %s", said)
			}
			return nil
		})
		if all := b.w.Passport(pinned); len(all) != 1 || Waits(pinned) {
			t.Errorf("a service message waits for %+v", all)
		}
	})
}

func TestStagesAreMeasured(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		b.read = func(string) (article.Article, error) { panic("on purpose") }
		b.arrive(withLink("раз", "https://example.com/ice"), store.Message{Text: "два"})
		b.Pass(15 * time.Second)
		all := prometheus.NewRegistry()
		all.MustRegister(b.w.Module().Metrics...)
		families, err := all.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				name := family.GetName()
				for _, label := range m.GetLabel() {
					name += " " + label.GetValue()
				}
				got[name] = m.GetGauge().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"belfry_stream_events posts.parsed": 2, "belfry_stream_events posts.indexed": 1, "belfry_stage_events enrich retrying": 1, "belfry_stage_events enrich skipped": 1,
			"belfry_stage_events tag done": 2, "belfry_stage_oldest_seconds enrich": 15, "belfry_stage_oldest_seconds tag": 0, "belfry_stage_lost_events enrich": 0,
		} {
			if is, there := got[name]; is != want || !there {
				t.Errorf("%s is %v, want %v", name, is, want)
			}
		}
	})
}

func TestABadMessageKeepsNoOtherWaiting(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		calls := 0
		b.read = func(address string) (article.Article, error) {
			switch {
			case strings.HasSuffix(address, "/panic"):
				panic("on purpose")
			case strings.HasSuffix(address, "/closed"):
				return article.Article{}, &platform.Error{Kind: platform.Refused, Err: errors.New("robots.txt does not allow it")}
			case strings.HasSuffix(address, "/down"):
				calls++
				return article.Article{}, &platform.Error{Kind: platform.Transient, Err: errors.New("502")}
			}
			return article.Article{Text: "Река вскрылась."}, nil
		}
		ids := b.arrive(withLink("раз", "https://example.com/panic"), withLink("два", "https://example.com/down"), withLink("три", "https://example.com/closed"), withLink("четыре", "https://example.com/ice"))
		b.Pass(time.Second)
		if m := b.message(ids[3]); m.Stages["index"].State != store.StageDone {
			t.Errorf("the good one: %+v", m.Stages)
		}
		if m := b.message(ids[2]); m.Stages["index"].State != store.StageDone || m.Links[0].Reason.Detail != "robots.txt does not allow it" || m.Stages["enrich"].Reason.About != "https://example.com/closed" {
			t.Errorf("the one that may not be read: %+v, %+v", m.Stages, m.Links)
		}
		if s := b.status("enrich"); s.Retrying != 2 || s.Lost() != 0 {
			t.Errorf("%+v", s)
		}
		b.Pass(time.Hour)
		if m := b.message(ids[1]); calls != 4 || m.Stages["enrich"].State != store.StageDone || m.Links[0].Reason.Detail != "502" || m.Stages["index"].State != store.StageDone {
			t.Errorf("the one that is down, after %d calls: %+v", calls, m.Stages)
		}
		if m := b.message(ids[0]); m.Stages["enrich"].State != store.StageParked || m.Stages["index"].State != store.StageDone {
			t.Errorf("the one that panics: %+v", m.Stages)
		}
		if s := b.status("enrich"); s.Parked != 1 || s.Lag != 0 || s.Lost() != 0 {
			t.Errorf("%+v", s)
		}
		b.View(func(tx *store.Tx) error {
			if wrong := b.w.wrong(tx); len(wrong) != 1 || wrong[0].Kind != store.AlertStageParked {
				t.Errorf("%+v", wrong)
			}
			return nil
		})
		b.read = func(string) (article.Article, error) { return article.Article{Text: "мост"}, nil }
		b.Update(func(tx *store.Tx) error {
			if e, err := b.w.Replay(tx, Replay{Stage: "enrich"}, true); err != nil || e.Messages != 1 {
				t.Errorf("%+v, %v", e, err)
			}
			_, err := b.w.Replay(tx, Replay{Stage: "enrich"}, false)
			return err
		})
		b.Pass(time.Second)
		if m := b.message(ids[0]); m.Stages["enrich"].State != store.StageDone || m.Links[0].Text != "мост" {
			t.Errorf("after the replay: %+v", m.Stages)
		}
		b.settled()
	})
}

// Old messages are tagged again by changed rules, and found by their new tags; what their links lead to is not read once more.
func TestOldMessagesAreTaggedAgain(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		reads := 0
		b.read = func(string) (article.Article, error) {
			reads++
			return article.Article{Text: "Река вскрылась."}, nil
		}
		old := b.arrive(store.Message{Text: "Пришла весна"})
		b.Pass(48 * time.Hour)
		ids := b.arrive(withLink("Пришла весна", "https://example.com/ice"))
		b.Pass(time.Second)
		b.Update(func(tx *store.Tx) error {
			_, err := search.ChangeTag(tx, 1, func(r *store.TagRule) { r.Name = "тепло" })
			return err
		})
		b.Update(func(tx *store.Tx) error {
			r := Replay{Stage: "tag", Since: tx.Now().Add(-24 * time.Hour)}
			if e, err := b.w.Replay(tx, r, true); err != nil || e.Messages != 1 || e.AIRequests != 0 {
				t.Errorf("%+v, %v", e, err)
			}
			_, err := b.w.Replay(tx, r, false)
			return err
		})
		b.Pass(time.Second)
		b.View(func(tx *store.Tx) error {
			if d, err := tx.Documents.OfMessage(ids[0]); err != nil || strings.Join(d.Tags, " ") != "тепло" || reads != 1 {
				t.Errorf("tags %v, links were read %d times, %v", d.Tags, reads, err)
			}
			return nil
		})
		if m := b.message(old[0]); strings.Join(m.Tags, " ") != "весна" {
			t.Errorf("one from before is tagged %v", m.Tags)
		}
		b.settled()
	})
}

// The messages of a batch are one question; where that is refused, only the bad message is parked. Without a model there
// is no such stage, and when there is one again it goes on with what is new.
func TestMessagesAreUnderstoodTogetherAndABadOneAlone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		var asked []int
		bad := "плохо"
		model := search.New(b.DB, nil, nil, search.Config{Model: "small", Embed: func(_ context.Context, texts []string) ([][]float32, error) {
			asked = append(asked, len(texts))
			values := make([][]float32, len(texts))
			for i, text := range texts {
				if strings.Contains(text, bad) {
					return nil, &platform.Error{Kind: platform.Refused, Err: errors.New("400")}
				}
				values[i] = []float32{1, float32(len(text))}
			}
			return values, nil
		}})
		vectors := func() (n int) {
			b.View(func(tx *store.Tx) error {
				for range tx.Vectors.All() {
					n++
				}
				return nil
			})
			return n
		}
		old := b.arrive(store.Message{Text: "до модели"})
		b.Pass(time.Second)
		b.make(Config{Vectors: model.Vectors})
		b.arrive(store.Message{Text: "раз"}, store.Message{Text: "два"}, store.Message{Text: "плохо"}, store.Message{})
		b.Pass(time.Second)
		if fmt.Sprint(asked) != "[3 1 1 1]" || vectors() != 2 {
			t.Errorf("asked about %v messages, %d vectors", asked, vectors())
		}
		if s := b.status("embed"); s.Parked != 1 || s.Done != 2 || s.Skipped != 1 || s.Lost() != 0 {
			t.Errorf("%+v", s.Flow)
		}
		bad = "-"
		b.Update(func(tx *store.Tx) error {
			r := Replay{Stage: "embed", Since: time.Unix(0, 0)}
			if e, err := b.w.Replay(tx, r, true); err != nil || e.Messages != 5 || e.AIRequests != 1 {
				t.Errorf("%+v, %v", e, err)
			}
			_, err := b.w.Replay(tx, r, false)
			return err
		})
		b.Pass(time.Minute)
		if n := vectors(); n != 4 { // of all that have a text
			t.Errorf("%d vectors after the replay", n)
		}
		b.Update(func(tx *store.Tx) error { return tx.Messages.Remove(old[0]) })
		if n := vectors(); n != 3 {
			t.Errorf("%d vectors after a message was deleted", n)
		}
		b.settled()
		before := len(asked)
		b.make(Config{})
		b.arrive(store.Message{Text: "без модели"})
		b.Pass(2 * time.Hour)
		if s := b.status("embed"); len(asked) != before || s.Stage != "" {
			t.Errorf("without a model: asked %d times, %+v", len(asked)-before, s)
		}
		b.View(func(tx *store.Tx) error {
			if _, err := tx.Jobs.ByName(jobName("embed")); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("its job is left: %v", err)
			}
			return nil
		})
	})
}

// An AI that asks to wait is not asked before that, however many messages come; none of them fails for it.
func TestAStageWaitsAsTheAIAsks(t *testing.T) {
	inBubble(t, Config{Vision: true}, func(b *bench) {
		calls, until := 0, time.Now().Add(20*time.Minute)
		b.asked = func([]ai.Message) (string, error) {
			calls++
			if left := time.Until(until); left > 0 {
				return "", &platform.Error{Kind: platform.Wait, Wait: left, Err: errors.New("429")}
			}
			return "Подснежник", nil
		}
		var ids []uint64
		for range 30 {
			ids = append(ids, b.arrive(store.Message{Text: "Фото", Media: &store.MessageMedia{Kind: "photo"}})...)
			b.Pass(30 * time.Second)
		}
		if calls > 8 {
			t.Errorf("the AI was asked %d times while it wanted to be left alone", calls)
		}
		b.View(func(tx *store.Tx) error {
			if wrong := b.w.wrong(tx); len(wrong) != 1 || wrong[0].Kind != store.AlertStageLag {
				t.Errorf("%+v", wrong)
			}
			return nil
		})
		b.Pass(10 * time.Minute)
		for _, id := range ids {
			if m := b.message(id); m.Vision == "" || m.Stages["vision"].Attempts != 0 {
				t.Errorf("message %d: %+v", id, m.Stages["vision"])
			}
		}
		b.settled()
	})
}

// An AI that refuses the account, such as one without money, refuses whatever it is asked: the pictures wait for its owner.
func TestPicturesWaitForAnAccountThatTheAIRefuses(t *testing.T) {
	inBubble(t, Config{Vision: true}, func(b *bench) {
		calls := 0
		b.asked = func([]ai.Message) (string, error) {
			calls++
			return "", &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Err: errors.New("402")}
		}
		for range 100 {
			b.arrive(store.Message{Text: "Фото", Media: &store.MessageMedia{Kind: "photo"}})
		}
		b.Pass(time.Hour)
		if s := b.status("vision"); calls > 60 || s.Parked != 0 || s.Lag != 100 || s.LastError.Detail != "402" {
			t.Errorf("asked %d times; parked %d of %d: %+v", calls, s.Parked, s.Lag, s.LastError)
		}
		b.asked = func([]ai.Message) (string, error) { return "Подснежник", nil }
		b.Pass(accountPause)
		b.settled()
	})
}

// Servers answer 500, too, to a text that is too long for their model.
func TestAMessageThatBreaksTheModelKeepsNoOtherBack(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		model := search.New(b.DB, nil, nil, search.Config{Model: "small", Embed: func(_ context.Context, texts []string) ([][]float32, error) {
			if slices.Contains(texts, "long") {
				return nil, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: errors.New("500")}
			}
			return slices.Repeat([][]float32{{1}}, len(texts)), nil
		}})
		b.make(Config{Vectors: model.Vectors})
		var all []store.Message
		for i := range 30 {
			text := fmt.Sprint(i)
			if i%10 == 0 {
				text = "long"
			}
			all = append(all, store.Message{Text: text})
		}
		b.arrive(all...)
		b.Pass(time.Hour)
		if s := b.status("embed"); s.Done != 27 || s.Retrying != 3 {
			t.Errorf("done %d, retrying %d", s.Done, s.Retrying)
		}
		b.Pass(24 * time.Hour)
		if s := b.status("embed"); s.Done != 27 || s.Parked != 3 {
			t.Errorf("done %d, parked %d", s.Done, s.Parked)
		}
	})
}

// Whether its members come in one read of the channel or in several, and whether something follows them or not.
func TestNothingWaitsForAnAIThatChoosesNoTags(t *testing.T) {
	inBubble(t, Config{AITags: true}, func(b *bench) {
		calls := 0
		answers := []func() (string, error){
			func() (string, error) { return "Here are the tags: [\"spring\", \"ice\"]", nil },
			func() (string, error) { return "I cannot tell.", nil },
			func() (string, error) {
				return "", &platform.Error{Kind: platform.Wait, Scope: platform.ScopeContent, Wait: 20 * time.Hour, Err: errors.New("the day's budget is used up")}
			},
			func() (string, error) {
				return "", &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: errors.New("down")}
			},
		}
		b.asked = func([]ai.Message) (string, error) { calls++; return answers[calls-1]() }
		for range answers {
			id := b.arrive(store.Message{Text: "Весна пришла"})[0]
			b.Pass(time.Minute)
			m, tags := b.message(id), "весна"
			if calls == 1 {
				tags = "ice spring весна"
			}
			if m.Stages["index"].State != store.StageDone || strings.Join(m.Tags, " ") != tags || m.Stages["tag"].Reason.Zero() != (calls == 1) {
				t.Errorf("answer %d: tags %v, %+v", calls, m.Tags, m.Stages)
			}
		}
		if b.Pass(time.Hour); calls != len(answers) {
			t.Errorf("%d questions for %d messages", calls, len(answers))
		}
		b.asked = func([]ai.Message) (string, error) { return answers[3]() } // what was chosen before stays
		b.Update(func(tx *store.Tx) error {
			for _, stage := range []string{"tag", "retag"} {
				if e, err := b.w.Replay(tx, Replay{Stage: stage, ChannelID: 1}, true); err != nil || e.AIRequests != len(answers) {
					t.Errorf("%s asks the AI: %+v, %v", stage, e, err)
				}
			}
			_, err := b.w.Replay(tx, Replay{Stage: "tag"}, false)
			return err
		})
		b.Pass(time.Minute)
		if m := b.message(1); strings.Join(m.Tags, " ") != "ice spring весна" {
			t.Errorf("after a replay without the AI: %v", m.Tags)
		}
	})
}

func TestSearchAndWatchesDoNotWaitForAnAIThatHangs(t *testing.T) {
	inBubble(t, Config{AITags: true}, func(b *bench) {
		hangs := true
		b.w.cfg.Ask = func(ctx context.Context, _ []ai.Message) (string, error) {
			if !hangs {
				return `["spring"]`, nil
			}
			<-ctx.Done()
			return "", &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: fmt.Errorf("the AI did not answer: %w", ctx.Err())}
		}
		b.arrive(slices.Repeat([]store.Message{{Text: "Весна пришла"}}, 200)...)
		b.Pass(10 * time.Minute)
		if s := b.status("index"); s.Done != 200 {
			t.Errorf("%d of 200 messages can be found", s.Done)
		}
		hangs = false
		b.Pass(hangPause)
		id := b.arrive(store.Message{Text: "Весна пришла"})[0]
		b.Pass(time.Minute)
		if m := b.message(id); strings.Join(m.Tags, " ") != "spring весна" {
			t.Errorf("once it answers again: %v", m.Tags)
		}
	})
}

func TestTheAIChoosesTheTagsOfTheOwnerAsTheyAreWritten(t *testing.T) {
	inBubble(t, Config{AITags: true}, func(b *bench) {
		long := strings.TrimSpace(strings.Repeat("Скидки недели ", 3))
		b.Update(func(tx *store.Tx) error {
			return errors.Join(tx.TagRules.Put(&store.TagRule{Name: "Пиво", Keywords: []string{"пиво"}}), tx.TagRules.Put(&store.TagRule{Name: long, Keywords: []string{"скидка"}}))
		})
		b.asked = func([]ai.Message) (string, error) { return `["пиво", "` + strings.ToLower(long) + `"]`, nil }
		id := b.arrive(store.Message{Text: "Тёмное пиво"})[0]
		b.Pass(time.Minute)
		if tags := b.message(id).Tags; !slices.Equal(tags, []string{"Пиво", long}) {
			t.Errorf("%q", tags)
		}
	})
}

func TestAnAlbumIsPutTogetherOnce(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		albums := func(want uint64, when string) {
			t.Helper()
			b.View(func(tx *store.Tx) error {
				if n := tx.Streams.Head(store.TopicAlbum); n != want {
					t.Errorf("%s: %d albums were put together, want %d", when, n, want)
				}
				for _, alert := range b.w.wrong(tx) {
					t.Errorf("%s: %+v", when, alert)
				}
				return nil
			})
		}
		interval := 2 * time.Hour
		read := func(all ...store.Message) {
			b.Update(func(tx *store.Tx) error {
				b.channel.Interval, b.channel.LastParsedAt = interval, tx.Now()
				return tx.Channels.Put(&b.channel)
			})
			b.arrive(all...)
			b.Pass(interval)
		}
		of := func(album int64) store.Message { return store.Message{GroupedID: album} }
		read(of(7), of(7))
		albums(0, "before the next read")
		read(of(7))
		albums(0, "with a member of the next read")
		read()
		b.Pass(time.Minute)
		albums(1, "after a read without another member")
		read(of(7))
		read()
		albums(2, "with a member that came late")
		read(of(8), of(8), store.Message{Text: "next"})
		albums(3, "with a message that follows")
		read(of(9))
		b.Pass(3 * interval)
		albums(4, "in a channel that is not read any more")
		b.settled()
	})
}

// What was planned by a clock that was months ahead does not wait for months.
func TestAWaitThatAWrongClockWroteIsVoid(t *testing.T) {
	inBubble(t, Config{Links: true}, func(b *bench) {
		b.SetClock(300 * 24 * time.Hour)
		b.Pass(10 * time.Minute) // it is believed after a while
		b.read = func(string) (article.Article, error) {
			return article.Article{}, &platform.Error{Kind: platform.Transient, Err: errors.New("502")}
		}
		ids := b.arrive(withLink("раз", "https://example.com/ice"), store.Message{GroupedID: 7})
		b.Pass(time.Second)
		if s := b.status("enrich"); s.Retrying != 1 {
			t.Fatalf("%+v", s)
		}
		b.read = func(string) (article.Article, error) {
			return article.Article{Text: "Река вскрылась."}, nil
		}
		b.SetClock(0)
		b.Pass(2 * time.Hour)
		if m := b.message(ids[0]); m.Stages["enrich"].State != store.StageDone {
			t.Errorf("%+v", m.Stages)
		}
		b.settled()
	})
}

func TestOldMessagesAreDeleted(t *testing.T) {
	inBubble(t, Config{Keep: 48 * time.Hour}, func(b *bench) {
		var all []store.Message
		for i := range 500 {
			all = append(all, store.Message{Text: fmt.Sprint("Новость ", i)})
		}
		ids := b.arrive(all...)
		b.Pass(24 * time.Hour)
		young := b.arrive(store.Message{Text: "Свежая новость"})
		b.Pass(26 * time.Hour)
		b.View(func(tx *store.Tx) error {
			if n := tx.Messages.Count(); n != 1 {
				t.Errorf("%d messages are left", n)
			}
			if _, err := tx.Documents.OfMessage(ids[0]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the index has it: %v", err)
			}
			_, err := tx.Documents.OfMessage(young[0])
			return err
		})
		b.settled()
	})
}

// Whatever fails, waits, panics and restarts: each message ends as it would have without all that, and nothing is lost.
func TestWhateverFailsEachMessageEndsAsItShould(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.IntRange(0, 1<<30).Draw(rt, "seed")
		inBubble(t, Config{Vision: true, Links: true}, func(b *bench) {
			calls := 0
			trouble := func() error {
				calls++
				switch (seed + calls*7919) % 9 {
				case 0:
					return &platform.Error{Kind: platform.Wait, Wait: time.Minute, Err: errors.New("429")}
				case 1:
					return &platform.Error{Kind: platform.Transient, Err: errors.New("502")}
				case 2:
					return errors.New("broken")
				}
				return nil
			}
			b.asked = func([]ai.Message) (string, error) { return "Подснежник", trouble() }
			b.read = func(string) (article.Article, error) {
				return article.Article{Text: "Река вскрылась."}, trouble()
			}
			cfg := Config{Vision: true, Links: true}
			b.make(cfg)
			var ids []uint64
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				switch rapid.IntRange(0, 3).Draw(rt, "step") {
				case 0:
					b.make(cfg) // a restart
				case 1:
					b.Pass(time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second)
				default:
					m := withLink("Весна", "https://example.com/ice")
					if rapid.Bool().Draw(rt, "photo") {
						m.Media = &store.MessageMedia{Kind: "photo"}
					}
					ids = append(ids, b.arrive(m)...)
				}
			}
			b.Pass(48 * time.Hour)
			for range 3 { // what failed for good
				b.Update(func(tx *store.Tx) error {
					for _, stage := range []string{"vision", "enrich"} {
						if _, err := b.w.Replay(tx, Replay{Stage: stage}, false); err != nil {
							return err
						}
					}
					return nil
				})
				b.Pass(24 * time.Hour)
			}
			for _, id := range ids {
				m := b.message(id)
				if m.Media != nil && m.Vision == "" && m.Stages["vision"].Reason.Code != store.ReasonNoPhoto || len(m.Links) != 1 || len(m.Tags) == 0 {
					rt.Errorf("message %d: %+v", id, m)
				}
				b.View(func(tx *store.Tx) error {
					_, err := tx.Documents.OfMessage(id)
					return err
				})
			}
			b.settled()
		})
	})
}

func TestAPictureWhoseTextIsEditedWhileTheAIWantsToWaitIsDescribedOnce(t *testing.T) {
	inBubble(t, Config{Vision: true}, func(b *bench) {
		calls, until := 0, time.Now().Add(30*time.Minute)
		b.asked = func([]ai.Message) (string, error) {
			if left := time.Until(until); left > 0 {
				return "", &platform.Error{Kind: platform.Wait, Wait: left, Err: errors.New("429")}
			}
			calls++
			return "Подснежник", nil
		}
		b.arrive(store.Message{Text: "one", Media: &store.MessageMedia{Kind: "photo"}}) // the AI asks to wait
		b.Pass(time.Minute)
		id := b.arrive(store.Message{Text: "two", Media: &store.MessageMedia{Kind: "photo"}})[0]
		b.Pass(5 * time.Minute)
		b.Update(func(tx *store.Tx) error {
			m, err := tx.Messages.Get(id)
			if err != nil {
				return err
			}
			m.Text = "two, edited"
			return errors.Join(tx.Messages.Put(&m), tx.Streams.Append(store.TopicParsed, store.EventEdited, id))
		})
		b.Pass(3 * time.Hour)
		if calls > 3 || b.message(id).Vision == "" {
			t.Errorf("the AI was asked %d times and said %q", calls, b.message(id).Vision)
		}
		b.settled()
	})
}
