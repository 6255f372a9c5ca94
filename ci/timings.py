#!/usr/bin/env python3
"""Measures how long simulated and real servers take to fail over, to expire a session and to forget
writes, over many seeds, and prints a Markdown table. Both kinds of servers get the same fault
plans.

    ci/timings.py [--seeds 200] [--only REGEX] [--servers fake,real] [--keep FILE]
        [--program target/release/fencepost]

With --keep, the script adds the result of each run to FILE, and skips runs that FILE already has. Use
a new FILE for another program.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections import namedtuple

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seeds", type=int, default=200, help="seeds per row [200]")
parser.add_argument("--only", default="", help="measure only the rows that match this pattern")
parser.add_argument("--servers", default="fake,real", help="servers to measure [fake,real]")
parser.add_argument("--keep", help="file with the results of earlier runs")
parser.add_argument("--program", default="target/release/fencepost")
arguments = parser.parse_args()

SECOND = 1_000_000


def faults(events, *kinds):
    """Returns the beginning of each fault of these kinds, with its end, if it ended."""
    ends = {event["fault"]: event for event in events if event["event"] == "fault-ended"}
    return [(event, ends.get(event["fault"])) for event in events
            if event["event"] == "fault-began" and event["kind"] in kinds]


def first(events, after, **fields):
    """Returns the first event after a time whose fields have these values."""
    for event in events:
        if event["time_us"] >= after and all(event.get(key) == value for key, value in fields.items()):
            return event
    return None


def promotion(*kinds):
    """Measures from the beginning of the fault until another server becomes a primary."""
    def measure(events):
        for began, _ in faults(events, *kinds)[:1]:
            promoted = first(events, began["time_us"], event="turn", turn="promoted")
            if promoted:
                yield promoted["time_us"] - began["time_us"]
    return measure


def still_a_primary(events):
    """Measures from the end of the primary's pause until it follows the new primary."""
    for began, ended in faults(events, "pause")[:1]:
        if ended and first(events[:events.index(ended)], began["time_us"], turn="promoted"):
            demoted = first(events, ended["time_us"], node=began["nodes"][0], turn="demoted")
            if demoted:
                yield demoted["time_us"] - ended["time_us"]


def forgotten(events):
    """Measures the age of the oldest acknowledged token that a power loss undid; 0 if it undid
    none."""
    for began, _ in faults(events, "power-loss", "restart", "crash")[:1]:
        tokens = [event for event in events if event["event"] == "ok" and event.get("token")]
        before = [event for event in tokens if event["time_us"] < began["time_us"]]
        after = [event for event in tokens if event["time_us"] > began["time_us"]]
        if before and after:
            lost = [event for event in before if event["token"] >= after[0]["token"]]
            yield began["time_us"] - lost[0]["time_us"] if lost else 0


def resynchronised(events):
    """Measures from a primary's demotion until it first shows a lock of the new primary."""
    for demoted in [event for event in events if event["event"] == "turn" and event["turn"] == "demoted"]:
        for event in events[events.index(demoted) + 1:]:
            if event["node"] == demoted["node"] and event["event"] in ("turn", "fault-began"):
                break
            if event["node"] == demoted["node"] and event.get("change") in ("granted", "restored"):
                yield event["time_us"] - demoted["time_us"]
                break


def takeover(*kinds):
    """Measures from the fault that ends the holder until the server grants another process the lock."""
    def measure(events):
        for began, holder in held_at(events, *kinds):
            for event in events:
                if event["time_us"] >= began["time_us"] and event["event"] == "server" \
                        and event["change"] == "granted" and event.get("by") != holder["by"]:
                    yield event["time_us"] - began["time_us"]
                    break
    return measure


def held_at(events, *kinds):
    """Returns each fault of these kinds that hits the holder of the lock, with the holder's grant."""
    for began, _ in faults(events, *kinds):
        holder = None
        for event in events[:events.index(began)]:
            if event["event"] == "server" and event["change"] == "granted":
                holder = event
            elif event["event"] == "server" and event["change"] in ("removed", "expired"):
                holder = None
        if holder and holder.get("by") in began["nodes"]:
            yield began, holder


def session_end(*kinds):
    """Measures from the fault that silences the holder until the server removes its lock. A pause
    must last until then."""
    def measure(events):
        ends = {began["fault"]: ended["time_us"] for began, ended in faults(events, "pause") if ended}
        for began, holder in held_at(events, *kinds):
            until = ends.get(began["fault"], float("inf"))
            for event in events:
                if began["time_us"] <= event["time_us"] <= until and event["event"] == "server" \
                        and event["change"] in ("removed", "expired") and event["value"] == holder["value"]:
                    yield event["time_us"] - began["time_us"]
                    break
    return measure


Row = namedtuple("Row", "what options measure")
SENTINEL = ["--client", "single-node", "--fault", "failover"]
LONG_HOLDS = ["--processes", "2", "--cycles", "2", "--hold", "4s..8s"]
ALONE = ["--set", "ensemble=1"]
ROWS = [
    Row("promotion after the primary crashes", [*SENTINEL, "--set", "failover-by=crash"],
        promotion("crash", "power-loss")),
    Row("a demoted primary has the data of the new primary after", [*SENTINEL, "--set", "failover-by=crash"],
        resynchronised),
    Row("promotion after the primary is paused", [*SENTINEL, "--set", "failover-by=pause"],
        promotion("pause")),
    Row("promotion after the primary is cut off", [*SENTINEL, "--set", "failover-by=isolation"],
        promotion("partition")),
    Row("a paused primary continues as a primary for", [*SENTINEL, "--set", "failover-by=pause"],
        still_a_primary),
    *(Row(f"age of the oldest write that a power loss undoes, `{policy}`",
          ["--client", "fencing", "--fault", "restart", "--persistence", policy], forgotten)
      for policy in ("none", "rdb", "aof-everysec", "aof-always")),
    Row("ZooKeeper removes the node of a paused holder after",
        ["--client", "curator-mutex", "--fault", "pause", *LONG_HOLDS, *ALONE], session_end("pause")),
    Row("ZooKeeper removes the node of a crashed holder after",
        ["--client", "curator-mutex", "--fault", "client-crash", *LONG_HOLDS, *ALONE], session_end("crash")),
    Row("etcd removes the key of a crashed holder after",
        ["--client", "etcd-mutex", "--fault", "client-crash", *LONG_HOLDS, *ALONE], session_end("crash")),
    Row("PostgreSQL frees the advisory lock of a crashed client after",
        ["--client", "pg-advisory", "--fault", "client-crash", *LONG_HOLDS], session_end("crash")),
    Row("another client has the advisory lock of a crashed client after",
        ["--client", "pg-advisory", "--fault", "client-crash", *LONG_HOLDS], takeover("crash")),
]


def history(row, servers, seed):
    """Returns the events of a run. Fails if the run fails, or if the two runs that fencepost makes of
    each seed on real servers differ."""
    words = [arguments.program, "run", "--seed", str(seed), *row.options, "--servers", servers, "--engine", "fast",
             "--no-shrink", "--with-history", "--format", "json"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(words)}: {ran.stderr}")
    if sys.stderr.isatty():
        print(f"\r{row.what}, {servers}: seed {seed} ", end="", file=sys.stderr)
    run = json.loads(ran.stdout)["runs"][0]
    if run.get("not_reproducible"):
        sys.exit(f"{' '.join(words)}: {run['not_reproducible']}")
    return run["history"]["events"]


def kept():
    """Returns the spans in the file `--keep`, by row, servers and seed."""
    if not arguments.keep or not os.path.exists(arguments.keep):
        return {}
    with open(arguments.keep, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    return {(what, servers, seed): spans for what, servers, seed, spans in lines}


def keep(*line):
    """Appends the spans of a run to the file `--keep`."""
    if arguments.keep:
        with open(arguments.keep, "a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)


def spans_of(rows, servers):
    """Returns the spans of rows with the same options, by row. Reads the spans of seeds that are in
    the file `--keep`, and writes the others there."""
    known = kept()
    spans = {row.what: [] for row in rows}
    missing = []
    for seed in range(arguments.seeds):
        for row in rows:
            key = (row.what, servers, seed)
            if key in known:
                spans[row.what].extend(known[key])
            elif seed not in missing:
                missing.append(seed)
    for seed in missing:
        events = history(rows[0], servers, seed)
        for row in rows:
            if (row.what, servers, seed) in known:
                continue
            measured = list(row.measure(events))
            spans[row.what].extend(measured)
            keep(row.what, servers, seed, measured)
    return spans


def cells(measured):
    """Returns the count, minimum, median, 95th percentile and maximum, in seconds."""
    if not measured:
        return ["0", "", "", "", ""]
    ordered = sorted(measured)
    figures = (ordered[0], statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))], ordered[-1])
    return [str(len(ordered)), *(f"{figure / SECOND:.2f}" for figure in figures)]


print("| what | servers | n | min | median | 95 % | max |")
print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
wanted = [row for row in ROWS if re.search(arguments.only, row.what)]
while wanted:
    # Rows with the same options measure the same runs.
    same = [row for row in wanted if row.options == wanted[0].options]
    wanted = [row for row in wanted if row not in same]
    spans = {servers: spans_of(same, servers) for servers in arguments.servers.split(",")}
    for row in same:
        for servers, measured in spans.items():
            print("|", " | ".join([row.what, servers, *cells(measured[row.what])]), "|", flush=True)
