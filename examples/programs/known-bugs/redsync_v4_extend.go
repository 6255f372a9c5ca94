// redsync's mutex of version 4, which is extended while it is held: see docs/known-bugs.md.
package main

import (
	"os"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	masters "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
)

func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func number(name string) int { found, _ := strconv.Atoi(env(name)); return found }
func ask(connection redis.Conn, word string, more ...interface{}) int {
	found, _ := redis.Int(connection.Do(word, append([]interface{}{"orders"}, more...)...))
	return found
}
func main() {
	pools, names := []masters.Pool{}, []string{"REDIS"}
	if env("MASTERS") != "" { names = []string{"REDIS_1", "REDIS_2", "REDIS_3"} }
	for _, name := range names {
		url := env(name)
		dial := func() (redis.Conn, error) { return redis.DialURL(url, redis.DialReadTimeout(time.Second)) }
		pools = append(pools, redigo.NewPool(&redis.Pool{MaxIdle: 2, Dial: dial}))
	}
	sync := redsync.New(pools...)
	storage, _ := redis.DialURL(env("STORAGE"))
	judge, _ := redis.DialURL(env("JUDGE"))
	ttl := time.Duration(number("TTL_MS")) * time.Millisecond
	for cycle := number("CYCLES"); cycle > 0; cycle-- {
		mutex := sync.NewMutex(env("LOCK"), redsync.WithExpiry(ttl), redsync.WithTries(1000))
		ask(judge, "ACQUIRING")
		if mutex.Lock() != nil { ask(judge, "REFUSED"); continue }
		left := time.Duration(ask(judge, "ACQUIRED")) * time.Millisecond
		value, isOurs := ask(storage, "GET"), true
		for ; isOurs && left > 0; left -= ttl / 4 {
			time.Sleep(ttl / 4)
			isOurs, _ = mutex.Extend()
		}
		if isOurs { ask(storage, "SET", value+1) } else { ask(judge, "LOST") }
		ask(judge, "RELEASING")
		mutex.Unlock()
		ask(judge, "RELEASED")
	}
}
