#!/usr/bin/env python3
"""Makes the last column of docs/sources.md and docs/spring-integration.md again.

Each row of the tables in these files names the options of a sweep over the seeds 0..100. The last
column counts the runs that broke each rule. Without options, the script only compares, and exits
with 1 if a row differs. With --write, it writes the files. FENCEPOST names the program.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "docs" / "sources.md", ROOT / "docs" / "spring-integration.md"]
PROGRAM = os.environ.get("FENCEPOST", ROOT / "target" / "debug" / "fencepost")
ROW = re.compile(r"^(\| .* \| `(--client [^`]*)` \|)(.*)\|$")


def found(options):
    """Returns the rules that the runs of a sweep broke, the most frequent first."""
    command = [PROGRAM, "sweep", "--seeds", "0..100", "--no-shrink", "--quiet", "--format", "json"]
    done = subprocess.run(command + shlex.split(options), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{options}: {done.stderr.strip()}")
    (cell,) = json.loads(done.stdout)["cells"]
    runs = cell["runs"] - cell["unknown"]
    kinds = sorted(cell["violations_by_kind"].items(), key=lambda kind: -kind[1])
    if not kinds:
        return f"none in {runs}"
    return ", ".join(f"{kind} {count}" for kind, count in kinds) + f" of {runs}"


def again(page):
    """Returns the lines of a page with a new last column."""
    rows = ((line, ROW.match(line)) for line in page.read_text().splitlines())
    return [f"{row[1]} {found(row[2])} |" if row else line for line, row in rows]


def main():
    changed = False
    for page in PAGES:
        lines = again(page)
        for was, now in zip(page.read_text().splitlines(), lines):
            if was != now:
                changed = True
                print(f"- {was}\n+ {now}")
        if sys.argv[1:] == ["--write"]:
            page.write_text("\n".join(lines) + "\n")
    sys.exit(1 if changed and sys.argv[1:] != ["--write"] else 0)


if __name__ == "__main__":
    main()
