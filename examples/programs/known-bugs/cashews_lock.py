# cashews' lock: see docs/known-bugs.md.
import asyncio
import os

import redis.asyncio
from cashews import Cache


async def main():
    storage = redis.asyncio.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
    judge = redis.asyncio.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
    cache = Cache()
    cache.setup(os.environ["FENCEPOST_REDIS"])
    name = os.environ["FENCEPOST_LOCK"]
    ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        await judge.execute_command("ACQUIRING", "orders")
        async with cache.lock(name, expire=ttl, check_interval=0.1):
            hold_ms = await judge.execute_command("ACQUIRED", "orders")
            value = int(await storage.get("orders") or 0)
            await asyncio.sleep(hold_ms / 1000)
            await storage.set("orders", value + 1)
            await judge.execute_command("RELEASING", "orders")
        await judge.execute_command("RELEASED", "orders")


asyncio.run(main())
