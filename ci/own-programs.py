"""Runs the workers of examples/programs as the lock under test, each run twice, and holds the two
runs to each other: the same traced calls, so the same history. ci/own-programs.sh installs what
they need and says where.

    own-programs.py FENCEPOST FOLDER            every worker under every family of faults
    own-programs.py FENCEPOST FOLDER SEEDS [NAME...]
                                                so many seeds of each, the families in turn

Prints a row of a table for each worker; exit status 1 if two runs differ, a worker fails by itself,
or one without faults is not valid.
"""

import json
import os
import subprocess
import sys

FENCEPOST, FOLDER = sys.argv[1:3]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else None
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "examples", "programs")
EXAMPLES = os.path.abspath(EXAMPLES)
FAULTS = ["none", "pause", "failover", "restart", "clock-jump", "partition", "lost-reply"]
FAULTS.append("client-crash")
INDEPENDENT = ["--deployment", "independent"]
NODE = ["--env", f"NODE_PATH={FOLDER}/node_modules"]


def python(file):
    return f"{FOLDER}/python/bin/python3 {EXAMPLES}/{file}"


def node(file):
    return f"node {EXAMPLES}/{file}"


# The command of each worker, the file that is there if it could be built, and its options.
WORKERS = {
    "redis-py": (python("redis_py.py"), []),
    "redis-py-asyncio": (python("redis_py_asyncio.py"), []),
    "python-redis-lock": (python("python_redis_lock.py"), []),
    "redlock-py-1": (python("redlock_py.py"), INDEPENDENT),
    "pottery": (python("pottery_redlock.py"), INDEPENDENT + ["--lock-key", "redlock:orders"]),
    "ioredis": (node("ioredis.js"), NODE),
    "node-redlock-4": (node("redlock4.js"), NODE + INDEPENDENT),
    "node-redlock-5": (node("redlock5.js"), NODE + INDEPENDENT),
    "redis-semaphore": (node("redis_semaphore.js"), NODE + ["--lock-key", "mutex:orders"]),
    "rslock": (f"{FOLDER}/rslock/release/rslock-worker", INDEPENDENT),
    "redigo": (f"{FOLDER}/bin/redigo", []),
    "plain-java": (f"java -cp {FOLDER}/bin Plain", []),
    "redis-cli": (f"{EXAMPLES}/redis_cli.sh", []),
    "plain-c": (f"{FOLDER}/bin/plain-c", []),
    "plain-rust": (f"{FOLDER}/bin/plain-rust", []),
}


def run(name, fault, seed, cycles):
    """What came out of a run that was made twice: a word, and whether that is wrong."""
    command, options = WORKERS[name]
    said = subprocess.run(
        [FENCEPOST, "--seed", str(seed), "--fault", fault, "--cycles", str(cycles), "--no-shrink"]
        + ["--format", "json", "--program", f"{name}={command}", *options],
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
    return kinds or ran["verdict"], fault == "none" and ran["verdict"] != "valid"


def row(name):
    if SEEDS is None:
        cells = [run(name, fault, 3, 6) for fault in FAULTS]
    else:
        every = [run(name, FAULTS[seed % len(FAULTS)], seed, 3) for seed in range(SEEDS)]
        wrong = [f"seed {seed}: {word}" for seed, (word, is_wrong) in enumerate(every) if is_wrong]
        cells = [(f"{SEEDS - len(wrong)} of {SEEDS} the same", False)]
        cells += [(word, True) for word in wrong]
    print("|", name, "|", " | ".join(word for word, _ in cells), "|", flush=True)
    return not any(is_wrong for _, is_wrong in cells)


print("| worker |", " | ".join(FAULTS if SEEDS is None else [f"{SEEDS} seeds"]), "|")
print("| --- |", " --- |" * (len(FAULTS) if SEEDS is None else 1), sep="")
results = [row(name) for name in (sys.argv[4:] or WORKERS)]
sys.exit(0 if all(results) else 1)
