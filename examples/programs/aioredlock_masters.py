# aioredlock over independent masters, as fencepost runs it: see docs/own-programs.md.
import asyncio
import os

import aioredis
from aioredlock import Aioredlock, LockAcquiringError, LockError, LockRuntimeError


async def main():
    masters = range(1, int(os.environ["FENCEPOST_MASTERS"]) + 1)
    urls = [os.environ[f"FENCEPOST_REDIS_{number}"] for number in masters]
    manager = Aioredlock(urls, retry_count=100)
    storage = await aioredis.create_redis(os.environ["FENCEPOST_STORAGE"])
    judge = await aioredis.create_redis(os.environ["FENCEPOST_JUDGE"])
    ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        await judge.execute("ACQUIRING", "orders")
        try:
            lock = await manager.lock(os.environ["FENCEPOST_LOCK"], lock_timeout=ttl)
        except LockError as error:
            is_known = isinstance(error, LockAcquiringError)
            await judge.execute("REFUSED" if is_known else "UNKNOWN", "orders", str(error))
            continue
        hold_ms = await judge.execute("ACQUIRED", "orders")
        value = int(await storage.get("orders") or 0)
        await asyncio.sleep(hold_ms / 1000)
        await storage.set("orders", value + 1)
        await judge.execute("RELEASING", "orders")
        try:
            await manager.unlock(lock)
        except LockError as error:
            is_lost = not isinstance(error, LockRuntimeError)
            await judge.execute("LOST" if is_lost else "UNKNOWN", "orders")
        await judge.execute("RELEASED", "orders")
    await manager.destroy()


asyncio.run(main())
