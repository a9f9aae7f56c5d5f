package rules

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/platform/ai"
	"belfry/store"
	"belfry/worker"
)

// texts is what a run posts: one content for each text, and what the rule remembers of it.
type texts struct {
	all      []string
	marks    [][8]byte    // of the feed's items whose texts these are, two of each, and then others to be remembered
	present  [][8]byte    // of all items that the feed has now
	position int          // of the list afterwards
	why      store.Reason // there is no text, or none will follow
}

// write returns what a rule posts now.
func (w *Worker) write(ctx context.Context, r store.Rule) (t texts, err error) {
	t.position = r.Position
	c := r.Content
	switch {
	case c.Source == "template":
		t.all = []string{w.fill(r, c.Template, nil)}
	case c.Source == "list":
		t.all, t.position = []string{item(r)}, r.Position+1
		if c.Order == "once" && t.position >= len(c.Items) {
			t.why = store.Reason{Code: store.ReasonListEnded}
		}
	case c.Source == "feed":
		return w.readFeed(ctx, r)
	case c.Source == "" && !w.HasAI():
		t.all = []string{ownWords(c)}
	default:
		var text string
		text, err = w.writePost(ctx, r)
		t.all = []string{text}
	}
	return t, err
}

// ownWords is what a content says that no one else writes.
func ownWords(c store.RuleContent) string { return strings.TrimSpace(c.Title + "\n\n" + c.Description) }

// item is the item of a list that comes next. A shuffled list has each item once in a round, in an order that the
// rule's id and the round decide.
func item(r store.Rule) string {
	n, items := r.Position, r.Content.Items
	if r.Content.Order != "shuffle" {
		return items[n%len(items)]
	}
	round := rand.New(rand.NewPCG(r.ID, uint64(n/len(items)))) //nolint:gosec // an order, no secret
	return items[round.Perm(len(items))[n%len(items)]]
}

// marks are the characters that have a meaning in Markdown, and none behind a backslash. An address in it has no
// backslashes: inAddress writes there what would end it.
var (
	marks     = regexp.MustCompile("[\\\\`*_~|<>()!\\[\\]]")
	inAddress = strings.NewReplacer(`\`, "%5C", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E")
)

// fill fills a template in. Values are taken as text, whatever the format; what is not known stays as it is.
func (w *Worker) fill(r store.Rule, template string, values []string) string {
	zone, err := time.LoadLocation(r.Trigger.Zone)
	if err != nil {
		zone = w.Zone()
	}
	say, now := i18n.For(cmp.Or(r.Content.Language, w.Printer().Lang), zone), w.db.Now().In(zone)
	values = append(values[:len(values):len(values)], // the first of two values holds
		"{title}", r.Content.Title, "{description}", r.Content.Description,
		"{date}", say.Day(now), "{time}", say.Clock(now), "{number}", strconv.Itoa(r.TextsMade()+1),
		"{weekday}", say.T("time.weekday."+strconv.Itoa(int(now.Weekday()))))
	var addresses []string
	for value := range slices.Chunk(values, 2) {
		switch platform.Format(r.Content.Format) {
		case platform.HTML:
			value[1] = html.EscapeString(value[1])
		case platform.Markdown:
			addresses = append(addresses, "]("+value[0], "]("+inAddress.Replace(value[1]))
			value[1] = marks.ReplaceAllString(value[1], `\$0`)
		}
	}
	return strings.TrimSpace(strings.NewReplacer(append(addresses, values...)...).Replace(template))
}

const (
	// lastPosts is how many posts of a rule the AI is shown, so that it does not repeat them.
	lastPosts = 5
	// shownPost is how much of each, in characters.
	shownPost = 600
)

// writePost has the AI write the next post of a rule.
func (w *Worker) writePost(ctx context.Context, r store.Rule) (string, error) {
	b := Brief{Title: r.Content.Title, Description: r.Content.Description, Language: r.Content.Language, Format: r.Content.Format}
	to, err := w.targets(r)
	if err != nil {
		return "", err
	}
	for _, t := range to {
		if m, err := w.posts.Measure(w.request(r, t, "x")); err == nil && (b.Limit == 0 || m.Limit < b.Limit) {
			b.Limit = m.Limit
		}
	}
	err = w.db.View(func(tx *store.Tx) error {
		last, err := tx.Posts.OfRule(r.ID, store.Query{Limit: lastPosts * len(to)})
		for _, p := range last.Items {
			if text := store.Shorten(p.Text, shownPost); len(b.Last) < lastPosts && (len(b.Last) == 0 || b.Last[len(b.Last)-1] != text) {
				b.Last = append(b.Last, text)
			}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return w.ask(ctx, b)
}

// Brief says what the AI is to write.
type Brief struct {
	Title, Description string
	Language           string // such as ru; empty means that of the title and the description
	Format             string // html, markdown, or plain
	Limit              int    // characters; 0 means none
	Last               []string
}

// Write has the AI write a post, within the day's budget. That it does not is a [*store.ConflictError]; a brief that
// says nothing is refused with a [*store.FieldError].
func (w *Worker) Write(ctx context.Context, b Brief) (string, error) {
	if err := w.mayAsk(b); err != nil {
		return "", err
	}
	text, err := w.ask(ctx, b)
	return text, w.refusal(err)
}

// mayAsk refuses a brief that says nothing, and any where no AI is set up.
func (w *Worker) mayAsk(b Brief) error {
	switch {
	case !w.HasAI():
		return store.Conflict("conflict.no_ai")
	case strings.TrimSpace(b.Title+b.Description) == "":
		return store.Invalid("title", "invalid.rule_nothing")
	}
	return nil
}

// refusal makes an error of an AI or a feed one that can be said to people.
func (w *Worker) refusal(err error) error {
	if budget, ok := errors.AsType[errBudget](err); ok {
		return store.Conflict("conflict.ai_budget", budget.N, budget.Of)
	}
	if e, outside := errors.AsType[*platform.Error](err); outside {
		key := "conflict.network"
		if e.Kind == platform.Refused { // the same is refused in a moment, too
			key = "conflict.outside"
		}
		return store.Conflict(key, store.Detail(w.Printer().Error(err)))
	}
	return err
}

// Ask has the AI answer, within the part of the day's budget that is not kept for posts. Its errors are of type
// [*platform.Error]; where the budget is used up, it says until when.
func (w *Worker) Ask(ctx context.Context, messages []ai.Message) (string, error) {
	text, err := w.askAI(ctx, messages, forReading)
	return text, w.tomorrow(err)
}

// tomorrow makes an error that says to wait of one about the day's budget.
func (w *Worker) tomorrow(err error) error {
	if budget, ok := errors.AsType[errBudget](err); ok {
		now := w.db.Now().In(w.Zone())
		tomorrow := i18n.StartOfDay(now.Year(), now.Month(), now.Day()+1, now.Location())
		err = &platform.Error{Kind: platform.Wait, Scope: platform.ScopeContent, Wait: tomorrow.Sub(now), Err: budget}
	}
	return err
}

// Embed has a model make vectors of texts, within the day's budget of tokens; these questions are no part of the budget
// of questions. Its errors are those of [Worker.Ask].
func (w *Worker) Embed(ctx context.Context, texts []string) (values [][]float32, err error) {
	err = w.within(ctx, ai.Deadline, 0, forReading, func(ctx context.Context) (prompt, tokens int, err error) {
		made, err := w.sources.Embed(ctx, texts)
		values = made.Values
		return made.Tokens, made.Tokens, err
	})
	return values, w.tomorrow(err)
}

// ask has the AI write a post, within the day's budget. That it does not is an [errBudget] or a [*platform.Error].
func (w *Worker) ask(ctx context.Context, b Brief) (string, error) {
	return w.askAI(ctx, b.messages(), forPosts)
}

func (w *Worker) askAI(ctx context.Context, messages []ai.Message, part int) (text string, err error) {
	err = w.within(ctx, ai.Deadline, 1, part, func(ctx context.Context) (prompt, tokens int, err error) {
		written, err := w.sources.Write(ctx, messages)
		text = written.Text
		return written.Prompt, written.Tokens, err
	})
	return text, err
}

// Draw has the AI make a picture for a post, within the day's budget, and keeps it as an uploaded file. Its refusals are
// those of [Worker.Write].
func (w *Worker) Draw(ctx context.Context, b Brief) (store.MediaFile, error) {
	if err := w.mayAsk(b); err != nil {
		return store.MediaFile{}, err
	}
	var drawn ai.Picture
	err := w.within(ctx, ai.DrawDeadline, 1, forPosts, func(ctx context.Context) (prompt, tokens int, err error) {
		drawn, err = w.sources.Draw(ctx, "A picture for a post in a channel, without any text in it.\n"+b.task())
		return drawn.Prompt, drawn.Tokens, err
	})
	if err != nil {
		return store.MediaFile{}, w.refusal(err)
	}
	return w.sources.Keep(ctx, "ai.jpg", "", bytes.NewReader(drawn.JPEG))
}

// What the AI may be asked for something, in per cent of the day's budget. What is read, such as pictures of channels, has
// no end, and must not leave the posts of rules without an answer.
const (
	forPosts   = 100
	forReading = 80
)

// within asks within a part of the day's budget, of which it takes a number of questions and the tokens that ask returns. A
// question that the AI has no time for, or refuses whoever asks, does not count.
func (w *Worker) within(ctx context.Context, limit time.Duration, questions, part int, ask func(context.Context) (prompt, tokens int, err error)) error {
	if err := w.spend(questions, 0, part); err != nil {
		if _, budget := errors.AsType[errBudget](err); budget {
			w.requests.WithLabelValues(askedBudget).Inc()
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	prompt, tokens, err := ask(ctx)
	result := askedDone
	if err != nil {
		result = askedFailed
	}
	w.requests.WithLabelValues(result).Inc()
	w.tokens.WithLabelValues(tokensPrompt).Add(float64(prompt))
	w.tokens.WithLabelValues(tokensAnswer).Add(float64(max(0, tokens-prompt)))
	back := 0
	if e, ok := errors.AsType[*platform.Error](err); ok && (e.Kind == platform.Wait || e.Scope == platform.ScopeIdentity) {
		back = questions
	}
	if spent := w.spend(-back, tokens, 0); err == nil {
		err = spent
	}
	return err
}

func (b Brief) task() string { return "Title: " + b.Title + "\nTask: " + b.Description }

// messages asks for a post.
func (b Brief) messages() []ai.Message {
	rules := "You write posts for a channel. Answer with the text of one post and nothing else: no introduction, no quotation marks around it, no alternatives."
	switch platform.Format(b.Format) {
	case platform.HTML:
		rules += " Use no markup but <b>, <i> and <a href>."
	case platform.Markdown:
		rules += " Use no markup but **bold**, *italic* and [links](https://…)."
	default:
		rules += " Use no markup."
	}
	if b.Language != "" {
		rules += " Write in this language: " + b.Language + "."
	} else {
		rules += " Write in the language of the task."
	}
	if b.Limit > 0 {
		rules += fmt.Sprintf(" Write at most %d characters.", b.Limit*9/10)
	}
	task := b.task()
	if len(b.Last) > 0 {
		task += "\n\nThese posts are published already. Do not repeat what they say:\n\n" + strings.Join(b.Last, "\n\n---\n\n")
	}
	return []ai.Message{{Role: "system", Content: rules}, {Role: "user", Content: task}}
}

// settingSpent is what the AI was asked on a day.
const settingSpent = "ai.spent"

// Spent is what the AI was asked on a day, which begins at midnight in the worker's zone.
type Spent struct {
	Day      string `json:"day"` // 2026-11-24
	Requests int    `json:"requests"`
	Tokens   int    `json:"tokens"`
}

// Spent returns what the AI was asked today.
func (w *Worker) Spent(tx *store.Tx) (today Spent, err error) {
	text, err := tx.Settings.Value(settingSpent)
	if err != nil && !store.IsCorrupt(err) { // a damaged row is let go by the next one
		return today, err
	}
	day := tx.Now().In(w.Zone()).Format(time.DateOnly)
	if json.Unmarshal([]byte(text), &today) != nil || today.Day != day {
		today = Spent{Day: day}
	}
	return today, nil
}

// errBudget says that the AI was asked enough for this day.
type errBudget struct{ store.Reason }

func (e errBudget) Error() string { return "the day's budget of the AI is used up" }

// spend counts what is asked of the AI. What would go beyond a part of the day's budget is refused; without a part nothing is.
func (w *Worker) spend(requests, tokens, part int) error {
	return w.db.Update(func(tx *store.Tx) error {
		today, err := w.Spent(tx)
		if err != nil {
			return err
		}
		if part > 0 && (requests > 0 && today.Requests >= w.cfg.AIRequests*part/100 || today.Tokens >= w.cfg.AITokens*part/100) {
			return errBudget{store.Reason{Code: store.ReasonAIBudget, N: today.Requests, Of: w.cfg.AIRequests}}
		}
		today.Requests = max(0, today.Requests+requests)
		today.Tokens += tokens
		return worker.SetSetting(tx, settingSpent, today)
	})
}
