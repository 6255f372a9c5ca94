// redigo, as fencepost runs it (GO111MODULE=off GOPATH=/usr/share/gocode go build redigo.go): see docs/own-programs.md.
package main
import (
	"errors"; "fmt"; "os"; "strconv"; "strings"; "time"
	"github.com/gomodule/redigo/redis"
)
const UNLOCK = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func pool(name string) *redis.Pool {
	return &redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) { return redis.DialURL(env(name)) }}
}
// primary follows the Sentinels, if there are any.
func primary() *redis.Pool {
	found := pool("REDIS")
	if env("SENTINELS") == "" {
		return found
	}
	found.Dial = func() (connection redis.Conn, err error) {
		for _, address := range strings.Split(env("SENTINELS"), ",") {
			if connection, err = redis.Dial("tcp", address); err != nil {
				continue
			}
			place, _ := redis.Strings(connection.Do("SENTINEL", "get-master-addr-by-name", env("MASTER_NAME")))
			connection.Close()
			if len(place) == 2 {
				return redis.Dial("tcp", place[0]+":"+place[1])
			}
		}
		return nil, err
	}
	found.TestOnBorrow = func(connection redis.Conn, _ time.Time) error {
		role, err := redis.Values(connection.Do("ROLE"))
		if err == nil && string(role[0].([]byte)) != "master" {
			return errors.New("no longer the primary")
		}
		return err
	}
	return found
}
func ask(pool *redis.Pool, command string, words ...interface{}) (interface{}, error) {
	connection := pool.Get()
	defer connection.Close()
	return connection.Do(command, words...)
}
func main() {
	server, storage, judge := primary(), pool("STORAGE"), pool("JUDGE")
	cycles, _ := strconv.Atoi(env("CYCLES"))
	for cycle := 0; cycle < cycles; cycle++ {
		owner := fmt.Sprintf("%s-%d-%d", env("PROCESS"), os.Getpid(), cycle)
		ask(judge, "ACQUIRING", "orders")
		for reply := ""; reply != "OK"; time.Sleep(100 * time.Millisecond) {
			reply, _ = redis.String(ask(server, "SET", env("LOCK"), owner, "NX", "PX", env("TTL_MS")))
		}
		hold_ms, _ := redis.Int(ask(judge, "ACQUIRED", "orders"))
		value, _ := redis.Int(ask(storage, "GET", "orders"))
		time.Sleep(time.Duration(hold_ms) * time.Millisecond)
		ask(storage, "SET", "orders", value+1)
		ask(judge, "RELEASING", "orders")
		if removed, err := redis.Int(ask(server, "EVAL", UNLOCK, 1, env("LOCK"), owner)); err != nil {
			ask(judge, "UNKNOWN", "orders")
		} else if removed != 1 {
			ask(judge, "LOST", "orders")
		}
		ask(judge, "RELEASED", "orders")
	}
}
