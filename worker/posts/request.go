package posts

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// Request is a post as somebody asks for it. Either ContentID or Text and Media say what is posted.
type Request struct {
	ContentID     uint64
	Text          string
	Media         []store.Media
	Format        string // html, markdown or plain; empty means the content's, or plain
	Platform      string // telegram, or another network that is set up
	IdentityID    uint64 // 0: the platform's identity, if there is one or one is called main
	Target        string // empty: where the identity posts
	ScheduledTime string // RFC 3339, with a zone
	Queue         bool   // at the next free time of the identity's queue, in the place of ScheduledTime
	Lateness      store.Lateness
	Silent        bool
	NoLinkPreview bool
	AllowPast     bool // a time that has passed means at once
	Hold          bool // it goes out only when somebody has approved it
	Reached       bool // its network was asked about the target lately, and is not asked again
}

// Patch is a change to a post. What is nil stays.
type Patch struct {
	Text          *string
	Media         *[]store.Media
	Format        *string
	IdentityID    *uint64
	Target        *string
	ScheduledTime *string
	Queue         bool // as of a [Request]
	Lateness      *store.Lateness
	Silent        *bool
	NoLinkPreview *bool
	AllowPast     bool
	// Seen is what [Seen] says of the post that the change was made to; empty if nobody looked.
	Seen string
}

// Draft is a post that has been checked and can be scheduled.
type Draft struct {
	post     store.Post
	was      store.Post // before the change
	identity store.Identity
	queue    bool // its time is found when it is written
	reached  bool
}

// Place is where a draft goes, and as whom.
func (d Draft) Place() (identityID uint64, target string) { return d.identity.ID, d.post.Target }

// Measure is the length of a text as its network counts it, once the markup is parsed.
type Measure = platform.Measure

const (
	// pastTolerance is what a time may have passed by without being called the past: a request
	// takes its way.
	pastTolerance = 30 * time.Second
	// maxAhead is the furthest time that is taken for meant.
	maxAhead = 10 * 365 * 24 * time.Hour
)

// Prepare checks a request, as far as possible without a transaction: its fields, its text and
// media by its network's rules, and whether its identity can reach the target. The errors are of
// type [*store.FieldError]. A network that does not answer in time is no reason to refuse.
func (w *Worker) Prepare(ctx context.Context, r Request) (Draft, error) {
	d, now, err := w.draft(r)
	if err != nil {
		return Draft{}, err
	}
	return d, w.check(ctx, d, now, r.AllowPast)
}

// draft is what a request names.
func (w *Worker) draft(r Request) (d Draft, now time.Time, err error) {
	var at time.Time
	if !r.Queue {
		at, err = ParseTime("scheduled_time", r.ScheduledTime)
	} else if r.ScheduledTime != "" {
		err = store.Invalid("queue", "invalid.queue_and_time")
	}
	if err != nil {
		return d, now, err
	}
	d = Draft{queue: r.Queue, reached: r.Reached, post: store.Post{
		ContentID: r.ContentID, Platform: canonical(r.Platform), IdentityID: r.IdentityID,
		Target: strings.TrimSpace(r.Target), Text: r.Text, Format: r.Format, Media: r.Media,
		Silent: r.Silent, NoLinkPreview: r.NoLinkPreview, Lateness: r.Lateness, ScheduledTime: at, Held: r.Hold,
	}}
	if _, err := w.network(d.post.Platform); err != nil {
		return d, now, err
	}
	err = w.db.View(func(tx *store.Tx) error {
		now = tx.Now()
		if err := tx.Contents.Fill(d.post.ContentID, d.post.Platform, &d.post.Text, &d.post.Media, &d.post.Format); err != nil {
			return err
		}
		if err := d.fillIdentity(tx); err != nil || !d.queue {
			return err
		}
		d.post.ScheduledTime, err = NextSlot(tx, d.identity, d.post.Target, 0)
		return err
	})
	if err == nil && d.post.ContentID != 0 {
		d.post.Text, d.post.Format = w.asShown(d.post.Platform, d.post.Text, d.post.Format)
	}
	return d, now, err
}

// PrepareChange checks a change to a post as [Worker.Prepare] checks a new one. The change can be
// made while the post waits, or after it has ended without having gone out; then it is scheduled
// again.
func (w *Worker) PrepareChange(ctx context.Context, id uint64, p Patch) (Draft, error) {
	var d Draft
	var now time.Time
	err := w.db.View(func(tx *store.Tx) (err error) {
		now = tx.Now()
		if d.post, err = tx.Posts.Get(id); err != nil {
			return err
		}
		if err := changeable(d.post); err != nil {
			return err
		}
		if p.Seen != "" && p.Seen != Seen(d.post) {
			return changed(d.post)
		}
		d.was = d.post
		if err := p.apply(&d.post); err != nil {
			return err
		}
		if d.post.Media, err = tx.Media.Fill(d.post.Media); err != nil {
			return err
		}
		if err := d.fillIdentity(tx); err != nil || !p.Queue {
			return err
		}
		d.queue = true
		d.post.ScheduledTime, err = NextSlot(tx, d.identity, d.post.Target, id)
		return err
	})
	if err != nil {
		return Draft{}, err
	}
	pastIsFine := p.AllowPast || (p.ScheduledTime == nil && d.post.Status == store.PostScheduled)
	return d, w.check(ctx, d, now, pastIsFine)
}

func (p Patch) apply(post *store.Post) error {
	set(&post.Text, p.Text)
	set(&post.Media, p.Media)
	set(&post.Format, p.Format)
	set(&post.IdentityID, p.IdentityID)
	set(&post.Target, p.Target)
	set(&post.Lateness, p.Lateness)
	set(&post.Silent, p.Silent)
	set(&post.NoLinkPreview, p.NoLinkPreview)
	switch {
	case p.ScheduledTime == nil:
		return nil
	case p.Queue:
		return store.Invalid("queue", "invalid.queue_and_time")
	}
	at, err := ParseTime("scheduled_time", *p.ScheduledTime)
	post.ScheduledTime = at
	return err
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// canonical is the name under which a platform is stored.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "x" {
		return "twitter"
	}
	return name
}

// ParseTime reads a time of a request. It must name its zone: a time without one is an hour wrong
// twice a year, and nobody can tell which.
func ParseTime(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, store.Invalid(field, "invalid.time_missing")
	}
	if at, err := worker.ParseTime(text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if _, err := time.Parse(layout, text); err == nil {
			return time.Time{}, store.Invalid(field, "invalid.time_no_zone", text)
		}
	}
	return time.Time{}, store.Invalid(field, "invalid.time", text)
}

// fillIdentity finds the identity that posts, and with it the target.
func (d *Draft) fillIdentity(tx *store.Tx) error {
	var err error
	if d.post.IdentityID != 0 {
		d.identity, err = tx.Identities.Get(d.post.IdentityID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && d.identity.Platform != d.post.Platform) {
			return store.Invalid("identity_id", "invalid.no_account_for", d.post.IdentityID, d.post.Platform)
		}
	} else {
		d.identity, err = defaultIdentity(tx, d.post.Platform)
	}
	if err != nil {
		return err
	}
	d.post.IdentityID = d.identity.ID
	if d.post.Target = cmp.Or(d.post.Target, d.identity.Target); d.post.Target == "" {
		return store.Invalid("target", "invalid.target_missing")
	}
	return nil
}

// defaultIdentity is the identity that is meant where none is named.
func defaultIdentity(tx *store.Tx, platform string) (store.Identity, error) {
	all, n := tx.Identities.Of(platform), tx.Identities.Count(platform) // a damaged one may be the one that is meant
	i := slices.IndexFunc(all, func(i store.Identity) bool { return i.Name == "main" })
	switch {
	case i >= 0:
		return all[i], nil
	case len(all) == 1 && n == 1:
		return all[0], nil
	case n == 0:
		return store.Identity{}, store.Invalid("identity_id", "invalid.nobody_for", platform)
	}
	return store.Identity{}, store.Invalid("identity_id", "invalid.which_account", n)
}

// check looks at the whole post, as it will be sent.
func (w *Worker) check(ctx context.Context, d Draft, now time.Time, pastIsFine bool) error {
	network, err := w.network(d.post.Platform)
	if err != nil {
		return err
	}
	switch at := d.post.ScheduledTime; {
	case at.Before(now.Add(-pastTolerance)) && (!pastIsFine || at.Unix() <= 0):
		return store.Invalid("scheduled_time", "invalid.past")
	case at.After(now.Add(maxAhead)):
		return store.Invalid("scheduled_time", "invalid.far", 10)
	}
	if err := d.post.Lateness.Validate("lateness"); err != nil {
		return err
	}
	if d.post.Lateness.Policy == store.LateEach {
		return store.Invalid("lateness", "invalid.run_each")
	}
	if d.post.Lateness.Policy == store.LateSkip && d.post.Lateness.Grace <= 0 { // it would never be in time
		return store.Invalid("lateness.grace", "invalid.grace")
	}
	if _, err := network.Check(platformPost(d.normal())); err != nil {
		return fieldError(err)
	}
	if d.identity.State != store.IdentityReady || d.reached {
		return nil // it cannot ask, and the post waits for it; or it has asked
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = network.Reach(ctx, d.identity.ID, d.post.Target)
	if e := platform.AsError(err); err != nil && e.Kind == platform.Refused {
		return fieldError(err)
	}
	return nil
}

// normal is the post with its defaults.
func (d Draft) normal() store.Post {
	post := d.post
	post.Format = cmp.Or(post.Format, string(platform.Plain))
	return post
}

func (w *Worker) network(name string) (Network, error) {
	if network, ok := w.networks[name]; ok {
		return network, nil
	}
	known := slices.Sorted(maps.Keys(w.networks))
	if name == "" {
		return nil, store.Invalid("platform", "invalid.platform_missing", strings.Join(known, ", "))
	}
	return nil, store.Invalid("platform", "invalid.not_in_version", name, strings.Join(known, ", "))
}

// fieldError turns a network's objection into one about the request's field.
func fieldError(err error) error {
	e := platform.AsError(err)
	usual := "text"
	if e.Scope == platform.ScopeChat {
		usual = "target"
	}
	return store.Invalid(cmp.Or(e.Field, usual), "invalid.refused", store.Detail(e.Error()))
}

// Styled reads the markup of a text as its platform does. Beside an error the text is as it was written.
func (w *Worker) Styled(platformName, format, text string) (platform.Styled, error) {
	network, err := w.network(platformName)
	var styled platform.Styled
	if err == nil {
		styled, err = network.Styled(platform.Format(format), text)
	}
	if err != nil {
		styled = platform.Styled{Text: strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))}
	}
	return styled, err
}

// Plain returns the text of a post without its markup; where that cannot be read, as it was written.
func (w *Worker) Plain(p store.Post) string {
	styled, _ := w.Styled(p.Platform, p.Format, p.Text) // beside an error it is the text as it was written
	return styled.Text
}

// Measure counts the text of a request as its network does. A request that is not complete yet is
// no error.
func (w *Worker) Measure(r Request) (Measure, error) {
	network, err := w.network(canonical(r.Platform))
	if err != nil {
		return Measure{}, err
	}
	media, err := worker.Read(w.db, func(tx *store.Tx) ([]store.Media, error) { return tx.Media.Fill(r.Media) })
	if err != nil {
		return Measure{}, err
	}
	d := Draft{post: store.Post{Text: r.Text, Format: r.Format, Media: media, Target: r.Target}}
	m, err := network.Check(platformPost(d.normal()))
	if err != nil {
		return m, fieldError(err)
	}
	return m, nil
}

// Post is the post as it would be written.
func (d Draft) Post() store.Post { return d.post }

// Reach finds out whether an identity can post to a target. The error is about the field target, or a
// [*store.ConflictError] if the network does not say.
func (w *Worker) Reach(ctx context.Context, identity store.Identity, target string) error {
	network, err := w.network(identity.Platform)
	if err != nil {
		return err
	}
	err = network.Reach(ctx, identity.ID, strings.TrimSpace(target))
	switch {
	case err == nil:
		return nil
	case platform.AsError(err).Kind == platform.Refused:
		return store.Invalid("target", "invalid.refused", store.Detail(platform.AsError(err).Error()))
	}
	return send.Conflict(err)
}
