#!/usr/bin/env python3
"""Runs the same seeds of `all` with one thread and with several threads. The results must be equal,
except for measurements. Runs slice by slice, so that the compared slices count if time runs out."""

import time

from common import arguments, is_time_left, result, run, tell

sizes = arguments(
    __doc__,
    seeds=(1_000_000, "how many seeds"),
    slice=(10_000, "how many of them at a time"),
    first=(0, "the first seed"),
    cycles=(20, "how many cycles each process has"),
    jobs=(2, "how many threads the second time"),
    client=("single-node", "which locks"),
)
began = time.monotonic()
failures, runs, violated, first = [], 0, 0, sizes.first
last = sizes.first + sizes.seeds


def swept(seeds, jobs):
    status, out, err = run(
        "sweep", "--seeds", seeds, "--fault", "all", "--client", sizes.client, "--cycles", sizes.cycles,
        "--jobs", jobs, "--no-shrink", "--quiet", "--format", "json",
    )
    if status not in (0, 1, 3):
        failures.append(f"{seeds}, --jobs {jobs}: status {status}: {err.decode(errors='replace')}")
        return None
    return result(out)


while first < last and len(failures) < 20 and is_time_left(sizes, began):
    end = min(first + sizes.slice, last)
    one, several = swept(f"{first}..{end}", 1), swept(f"{first}..{end}", sizes.jobs)
    if one and several:
        if one != several:
            failures.append(f"{first}..{end}: --jobs 1 and --jobs {sizes.jobs} differ")
        runs += 2 * sum(cell["runs"] for cell in one["cells"])
        violated += sum(cell["violated"] for cell in one["cells"])
    first = end
tell(
    "seeds", began, failures, seeds=f"{first - sizes.first} of {sizes.seeds}", jobs=f"1 and {sizes.jobs}",
    runs=runs, violated=violated,
)
