"""What the scripts of this folder share: they run the program, compare its answers and print
results."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FENCEPOST", str(ROOT / "target" / "debug" / "fencepost"))


def arguments(about, **sizes):
    """Reads the sizes of a script from the command line. The default of each is its full size."""
    parser = argparse.ArgumentParser(description=about)
    for name, (default, words) in sizes.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{words} [{default}]")
    if "seconds" not in sizes:
        about_minutes = "stop after so long, whatever is left; 0 is never [0]"
        parser.add_argument("--minutes", type=float, default=0, help=about_minutes)
    if not Path(PROGRAM).exists():
        sys.exit(f"{PROGRAM} is not there: build it, or name it in FENCEPOST")
    return parser.parse_args()


def is_time_left(sizes, began):
    """Returns whether the script should continue. What it has done before it stops counts."""
    return not sizes.minutes or time.monotonic() - began < 60 * sizes.minutes


def run(*words, **options):
    """Runs the program. Returns its status, and its two outputs as bytes."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, **options)
    return done.returncode, done.stdout, done.stderr


def without_measured(value):
    """Returns a document without measurements, which differ in every run."""
    if isinstance(value, dict):
        return {key: without_measured(member) for key, member in value.items() if key != "measured"}
    return [without_measured(item) for item in value] if isinstance(value, list) else value


def result(stdout):
    """Parses the printed JSON and removes its measurements, so that it can be compared."""
    return without_measured(json.loads(stdout))


def tell(what, began, failures, **figures):
    """Prints a line of figures and a line for each failure, and exits with the status."""
    told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
    print(f"{what}: {told}, {time.monotonic() - began:.0f} s, {len(failures)} failures", flush=True)
    for failure in failures[:20]:
        print(f"  {failure}")
    sys.exit(1 if failures else 0)
