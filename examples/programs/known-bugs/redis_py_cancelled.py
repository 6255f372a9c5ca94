# redis-py's asyncio client, whose commands have a deadline: see docs/known-bugs.md.
import asyncio
import os

import redis.asyncio
from redis.exceptions import LockError


async def main():
    connect = redis.asyncio.Redis.from_url
    lock_server = connect(os.environ["FENCEPOST_REDIS"])
    pool = redis.asyncio.ConnectionPool.from_url(os.environ["FENCEPOST_STORAGE"])
    reader = redis.asyncio.Redis(connection_pool=pool, single_connection_client=True)
    storage = connect(os.environ["FENCEPOST_STORAGE"])
    judge = connect(os.environ["FENCEPOST_JUDGE"])
    ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        # What nobody needs is asked for with a deadline, before the lock is taken.
        try:
            await asyncio.wait_for(reader.get("orders"), 0.1)
        except asyncio.TimeoutError:
            pass
        lock = lock_server.lock(os.environ["FENCEPOST_LOCK"], timeout=ttl)
        await judge.execute_command("ACQUIRING", "orders")
        await lock.acquire()
        hold_ms = await judge.execute_command("ACQUIRED", "orders")
        value = int(await reader.get("orders") or 0)
        await asyncio.sleep(hold_ms / 1000)
        await storage.set("orders", value + 1)
        await judge.execute_command("RELEASING", "orders")
        try:
            await lock.release()
        except LockError:
            await judge.execute_command("LOST", "orders")
        await judge.execute_command("RELEASED", "orders")


asyncio.run(main())
