"""Compares the models of lock libraries with the libraries: both take the lock under the same
plans. ci/own-programs.sh installs the libraries.

    models.py FENCEPOST FOLDER [SEEDS [NAME...]]

Each pair runs SEEDS plans (3) of each family of faults. Prints a table with a row for each pair: how
many of the library's operations the model executes with the same commands, and how many runs of
each were violated or unknown. Operations are compared in the first runs (at most 3) without faults
and under lost replies. A worker with Sentinels runs as many plans of the two families in which its
model always has Sentinels. An operation is everything that a process sends to the lock's
servers between two reports to the judge. Repeated rounds count once. Not counted: greetings,
settings of a connection, and commands for whose reply a library does not wait. What only one side
sends is printed on stderr.

The exit status is 1 if the library did nothing, or if the counts of violated runs differ at the
level of 1 % in a family (possible from five seeds on) or in all families together (Fisher's exact
test). With 19 tests for each pair, a single difference may be chance: repeat it with other seeds.
"""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter

from workers import WORKERS

FENCEPOST, FOLDER = sys.argv[1:3]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
TRACED = ["none", "lost-reply"]
TRACES = range(min(SEEDS, 3))
# By default, fencepost delays the messages of a program for longer than those of a model.
SETTINGS = ["--cycles", "4", "--engine", "fast", "--strategy", "uniform"]
SETTINGS += ["--set", "fault-window=1s..20s", "--set", "extra-latency=1ms..2s"]
# The workers do not acquire a lock that they hold.
SETTINGS += ["--set", "nesting=never"]
# The model of each worker.
MODELS = {
    "redlock-py-1": "redlock-py",
    "node-redlock-5": "node-redlock",
    "redsync-go": "redsync",
    "kazoo": "kazoo-lock",
    "curator-mutex": "curator-mutex",
    "curator-semaphore": "zookeeper-semaphore",
    "curator-suspended": "curator-suspended",
    "curator-fencing": "curator-fencing",
    "spring-jdbc-4": "jdbc-4",
    "spring-jdbc-5": "jdbc-5",
    "spring-jdbc-7": "jdbc-7",
    "spring-redis": "spring-registry",
    "shedlock": "shedlock-db-time",
    "shedlock-client-time": "shedlock-jdbc",
    "jedis-getset": "jedis-getset",
    "redisson-4": "redisson",
    "redisson-4-lease": "redisson-lease",
    "redisson-4-sentinel": "redisson-wait",
    "redisson-4-fair": "redisson-fair",
    "redisson-4-red": "redisson-redlock",
    "etcd-go": "etcd-mutex",
    "etcd-go-done": "etcd-mutex-done",
    "etcd-go-fencing": "etcd-mutex-fencing",
}
# Settings of both sides. Redisson sends WAIT only to Redis 7.2 and later.
VERSIONS = {"redisson-4-sentinel": ["--set", "redis-version=7.2"]}
# The workers retry for longer than these libraries by default, but the models do not.
AS_SHIPPED = {
    "redlock-py-1": ["--env", "TRIES=3"],
    "node-redlock-5": ["--env", "TRIES=10"],
    "redsync-go": ["--env", "TRIES=32"],
}
IGNORED = {"HELLO", "CLIENT", "SELECT", "INFO", "AUTH", "PING", "CONNECT", "END", "SCRIPT"}
IGNORED |= {"ROLE", "RESET", "COMMAND", "Ping", "CloseSession", "SESSION", "STARTUP", "TERMINATE"}
# The libraries do not wait for the replies to these commands, which therefore also arrive between
# operations.
BACKGROUND = "DEL redisson_unlock_latch|UNSUBSCRIBE|CheckWatches"
# Create2 and GetChildren2 also return the state of the node.
SAME = {"EVALSHA": "EVAL", "Create2": "Create", "GetChildren2": "GetChildren"}
# The JDBC driver configures each connection by SET, and reads and sets the isolation level around
# each transaction. Curator reads the members of the ensemble. Redisson asks whether the server
# knows WAIT.
SETTING = "(?i)set [a-z_]+ ?(=|to) |set session characteristics|show transaction isolation"
SETTING += "|getdata /zookeeper/config|WAIT(AOF)? 0 0"
# The texts with which a process's operation ends in a trace.
ENDED = "is granted|succeeds|fails|is refused|does not know"
WORDS = {"NX", "XX", "PX", "EX", "GET"}


def fencepost(*arguments):
    said = subprocess.run([FENCEPOST, *arguments], capture_output=True, text=True)
    if said.returncode == 2:
        sys.exit(said.stderr.strip())
    return json.loads(said.stdout)


# A name can be followed by an alias.
LISTED = fencepost("list", "faults", "--format", "json")
FAMILIES = [family["name"].split(",")[0] for family in LISTED]
# In the other families, a model may have no Sentinels.
WITH_SENTINELS = ["failover", "replication-lag"]


def verdicts(side, families, seeds):
    """Returns the numbers of violated and of unknown runs under each family."""
    plans = ["--seeds", f"0..{seeds}", "--fault", ",".join(families), "--no-shrink", *SETTINGS]
    cells = fencepost("sweep", *plans, *side, "--format", "json")["cells"]
    return [{cell["fault"]: cell[verdict] for cell in cells} for verdict in ("violated", "unknown")]


def trace(side, fault, seed):
    plan = ["--seed", str(seed), "--fault", fault, "--no-shrink", *SETTINGS]
    return fencepost(*plan, *side, "--format", "perfetto")


def command(text):
    """Returns what a command does, without names and values."""
    words = text.split()
    if not words:
        return ""
    verb = words[0].upper() if words[0].islower() else words[0]
    verb = SAME.get(verb, verb)
    return " ".join([verb] + [word for word in words[1:] if word.upper() in WORDS])


def collapsed(sent):
    """Returns the commands without repeated rounds: a, b, a for a, b, a, b, a."""
    for length in range(1, 5):
        at = 0
        while at + 2 * length <= len(sent):
            if sent[at : at + length] == sent[at + length : at + 2 * length]:
                del sent[at : at + length]
            else:
                at += 1
    return sent


def order(event):
    """Sorts a step of a process before the messages that it sends at the same instant."""
    return event["ts"], event["ph"] == "s"


class Operations:
    """Counts operations by the commands that they sent."""

    def __init__(self, trace):
        events = trace["traceEvents"]
        self.threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.arrived = {e["id"]: self.threads[e["tid"]] for e in events if e["ph"] == "f"}
        self.found, self.background, self.open = Counter(), Counter(), {}
        for event in sorted((e for e in events if e["ph"] in "si"), key=order):
            process = self.threads.get(event["tid"], "").removesuffix(" messages")
            if process.startswith("client-"):
                (self.send if event["ph"] == "s" else self.step)(process, event)

    def send(self, process, event):
        if not re.match(r"(redis|server)-", self.arrived.get(event["id"], "")):
            return
        for part in event["name"].split(" | "):
            word = command(part)
            if re.match(BACKGROUND, part):
                self.background[f"in the background: {word}"] += 1
            elif word.split(" ")[0] in IGNORED or re.match(SETTING, part):
                continue
            elif process in self.open:
                self.open[process][1].append(word)

    def step(self, process, event):
        text = event["name"]
        if text.startswith("wants the lock"):
            self.open[process] = ("acquire", [])
        elif text.startswith("leaves its critical section"):
            self.open[process] = ("release", [])
        elif process in self.open and re.match(ENDED, text):
            operation, sent = self.open.pop(process)
            result = re.split("[,:]", text)[0]
            self.found[f"{operation} ({result}): {', '.join(collapsed(sent)) or 'nothing'}"] += 1


def by_chance(a, b, runs):
    """Returns the probability of counts that differ at least as much, if both rates are equal."""
    ways = lambda k: math.comb(runs, k) * math.comb(runs, a + b - k)
    possible = [ways(k) for k in range(max(0, a + b - runs), min(runs, a + b) + 1)]
    return sum(one for one in possible if one <= ways(a)) / sum(possible)


def compare(name):
    """Prints the row of a pair. Returns whether its verdicts differ by more than chance."""
    program, options = WORKERS[name]
    options = options + AS_SHIPPED.get(name, [])
    version = VERSIONS.get(name, [])
    sides = [["--client", MODELS[name], *version]]
    sides += [["--program", f"library={program}", *options, *version]]
    families, traced = FAMILIES, TRACED
    if "sentinel" in options:
        families = traced = WITH_SENTINELS
    seeds = SEEDS * len(FAMILIES) // len(families)
    sent, background = [Counter(), Counter()], [Counter(), Counter()]
    for fault, seed, side in [(f, s, x) for f in traced for s in TRACES for x in (0, 1)]:
        operations = Operations(trace(sides[side], fault, seed))
        sent[side] += operations.found
        background[side] += operations.background
    results = [verdicts(side, families, seeds) for side in sides]
    (model, model_unknown), (library, library_unknown) = results
    counts = {fault: (model[fault], library[fault], seeds) for fault in families}
    runs = seeds * len(families)
    whole = sum(model.values()), sum(library.values()), runs
    unknown = sum(model_unknown.values()), sum(library_unknown.values())
    same = sum(sent[1][one] for one in sent[0].keys() & sent[1].keys())
    told = [f"{fault} {a}:{b}" for fault, (a, b, _) in counts.items() if a or b]
    row = [name, MODELS[name], f"{same} of {sent[1].total()}", *whole, ", ".join(told)]
    row.append(":".join(map(str, unknown)))
    print(f"| {' | '.join(map(str, row))} |", flush=True)
    every = [sent[side] + background[side] for side in (0, 1)]
    for side, whose in enumerate(["model", "library"]):
        for one in sorted(set(every[side]) - set(every[1 - side])):
            print(f"  only the {whose}: {every[side][one]} x {one}", file=sys.stderr, flush=True)
    is_idle = sent[1].total() == 0 or unknown[1] == runs
    return is_idle or any(by_chance(*one) < 0.01 for one in [whole, *counts.values()])


if __name__ == "__main__":
    print("| worker | model | operations alike | violated: model | library | of | by family | unknown |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    SKIPPED = os.environ.get("SKIPPED", "").split()
    results = [compare(name) for name in sys.argv[4:] or MODELS if name not in SKIPPED]
    sys.exit(1 if any(results) else 0)
