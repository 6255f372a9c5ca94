#!/usr/bin/env python3
"""Kills and resumes a sweep again and again. The final result must be that of a sweep that was
never killed. After every kill, the script flips one bit in a copy of the checkpoint. fencepost
must refuse to resume from the copy, or give the same result."""

import random
import subprocess
import tempfile
import time
from pathlib import Path

from common import PROGRAM, arguments, is_time_left, result, run, tell

sizes = arguments(
    __doc__,
    rounds=(1_000, "how many times a sweep is killed"),
    seeds=(300, "how many seeds it has"),
    seed=(1, "what the dice are thrown with"),
)
dice, began = random.Random(sizes.seed), time.monotonic()
SWEEP = [
    "sweep", "--seeds", f"0..{sizes.seeds}", "--client", "single-node", "--fault", "pause,restart",
    "--cycles", "3", "--quiet", "--no-shrink", "--format", "json", "--checkpoint-every", "0s",
]


def go_on(checkpoint):
    return run(*SWEEP, "--checkpoint", checkpoint, "--resume")


def corrupt(checkpoint, copy):
    """Makes a copy with one flipped bit."""
    content = bytearray(checkpoint.read_bytes())
    bit = dice.randrange(len(content) * 8)
    content[bit // 8] ^= 1 << (bit % 8)
    copy.write_bytes(content)
    return bit


started = time.monotonic()
status, out, _ = run(*SWEEP)
took = time.monotonic() - started
whole, failures = (status, result(out)), []
killed = ended = refused = same = 0
with tempfile.TemporaryDirectory() as folder:
    checkpoint, copy = Path(folder, "at"), Path(folder, "corrupt")
    while killed < sizes.rounds and len(failures) < 20 and is_time_left(sizes, began):
        printed = Path(folder, "printed")
        with printed.open("wb") as stdout:
            child = subprocess.Popen(
                [PROGRAM, *SWEEP, "--checkpoint", checkpoint, "--resume"],
                stdout=stdout, stderr=subprocess.DEVNULL,
            )
        while not checkpoint.exists() and child.poll() is None:
            time.sleep(0.001)
        try:
            status = child.wait(timeout=dice.uniform(0, took / 2))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        else:
            # The sweep has finished, with the work of many killed processes.
            if (status, result(printed.read_bytes())) != whole:
                failures.append(f"after {killed} kills it ends with another result")
            checkpoint.unlink(missing_ok=True)
            ended += 1
            continue
        killed += 1
        bit = corrupt(checkpoint, copy)
        status, out, err = go_on(copy)
        if status == 2 and not out and err.count(b"\n") == 1 and b"internal error" not in err:
            refused += 1
        elif (status, result(out) if out else None) == whole:
            same += 1
        else:
            failures.append(f"round {killed}: bit {bit} gives status {status}, another result")
        if dice.random() < 0.1:
            status, out, err = go_on(checkpoint)
            if (status, result(out) if out else None) != whole:
                failures.append(f"round {killed}: resumed, it gives another result: {err}")
            checkpoint.unlink(missing_ok=True)
            ended += 1
        left = [file.name for file in Path(folder).iterdir() if file.name.startswith(".tmp")]
        if len(left) > 1:
            failures.append(f"round {killed}: left half-written: {left}")
tell(
    "resume", began, failures, kills=f"{killed} of {sizes.rounds}", sweeps_ended=ended, corrupted_refused=refused,
    corrupted_same_result=same,
)
