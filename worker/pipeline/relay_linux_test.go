package pipeline

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
)

var long = flag.Bool("long", false, "run the long forms of the tests; they need redis-server")

// TestMain runs the tests, or the program that they kill: one that appends events and hands them on.
func TestMain(m *testing.M) {
	if path := os.Getenv("BELFRY_TEST_RELAY"); path != "" {
		if err := relayChild(path, os.Getenv("BELFRY_TEST_REDIS")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = flag.Set("rapid.checks", "20") // unless the command line says otherwise
	flag.Parse()
	os.Exit(m.Run())
}

// relayChild appends an event each 2 ms until it is killed; or, once its input has ended, waits until all are handed on.
func relayChild(path, address string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	w, err := New(db, Config{Relay: address, Most: 1_000_000})
	if err != nil {
		return err
	}
	module := w.Module()
	if err := module.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := scheduler.New(db, scheduler.Config{Kinds: module.Kinds, Log: zerolog.Nop()})
	go func() { _ = s.Run(ctx) }()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	next := time.NewTicker(2 * time.Millisecond)
	for {
		select {
		case <-ended:
			return drained(db, w)
		case <-next.C:
		}
		if err := db.Update(func(tx *store.Tx) error {
			number := int(tx.Streams.Head(store.TopicParsed)) + 1
			m := store.Message{ChannelID: 1, MessageID: number, Date: tx.Now(), Text: fmt.Sprint("Новость ", number)}
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
			return tx.Streams.Append(store.TopicParsed, store.EventNew, m.ID)
		}); err != nil {
			return err
		}
		fmt.Println(".")
	}
}

// drained returns when the relay has nothing left.
func drained(db *store.DB, w *Worker) error {
	changed, cancel := db.Watch("stream_groups")
	defer cancel()
	for {
		left := uint64(0)
		if err := db.View(func(tx *store.Tx) error {
			left = 0
			for _, s := range w.Statuses(tx) {
				if strings.HasPrefix(s.Stage, "relay:") {
					left += s.Lag
				}
			}
			return nil
		}); err != nil || left == 0 {
			return errors.Join(err, db.Close())
		}
		<-changed
	}
}

// redisServer is a real Redis that syncs each write.
type redisServer struct {
	t    *testing.T
	dir  string
	port string
	cmd  *exec.Cmd
}

func (r *redisServer) start() {
	r.t.Helper()
	r.cmd = exec.Command("redis-server", "--port", r.port, "--bind", "127.0.0.1", "--dir", r.dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "")
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + r.port, MaxRetries: 100})
	defer client.Close()
	if err := client.Ping(r.t.Context()).Err(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *redisServer) kill() {
	_ = r.cmd.Process.Signal(syscall.SIGKILL)
	_ = r.cmd.Wait()
}

// Killed again and again, as its Redis is, Belfry hands on each event at least once; without repetitions they are in order.
func TestKilledAtAnyMomentTheRelayLosesNothing(t *testing.T) {
	if !*long {
		t.Skip("needs redis-server; run with -long")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	server := &redisServer{t: t, dir: t.TempDir(), port: port}
	server.start()
	defer func() { server.kill() }()
	path := filepath.Join(t.TempDir(), "belfry.db")
	const kills, killsOfRedis = 20, 5
	for i := range kills {
		child := relayProcess(t, path, port)
		if i%(kills/killsOfRedis) == 1 {
			child.write(50)
			server.kill()
			child.write(50)
			server.start()
		}
		child.write(rand.IntN(200))
		_ = child.cmd.Process.Signal(syscall.SIGKILL)
		_ = child.cmd.Wait()
	}
	last := relayProcess(t, path, port)
	last.write(1)
	last.in.Close()
	if err := last.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	check(t, path, port)
}

// relayed is a process that appends events.
type relayed struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func relayProcess(t *testing.T, path, port string) *relayed {
	cmd := exec.Command(os.Args[0], "-test.run=none")
	cmd.Env = append(os.Environ(), "BELFRY_TEST_RELAY="+path, "BELFRY_TEST_REDIS=redis://127.0.0.1:"+port+"/0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &relayed{t, cmd, in, bufio.NewReader(out)}
}

// write returns when the process has appended so many events.
func (r *relayed) write(n int) {
	r.t.Helper()
	for range n {
		if line, err := r.out.ReadString('\n'); err != nil || line != ".\n" {
			r.t.Fatalf("the process has ended: %q, %v", line, err)
		}
	}
}

// check compares the stream in Redis with the events of the file.
func check(t *testing.T, path, port string) {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var head uint64
	if err := db.View(func(tx *store.Tx) error {
		head = tx.Streams.Head(store.TopicParsed)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	entries, err := client.XRange(t.Context(), "stream:posts:parsed", "-", "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	seen, repeated, last := map[any]bool{}, 0, 0
	for _, entry := range entries {
		id := entry.Values["id"]
		if seen[id] {
			repeated++
			continue
		}
		seen[id] = true
		var number int
		if _, err := fmt.Sscan(entry.Values["message_id"].(string), &number); err != nil {
			t.Fatal(err)
		}
		if number != last+1 {
			t.Fatalf("message %d follows %d", number, last)
		}
		last = number
	}
	if uint64(last) != head || head == 0 {
		t.Errorf("%d of %d events were handed on", last, head)
	}
	t.Logf("%d events, %d repeated", head, repeated)
}
