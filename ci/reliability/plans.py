#!/usr/bin/env python3
"""Runs drawn plans in both engines. Every history must be the same in both, event by event, as its
digest shows. A plan is one lock under one family of faults with one seed."""

import json
import time

from common import arguments, is_time_left, run, tell

sizes = arguments(
    __doc__,
    plans=(100_000, "how many plans"),
    first=(0, "the first seed"),
    client=("single-node,redlock,fencing", "which locks"),
    cycles=(20, "how many cycles each process has"),
)
began = time.monotonic()
_, out, _ = run("list", "faults", "--format", "json")
faults = ",".join(row["name"].split(",")[0] for row in json.loads(out))
failures, compared, violated, seed = [], 0, 0, sizes.first
while compared < sizes.plans and len(failures) < 20 and is_time_left(sizes, began):
    told = []
    for engine in ("fast", "turmoil"):
        status, out, err = run(
            "run", "--seed", seed, "--client", sizes.client, "--fault", faults, "--engine", engine,
            "--cycles", sizes.cycles, "--no-shrink", "--format", "json",
        )
        if status not in (0, 1, 3):
            failures.append(f"seed {seed}, {engine}: status {status}: {err.decode(errors='replace')}")
            break
        runs = json.loads(out)["runs"]
        told.append([(one["client"], one["fault"], one["verdict"], one["history_digest"]) for one in runs])
    if len(told) == 2:
        failures += [f"seed {seed}: {one} and {other}" for one, other in zip(*told) if one != other]
        compared += len(told[0])
        violated += sum(1 for one in told[0] if one[2] == "violated")
    seed += 1
tell(
    "plans", began, failures, plans=f"{compared} of {sizes.plans}", seeds=f"{sizes.first}..{seed}", cycles=sizes.cycles,
    violated=violated,
)
