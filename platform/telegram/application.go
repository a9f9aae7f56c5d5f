package telegram

import (
	"context"
	"sync/atomic"

	"github.com/gotd/td/session"
	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform"
)

// TryApplication asks Telegram whether it accepts an application, over a connection that ends with the call. The
// error is a [*platform.Error]: Login if it does not, Transient if there was no answer before ctx ended.
func (n *Network) TryApplication(ctx context.Context, id int, hash string) error {
	var refused atomic.Pointer[platform.Error]
	var trouble atomic.Value
	trouble.Store("Telegram does not answer")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts := n.options()
	opts.SessionStorage = new(session.StorageMemory)
	opts.OnDead = func(err error) {
		if e := sortError(err, false); e.Kind == platform.Login { // gotd would try for ever
			refused.Store(e)
			cancel()
		}
		trouble.Store(plainly(err))
	}
	client := telegram.NewClient(id, hash, opts)
	err := client.Run(ctx, func(ctx context.Context) error {
		// A code for a login is the least that asks for the hash, too.
		_, err := client.API().AuthExportLoginToken(ctx, &tg.AuthExportLoginTokenRequest{APIID: id, APIHash: hash})
		return err
	})
	if e := refused.Load(); e != nil {
		return e
	}
	if err == nil {
		return nil
	}
	if e := sortError(err, false); e.Code != "" {
		return e
	}
	return notConnected(trouble.Load().(string))
}
