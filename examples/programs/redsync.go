// redsync over independent masters, as fencepost runs it: see docs/own-programs.md.
package main
import (
	"errors"; "os"; "strconv"; "time"
	"github.com/go-redsync/redsync/v4"
	masters "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
)
func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func number(name string) int { value, _ := strconv.Atoi(env(name)); return value }
func pool(name string) *redis.Pool {
	dial := func() (redis.Conn, error) { return redis.DialURL(env(name)) }
	return &redis.Pool{MaxIdle: 1, Dial: dial}
}
func ask(pool *redis.Pool, command string, words ...interface{}) int {
	connection := pool.Get()
	defer connection.Close()
	answer, _ := redis.Int(connection.Do(command, words...)); return answer
}
func main() {
	storage, judge, pools := pool("STORAGE"), pool("JUDGE"), []masters.Pool{}
	for master := 1; master <= number("MASTERS"); master++ {
		pools = append(pools, redigo.NewPool(pool("REDIS_" + strconv.Itoa(master))))
	}
	tries := 100
	if text := os.Getenv("TRIES"); text != "" { tries, _ = strconv.Atoi(text) }
	lease := redsync.WithExpiry(time.Duration(number("TTL_MS")) * time.Millisecond)
	for cycle := number("CYCLES"); cycle > 0; cycle-- {
		mutex := redsync.New(pools...).NewMutex(env("LOCK"), lease, redsync.WithTries(tries))
		ask(judge, "ACQUIRING", "orders")
		if err := mutex.Lock(); err != nil { ask(judge, "REFUSED", "orders", err.Error()); continue }
		hold_ms, value := ask(judge, "ACQUIRED", "orders"), ask(storage, "GET", "orders")
		time.Sleep(time.Duration(hold_ms) * time.Millisecond)
		ask(storage, "SET", "orders", value+1)
		ask(judge, "RELEASING", "orders")
		if held, err := mutex.Unlock(); errors.Is(err, redsync.ErrLockAlreadyExpired) {
			ask(judge, "LOST", "orders")
		} else if !held { ask(judge, "UNKNOWN", "orders") }
		ask(judge, "RELEASED", "orders")
	}
}
