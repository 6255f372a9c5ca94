// Checks runs of fencepost with Porcupine, an independent linearizability checker:
//
//	fencepost --seed 7 --fault failover --format porcupine | go run .
//
// Reads any number of reports in the `porcupine` format, one after another. For each run it prints
// whether the lock behaved like a mutex and the guarded value like a register, next to fencepost's
// verdict. Exit status: 0 if Porcupine and fencepost agree on every run, 1 if they do not, 2 for
// invalid input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// The operation that a process called.
type input struct {
	F       string `json:"f"`
	Process string `json:"process"`
	Value   *int64 `json:"value"`
	BasedOn *int64 `json:"based_on"`
}

// The result of an operation. Outcome is "ok", "fail" or "unknown".
type output struct {
	Outcome string `json:"outcome"`
	Value   *int64 `json:"value"`
}

type operation struct {
	ClientId     int
	Input        input
	Call, Return int64
	Output       output
}

type run struct {
	Client, Fault, Workload, Verdict string
	Kinds                            []string
	Operations                       []operation
}

type report struct {
	Seed string
	Runs []run
}

// The holder and its number of nested acquires.
type held struct {
	by    string
	times int
}

// A lock that admits one process at a time. An acquire that was refused or had no answer admits no
// process. A release frees the lock whatever its answer was, because the process has left its
// critical section.
var mutex = porcupine.Model{
	Init: func() interface{} { return held{} },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		now, asked := state.(held), in.(input)
		switch {
		case asked.F == "acquire" && out.(output).Outcome == "ok":
			return now.times == 0 || now.by == asked.Process, held{asked.Process, now.times + 1}
		case asked.F == "acquire" || now.by != asked.Process || now.times == 0:
			return true, now
		case now.times == 1:
			return true, held{}
		}
		return true, held{now.by, now.times - 1}
	},
}

// A value that a process reads, and overwrites only if the value has not changed since. A refused
// write changes nothing; a write without an answer may have happened or not.
var register = porcupine.NondeterministicModel{
	Init: func() []interface{} { return []interface{}{int64(0)} },
	Step: func(state, in, out interface{}) []interface{} {
		now, asked, answer := state.(int64), in.(input), out.(output)
		known := answer.Outcome == "ok"
		switch {
		case answer.Outcome == "fail":
			return []interface{}{now}
		case asked.F == "read" && known && *answer.Value != now:
			return nil
		case asked.F == "read":
			return []interface{}{now}
		case known && *asked.BasedOn != now:
			return nil
		case known:
			return []interface{}{*asked.Value}
		}
		return []interface{}{now, *asked.Value}
	},
}

// Returns the operations of a run with these names. Omits the probe, which releases the lock at the
// instant at which it acquires it, so it is never in a critical section.
func of(one run, names ...string) []porcupine.Operation {
	var all []porcupine.Operation
	for _, each := range one.Operations {
		for _, name := range names {
			if each.Input.F == name && each.Input.Process != "probe" {
				all = append(all, porcupine.Operation{ClientId: each.ClientId, Input: each.Input,
					Call: each.Call, Output: each.Output, Return: each.Return})
			}
		}
	}
	return all
}

// Prints the results of Porcupine and fencepost, and returns whether they agree. With sawMore,
// fencepost may find a violation that Porcupine does not: Porcupine may assume that a write without
// an answer happened at a moment at which it does no harm.
func beside(name string, model porcupine.Model, history []porcupine.Operation, found, sawMore bool) bool {
	result := porcupine.CheckOperationsTimeout(model, history, time.Minute)
	says := map[bool]string{true: "violated", false: "holds"}
	fmt.Printf("  %-8s  porcupine: %-8s  fencepost: %s\n", name,
		map[porcupine.CheckResult]string{porcupine.Ok: "holds", porcupine.Illegal: "violated",
			porcupine.Unknown: "unknown"}[result], says[found])
	return result == porcupine.Unknown || (result == porcupine.Illegal) == found ||
		result == porcupine.Ok && sawMore
}

func main() {
	agree, decoder := true, json.NewDecoder(os.Stdin)
	for {
		var all report
		err := decoder.Decode(&all)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "error: not what `--format porcupine` writes:", err)
			os.Exit(2)
		}
		for _, one := range all.Runs {
			fmt.Printf("seed %s  %s  %s\n", all.Seed, one.Client, one.Fault)
			found := map[string]bool{}
			for _, kind := range one.Kinds {
				found[kind] = true
			}
			locks := of(one, "acquire", "release", "leave")
			agree = beside("mutex", mutex, locks, found["overlap"], false) && agree
			if one.Workload == "register" {
				values := of(one, "read", "write")
				unheard := false
				for _, value := range values {
					unheard = unheard || value.Output.(output).Outcome == "unknown"
				}
				lost := found["lost-update"]
				agree = beside("register", register.ToModel(), values, lost, unheard) && agree
			}
		}
	}
	if !agree {
		fmt.Fprintln(os.Stderr, "Porcupine and fencepost do not agree on every run.")
		os.Exit(1)
	}
}
