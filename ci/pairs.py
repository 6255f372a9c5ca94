#!/usr/bin/env python3
"""Runs each seed twice against real servers, compares the digests of the histories, and prints a
Markdown table. `{classes}` in a row stands for a folder with the compiled examples/programs/Plain.java.

    ci/pairs.py [--seeds 100] [--only REGEX] [--program target/release/fencepost]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seeds", type=int, default=100, help="seeds per row [100]")
parser.add_argument("--only", default="", help="run only the rows that match this pattern")
parser.add_argument("--program", default="target/release/fencepost")
arguments = parser.parse_args()

ROWS = [
    ("PostgreSQL", "--client pg-advisory --fault restart --cycles 4"),
    ("MariaDB", "--client mysql-get-lock --fault restart --cycles 6"),
    ("ZooKeeper", "--client curator-mutex --fault pause --set ensemble=1 --cycles 6"),
    ("etcd", "--client etcd-mutex --fault pause --set ensemble=1 --cycles 2"),
    ("Redis, a Java worker", "--program plain=java\\ -cp\\ {classes}\\ Plain --fault restart --cycles 4"),
]


def digest(seed, options):
    """Returns the digest of a run's history, and whether the run exercised the lock."""
    words = [arguments.program, "run", "--seed", str(seed), *options, "--servers", "real", "--no-shrink", "--format",
             "json"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1, 3):
        return f"exit {ran.returncode}: {ran.stderr.strip()}", "failed"
    run = json.loads(ran.stdout)["runs"][0]
    return run["history_digest"], run["verdict"]


def pairs(options):
    """Returns the seeds whose two runs differ, and the number of seeds by verdict."""
    differ, verdicts = [], {}
    for seed in range(arguments.seeds):
        (first, verdict), (second, _) = digest(seed, options), digest(seed, options)
        if first != second:
            differ.append(seed)
            print(f"seed {seed}: {first} and {second}", file=sys.stderr, flush=True)
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    return differ, verdicts


def main():
    differences = 0
    print("| servers | options | seeds | verdicts | seeds whose two runs differ |")
    print("| --- | --- | ---: | --- | --- |")
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "-d", classes, "examples/programs/Plain.java"], check=True)
        for what, options in ROWS:
            if not re.search(arguments.only, what):
                continue
            words = [word.replace("\\ ", " ").replace("{classes}", classes) for word in re.split(r"(?<!\\) ", options)]
            differ, verdicts = pairs(words)
            differences += len(differ)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
            shown = options.replace("\\ ", " ")
            cells = (what, f"`{shown}`", str(arguments.seeds), counts, ", ".join(map(str, differ)) or "none")
            print("|", " | ".join(cells), "|", flush=True)
    return 1 if differences else 0


sys.exit(main())
