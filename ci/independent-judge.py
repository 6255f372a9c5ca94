#!/usr/bin/env python3
"""Judges recorded histories again by its own rules, and compares the results with a report.

    fencepost run --seed 1 --fault failover,pause --client all --engine fast --no-shrink \\
        --format json --with-history >report.json
    ci/independent-judge.py report.json...

This script shares no code with `reports`. From the events alone it counts overlaps and lost
updates, and decides whether each foreign release was one. For the first overlap of each cause on
Redis or memcached, it determines how the earlier holder lost the lock: by which process, by which
change at which server, or because two servers were primaries. It prints each disagreement with the
options that replay the run. The exit status is 1 if there is a disagreement.
"""

import json
import sys
from collections import Counter, defaultdict

GRANULARITY_US = 2_000
# For each cause, the ways in which the earlier holder may have lost the lock.
CLAIMS = {
    "split-brain": {"two-primaries"},
    "async-replication-loss": {"never-there", "discarded", "expired"},
    "early-release": {"removed-by-holder"},
    "lost-release": {"removed-by-holder"},
    "foreign-release": {"removed-by-other"},
    "stale-takeover": {"removed-by-other"},
    "eviction": {"evicted"},
    "flush": {"flushed"},
    "restart-without-delay": {"forgotten"},
    "orphan-renewal": {"expired", "replaced"},
    "clock-jump": {"expired", "replaced"},
    "clock-drift": {"expired", "replaced"},
    "coarse-expiry": {"expired", "replaced", "lease-over"},
    "holder-pause": {"lease-over"},
    "hold-too-long": {"lease-over"},
    "missed-renewal": {"lease-over"},
}


def machine(node):
    """Returns the process of a thread: client-1 for client-1.2."""
    return node.split(".")[0] if node else node


def owner(value):
    """Returns an owner value without the count that a hash adds."""
    head, _, count = (value or "").rpartition("=")
    return head if head and count.isdigit() else value


class Run:
    def __init__(self, history):
        self.header, self.events = history["header"], history["events"]
        self.end = self.events[-1]["time_us"] if self.events else 0
        self.sections, self.acquires = self.read_sections()
        self.spans = self.read_spans()
        self.primaries = self.read_primaries()
        self.renews = self.read_renewals()
        self.pauses = self.read_pauses()

    def read_sections(self):
        """Returns the critical sections, from an acquire's ok to a release, a loss or a crash."""
        acquires, stacks, sections = {}, defaultdict(list), []
        for event in self.events:
            node, what = event["node"], event["event"]
            if what == "invoke" and event["action"] == "acquire":
                acquires[event["operation"]] = event
            elif what == "ok" and event.get("operation") in acquires and "owner" in event:
                section = {
                    "process": node, "owner": event["owner"], "from": event, "to": None,
                    "invoked": acquires[event["operation"]],
                }
                stacks[node].append(section)
                sections.append(section)
            elif what == "invoke" and event["action"] == "release" and stacks[node]:
                stacks[node].pop()["to"] = event
            elif what == "lost":
                while stacks[node]:
                    stacks[node].pop()["to"] = event
            elif what == "crashed":
                for other in [one for one in stacks if machine(one) == node]:
                    while stacks[other]:
                        stacks[other].pop()["to"] = event
        return sections, acquires

    def ends(self, section):
        return section["to"]["time_us"] if section["to"] else self.end

    def overlaps(self):
        """Returns pairs of overlapping sections of different threads, and the overlap's length."""
        pairs = []
        for index, one in enumerate(self.sections):
            for other in self.sections[index + 1:]:
                shared = min(self.ends(one), self.ends(other)) - max(
                    one["from"]["time_us"], other["from"]["time_us"])
                if one["process"] != other["process"] and shared > 0:
                    pairs.append((one, other, shared))
        return pairs

    def lost_updates(self):
        """Counts the accepted writes that replaced a value which the writer had not read."""
        seen, lost = set(), 0
        for event in self.events:
            is_write = event["event"] == "storage" and event["access"] == "write"
            if is_write and event["accepted"] and event["operation"] not in seen:
                seen.add(event["operation"])
                lost += event.get("based_on", event["before"]) != event["before"]
        return lost

    def read_spans(self):
        """Returns each value of the lock's key at each server, with its start, end and ending."""
        spans, standing = [], {}
        for event in self.events:
            if event["event"] != "server" or event["key"] != self.header["resource"]:
                continue
            node, change = event["node"], event["change"]
            before = standing.get(node)
            if change in ("granted", "restored"):
                is_same = before and before["value"] == event.get("value")
                if change == "restored" and is_same:
                    continue
                if before:
                    before["end"], before["how"] = event, "replaced"
                standing[node] = {
                    "node": node, "value": event.get("value"), "by": event.get("by"),
                    "from": event, "sets": [event] if event.get("by") else [],
                    "end": None, "how": None,
                }
                spans.append(standing[node])
            elif change == "extended":
                if before and event.get("by"):
                    before["sets"].append(event)
            elif before:
                before["end"], before["how"] = event, change
                del standing[node]
        return spans

    def read_renewals(self):
        """Returns whether leases are renewed: a process extended them while it had no open call,
        more often than it had calls with unknown outcomes."""
        calls, unknown, extended = {}, Counter(), Counter()
        for event in self.events:
            what, node = event["event"], machine(event["node"])
            if what == "invoke" and event["action"] not in ("read", "write"):
                calls[event["operation"]] = node
            elif what in ("ok", "fail"):
                calls.pop(event["operation"], None)
            elif what == "info" and calls.pop(event["operation"], None):
                unknown[node] += 1
            elif what == "server" and event["change"] == "extended" and event.get("by"):
                by = machine(event["by"])
                is_of_the_lock = event["key"] == self.header["resource"]
                if is_of_the_lock and by not in calls.values():
                    extended[by] += 1
        return any(extended[node] > unknown[node] for node in extended)

    def read_primaries(self):
        """Returns the recorded promotions and demotions by server."""
        turns = defaultdict(list)
        for event in self.events:
            if event["event"] == "turn" and event["turn"] in ("promoted", "demoted"):
                turns[event["node"]].append((event["sequence"], event["turn"]))
        return turns

    def promoted(self, server, sequence):
        """Returns the promotion that made the server a primary, or -1 if it was not promoted."""
        before = [turn for turn in self.primaries[server] if turn[0] < sequence]
        return before[-1][0] if before and before[-1][1] == "promoted" else -1

    def grant(self, section):
        """Returns the last grant to the process with this owner before the process entered."""
        own = [
            span for span in self.spans
            if span["by"] and machine(span["by"]) == machine(section["process"])
            and owner(span["value"]) == owner(section["owner"])
            and span["from"]["sequence"] < section["from"]["sequence"]
        ]
        return own[-1] if own else None

    def slept_through(self, process, held, taken):
        """Returns whether the last lease ended during a pause of the holder, before the other
        grant."""
        sets = [one for one in held["sets"] if machine(one["by"]) == process]
        last = max(sets, key=lambda one: one["sequence"], default=held["from"])
        ends = last["time_us"] + last.get("lease_us", self.header["ttl_us"])
        return ends <= taken["from"]["time_us"] and any(
            since <= ends <= until for node, since, until in self.pauses if node == process)

    def read_pauses(self):
        """Returns the pauses of processes, each with the process, the start and the end."""
        began, pauses = {}, []
        for event in self.events:
            if event["event"] == "fault-began" and event["kind"] in ("pause", "suspend"):
                began[event["fault"]] = event
            elif event["event"] == "fault-ended" and event["fault"] in began:
                begin = began.pop(event["fault"])
                pauses += [(node, begin["time_us"], event["time_us"]) for node in begin["nodes"]]
        pauses += [(node, one["time_us"], self.end) for one in began.values() for node in one["nodes"]]
        return pauses

    def fact(self, holder, taker):
        """Returns how the holder lost its lock before the other process was granted it."""
        held, taken = self.grant(holder), self.grant(taker)
        if not held or not taken or held["from"]["sequence"] > taken["from"]["sequence"]:
            return None
        if held["node"] != taken["node"]:
            late, other = max(
                (self.promoted(span["node"], span["from"]["sequence"]), -index)
                for index, span in enumerate((held, taken)))
            granted = (taken if other == 0 else held)["from"]["sequence"]
            if 0 <= late < granted:
                return "two-primaries"
        process = machine(holder["process"])
        copies = [
            span for span in self.spans
            if span["node"] == taken["node"] and owner(span["value"]) == owner(held["value"])
            and (not span["by"] or machine(span["by"]) == process)
            and held["from"]["sequence"] <= span["from"]["sequence"] < taken["from"]["sequence"]
        ]
        if self.slept_through(process, held, taken):
            return "lease-over"
        if not copies:
            return "never-there"
        # If the lock was lost and a nested acquire created a value again, that value is another
        # lock.
        begins = {span["from"]["sequence"] for span in copies}
        inside = range(holder["from"]["sequence"], (holder["to"] or taken["from"])["sequence"])
        lost = [
            span for span in copies
            if span["end"] and span["end"]["sequence"] in inside
            and span["end"]["sequence"] not in begins
        ]
        span = (lost or copies[-1:])[0]
        until = (span["end"] or taken["from"])["sequence"]
        own_sets = [
            one for other in [held, *copies] for one in other["sets"]
            if machine(one["by"]) == process and one["sequence"] < until
        ]
        set_last = max(own_sets, key=lambda one: one["sequence"], default=held["from"])
        lease, rounding = self.header["ttl_us"], 1_000_000
        if held["node"].startswith("redis"):
            lease, rounding = set_last.get("lease_us", lease), GRANULARITY_US
        ends = set_last["time_us"] + lease
        # If the lock renews its lease, it would have continued to renew it if it had not lost the
        # lock before.
        is_lost = self.renews and lost and span["end"]["time_us"] + rounding < ends
        if ends <= taken["from"]["time_us"] + rounding and not is_lost:
            return "lease-over"
        if span["how"] == "removed" and span["end"].get("by"):
            is_own = machine(span["end"]["by"]) == process
            return "removed-by-holder" if is_own else "removed-by-other"
        return span["how"] or "stands"

    def is_foreign(self, removal):
        """Returns whether a removal removed a lock that had been granted to another process.

        A replica does not record to whom. If all processes write the same value, the value does not
        identify the process either.
        """
        for span in self.spans:
            if span["end"] and span["end"]["sequence"] == removal["sequence"]:
                grants = [
                    one for one in self.spans
                    if one["by"] and one["from"]["sequence"] <= span["from"]["sequence"]
                    and owner(one["value"]) == owner(span["value"])
                ]
                if not span["by"] and len({one["by"] for one in grants}) > 1:
                    return True
                return bool(grants) and machine(grants[-1]["by"]) != machine(removal["by"])
        return False


def disagreements(report):
    run, violations = Run(report["history"]), report["violations"]
    total = Counter()
    for one in violations:
        total[one["kind"]] += one["occurrences"]
    pairs = run.overlaps()
    if total["overlap"] != len(pairs):
        yield f"{total['overlap']} overlaps reported, {len(pairs)} found"
    if run.header["workload"] == "register" and total["lost-update"] != run.lost_updates():
        yield f"{total['lost-update']} lost updates reported, {run.lost_updates()} found"
    for one in violations:
        removals = [
            event for event in one["witness"]
            if event["event"] == "server" and event["change"] == "removed" and event.get("by")
        ]
        if one["kind"] == "foreign-release" and not any(map(run.is_foreign, removals)):
            yield f"foreign release at {one['at_us']} us: each removal is by its own process"
    is_plain = run.header["quorum"] <= 1 and not run.header.get("kept_as")
    if not is_plain or run.header.get("lives_with_session"):
        return
    for one in (one for one in violations if one["kind"] == "overlap"):
        claims = CLAIMS.get(one["cause"])
        for first, second, _ in pairs:
            both = {first["process"], second["process"]}
            begins = max(first["from"]["time_us"], second["from"]["time_us"])
            if both != set(one["processes"]) or begins != one["at_us"]:
                continue
            holder, taker = first, second
            if holder["process"] != one["processes"][0]:
                holder, taker = taker, holder
            fact = run.fact(holder, taker)
            COUNTS[fact or "undecided"] += 1
            if fact and claims and fact not in claims:
                yield f"overlap at {one['at_us']} us by {one['cause']}, but the lock was {fact}"
            if fact in DECIDING and one["cause"] not in DECIDING[fact]:
                yield f"overlap at {one['at_us']} us: {fact}, but by {one['cause']}"
            break


# Facts for which only certain causes are correct.
DECIDING = {
    "two-primaries": {"split-brain", "stale-takeover", "foreign-release", "shared-owner"},
    "evicted": {"eviction"},
    "flushed": {"flush"},
}
COUNTS = Counter()


def main():
    runs, wrong = 0, 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for run in report["runs"]:
            if "history" not in run:
                continue
            runs += 1
            for text in dict.fromkeys(disagreements(run)):
                wrong += 1
                print(f"--seed {report['seed']} --fault {run['fault']} --client {run['client']}: {text}")
    print(f"{runs} runs, {wrong} disagreements; overlaps decided: {dict(COUNTS)}")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
