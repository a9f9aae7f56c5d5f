package web

import (
	"time"

	"belfry/store"
)

// approvals adds what the newsroom's editor has still to read.
func (h *harness) approvals() {
	h.holdPost("Who sits on the new parks board, and what each of them wants to plant", 4*time.Hour, store.Lateness{})
	h.holdPost("Roadworks on the ring road: the detours for tonight", -35*time.Minute, store.Lateness{})
	h.holdPost("Traffic at six: where it is slow right now", -time.Hour, store.Lateness{Policy: store.LateSkip, Grace: 15 * time.Minute})
	h.holdPost("Letters of the week: dogs on trams, again", 30*time.Hour, store.Lateness{})
}
