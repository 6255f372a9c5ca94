# sherlock's RedisLock, renewed in the middle of its section: see docs/known-bugs.md.
import os
import time

import redis
import sherlock

lock_server = redis.StrictRedis.from_url(os.environ["FENCEPOST_REDIS"])
storage = redis.StrictRedis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.StrictRedis.from_url(os.environ["FENCEPOST_JUDGE"])
name = os.environ["FENCEPOST_LOCK"]
ttl = int(os.environ["FENCEPOST_TTL_MS"]) // 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = sherlock.RedisLock(name, client=lock_server, expire=ttl, timeout=30)
    judge.execute_command("ACQUIRING", "orders")
    try:
        lock.acquire()
    except (sherlock.LockException, redis.exceptions.RedisError):
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 2000)
    lock.renew()
    time.sleep(hold_ms / 2000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except (sherlock.LockException, redis.exceptions.RedisError):
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
