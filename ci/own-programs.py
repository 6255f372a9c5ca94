"""Runs the workers of examples/programs as the lock under test. Makes each run twice and compares
the two: they must make the same traced calls, and therefore have the same history.
ci/own-programs.sh installs what the workers need and names their folder.

    own-programs.py FENCEPOST FOLDER            every worker under every family of faults
    own-programs.py FENCEPOST FOLDER SEEDS [NAME...]
                                                SEEDS seeds of each worker, the families in turn
    own-programs.py FENCEPOST FOLDER speed [NAME...]
                                                the cost of a run, with its start-up separately

Prints a table with a row for each worker. The exit status is 1 if two runs differ, a worker fails
by itself, or a worker without faults is not valid.
"""

import json
import os
import resource
import subprocess
import sys

from workers import WORKERS

FENCEPOST, FOLDER = sys.argv[1:3]
MODE = sys.argv[3] if len(sys.argv) > 3 else "faults"
FAULTS = ["none", "pause", "failover", "restart", "clock-jump", "partition", "lost-reply"]
FAULTS.append("client-crash")
# The processes of this worker divide the masters among them and keep them while they retry.
BROKEN_ALONE = {"aioredlock"}


def run(name, fault, seed, cycles):
    """Makes a run twice. Returns its result in a few words, and whether the result is wrong."""
    command, options = WORKERS[name]
    said = subprocess.run(
        [FENCEPOST, "--seed", str(seed), "--fault", fault, "--cycles", str(cycles), "--no-shrink"]
        + ["--format", "json", "--program", f"worker={command}", *options],
        capture_output=True,
        text=True,
    )
    if said.returncode not in (0, 1, 3):
        return said.stderr.strip(), True
    (ran,) = json.loads(said.stdout)["runs"]
    if ran.get("not_reproducible"):
        return f"differs at {ran['not_reproducible']}", True
    failed = [life["ending"] for life in ran.get("programs", []) if life.get("failed")]
    if failed:
        return f"failed: {failed[0]}", True
    kinds = ", ".join(sorted({one["kind"] for one in ran["violations"]}))
    is_broken = fault == "none" and ran["verdict"] != "valid" and name not in BROKEN_ALONE
    return kinds or ran["verdict"], is_broken


def faults_row(name):
    return [run(name, fault, 3, 6) for fault in FAULTS]


def seeds_row(name):
    """Returns how many pairs of runs were equal, and the numbers of their verdicts."""
    seeds = int(MODE)
    every = [run(name, FAULTS[seed % len(FAULTS)], seed, 3) for seed in range(seeds)]
    wrong = [
        (f"seed {seed}: {word}", True) for seed, (word, is_wrong) in enumerate(every) if is_wrong
    ]
    words = [word for word, is_wrong in every if not is_wrong]
    quiet = [words.count("valid"), words.count("unknown")]
    counts = [f"{len(words)} of {seeds}", quiet[0], len(words) - sum(quiet), quiet[1]]
    return [(str(count), False) for count in counts] + wrong


def cost(name, cycles):
    """Returns the costs of a run without faults: CPU seconds (the least of three measurements),
    traced calls and virtual seconds."""
    command, options = WORKERS[name]
    arguments = ["--seed", "1", "--fault", "none", "--cycles", str(cycles), "--no-shrink"]
    arguments += ["--hold", "50ms..200ms", "--engine", "fast", "--format", "json"]
    arguments += ["--program", f"worker={command}", *options]
    used = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([FENCEPOST, *arguments], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # fencepost makes each run twice.
        used.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 2)
    (ran,) = json.loads(said.stdout)["runs"]
    calls = sum(life["calls"] for life in ran["programs"])
    return min(used), calls, ran["virtual_time_us"] / 1e6


def speed_row(name):
    """Compares runs of 2 and of 60 cycles of three processes."""
    short, long = cost(name, 2), cost(name, 60)
    used, calls, seconds = [(b - a) / 58 for a, b in zip(short, long)]
    start, first_calls = short[0] - 2 * used, short[1] - 2 * calls
    words = [f"{start:.2f} s", f"{first_calls:.0f}", f"{used / 3 * 1e3:.2f} ms", f"{calls / 3:.0f}"]
    words += [f"{used / seconds * 1e3:.1f} ms", f"{60 / (start + 20 * used):.0f}"]
    words += [f"{60 / (20 * used):.0f}"]
    return [(word, False) for word in words]


SPEED = ["start-up", "calls of the start-up", "a cycle", "calls of a cycle", "a virtual second"]
SPEED += ["runs per minute", "without start-up"]
ROW, HEAD = {"faults": (faults_row, FAULTS), "speed": (speed_row, SPEED)}.get(
    MODE, (seeds_row, ["the same twice", "valid", "violated", "unknown"])
)
print("| worker |", " | ".join(HEAD), "|")
print("| --- |", " --- |" * len(HEAD), sep="")
wrong = False
SKIPPED = os.environ.get("SKIPPED", "").split()
for name in [name for name in sys.argv[4:] or WORKERS if name not in SKIPPED]:
    cells = ROW(name)
    print("|", name, "|", " | ".join(word for word, _ in cells), "|", flush=True)
    wrong |= any(is_wrong for _, is_wrong in cells)
sys.exit(1 if wrong else 0)
