package telegram

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"
)

const (
	// callTime is how long Telegram has for the answer to a call whose caller waits longer, and half of
	// what it has to set up a connection without a sign of life.
	callTime = 30 * time.Second
	// silenceLimit is after how many unanswered calls of one method in a row a connection is made anew.
	silenceLimit = 2
)

// unanswered is the error of a call that Telegram has not answered in time.
type unanswered struct{ method string }

func (u *unanswered) Error() string { return "Telegram does not answer " + u.method }
func (u *unanswered) Unwrap() error { return context.DeadlineExceeded }

// answerOnTime gives each call a deadline, and makes it return when its context ends. gotd itself would
// first ask Telegram to drop the answer, and wait for that; it does so in the background now.
func answerOnTime(limit time.Duration) telegram.MiddlewareFunc {
	return func(next tg.Invoker) telegram.InvokeFunc {
		return func(ctx context.Context, input bin.Encoder, output bin.Decoder) error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- next.Invoke(ctx, input, output) }()
			select {
			case err := <-done:
				return err
			case <-ctx.Done():
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return &unanswered{methodOf(input)}
			}
			return ctx.Err()
		}
	}
}

func methodOf(call bin.Encoder) string {
	if named, ok := call.(interface{ TypeName() string }); ok {
		return named.TypeName()
	}
	return fmt.Sprintf("%T", call)
}

// follow has the connection count the calls that stay unanswered.
func (c *connection) follow(next tg.Invoker) telegram.InvokeFunc {
	return func(ctx context.Context, input bin.Encoder, output bin.Decoder) error {
		err := next.Invoke(ctx, input, output)
		c.heardOf(methodOf(input), err)
		return err
	}
}

// heardOf counts how often a method was not answered in a row while the connection stood. Whoever made
// the call repeats it; if that is not answered either, the connection is made anew. The count outlives
// it: a bot that is not told what people write is not connected, however well it can log in.
func (c *connection) heardOf(method string, err error) {
	if strings.HasPrefix(method, "upload.") { // a slow part is the business of its upload
		return
	}
	_, silent := errors.AsType[*unanswered](err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case silent && c.linked:
		c.silent[method]++
		if c.api != nil && c.silent[method]%silenceLimit == 0 {
			c.askRenewal(err)
		}
	case !silent && !errors.Is(err, context.Canceled) && c.silent[method] > 0:
		delete(c.silent, method)
	default:
		return
	}
	c.settle()
}

// deaf is why a bot is not told what people write, if it is not. The caller holds mu.
func (c *connection) deaf() error {
	for _, method := range []string{"updates.getDifference", "updates.getState"} {
		if c.silent[method] > 0 {
			return &unanswered{method}
		}
	}
	return c.unheard
}

// hears notes why what people write is not heard, or with nil that it is.
func (c *connection) hears(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.unheard != nil {
		c.unheard = err
		c.settle()
	}
}
