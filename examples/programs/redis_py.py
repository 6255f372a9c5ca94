# redis-py's Lock, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
from redis.sentinel import Sentinel

lock_server = redis.Redis.from_url(os.environ["FENCEPOST_REDIS"])
if sentinels := os.environ.get("FENCEPOST_SENTINELS"):
    addresses = [address.split(":") for address in sentinels.split(",")]
    lock_server = Sentinel(addresses).master_for(os.environ["FENCEPOST_MASTER_NAME"])
storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
name = os.environ["FENCEPOST_LOCK"]
ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = lock_server.lock(name, timeout=ttl)
    judge.execute_command("ACQUIRING", "orders")
    try:
        acquired = lock.acquire(blocking_timeout=30)
    except redis.exceptions.RedisError as error:
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
    except redis.exceptions.LockError:
        judge.execute_command("LOST", "orders")
    except redis.exceptions.RedisError:
        judge.execute_command("UNKNOWN", "orders")
    judge.execute_command("RELEASED", "orders")
