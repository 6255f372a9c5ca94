#!/usr/bin/env python3
"""The same seeds of `all` twice, with one thread and with several: the sums must be equal, but for
what is measured."""

import time

from common import arguments, result, run, tell

sizes = arguments(
    __doc__,
    seeds=(1_000_000, "how many seeds"),
    jobs=(2, "how many threads the second time"),
    client=("single-node", "which locks"),
)
began = time.monotonic()
sums, failures = [], []
for jobs in (1, sizes.jobs):
    status, out, err = run(
        "sweep", "--seeds", f"0..{sizes.seeds}", "--fault", "all", "--client", sizes.client,
        "--jobs", jobs, "--no-shrink", "--quiet", "--format", "json",
    )
    if status not in (0, 1, 3):
        failures.append(f"--jobs {jobs} ends with {status}: {err.decode(errors='replace')}")
        tell("seeds", began, failures, seeds=sizes.seeds)
    sums.append(result(out))
if sums[0] != sums[1]:
    failures.append(f"--jobs 1 and --jobs {sizes.jobs} differ")
cells = sums[0]["cells"]
tell(
    "seeds", began, failures, seeds=sizes.seeds, jobs=f"1 and {sizes.jobs}",
    runs=2 * sum(cell["runs"] for cell in cells), violated=sum(cell["violated"] for cell in cells),
)
