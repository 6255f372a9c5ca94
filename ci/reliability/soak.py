#!/usr/bin/env python3
"""Runs `fencepost serve` under many connections at the same time: ordinary ones, whose replies are
checked, slow readers, which read only a small part of each reply, and some that send half of a
request and leave. The memory must not grow: in the last third of the time, the server may use at
most a tenth and 16 MiB more than in the second third."""

import asyncio
import random
import subprocess
import time

from common import PROGRAM, arguments, tell

sizes = arguments(
    __doc__,
    seconds=(600, "how long"),
    connections=(1_000, "how many at once; a tenth of them slow readers, a tenth half-sent requests"),
    seed=(1, "what the dice are thrown with"),
)
dice, began = random.Random(sizes.seed), time.monotonic()
figures = {"commands": 0, "half_sent": 0, "slow_bytes": 0}
failures = []
end = began + sizes.seconds


def encode(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


async def ordinary(port, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = f"key-{number % 50}-{number}"
    count = 0
    while time.monotonic() < end:
        count += 1
        writer.write(encode("SET", key, count, "PX", "60000") + encode("GET", key)
                     + encode("EVAL", "return redis.call('INCRBY', KEYS[1], 0)", 1, key)
                     + encode("ZADD", "board", count % 100, f"m{number}"))
        text = str(count).encode()
        expected = b"+OK\r\n$%d\r\n%s\r\n:%s\r\n" % (len(text), text, text)
        got = await reader.readexactly(len(expected) + 4)
        if not got.startswith(expected):
            failures.append(f"connection {number} got {got!r}")
            return
        figures["commands"] += 4
        await asyncio.sleep(dice.uniform(0, 0.2))
    writer.close()


async def slow(port, number):
    """Requests 64 kB again and again, and reads only 4 kB each time."""
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
        for _ in range(dice.randrange(5, 30)):
            writer.write(encode("GET", "large"))
            figures["slow_bytes"] += len(await reader.read(4096))
            await asyncio.sleep(dice.uniform(0.05, 0.3))
        writer.transport.abort()


async def half(port, number):
    while time.monotonic() < end:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        whole = encode("SET", "half", b"x" * dice.randrange(1, 30_000))
        writer.write(whole[:dice.randrange(1, len(whole))])
        figures["half_sent"] += 1
        await asyncio.sleep(dice.uniform(0, 1))
        writer.transport.abort() if dice.random() < 0.5 else writer.close()


def held(process):
    """Returns the memory of the server in MiB."""
    with open(f"/proc/{process.pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def watch(process, samples):
    while time.monotonic() < end:
        if process.poll() is not None:
            failures.append(f"the server ended with {process.returncode}")
            return
        samples.append(held(process))
        await asyncio.sleep(min(2, sizes.seconds / 60))


async def main(process, port, samples):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(encode("SET", "large", b"x" * 65_536))
    await reader.readline()
    tenth = sizes.connections // 10
    kinds = [slow] * tenth + [half] * tenth + [ordinary] * (sizes.connections - 2 * tenth)
    tasks = [kind(port, number) for number, kind in enumerate(kinds)]
    for done in await asyncio.gather(watch(process, samples), *tasks, return_exceptions=True):
        if isinstance(done, Exception) and len(failures) < 20:
            failures.append(f"{type(done).__name__}: {done}")


process = subprocess.Popen(
    [PROGRAM, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True,
)
samples = []
try:
    port = int(process.stdout.readline().strip().rsplit(":", 1)[1])
    asyncio.run(main(process, port, samples))
finally:
    process.terminate()
    process.wait()
third = len(samples) // 3
before, after = max(samples[third:2 * third], default=0), max(samples[2 * third:], default=0)
if after > before * 1.1 + 16:
    failures.append(f"memory grew from {before:.0f} to {after:.0f} MiB")
tell(
    "soak", began, failures, seconds=sizes.seconds, connections=sizes.connections,
    **figures, MiB_first=f"{max(samples[:third], default=0):.0f}", MiB_second=f"{before:.0f}", MiB_last=f"{after:.0f}",
)
