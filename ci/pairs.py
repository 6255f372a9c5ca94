#!/usr/bin/env python3
"""Runs each seed twice against real servers, compares the two runs, and prints a Markdown table.

`fencepost run` runs the seed twice and compares the system calls of the servers and programs and the
events of the histories. Every tenth seed also runs in a second process, and the digests of the
histories must be equal. The exit status is 1 if two runs differ or if a run fails: if fencepost
reports an error, or if a server or program ends unexpectedly. `{classes}` in a row stands for a
folder with the compiled examples/programs/Plain.java.

    ci/pairs.py [--seeds 100] [--from 0] [--only REGEX] [--program target/release/fencepost]
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seeds", type=int, default=100, help="seeds per row [100]")
parser.add_argument("--from", type=int, default=0, dest="first", help="first seed [0]")
parser.add_argument("--only", default="", help="run only the rows that match this pattern")
parser.add_argument("--program", default="target/release/fencepost")
arguments = parser.parse_args()

ROWS = [
    ("Redis", "--client single-node --fault restart --cycles 6"),
    ("memcached", "--client memcached-add --fault pause --cycles 6"),
    ("PostgreSQL", "--client pg-advisory --fault restart --cycles 4"),
    ("MariaDB", "--client mysql-get-lock --fault restart --cycles 6"),
    ("ZooKeeper", "--client curator-mutex --fault pause --set ensemble=1 --cycles 6"),
    ("etcd", "--client etcd-mutex --fault pause --set ensemble=1 --cycles 2"),
    ("Redis, a Java worker", "--program plain=java\\ -cp\\ {classes}\\ Plain --fault restart --cycles 4"),
]
SECOND_PROCESS_EVERY = 10
# A run with one of these reasons did not exercise the lock. A run with another reason failed.
NOT_EXERCISED = re.compile("acquired the lock;|no fault began while|fault began; use|the plan has no")


class Failed(Exception):
    """A run that did not end normally."""


def run(seed, options):
    """Returns the report of a run."""
    words = [arguments.program, "run", "--seed", str(seed), *options, "--engine", "fast", "--servers", "real",
             "--no-shrink", "--format", "json"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1, 3):
        raise Failed(f"exit status {ran.returncode}: {ran.stderr.strip()}")
    report = json.loads(ran.stdout)["runs"][0]
    if report["verdict"] == "unknown" and not NOT_EXERCISED.search(report["reason"]):
        raise Failed(report["reason"])
    return report


def difference(seed, options, report):
    """Returns how the runs of a seed differ, or None."""
    if report.get("not_reproducible"):
        return report["not_reproducible"]
    if seed % SECOND_PROCESS_EVERY == 0:
        one, other = report["history_digest"], run(seed, options)["history_digest"]
        if one != other:
            return f"digests {one} and {other} in two processes"
    return None


def pairs(options):
    """Returns the number of seeds by verdict, and the seeds whose runs differ or fail."""
    verdicts, differ, failed = collections.Counter(), [], []
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        try:
            report = run(seed, options)
            verdicts[report["verdict"]] += 1
            how = difference(seed, options, report)
            if how:
                differ.append(seed)
        except Failed as error:
            failed.append(seed)
            how = f"failed: {error}"
        if how:
            print(f"seed {seed}: {how}", file=sys.stderr, flush=True)
    return verdicts, differ, failed


def main():
    """Prints the table, and returns the exit status."""
    bad = 0
    print("| servers | options | seeds | verdicts | seeds whose runs differ | seeds whose runs fail |")
    print("| --- | --- | ---: | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "-d", classes, "examples/programs/Plain.java"], check=True)
        for what, options in ROWS:
            if not re.search(arguments.only, what):
                continue
            words = [word.replace("\\ ", " ").replace("{classes}", classes) for word in re.split(r"(?<!\\) ", options)]
            verdicts, differ, failed = pairs(words)
            bad += len(differ) + len(failed)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
            lists = (", ".join(map(str, seeds)) or "none" for seeds in (differ, failed))
            shown = options.replace("\\ ", " ")
            print("|", " | ".join((what, f"`{shown}`", str(arguments.seeds), counts, *lists)), "|", flush=True)
    return 1 if bad else 0


sys.exit(main())
