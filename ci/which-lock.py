#!/usr/bin/env python3
"""Makes docs/which-lock.md from docs/data/matrix.json and one run of each lock.

Without options the script only compares, and exits with 1 if the page differs; with --write it
writes the page. FENCEPOST names the program.
"""
import json
import os
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "which-lock.md"
PROGRAM = os.environ.get("FENCEPOST", ROOT / "target" / "debug" / "fencepost")
CYCLES = 20

GROUPS = {
    "holder delayed": ("pause", "suspend", "storage-delay"),
    "client dies": ("client-crash",),
    "network": ("partition", "lost-reply", "lost-request", "latency", "slow-server"),
    "clocks": ("clock-drift", "clock-jump"),
    "restart": ("restart",),
    "failover": ("failover", "replication-lag"),
    "eviction": ("eviction",),
    "operator": ("operator",),
}
BELIEF = {"overlap", "foreign-release", "wrong-answer"}
HARM = {"stale-write", "lost-update"}
LIVENESS = {"stuck", "starved", "deadlock", "fenced-out", "held-forever"}
ABOUT = (
    ("belief (two processes held the lock, or the lock gave a wrong answer)", BELIEF),
    ("harm (the guarded data was damaged)", HARM),
    ("liveness (a process waited or was rejected forever, or never let the lock go)", LIVENESS),
)
NEEDS = {
    "redis": "one Redis",
    "memcached": "one memcached",
    "zookeeper": "three ZooKeeper servers",
    "postgresql": "one PostgreSQL",
    "mysql": "one MySQL",
    "etcd": "three etcd members",
    "chubby": "a cell of five replicas",
    "gemfire": "three members of a distributed system",
}
# For each coordinator, a lock that issues tokens, which the storage checks.
WITH_TOKENS = {
    "redis": "fencing",
    "memcached": "memcached-cas",
    "zookeeper": "curator-fencing",
    "etcd": "etcd-mutex-fencing",
    "chubby": "chubby-sequencer",
    "gemfire": "gemfire-token",
}
# The tokens of redlock-fencing are random, so the storage also rejects valid ones when it compares
# them.
CHECKED_BY_A_TOKEN = {*WITH_TOKENS.values(), "redlock-fencing"}
INDEPENDENT = ("redlock", "node-redlock", "redsync", "redisson-redlock")
ADVICE_LINES_MAX = 40


def matrix():
    """Returns the cells of the matrix by lock and fault."""
    data = json.loads((ROOT / "docs" / "data" / "matrix.json").read_text())
    return {(cell["client"], cell["fault"]): cell for cell in data["cells"]}


def answer(*options):
    done = subprocess.run([PROGRAM, *options, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def locks():
    """Returns the locks of each coordinator, each with a run of 20 cycles of one process without
    faults."""
    run = ["run", "--seed", "1", "--fault", "none", "--client", "all", "--processes", "1"]
    run += ["--cycles", str(CYCLES), "--engine", "fast", "--no-shrink", "--coordinator"]
    return {
        coordinator["name"]: answer(*run, coordinator["name"])["runs"]
        for coordinator in answer("list", "coordinators")
    }


def share(cell, kinds):
    """Returns the percentage of the exercised runs that broke the rule that was broken most often.
    Returns None if no run exercised the lock, or if the matrix does not have the lock and fault."""
    broken = max((cell["kinds"].get(kind, 0) for kind in kinds), default=0)
    return 100 * broken / cell["exercised"] if cell["exercised"] else None


def worst(cells, lock, faults, kinds):
    """Returns the highest share over several families, or None if no run exercised the lock."""
    shares = [share(cells[lock, fault], kinds) for fault in faults if (lock, fault) in cells]
    return max((one for one in shares if one is not None), default=None)


def number(value):
    if value is None:
        return "?"
    return "·" if value == 0 else f"{value:.0f}"


def with_tokens(lock, coordinator):
    """Returns the lock with tokens on the same servers, if there is one."""
    if lock in CHECKED_BY_A_TOKEN:
        return lock
    return None if lock.startswith(INDEPENDENT) else WITH_TOKENS.get(coordinator)


def cell(cells, lock, token, faults):
    without = "–" if lock in CHECKED_BY_A_TOKEN else number(worst(cells, lock, faults, HARM))
    checked = number(worst(cells, token, faults, HARM)) if token else "–"
    belief, liveness = (number(worst(cells, lock, faults, kinds)) for kinds in (BELIEF, LIVENESS))
    return f"[{belief}/{without}/{checked}/{liveness}](matrix.md#{lock})"


def row(cells, run, coordinator):
    lock = run["client"]
    token = with_tokens(lock, coordinator)
    linked = [cell(cells, lock, token, faults) for faults in GROUPS.values()]
    needs = "independent Redis" if lock.startswith(INDEPENDENT) else NEEDS[coordinator]
    cost = [f"{run['messages'] / (CYCLES + 1):.0f}", f"{run['latency_us']['acquire']['p50'] / 1000:.1f}"]
    return "| " + " | ".join([f"[{lock}](protocols.md)", *linked, *cost, needs]) + " |"


def wrapped(text):
    """Wraps a paragraph or an item of a list, but not between a number and its percent sign."""
    indent = "  " if text.startswith("- ") else ""
    filled = textwrap.fill(
        text.replace(" %", "\u00a0%"),
        100,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return filled.replace("\u00a0%", " %")


def advice(cells):
    """Returns at most forty lines. Every number is from a cell of the matrix. If a claim is no
    longer true, the script fails."""

    def percent(lock, faults, kinds):
        value = worst(cells, lock, faults.split(","), kinds)
        return "none" if value == 0 else f"{value:.0f} %"

    def quiet(lock, faults, kinds=BELIEF | HARM | LIVENESS):
        for fault in faults.split(","):
            if (lock, fault) in cells and share(cells[lock, fault], kinds):
                sys.exit(f"{lock} under {fault} is no longer quiet: correct the text of {__file__}")
        *others, last = (f"`{fault}`" for fault in faults.split(","))
        return f"{', '.join(others)} and {last}" if others else last

    def both(first, second):
        quiet(second, survives)
        return f"`{first}` and `{second}`"

    network = "latency,partition,lost-reply,client-crash"
    survives = "restart,failover,clock-jump"
    for lock in ("curator-fencing", "etcd-mutex-fencing", "chubby-sequencer"):
        quiet(lock, ",".join(fault for group in GROUPS.values() for fault in group), HARM)
    delayed = GROUPS["holder delayed"]
    quiet("fencing", ",".join(delayed), HARM)
    for lock in {client for client, _ in cells} - CHECKED_BY_A_TOKEN:
        if worst(cells, lock, delayed, HARM) == 0:
            sys.exit(f"{lock} is never harmed by a delayed holder: correct the text of {__file__}")
    text = f"""- **One Redis is enough** if the lock only saves work, or if the storage checks a token.
  `single-node` is quiet under {quiet("single-node", network)}. It fails when Redis loses the key:
  {percent("single-node", "restart", HARM)} of the runs with restarts (no persistence), {percent("single-node", "failover", HARM)} with failovers and
  {percent("single-node", "eviction", HARM)} with evictions end in harm. With `--persistence aof-always` restarts are quiet
  ([protocols](protocols.md#quiet-over-10000-seeds)).
- **Redlock adds** protection against the loss of a single server: it is quiet under
  {quiet("redlock", "failover")} and {quiet("redlock", "partition")}. **It does not add** protection against a delayed holder
  (harm in {percent("redlock", "suspend", HARM)} of the runs under `suspend`, against {percent("single-node", "suspend", HARM)} for `single-node`), clock jumps ({percent("redlock", "clock-jump", HARM)}), restarts
  without a delay ({percent("redlock", "restart", HARM)}) or evictions ({percent("redlock", "eviction", HARM)}). Restart its servers only after a ttl
  ([C2](anomalies.md)).
- **A watchdog** covers work that takes longer than the lease ([A9](anomalies.md)), but not a paused process: with pauses, {percent("watchdog", "pause", HARM)}
  of the runs of `watchdog` end in harm, and {percent("single-node", "pause", HARM)} of `single-node`.
- **Pay for ZooKeeper or etcd** if the lock must survive the loss of servers: {both("curator-mutex", "etcd-mutex")} are
  quiet under {quiet("curator-mutex", survives)}.
  A delayed holder still overlaps the next one ({percent("curator-mutex", "pause", BELIEF)} and {percent("etcd-mutex", "pause", BELIEF)} under `pause`).
- **GemFire and Chubby** tie locks to members or sessions. `gemfire` is quiet under {quiet("gemfire", "failover,client-crash")},
  but a member that departs can still do harm ({percent("gemfire", "pause", HARM)} under `pause`), and the loss of half of the servers loses every lock
  ({percent("gemfire", "restart", HARM)} under `restart`). `chubby` grants a failed holder's lock again only after a minute: it is quiet under {quiet("chubby", "pause,suspend,client-crash")},
  but after a crash, other processes wait that minute for the lock.
- **A lock in the database you already have** survives restarts as a row: `shedlock-db-time` is quiet
  under {quiet("shedlock-db-time", "restart,partition,client-crash")}, but a promoted standby may not have the row ({percent("shedlock-db-time", "failover", HARM)} harm under `failover`).
  These locks break if the clock that they read is stepped: `shedlock-db-time` reads the database's clock ({percent("shedlock-db-time", "clock-jump", HARM)}),
  `jdbc-7` the clients' clocks ({percent("jdbc-7", "clock-jump", HARM)}). Locks tied to a
  session (`pg-advisory`, `mysql-get-lock`) end with the connection while the holder still works:
  {percent("pg-advisory", "restart", HARM)} and {percent("mysql-get-lock", "restart", HARM)} harm under `restart`.
- **A token that the storage checks prevents harm by a delayed holder.** Under `pause`, `suspend` and `storage-delay` two
  processes still believe that they hold `fencing` ({percent("fencing", "pause,suspend,storage-delay", BELIEF)}), `curator-fencing` ({percent("curator-fencing", "pause,suspend", BELIEF)}) or
  `etcd-mutex-fencing` ({percent("etcd-mutex-fencing", "pause,suspend", BELIEF)}), but the storage accepts no harmful write. The counter must be durable: a counter in one Redis can be lost, tokens
  then decrease, and runs end in harm under restarts ({percent("fencing", "restart", HARM)}) and failovers ({percent("fencing", "failover", HARM)}). The czxid of ZooKeeper, the
  revision of etcd and the sequencer of Chubby are durable: `curator-fencing`, `etcd-mutex-fencing` and `chubby-sequencer`
  show no harm in any column.
- **If the storage cannot check a token**, no lock here prevents harm by a delayed holder. Keep critical sections
  much shorter than the lease, stop before the lease ends, or make the guarded operation idempotent
  or conditional (compare-and-set), so that the storage does the check."""
    bullets = (" ".join(bullet.split()) for bullet in text.split("\n- "))
    lines = "\n".join(wrapped("- " + bullet.removeprefix("- ")) for bullet in bullets)
    if lines.count("\n") >= ADVICE_LINES_MAX:
        sys.exit(f"the advice has {lines.count(chr(10)) + 1} lines: expected up to {ADVICE_LINES_MAX}")
    return lines


def named(names):
    return ", ".join(f"`{name}`" for name in names)


def page():
    cells, by_coordinator = matrix(), locks()
    header = ["lock", *GROUPS, "messages", "ms", "needs"]
    lines = [
        "# Which lock should I use?",
        "",
        "`ci/which-lock.py --write` makes this page from [the matrix](matrix.md).",
        "",
        advice(cells),
        "",
        "## Every lock",
        "",
        wrapped(
            "An entry has four numbers, *belief/harm/harm with a token/liveness*. Each number is a "
            "percentage of runs, the highest over the fault families of the column and the rules of "
            "the group:"
        ),
        "",
        *(wrapped(f"- {about}: {named(sorted(kinds))}") for about, kinds in ABOUT),
        "",
        wrapped(
            "Harm with a token is measured with the lock of the same coordinator whose tokens the "
            f"storage checks: {named(WITH_TOKENS.values())}. [Availability](availability.md) also "
            "shows waits that end."
        ),
        "",
        wrapped(
            "A dot means 0 %. A question mark means that no run exercised the lock. A dash means that "
            "the number does not apply: the storage always checks the tokens of this lock, or no lock "
            "on these servers has tokens. Each entry links to the matrix, which shows each family "
            "separately."
        ),
        "",
        "Some columns combine several fault families, or are not named after their family:",
        "",
        *(
            wrapped(f"- {group}: {named(faults)}")
            for group, faults in GROUPS.items()
            if faults != (group,)
        ),
        "",
        wrapped(
            "The last columns show the cost of one cycle of one process without faults (`fencepost "
            "--seed 1 --fault none --processes 1 --client LOCK`): messages (acquire, guarded work, "
            "release, renewals) and the median time to acquire in ms, with message latencies of 0.2 "
            "ms to 2 ms."
        ),
        "",
    ]
    for coordinator, runs in by_coordinator.items():
        lines += [f"### {coordinator}", "", "| " + " | ".join(header) + " |"]
        lines.append("| --- " + "| --- " * len(GROUPS) + "| ---: | ---: | --- |")
        lines += [row(cells, run, coordinator) for run in runs] + [""]
    return "\n".join(lines)


def main():
    new = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(new)
        return
    if not PAGE.exists() or PAGE.read_text() != new:
        sys.exit(f"{PAGE.relative_to(ROOT)} differs: run ci/which-lock.py --write")


if __name__ == "__main__":
    main()
