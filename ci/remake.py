#!/usr/bin/env python3
"""Makes published data again after a verdict has changed. FENCEPOST names the program, built in the
test or release profile.

    ci/remake.py rows LOCK...      runs these locks and replaces their rows of the matrix
    ci/remake.py rows all          runs every lock (takes hours)
    ci/remake.py available LOCK... does the same for docs/data/availability.json
    ci/remake.py pages             writes every page that is made from data, and the gallery
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("FENCEPOST", ROOT / "target" / "debug" / "fencepost")
KINDS = {"rows": ("matrix", []), "available": ("availability", ["--kind", "unavailable", "--availability", "5s"])}


def run(*words):
    done = subprocess.run([PROGRAM, *words], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"fencepost {' '.join(words)}: exit status {done.returncode}")
    return done.stdout


def write(path, content):
    """Replaces a file atomically."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as draft:
        draft.write(content)
    os.chmod(draft.name, 0o644)
    os.replace(draft.name, path)


def remake_rows(name, words, locks):
    path = ROOT / "docs" / "data" / f"{name}.json"
    published = json.loads(path.read_bytes())
    known = list(dict.fromkeys(cell["client"] for cell in published["cells"]))
    every = [lock["name"] for lock in json.loads(run("list", "clients", "--format", "json"))]
    locks = every if locks == ["all"] else locks
    if unknown := [lock for lock in locks if lock not in every]:
        sys.exit(f"unknown lock '{unknown[0]}': expected a name that `fencepost list clients` shows")
    seeds = f"{published['seeds']['from']}..{published['seeds']['to']}"
    rows = {lock: [cell for cell in published["cells"] if cell["client"] == lock] for lock in known}
    for lock in locks:
        made = run("matrix", "--client", lock, "--seeds", seeds, "--format", "json", "--quiet", *words)
        rows[lock] = json.loads(made)["cells"]
        print(f"{lock}: {sum(cell['violated'] > 0 for cell in rows[lock])} of {len(rows[lock])} cells broke", file=sys.stderr)
        # Writes the finished rows now, so that they are kept if the script is interrupted.
        published["cells"] = [cell for name in every if name in rows for cell in rows[name]]
        write(path, json.dumps(published, indent=2, ensure_ascii=False).encode() + b"\n")
    remake_page(name)


def remake_page(name):
    page = run("matrix", "--from", f"docs/data/{name}.json", "--format", "markdown")
    write(ROOT / "docs" / f"{name}.md", page)


def main():
    match sys.argv[1:]:
        case [("rows" | "available") as kind, _, *_]:
            name, words = KINDS[kind]
            remake_rows(name, words, sys.argv[2:])
        case ["pages"]:
            remake_page("matrix")
            remake_page("availability")
            run("gallery", "--out", "docs/gallery")
            subprocess.run([ROOT / "ci" / "which-lock.py", "--write"], check=True)
        case _:
            sys.exit(__doc__)


main()
