# python-redis-lock, whose thread renews the lock, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
import redis_lock
from redis.sentinel import Sentinel

lock_server = redis.Redis.from_url(os.environ["FENCEPOST_REDIS"])
if sentinels := os.environ.get("FENCEPOST_SENTINELS"):
    addresses = [address.split(":") for address in sentinels.split(",")]
    lock_server = Sentinel(addresses).master_for(os.environ["FENCEPOST_MASTER_NAME"])
storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
# Its key is lock: and the name.
name = os.environ["FENCEPOST_LOCK"].removeprefix("lock:")
ttl = int(os.environ["FENCEPOST_TTL_MS"]) // 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = redis_lock.Lock(lock_server, name, expire=ttl, auto_renewal=True)
    judge.execute_command("ACQUIRING", "orders")
    try:
        acquired = lock.acquire(timeout=ttl)
    except redis.RedisError as error:
        judge.execute_command("UNKNOWN", "orders", str(error))
        time.sleep(0.1)
        continue
    if not acquired:
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except redis_lock.NotAcquired:
        judge.execute_command("LOST", "orders")
    except redis.RedisError:
        judge.execute_command("UNKNOWN", "orders")
    judge.execute_command("RELEASED", "orders")
