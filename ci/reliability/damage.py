#!/usr/bin/env python3
"""Damages the data folders of served coordinators: flips a bit, cuts off the end, or repeats a
piece of one file. A server must either refuse the folder with one line of error, or start with the
first of the acknowledged writes and print a warning if the last ones are missing. Redis's
append-only file has no checksum, so unless its end is cut off, the server only has to refuse it or
to answer."""

import random
import shutil
import tempfile
import time
from pathlib import Path

from common import arguments, is_time_left, tell
from coordinators import Etcd, MySql, PostgreSql, Redis, Served, ZooKeeper

sizes = arguments(
    __doc__,
    folders=(1_000, "how many damaged folders"),
    seed=(1, "what the dice are thrown with"),
)
dice, began = random.Random(sizes.seed), time.monotonic()
WRITES = 50


KINDS = [
    ("redis, RDB", Redis, ["--persistence", "rdb"]),
    ("redis, AOF", Redis, ["--persistence", "aof-always"]),
    ("zookeeper", ZooKeeper, ["--coordinator", "zookeeper"]),
    ("postgresql", PostgreSql, ["--coordinator", "postgresql"]),
    ("mysql", MySql, ["--coordinator", "mysql"]),
    ("etcd", Etcd, ["--coordinator", "etcd"]),
]


def filled(client, words, folder):
    served = Served(words, folder)
    assert served.port, served.said()
    connection = client(served.port)
    for number in range(1, WRITES + 1):
        connection.write(number)
    connection.finish()
    assert connection.found() == list(range(1, WRITES + 1))
    assert served.stop() in (0, 143), served.said()


def damage(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    files = [path for path in files if path.name != "lock"]
    path = dice.choice(files)
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data))
    how = dice.choice(["flip", "flip", "flip", "cut", "repeat"])
    if how == "flip":
        data[at] ^= 1 << dice.randrange(8)
    elif how == "cut":
        del data[at:]
    else:
        data[at:at] = data[at : at + dice.choice([1, 16, 300])]
    path.write_bytes(data)
    return f"{how} at {at} of {path.relative_to(folder)}"


def wrong(client, words, folder, is_cut, has_checksums):
    """Returns what is wrong with the server on this folder, or None, and what it did with the
    folder."""
    served = Served(words, folder)
    try:
        said = served.said()
        if served.port is None:
            status = served.process.returncode
            is_told = said.startswith("error: ") and "internal error" not in said
            if status != 2 or said.count("\n") != 1 or not is_told:
                return f"status {status}: {said[:300]!r}", "refused"
            return None, "refused"
        found = client(served.port).found()
        if not has_checksums:
            return None, "started"
        if found != list(range(1, len(found) + 1)):
            return f"writes are missing before the last one: {found}", "started"
        # A server cannot detect that a file was cut between two records.
        if len(found) < WRITES and "warning: " not in said and not is_cut:
            return f"only {len(found)} of {WRITES} writes, and not a word", "shortened"
        return None, "started whole" if len(found) == WRITES else "shortened"
    except OSError as error:
        return f"it started and does not answer: {error}", "started"
    finally:
        status = served.stop()
        if status not in (0, 2, 143):
            return f"status {status}: {served.said()[-300:]!r}", "ended"


failures, answers, tried = [], {}, 0
with tempfile.TemporaryDirectory() as place:
    for name, client, words in KINDS:
        filled(client, words, Path(place, name))
    for number in range(sizes.folders):
        if not is_time_left(sizes, began):
            break
        tried += 1
        name, client, words = KINDS[number % len(KINDS)]
        copy = Path(place, "damaged")
        shutil.copytree(Path(place, name), copy)
        what = damage(copy)
        is_cut = what.startswith("cut")
        problem, taken = wrong(client, words, copy, is_cut, is_cut or name != "redis, AOF")
        answers[taken] = answers.get(taken, 0) + 1
        if problem:
            failures.append(f"{name}: {what}: {problem}")
        shutil.rmtree(copy)
told = ", ".join(f"{count} {taken}" for taken, count in sorted(answers.items()))
tell("damage", began, failures, folders=f"{tried} of {sizes.folders}", seed=sizes.seed, answers=f"({told})")
