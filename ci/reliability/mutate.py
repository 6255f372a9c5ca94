#!/usr/bin/env python3
"""Changes files of every kind and passes them to the command that reads them. No changed file may
crash or hang the program, or make it print more than one line of error."""

import json
import random
import re
import tempfile
import time
from pathlib import Path

from common import arguments, is_time_left, run, tell

sizes = arguments(
    __doc__,
    files=(10_000, "how many mutated files"),
    seed=(1, "what the dice are thrown with"),
)
dice, began = random.Random(sizes.seed), time.monotonic()
SMALL = ["--client", "single-node", "--fault", "pause", "--cycles", "2", "--processes", "2"]
NUMBERS = [b"0", b"-1", b"1e400", b"18446744073709551615", b"18446744073709551616", b"0.1", b"null"]
TEXTS = [b"\\u0000", b"\x1b[2J", b"\xff", b"\xe2\x80\xae", b"<script>", b"\n", b"A" * 70_000, b"[" * 200]


def corpus(folder):
    """Returns each file with the arguments of the command that reads it."""
    def written(name, *words):
        path = Path(folder, name)
        path.write_bytes(run(*words)[1])
        return path
    history = written("with-history.json", "run", "--seed", 6, *SMALL, "--format", "json", "--with-history")
    slice_ = written("slice.json", "sweep", "--seeds", "0..20", *SMALL, "--quiet", "--format", "json")
    report = written("report.json", "run", "--seed", 6, *SMALL, "--format", "json")
    bare = Path(folder, "history.json")
    bare.write_text(json.dumps(json.loads(history.read_bytes())["runs"][0]["history"]))
    checkpoint = Path(folder, "checkpoint")
    run("sweep", "--seeds", "0..20", *SMALL, "--quiet", "--no-shrink", "--checkpoint", checkpoint)

    def unsealed(path):
        """Removes the checksum, because it would detect nearly every change before anything else
        reads the file."""
        document = json.loads(path.read_bytes())
        del document["checksum"]
        copy = path.with_name("unsealed-" + path.name)
        copy.write_text(json.dumps(document))
        return copy

    matrix = written("matrix.json", "matrix", "--from", slice_, "--format", "json")
    scenario = Path(folder, "scenario.toml")
    scenario.write_text('ttl = "9s"\nprocesses = 2\ncycles = 2\nhold = "10ms..1s"\nlatency = "1ms..2ms"\n')
    expect = Path(folder, "expect.toml")
    expect.write_text("[single-node]\nnone = 'safe'\npause = { violates = ['overlap'], may = ['lost-update'] }\n")
    return [
        (report, lambda at: ["replay", at]),
        (history, lambda at: ["replay", at, "--minimal"]),
        (bare, lambda at: ["check", at]),
        (slice_, lambda at: ["merge", at, "--partial"]),
        (unsealed(slice_), lambda at: ["merge", at, "--partial"]),
        (unsealed(slice_), lambda at: ["merge", at, "--format", "html"]),
        (unsealed(slice_), lambda at: ["matrix", "--from", at]),
        (unsealed(checkpoint), lambda at: ["sweep", "--seeds", "0..20", *SMALL, "--quiet", "--no-shrink", "--checkpoint", at, "--resume"]),
        (matrix, lambda at: ["matrix", "--from", slice_, "--check", at]),
        (checkpoint, lambda at: ["sweep", "--seeds", "0..20", *SMALL, "--quiet", "--no-shrink", "--checkpoint", at, "--resume"]),
        (scenario, lambda at: ["run", "--scenario", at, *SMALL[:4]]),
        (expect, lambda at: ["sweep", "--seeds", "0..1", *SMALL, "--quiet", "--no-shrink", "--expect", at]),
    ]


def mutated(content):
    """Makes one to three changes to bits, pieces, numbers or strings."""
    content = bytearray(content)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        at = dice.randrange(len(content) + 1)
        kind = dice.randrange(7)
        if kind == 0 and content:
            content[at % len(content)] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del content[at:at + dice.choice([1, 2, 10, 1000])]
        elif kind == 2:
            content[at:at] = content[at:at + dice.choice([1, 10, 500])]
        elif kind == 3:
            content[at:at] = dice.choice(TEXTS)
        elif kind == 4:
            del content[at:]
        else:
            found = list(re.finditer(rb'-?\d+' if kind == 5 else rb'"[^"]*"', content))
            if found:
                place = dice.choice(found)
                new = dice.choice(NUMBERS) if kind == 5 else b'"' + dice.choice(TEXTS) + b'"'
                content[place.start():place.end()] = new
    return bytes(content)


def wrong(status, out, err):
    """Returns what is wrong with an answer, or None."""
    if status not in (0, 1, 2, 3):
        return f"status {status}"
    if b"panicked" in err or b"internal error" in err or b"overflow" in err and status == 101:
        return "it panicked"
    errors = [line for line in err.splitlines() if line.startswith(b"error:")]
    if status == 2 and (len(errors) != 1 or out):
        return f"{len(errors)} lines of error, {len(out)} bytes of output"
    if any(len(line) > 8_000 for line in err.splitlines()):
        return "an error of more than 2,000 characters"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", err):
        return "a control character on stderr"
    return None


failures, answers = [], {}
with tempfile.TemporaryDirectory() as folder:
    kinds = corpus(folder)
    for path, words in kinds:
        status, _, err = run(*words(path))
        if status == 2:
            failures.append(f"{path.name} is refused as it is: {err.decode(errors='replace')}")
    kept = Path("mutated")
    tried = 0
    for number in range(sizes.files):
        if not is_time_left(sizes, began):
            break
        tried += 1
        path, words = kinds[number % len(kinds)]
        changed = Path(folder, "changed" + path.suffix)
        changed.write_bytes(mutated(path.read_bytes()))
        try:
            status, out, err = run(*words(changed), timeout=60)
            why = wrong(status, out, err)
        except Exception as error:
            status, why = "none", f"no end: {error}"
        answers[status] = answers.get(status, 0) + 1
        if why:
            kept.mkdir(exist_ok=True)
            (kept / f"{number}-{path.name}").write_bytes(changed.read_bytes())
            failures.append(f"{number}: {' '.join(map(str, words(path.name)))}: {why}; see mutated/{number}-{path.name}")
told = ", ".join(f"{count} with {status}" for status, count in sorted(answers.items(), key=str))
tell("mutate", began, failures, files=f"{tried} of {sizes.files}", seed=sizes.seed, answers=f"({told})")
