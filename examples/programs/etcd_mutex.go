// The mutex of etcd's Go client, as fencepost runs it: see docs/own-programs.md.
package main
import (
	"bufio"; "context"; "fmt"; "net"; "net/url"; "os"; "strconv"; "strings"; "time"
	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)
func env(name string) string { return os.Getenv("FENCEPOST_" + name) }
func number(name string) int { value, _ := strconv.Atoi(env(name)); return value }
type server struct { net.Conn; lines *bufio.Reader }
func connect(name string) server {
	place, _ := url.Parse(env(name))
	connection, err := net.Dial("tcp", place.Host)
	if err != nil { panic(err) }
	return server{connection, bufio.NewReader(connection)}
}
func (s server) ask(words ...string) int {
	fmt.Fprintf(s, "*%d\r\n", len(words))
	for _, word := range words { fmt.Fprintf(s, "$%d\r\n%s\r\n", len(word), word) }
	line, _ := s.lines.ReadString('\n')
	if strings.HasPrefix(line, "$") { line, _ = s.lines.ReadString('\n') }
	value, _ := strconv.Atoi(strings.Trim(line, ":\r\n")); return value
}
func main() {
	storage, judge := connect("STORAGE"), connect("JUDGE")
	for cycle := number("CYCLES"); cycle > 0; cycle-- {
		judge.ask("ACQUIRING", "orders")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		client, err := etcd.New(etcd.Config{Endpoints: strings.Split(env("ETCD"), ",")})
		if err != nil { panic(err) }
		session, err := concurrency.NewSession(client, concurrency.WithTTL(number("TTL_MS")/1000), concurrency.WithContext(ctx))
		if err != nil { judge.ask("REFUSED", "orders"); cancel(); client.Close(); continue }
		mutex := concurrency.NewMutex(session, env("LOCK"))
		if err := mutex.Lock(ctx); err != nil {
			judge.ask("UNKNOWN", "orders")
		} else {
			token, done := []string{}, (<-chan struct{})(nil)
			switch strings.Join(os.Args[1:], "") {
			case "done": done = session.Done()
			case "fencing":
				key, err := client.Get(ctx, mutex.Key())
				if err == nil && len(key.Kvs) > 0 { token = append(token, fmt.Sprint(key.Kvs[0].CreateRevision)) }
			}
			hold_ms, value := judge.ask(append([]string{"ACQUIRED", "orders"}, token...)...), storage.ask("GET", "orders")
			select {
			case <-done:
			case <-time.After(time.Duration(hold_ms) * time.Millisecond):
				storage.ask(append([]string{"SET", "orders", strconv.Itoa(value+1)}, token...)...)
			}
			judge.ask("RELEASING", "orders")
			if mutex.Unlock(ctx) != nil { judge.ask("UNKNOWN", "orders") }
			judge.ask("RELEASED", "orders")
		}
		session.Close(); client.Close(); cancel()
	}
}
