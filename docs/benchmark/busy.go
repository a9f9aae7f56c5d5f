package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// busy measures, while other work keeps all processors busy and updates come in bursts, how late runs
// begin, and how long one update takes that comes alone after a burst.
func (b bench) busy(ctx context.Context) ([]figure, error) {
	const perSecond, seconds = 20, 20
	db, s, late, begin, err := b.load(ctx, perSecond, seconds, 1)
	if err != nil {
		return nil, err
	}
	<-time.After(time.Until(begin))
	rest := keepBusy(ctx, 2*runtime.GOMAXPROCS(0))
	var worst time.Duration
	for round := 0; err == nil && time.Since(begin) < seconds*time.Second; round++ {
		err = putAtOnce(db, fmt.Sprint("burst_", round), 64, 5)
		alone := time.Now()
		err = errors.Join(err, putAtOnce(db, fmt.Sprint("alone_", round), 1, 1))
		worst = max(worst, time.Since(alone))
		<-time.After(time.Second / 2) // what the burst has left behind meets runs that come singly
	}
	<-late.done
	rest()
	return []figure{
		{"busy processors, worst lateness", late.percentile(1), "ms"},
		{"busy processors, worst lone update", worst.Seconds() * 1000, "ms"},
	}, errors.Join(err, s.stop(), db.Close())
}

// keepBusy has n goroutines hash until rest is called.
func keepBusy(ctx context.Context, n int) (rest func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for block := make([]byte, 4096); ctx.Err() == nil; {
				sum := sha256.Sum256(block)
				copy(block, sum[:])
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
