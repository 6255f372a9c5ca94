# redis-py's asyncio Lock, as fencepost runs it: see docs/own-programs.md.
import asyncio
import os

from redis import asyncio as redis
from redis.asyncio.sentinel import Sentinel
from redis.exceptions import LockError


async def main():
    lock_server = redis.Redis.from_url(os.environ["FENCEPOST_REDIS"])
    if sentinels := os.environ.get("FENCEPOST_SENTINELS"):
        addresses = [address.split(":") for address in sentinels.split(",")]
        lock_server = Sentinel(addresses).master_for(os.environ["FENCEPOST_MASTER_NAME"])
    storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"], socket_timeout=None)
    judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"], socket_timeout=None)
    ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        lock = lock_server.lock(os.environ["FENCEPOST_LOCK"], timeout=ttl)
        await judge.execute_command("ACQUIRING", "orders")
        try:
            acquired = await lock.acquire(blocking_timeout=30)
        except redis.RedisError as error:
            await judge.execute_command("UNKNOWN", "orders", str(error))
            await asyncio.sleep(0.1)
            continue
        if not acquired:
            await judge.execute_command("REFUSED", "orders")
            continue
        hold_ms = await judge.execute_command("ACQUIRED", "orders")
        value = int(await storage.get("orders") or 0)
        await asyncio.sleep(hold_ms / 1000)
        await storage.set("orders", value + 1)
        await judge.execute_command("RELEASING", "orders")
        try:
            await lock.release()
        except LockError:
            await judge.execute_command("LOST", "orders")
        except redis.RedisError:
            await judge.execute_command("UNKNOWN", "orders")
        await judge.execute_command("RELEASED", "orders")


asyncio.run(main())
