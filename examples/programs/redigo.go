// redigo, as fencepost runs it (GO111MODULE=off GOPATH=/usr/share/gocode go build redigo.go): see docs/own-programs.md.
package main
import (
	"fmt"
	"os"
	"strconv"
	"time"
	"github.com/gomodule/redigo/redis"
)

var unlock = redis.NewScript(1, `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)

func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func dial(name string) redis.Conn {
	connection, _ := redis.DialURL(env(name))
	return connection
}
func main() {
	server, storage, judge := dial("REDIS"), dial("STORAGE"), dial("JUDGE")
	cycles, _ := strconv.Atoi(env("CYCLES"))
	for cycle := 0; cycle < cycles; cycle++ {
		owner := fmt.Sprintf("%s-%d-%d", env("PROCESS"), os.Getpid(), cycle)
		judge.Do("ACQUIRING", "orders")
		for reply, err := "", error(nil); reply != "OK"; time.Sleep(100 * time.Millisecond) {
			if reply, err = redis.String(server.Do("SET", env("LOCK"), owner, "NX", "PX", env("TTL_MS"))); err != nil && err != redis.ErrNil {
				panic(err)
			}
		}
		hold, _ := redis.Int(judge.Do("ACQUIRED", "orders"))
		value, _ := redis.Int(storage.Do("GET", "orders"))
		time.Sleep(time.Duration(hold) * time.Millisecond)
		storage.Do("SET", "orders", value+1)
		judge.Do("RELEASING", "orders")
		if removed, _ := redis.Int(unlock.Do(server, env("LOCK"), owner)); removed != 1 {
			judge.Do("LOST", "orders")
		}
		judge.Do("RELEASED", "orders")
	}
}
