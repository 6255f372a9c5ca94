// bsm/redislock on go-redis, as fencepost runs it: see docs/own-programs.md.
package main
import (
	"context"; "errors"; "os"; "strconv"; "strings"; "time"
	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)
var ctx = context.Background()
func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func number(name string) int { value, _ := strconv.Atoi(env(name)); return value }
func connect(name string) *redis.Client {
	options, err := redis.ParseURL(env(name))
	if err != nil { panic(err) }
	options.Protocol, options.DisableIdentity = 2, true
	if name == "REDIS" && env("SENTINELS") != "" {
		return redis.NewFailoverClient(&redis.FailoverOptions{
			SentinelAddrs: strings.Split(env("SENTINELS"), ","), MasterName: env("MASTER_NAME"),
			Protocol: 2, DisableIdentity: true,
		})
	}
	return redis.NewClient(options)
}
func ask(client *redis.Client, words ...interface{}) int {
	answer, _ := client.Do(ctx, words...).Int(); return answer
}
func main() {
	storage, judge, locks := connect("STORAGE"), connect("JUDGE"), redislock.New(connect("REDIS"))
	lease := time.Duration(number("TTL_MS")) * time.Millisecond
	retry := redislock.LimitRetry(redislock.LinearBackoff(200*time.Millisecond), 300)
	for cycle := number("CYCLES"); cycle > 0; cycle-- {
		ask(judge, "ACQUIRING", "orders")
		lock, err := locks.Obtain(ctx, env("LOCK"), lease, &redislock.Options{RetryStrategy: retry})
		if errors.Is(err, redislock.ErrNotObtained) { ask(judge, "REFUSED", "orders"); continue }
		if err != nil { ask(judge, "UNKNOWN", "orders", err.Error()); continue }
		hold_ms, value := ask(judge, "ACQUIRED", "orders"), ask(storage, "GET", "orders")
		time.Sleep(time.Duration(hold_ms) * time.Millisecond)
		ask(storage, "SET", "orders", value+1)
		ask(judge, "RELEASING", "orders")
		if err := lock.Release(ctx); errors.Is(err, redislock.ErrLockNotHeld) {
			ask(judge, "LOST", "orders")
		} else if err != nil { ask(judge, "UNKNOWN", "orders") }
		ask(judge, "RELEASED", "orders")
	}
}
