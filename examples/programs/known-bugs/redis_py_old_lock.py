# The lock that redis-py's client makes, as versions before 2.10 have it: see docs/known-bugs.md.
import os
import time

import redis

lock_server = redis.StrictRedis.from_url(os.environ["FENCEPOST_REDIS"])
storage = redis.StrictRedis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.StrictRedis.from_url(os.environ["FENCEPOST_JUDGE"])
name = os.environ["FENCEPOST_LOCK"]
ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000.0

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = lock_server.lock(name, timeout=ttl)
    judge.execute_command("ACQUIRING", "orders")
    lock.acquire()
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000.0)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except redis.exceptions.RedisError:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
