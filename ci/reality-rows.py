#!/usr/bin/env python3
"""Plays the anomalies of docs/anomalies.md against real servers, prints a Markdown table, and counts
the results. For each row, `fencepost reality` takes the first violation with the row's lock, faults
and settings. Rows of Chubby and GemFire have no real server.

    ci/reality-rows.py [--only REGEX] [--program target/release/fencepost] [--seconds 600]
"""

import argparse
import collections
import json
import re
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--only", default="", help="play only the rows that match this pattern")
parser.add_argument("--program", default="target/release/fencepost")
parser.add_argument("--seconds", type=int, default=600, help="time limit of a row [600]")
arguments = parser.parse_args()

NAMES = {"same": "the same violation", "same-in-whole-run": "the same violation in the whole run",
         "another": "another violation", "none": "no violation", "cannot-be-played": "cannot be played"}


def rows():
    """Returns the name, lock, faults, settings and tested seeds of each row."""
    with open("docs/anomalies.md", encoding="utf-8") as page:
        text = page.read().split("## Plans written by hand")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 10 and re.fullmatch(r"[A-Z]\d+", cells[0]):
            yield cells[0], cells[1], cells[2], cells[3].split(), cells[9]


def played(lock, fault, settings, seeds):
    """Returns the seed, the violation, the number of faults and the result on real servers."""
    words = [arguments.program, "reality", "--client", lock, "--fault", fault, "--seeds", f"0..{seeds}",
             "--format", "json", *(word for setting in settings for word in ("--set", setting))]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=arguments.seconds)
    except subprocess.TimeoutExpired:
        return "", "", "", f"does not end within {arguments.seconds} s"
    if ran.returncode not in (0, 1):
        return "", "", "", ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else "no violation is simulated"
    row = json.loads(ran.stdout)["rows"][0]
    real = row["real"]
    result = NAMES[real["outcome"]]
    if real["outcome"] == "another":
        result += f": {real['kind']} by {real['cause']}"
    elif real["outcome"] == "cannot-be-played":
        result += f" ({real['why']})"
    return row["seed"], f"{row['kind']} by {row['cause']}", str(row["faults"]), result


print("| row | lock | fault | settings | seed | simulated servers | faults | real servers |")
print("| --- | --- | --- | --- | ---: | --- | ---: | --- |")
counts = collections.Counter()
for name, lock, fault, settings, seeds in rows():
    if not re.search(arguments.only, f"{name} {lock} {fault}") or re.match("chubby|gemfire", lock):
        continue
    seed, simulated, faults, result = played(lock, fault, settings, seeds)
    counts[result.split(":")[0]] += 1
    print("|", " | ".join([name, lock, fault, " ".join(settings), seed, simulated, faults, result]), "|", flush=True)
print()
print(f"{sum(counts.values())} rows: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()) + ".")
sys.exit(0 if all(what.startswith("the same") for what in counts) else 1)
