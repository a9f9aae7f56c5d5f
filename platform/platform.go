// Package platform is what the adapters of outside services and the workers share: a post, the
// receipt for it, the one verb that all networks have, and the kinds in which their errors come.
//
// An adapter translates; it does not decide. It tells a flood wait from a closed channel, and the
// worker that called it knows what each means for its records.
package platform

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
)

// A Publisher sends posts as one identity. Publish returns when the network has confirmed the
// post, has refused it, or the context has ended. Its errors are of type [*Error].
//
// Publish may be called again with the same [Post.Key] after any error, in this process or in a
// later one: where the network can recognise the repetition, no second message appears.
type Publisher interface {
	Publish(ctx context.Context, p Post) (Receipt, error)
}

// Format says how the markup of a text is to be read.
type Format string

// The formats of a text.
const (
	HTML     Format = "html"
	Markdown Format = "markdown"
	Plain    Format = "plain"
)

// MediaKind says how a file is shown.
type MediaKind string

// The kinds of media.
const (
	Photo    MediaKind = "photo"
	Video    MediaKind = "video"
	Document MediaKind = "document"
)

// Media is one attachment. Exactly one of ID, File and URL is set.
type Media struct {
	Kind MediaKind `json:"kind" enum:"photo,video,document" doc:"How the file is shown"`
	ID   uint64    `json:"id,omitempty" doc:"A file that was uploaded"`
	File string    `json:"file,omitempty" doc:"Path below the media folder of this server"`
	URL  string    `json:"url,omitempty" doc:"http or https address that the file is fetched from"`
	Name string    `json:"name,omitempty" doc:"File name that readers see (documents)"`
}

// MediaFile is an uploaded file that is open. Whoever opened it closes it.
type MediaFile struct {
	io.ReadCloser
	Name string
	Type string // as its bytes say, such as image/jpeg
	Size int64  // bytes
}

// OpenMedia opens an uploaded file by its id. The error is a [*Error] that refuses a file that does not exist, or
// passes.
type OpenMedia func(id uint64) (MediaFile, error)

// Post is what a network is asked to publish.
type Post struct {
	// Key identifies the post across attempts. It is chosen at random before the first attempt
	// and is the same for each of them, also after a restart; it is never zero.
	Key    int64
	Target string // the chat in the network's own notation: @name, a link, or a numeric id
	// Chat is the chat that the key is for. To another one, as a group is that has become a supergroup, nothing is sent.
	// Zero: whichever the target names.
	Chat   ChatRef
	Text   string
	Format Format
	Media  []Media // at most one group: two or more make an album
	// MediaKey is the same for all posts that have the same media, such as those of a broadcast: they are
	// fetched and uploaded once. 0 means that no other post has them.
	MediaKey int64

	Silent        bool // deliver without a sound
	NoLinkPreview bool

	Buttons [][]Button // under the message, in rows; of bots only, and not with albums

	// State is what an earlier attempt has left in [Error.State]; empty at first, and after the post was changed.
	State []byte
	// Unanswered says that an attempt with this State was begun whose answer is not known.
	Unanswered bool
	// SentAgain says that a person has it sent again although it may be out: if the network refuses it as a
	// duplicate, it is.
	SentAgain bool
}

// NewKey returns a key for a post: a random number other than zero.
func NewKey() int64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if key := int64(binary.BigEndian.Uint64(b[:])); key != 0 {
			return key
		}
	}
}

// Receipt is the network's confirmation of a post.
type Receipt struct {
	MessageIDs []int64 // one for each message, in order; an album has several
	Link       string  // where a reader finds the post; empty where the network has no address for it
}

// Measure is the length of a post as its network counts it.
type Measure struct {
	Length int // units used by the text once its markup is parsed
	Limit  int // units allowed
}
