// Judges runs of fencepost by Porcupine, a linearizability checker that knows nothing of fencepost:
//
//	fencepost --seed 7 --fault failover --format porcupine | go run .
//
// Reads what `--format porcupine` wrote, any number of reports one after another. For each run it
// says whether the lock behaved like a mutex and the guarded value like a register, beside what
// fencepost found. Exit status: 0 if both agree everywhere, 1 if they do not, 2 for anything that
// cannot be read.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// What a process asked for.
type input struct {
	F       string `json:"f"`
	Process string `json:"process"`
	Value   *int64 `json:"value"`
	BasedOn *int64 `json:"based_on"`
}

// How that ended: "ok", "fail" or "unknown".
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

// Who holds the lock, and how often: a reentrant lock lets its holder in again.
type held struct {
	by    string
	times int
}

// A lock that one process at a time is let in by. An acquire that was refused, or of which its
// process never heard, lets nobody in. A release lets go whatever its answer was: the process has
// left its section.
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

// A value that is read, and written only over the value that was read. A write that was refused
// changes nothing, and one of which nobody heard may have happened or not.
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

// The operations of a run that one of the models is about. The probe, which looks whether the lock
// can be had at all, gives it back at the instant at which it gets it: it is never in a section.
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

// What Porcupine says, beside whether fencepost found something; and whether they agree. Where
// fencepost saw more than the processes did, it may find what Porcupine can explain away: a write
// of which nobody heard may have happened at a moment at which it does no harm.
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
