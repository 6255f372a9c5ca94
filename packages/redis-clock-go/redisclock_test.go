package redisclock

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const deleteItsOwn = `if redis.call("get", KEYS[1]) == ARGV[1] then
return redis.call("del", KEYS[1]) end return 0`

type locks struct {
	clock  *Clock
	client *redis.Client
}

func start(t *testing.T) locks {
	clock := Start(t)
	client := redis.NewClient(&redis.Options{Addr: clock.Addr, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return locks{clock, client}
}

func (l locks) acquire(t *testing.T, owner string) bool {
	granted, err := l.client.SetNX(context.Background(), "orders", owner, 10*time.Second).Result()
	if err != nil {
		t.Fatal(err)
	}
	if granted {
		l.clock.Enter("orders", owner)
	}
	return granted
}

// lateRelease releases the lock after its lease has expired and another client holds it.
func (l locks) lateRelease(t *testing.T, release func(owner string) error) []string {
	if !l.acquire(t, "a") {
		t.Fatal("a free lock is refused")
	}
	l.clock.Advance("10001ms")
	l.clock.Leave("orders", "a")
	if !l.acquire(t, "b") {
		t.Fatal("the lease of a has not expired")
	}
	if err := release("a"); err != nil {
		t.Fatal(err)
	}
	l.acquire(t, "c")
	return l.clock.Judge()
}

func TestALateReleaseThatDeletesLetsTwoClientsIn(t *testing.T) {
	l := start(t)
	lines := l.lateRelease(t, func(string) error {
		return l.client.Del(context.Background(), "orders").Err()
	})
	if !strings.Contains(strings.Join(lines, "\n"), "c entered") {
		t.Fatalf("no overlap: %v", lines)
	}
}

func TestALateReleaseThatComparesDoesNot(t *testing.T) {
	l := start(t)
	lines := l.lateRelease(t, func(owner string) error {
		return l.client.Eval(context.Background(), deleteItsOwn, []string{"orders"}, owner).Err()
	})
	if len(lines) > 0 {
		t.Fatalf("overlap: %v", lines)
	}
}

func TestTenLeasesExpireAtOnce(t *testing.T) {
	l := start(t)
	for range 10 {
		if !l.acquire(t, "a") || l.acquire(t, "b") {
			t.Fatal("one client holds the lock")
		}
		l.clock.Leave("orders", "a")
		l.clock.Advance("10001ms")
	}
	if len(l.clock.History()) == 0 {
		t.Fatal("an empty history")
	}
	l.clock.Reset()
}

func TestALostReplyIsAnErrorAndTheWriteHasHappened(t *testing.T) {
	l := start(t)
	l.clock.Command("DROP-REPLY", "OF", "SET")
	ctx := context.Background()
	if err := l.client.SetNX(ctx, "orders", "a", 10*time.Second).Err(); err == nil {
		t.Fatal("a reply")
	}
	if owner := l.client.Get(ctx, "orders").Val(); owner != "a" {
		t.Fatalf("owner %q", owner)
	}
}

func TestErrorsHaveOneLine(t *testing.T) {
	if _, _, err := serve([]string{"--persistence=paper"}); err == nil ||
		!strings.Contains(err.Error(), "paper") || strings.Contains(err.Error(), "\n") {
		t.Fatal(err)
	}
	t.Setenv("FENCEPOST", "/nowhere")
	if _, _, err := serve(nil); err == nil ||
		!strings.Contains(err.Error(), "fencepost '/nowhere': program not found") {
		t.Fatal(err)
	}
}
