// redsync's mutex, which is extended while it is held: see docs/known-bugs.md.
package main

import (
	"os"
	"strconv"
	"time"

	"github.com/go-redsync/redsync"
	"github.com/gomodule/redigo/redis"
)

func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func number(name string) int { found, _ := strconv.Atoi(env(name)); return found }
func ask(connection redis.Conn, word string, more ...interface{}) int {
	found, _ := redis.Int(connection.Do(word, append([]interface{}{"orders"}, more...)...))
	return found
}
func main() {
	dial := func() (redis.Conn, error) { return redis.DialURL(env("REDIS")) }
	sync := redsync.New([]redsync.Pool{&redis.Pool{MaxIdle: 2, Dial: dial}})
	storage, _ := redis.DialURL(env("STORAGE"))
	judge, _ := redis.DialURL(env("JUDGE"))
	ttl := time.Duration(number("TTL_MS")) * time.Millisecond
	for cycle := number("CYCLES"); cycle > 0; cycle-- {
		mutex := sync.NewMutex(env("LOCK"), redsync.SetExpiry(ttl), redsync.SetTries(1000))
		ask(judge, "ACQUIRING")
		if mutex.Lock() != nil { ask(judge, "REFUSED"); continue }
		left := time.Duration(ask(judge, "ACQUIRED")) * time.Millisecond
		value, isOurs := ask(storage, "GET"), true
		for ; isOurs && left > 0; left -= ttl / 4 {
			time.Sleep(ttl / 4)
			isOurs = mutex.Extend()
		}
		if isOurs { ask(storage, "SET", value+1) } else { ask(judge, "LOST") }
		ask(judge, "RELEASING")
		mutex.Unlock()
		ask(judge, "RELEASED")
	}
}
