package channelstest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/platform/article"
	"belfry/worker/simulation"
)

// network is the world's channels as a process reads them, in its weather.
type network struct {
	part    *Part
	process *simulation.Process
}

// call makes one call. A read that is not answered is one that has not reached the network.
func call[T any](ctx context.Context, n network, login uint64, about string, read func() (T, error)) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	answered := make(chan result, 2) // it may be carried out twice, and after its caller has gone
	err = n.process.World.Network.Call(ctx, n.process, login, about, func() {
		r, err := read()
		answered <- result{r, err}
	})
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Kind == platform.Unknown {
		return answer, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: e}
	}
	if err != nil {
		return answer, err
	}
	r := <-answered
	return r.answer, r.err
}

func (n network) FindChannel(ctx context.Context, login uint64, name string) (platform.Chat, error) {
	return call(ctx, n, login, "find "+name, func() (platform.Chat, error) { return n.part.net.FindChannel(ctx, login, name) })
}

func (n network) Chats(ctx context.Context, login uint64) ([]platform.Chat, error) {
	return call(ctx, n, login, "chats", func() ([]platform.Chat, error) { return n.part.net.Chats(ctx, login) })
}

func (n network) HistoryBefore(ctx context.Context, login uint64, channel int64, at time.Time) (platform.History, error) {
	return call(ctx, n, login, fmt.Sprint("history before ", channel), func() (platform.History, error) { return n.part.net.HistoryBefore(ctx, login, channel, at) })
}

func (n network) History(ctx context.Context, login uint64, channel int64, after, limit int) (platform.History, error) {
	return call(ctx, n, login, fmt.Sprint("history ", channel), func() (platform.History, error) { return n.part.net.History(ctx, login, channel, after, limit) })
}

func (n network) MessagesByID(ctx context.Context, login uint64, channel int64, ids []int) (platform.History, error) {
	return call(ctx, n, login, fmt.Sprint("messages ", channel), func() (platform.History, error) { return n.part.net.MessagesByID(ctx, login, channel, ids) })
}

func (n network) Difference(ctx context.Context, login uint64, channel int64, pts int) (platform.Difference, error) {
	return call(ctx, n, login, fmt.Sprint("difference ", channel), func() (platform.Difference, error) { return n.part.net.Difference(ctx, login, channel, pts) })
}

func (n network) Photo(ctx context.Context, login uint64, channel int64, id int, f platform.PhotoFile) ([]byte, error) {
	return call(ctx, n, login, fmt.Sprint("photo ", channel), func() ([]byte, error) { return n.part.net.Photo(ctx, login, channel, id, f) })
}

// read reads what a link leads to.
func (n network) read(ctx context.Context, address string) (article.Article, error) {
	return call(ctx, n, 0, address, func() (article.Article, error) { return article.Article{Title: "Page", Text: address}, nil })
}
