# redis-py's asyncio Lock without a lease, whose release has a deadline: see docs/known-bugs.md.
import asyncio
import os

import redis.asyncio
from redis.exceptions import LockError, RedisError


async def release(lock, was_cancelled=False):
    """Tries until the lock is released, or is no longer its own; false if that cannot be told."""
    while True:
        try:
            await asyncio.wait_for(lock.release(), 0.003)
            return True
        except LockError:
            return not was_cancelled
        except (asyncio.TimeoutError, RedisError):
            was_cancelled = True


async def main():
    connect = redis.asyncio.Redis.from_url
    lock_server = connect(os.environ["FENCEPOST_REDIS"])
    storage = connect(os.environ["FENCEPOST_STORAGE"], socket_timeout=None)
    judge = connect(os.environ["FENCEPOST_JUDGE"], socket_timeout=None)
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        lock = lock_server.lock(os.environ["FENCEPOST_LOCK"])
        await judge.execute_command("ACQUIRING", "orders")
        await lock.acquire()
        hold_ms = await judge.execute_command("ACQUIRED", "orders")
        value = int(await storage.get("orders") or 0)
        await asyncio.sleep(hold_ms / 1000)
        await storage.set("orders", value + 1)
        await judge.execute_command("RELEASING", "orders")
        if not await release(lock):
            await judge.execute_command("UNKNOWN", "orders")
        await judge.execute_command("RELEASED", "orders")


asyncio.run(main())
