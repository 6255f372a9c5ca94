// Package redisclock runs a fake Redis whose clock stands still until a test moves it.
package redisclock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Clock is a served Redis and the admin connection that controls it.
type Clock struct {
	// Addr is the address of the master.
	Addr string
	// Servers has the addresses of all servers, the master first.
	Servers []string

	t     testing.TB
	admin *redis.Client
}

// Start runs `fencepost serve --clock manual` on free ports until the test ends. The program is
// $FENCEPOST or, if it is not set, fencepost. The options are those of the command, such as
// "--replicas=2".
func Start(t testing.TB, options ...string) *Clock {
	t.Helper()
	clock, stop, err := serve(options)
	if err != nil {
		t.Fatal(err)
	}
	clock.t = t
	t.Cleanup(stop)
	return clock
}

func serve(options []string) (*Clock, func(), error) {
	program := os.Getenv("FENCEPOST")
	if program == "" {
		program = "fencepost"
	}
	words := []string{"serve", "--clock", "manual", "--port", "0", "--end-with-stdin"}
	words = append(words, options...)
	server := exec.Command(program, words...)
	var complaint bytes.Buffer
	server.Stderr = &complaint
	// The server ends with this pipe, and therefore also with a process that panics or is killed.
	stdin, err := server.StdinPipe()
	var stdout io.Reader
	if err == nil {
		stdout, err = server.StdoutPipe()
	}
	if err == nil {
		err = server.Start()
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf(
			"fencepost '%s': program not found: expected fencepost on PATH, or its path in $FENCEPOST",
			program,
		)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("fencepost serve: %w", err)
	}
	ready, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = server.Wait()
		return nil, nil, fmt.Errorf("fencepost serve: %s", strings.TrimSpace(complaint.String()))
	}
	var addresses []string
	for _, word := range strings.Fields(ready)[1:] {
		_, address, _ := strings.Cut(word, "=")
		addresses = append(addresses, address)
	}
	last := len(addresses) - 1
	admin := redis.NewClient(&redis.Options{
		Addr: addresses[last], Protocol: 2, DisableIndentity: true, MaxRetries: -1,
	})
	stop := func() {
		_ = admin.Close()
		_ = stdin.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	return &Clock{Addr: addresses[0], Servers: addresses[:last], admin: admin}, stop, nil
}

// Command sends one admin command, such as Command("CRASH"), and returns its reply. The test fails
// if the command is wrong.
func (c *Clock) Command(words ...any) any {
	c.t.Helper()
	reply, err := c.admin.Do(context.Background(), words...).Result()
	if err != nil {
		c.t.Fatalf("%v: %v", words, err)
	}
	return reply
}

// Advance moves all clocks by a span such as "10s". Keys have expired when it returns.
func (c *Clock) Advance(span string) {
	c.t.Helper()
	c.Command("CLOCK", "ADVANCE", span)
}

// Enter reports that a client enters the critical section of a lock.
func (c *Clock) Enter(lock, client string) {
	c.t.Helper()
	c.Command("ENTER", lock, client)
}

// Leave reports that a client leaves the critical section of a lock.
func (c *Clock) Leave(lock, client string) {
	c.t.Helper()
	c.Command("LEAVE", lock, client)
}

// Judge returns a line for each time that two clients were in a critical section at the same time.
func (c *Clock) Judge() []string {
	c.t.Helper()
	return c.lines("JUDGE")
}

// History returns a line for each change of a key, each fault except LAG, and each Enter and Leave.
func (c *Clock) History() []string {
	c.t.Helper()
	return c.lines("HISTORY")
}

// Reset restores the initial state: empty servers, the first clock, no history, closed connections.
func (c *Clock) Reset() {
	c.t.Helper()
	c.Command("RESET")
}

func (c *Clock) lines(command string) []string {
	c.t.Helper()
	var lines []string
	for _, line := range c.Command(command).([]any) {
		lines = append(lines, fmt.Sprint(line))
	}
	return lines
}
