# aiozk's Lock on ZooKeeper, with a limit to the wait: see docs/known-bugs.md.
import asyncio
import os

import aiozk
import redis.asyncio


async def main():
    connect = redis.asyncio.Redis.from_url
    storage = connect(os.environ["FENCEPOST_STORAGE"], socket_timeout=None)
    judge = connect(os.environ["FENCEPOST_JUDGE"], socket_timeout=None)
    ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
    zookeeper = aiozk.ZKClient(os.environ["FENCEPOST_ZOOKEEPER"], session_timeout=ttl)
    await zookeeper.start()
    wait = float(os.environ["WAIT"])
    for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
        await judge.execute_command("ACQUIRING", "orders")
        held = None
        while held is None:
            lock = zookeeper.recipes.Lock("/" + os.environ["FENCEPOST_LOCK"])
            try:
                held = await lock.acquire(timeout=wait)
            except Exception:
                await asyncio.sleep(0.1)
        hold_ms = await judge.execute_command("ACQUIRED", "orders")
        value = int(await storage.get("orders") or 0)
        await asyncio.sleep(hold_ms / 1000)
        await storage.set("orders", value + 1)
        await judge.execute_command("RELEASING", "orders")
        try:
            await held.__aexit__(None, None, None)
        except Exception:
            await judge.execute_command("UNKNOWN", "orders")
        await judge.execute_command("RELEASED", "orders")
    os._exit(0)


asyncio.run(main())
