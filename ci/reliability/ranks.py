#!/usr/bin/env python3
"""Measures ZADD and ZRANK on a large sorted set, with 150,000 members, in `fencepost serve` and in
a real redis-server, and prints the ratio of the times. The script sets no limit on the ratio. Run
it on a machine without other load."""

import random
import shutil
import socket
import subprocess
import tempfile
import time

from common import PROGRAM, arguments, tell

sizes = arguments(
    __doc__,
    members=(150_000, "how many members there are at first"),
    commands=(50_000, "how many of each command are timed"),
    rounds=(3, "how many times each server is asked; the fastest counts"),
    seed=(1, "what the dice are thrown with"),
)
began = time.monotonic()


def encode(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def ask(stream, requests):
    """Sends the requests a thousand at a time, and waits for their replies of one line each."""
    for at in range(0, len(requests), 1_000):
        batch = requests[at:at + 1_000]
        stream.sendall(b"".join(batch))
        lines = 0
        while lines < len(batch):
            lines += stream.recv(1 << 16).count(b"\n")


def timed(port):
    dice, stream = random.Random(sizes.seed), socket.create_connection(("127.0.0.1", port))
    score = lambda: b"%d" % dice.randrange(10**9)
    ask(stream, [encode(b"DEL", b"board")])
    ask(stream, [encode(b"ZADD", b"board", score(), b"m%d" % number) for number in range(sizes.members)])
    name = lambda: b"m%d" % dice.randrange(sizes.members)
    took = []
    for requests in (
        [encode(b"ZADD", b"board", score(), name()) for _ in range(sizes.commands)],
        [encode(b"ZRANK", b"board", name()) for _ in range(sizes.commands)],
    ):
        start = time.monotonic()
        ask(stream, requests)
        took.append(time.monotonic() - start)
    return took


def fastest(port):
    return [min(times) for times in zip(*(timed(port) for _ in range(sizes.rounds)))]


if not shutil.which("redis-server"):
    raise SystemExit("redis-server is wanted")
folder = tempfile.mkdtemp()
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
real = subprocess.Popen(
    ["redis-server", "--port", str(port), "--save", "", "--dir", folder], stdout=subprocess.DEVNULL,
)
ours = subprocess.Popen([PROGRAM, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
try:
    own = int(ours.stdout.readline().strip().rsplit(":", 1)[1])
    zadd, zrank = fastest(own)
    real_zadd, real_zrank = fastest(port)
finally:
    for process in (real, ours):
        process.terminate()
        process.wait()
    shutil.rmtree(folder)
tell(
    "ranks", began, [], members=sizes.members, commands=sizes.commands,
    ZADD=f"{zadd:.2f} s ({zadd / real_zadd:.1f} times real)",
    ZRANK=f"{zrank:.2f} s ({zrank / real_zrank:.1f} times real)",
)
